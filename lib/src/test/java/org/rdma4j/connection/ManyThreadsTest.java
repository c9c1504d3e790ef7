package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.security.CodeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.support.ReflectionSupport;

@Tag("device")
@Tag("protocol")
final class ManyThreadsTest {
  private static final int CONNECTIONS = 64;
  private static final int FEW = 1_000;
  private static final int THREADS = 10_000;
  private static final int BUFFERS = 256;
  private static final Duration PATIENCE = Duration.ofMinutes(4);

  /** Loading and initializing a class holds the carrier (JDK 25), which this test is not about. */
  @BeforeAll
  static void initializeAllClasses() throws Exception {
    CodeSource lib = source(RdmaConnection.class);
    for (Class<?> each :
        ReflectionSupport.findAllClassesInPackage(
            "org.rdma4j",
            type -> source(type).equals(lib),
            name -> !name.startsWith("org.rdma4j.bindings."))) {
      Class.forName(each.getName(), true, each.getClassLoader());
    }
  }

  private static CodeSource source(Class<?> of) {
    return of.getProtectionDomain().getCodeSource();
  }

  @Test
  void tenThousandVirtualThreadsEchoThroughSixtyFourConnections() throws Exception {
    // Linking a call site when it is first reached holds the carrier too, even in the code that
    // records.
    pinnedDuringEchoes(FEW);
    assertThat(pinnedDuringEchoes(THREADS)).isEmpty();
  }

  @Test
  void allThreadsHaveTheirTurnWhenThereAreMoreOfThemThanBuffers() throws Exception {
    try (RdmaNode node = RdmaNode.open(NodeConfig.DEFAULT.maxBuffers(BUFFERS))) {
      echo(node, 16, 4 * BUFFERS);
    }
  }

  private static Queue<RecordedEvent> pinnedDuringEchoes(int count) throws Exception {
    Queue<RecordedEvent> pinned = new ConcurrentLinkedQueue<>();
    try (RecordingStream recording = recordPinned(pinned);
        RdmaNode node = RdmaNode.open()) {
      echo(node, CONNECTIONS, count);
      recording.stop();
    }
    return pinned;
  }

  private static void echo(RdmaNode node, int connections, int count) throws Exception {
    List<Future<Boolean>> servers = new ArrayList<>();
    List<RdmaConnection> clients = new ArrayList<>();
    try (RdmaServer listener = node.bind(RdmaConnectionTest.local());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < connections; i++) {
        servers.add(threads.submit(() -> serve(listener.accept(PATIENCE))));
        clients.add(node.connect(listener.localAddress(), PATIENCE));
      }
      List<Future<Integer>> calls = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        RdmaConnection client = clients.get(i % connections);
        int number = i;
        calls.add(threads.submit(() -> call(client, number)));
      }
      long sent = 0;
      long received = 0;
      for (int i = 0; i < count; i++) {
        sent += i;
        received += calls.get(i).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      assertThat(received).isEqualTo(sent);
      clients.forEach(RdmaConnection::close);
      for (Future<Boolean> server : servers) {
        assertThat(server.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      }
    }
  }

  /** Records each time a virtual thread holds its carrier while it sleeps, however briefly. */
  private static RecordingStream recordPinned(Queue<RecordedEvent> pinned) {
    RecordingStream recording = new RecordingStream();
    recording.enable("jdk.VirtualThreadPinned").withoutThreshold().withStackTrace();
    recording.onEvent(
        "jdk.VirtualThreadPinned",
        event -> {
          if (!isInRecorder(event)) {
            pinned.add(event);
          }
        });
    recording.setReuse(false);
    recording.startAsync();
    return recording;
  }

  /** The recorder takes monitors of its own when it writes an event. */
  private static boolean isInRecorder(RecordedEvent event) {
    RecordedStackTrace stack = event.getStackTrace();
    return stack != null
        && stack.getFrames().getFirst().getMethod().getType().getName().startsWith("jdk.jfr.");
  }

  private static boolean serve(RdmaConnection connection) throws Exception {
    try (connection) {
      Optional<MessageBuffer> message = connection.receive(PATIENCE);
      while (message.isPresent()) {
        connection.send(message.get(), PATIENCE);
        message = connection.receive(PATIENCE);
      }
      return true;
    }
  }

  /** The answer may be the one to another thread's call; each is received once. */
  private static int call(RdmaConnection client, int number) throws Exception {
    client.send(ByteBuffer.allocate(Integer.BYTES).putInt(number).flip(), PATIENCE);
    try (MessageBuffer answer = client.receive(PATIENCE).orElseThrow()) {
      return answer.byteBuffer().getInt();
    }
  }
}
