package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.ConnectionRejectedException;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.WorkCompletionException;

@Tag("device")
final class RdmaConnectionTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(100);
  private static final NodeConfig SMALL =
      NodeConfig.DEFAULT
          .bufferBytes(1024)
          .receives(4)
          .sends(4)
          .maxMessageBytes(64 << 20)
          // So long that no close reaches it.
          .closeTimeout(Duration.ofMinutes(10));

  private static final Hello HELLO = new Hello(1024, 2, 64, 1 << 20);

  private RdmaNode node;
  private RdmaServer listener;
  private RdmaConnection client;
  private RdmaConnection server;

  @BeforeEach
  void connect() throws Exception {
    node = RdmaNode.open(SMALL);
    listener = node.bind(local());
    client = node.connect(listener.localAddress(), PATIENCE);
    server = listener.accept(PATIENCE);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
    listener.close();
    node.close();
  }

  static InetSocketAddress local() {
    return new InetSocketAddress(DeviceAddress.ipv4(), 0);
  }

  static <T> FutureTask<T> start(Callable<T> call) {
    FutureTask<T> task = new FutureTask<>(call);
    Thread.ofVirtual().start(task);
    return task;
  }

  static <T> T get(FutureTask<T> task) throws Exception {
    return task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private static ByteBuffer text(String text) {
    return StandardCharsets.US_ASCII.encode(text);
  }

  private static String receive(RdmaConnection from) throws Exception {
    try (MessageBuffer message = from.receive(PATIENCE).orElseThrow()) {
      return StandardCharsets.US_ASCII.decode(message.byteBuffer()).toString();
    }
  }

  @Test
  void aMessageArrivesAsItWasSent() throws Exception {
    ByteBuffer message = text("hello");
    client.send(message, PATIENCE);
    assertThat(message.hasRemaining()).isFalse();
    assertThat(receive(server)).isEqualTo("hello");
  }

  @Test
  void aReceivedBufferIsSentBackWithoutACopy() throws Exception {
    for (int i = 0; i < 20; i++) {
      client.send(text("ping " + i), PATIENCE);
      server.send(server.receive(PATIENCE).orElseThrow(), PATIENCE);
      assertThat(receive(client)).isEqualTo("ping " + i);
    }
  }

  @Test
  void aServerDoesNotListenOnALoopbackAddress() {
    assertThatThrownBy(
            () -> RdmaServer.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))
        .isInstanceOf(RdmaException.class)
        .hasMessageContainingAll("ENODEV", "would listen on all");
  }

  @Test
  void aConnectionForWhichTheBuffersDoNotSufficeIsRefused() throws Exception {
    List<RdmaConnection> open = new ArrayList<>();
    try (RdmaNode small = RdmaNode.open(NodeConfig.DEFAULT.maxBuffers(64))) {
      assertThatThrownBy(
              () -> {
                while (open.size() < 64) {
                  open.add(small.connect(listener.localAddress(), PATIENCE));
                }
              })
          .isInstanceOf(RdmaException.class)
          .hasMessageContainingAll("ENOBUFS", "24 connections", "raise NodeConfig.maxBuffers");
      open.removeFirst().close();
      open.add(small.connect(listener.localAddress(), PATIENCE));
    }
  }

  @Test
  void anEmptyMessageArrives() throws Exception {
    client.send(ByteBuffer.allocate(0), PATIENCE);
    assertThat(receive(server)).isEmpty();
  }

  @Test
  void aBufferIsFilledInPlaceAndSent() throws Exception {
    MessageBuffer buffer = client.buffer(PATIENCE);
    assertThat(buffer.byteBuffer().isDirect()).isTrue();
    buffer.byteBuffer().put(text("xxin place")).flip().position(2);
    client.send(buffer, PATIENCE);
    assertThat(receive(server)).isEqualTo("in place");
    assertThatThrownBy(buffer::byteBuffer).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aSenderWaitsUntilTheReceiverHasRoom() throws Exception {
    List<MessageBuffer> held = new ArrayList<>();
    for (int i = 0; i < SMALL.receives(); i++) {
      client.send(text("message " + i), PATIENCE);
    }
    assertThatThrownBy(() -> client.send(text("too many"), SHORT))
        .isInstanceOf(TimeoutException.class);
    for (int i = 0; i < SMALL.receives(); i++) {
      held.add(server.receive(PATIENCE).orElseThrow());
    }
    assertThatThrownBy(() -> client.send(text("too many"), SHORT))
        .isInstanceOf(TimeoutException.class);
    held.forEach(MessageBuffer::close);
    client.send(text("the next"), PATIENCE);
    assertThat(receive(server)).isEqualTo("the next");
  }

  @Test
  void manyMessagesBothWaysArriveInOrder() throws Exception {
    sendAndReceiveBothWays(200);
  }

  @Test
  @Tag("alone") // The device counts for all processes.
  @Tag("needs-soft-roce")
  void aMessageAlwaysFindsAReceive() throws Exception {
    long before = counter("send_rnr_err");
    sendAndReceiveBothWays(200);
    assertThat(counter("send_rnr_err")).isEqualTo(before);
  }

  @Test
  @Tag("alone") // The device counts for all processes.
  @Tag("needs-soft-roce")
  void messagesThatAreAnsweredNeedNoOthers() throws Exception {
    int echoes = 100;
    echo(10);
    long before = counter("sent_pkts");
    echo(echoes);
    // A message and its answer, each with an acknowledgement; some more at the beginning and end.
    assertThat(counter("sent_pkts") - before).isBetween(4L * echoes, 5L * echoes);
  }

  private void echo(int messages) throws Exception {
    for (int i = 0; i < messages; i++) {
      client.send(text("there"), PATIENCE);
      assertThat(receive(server)).isEqualTo("there");
      server.send(text("back"), PATIENCE);
      assertThat(receive(client)).isEqualTo("back");
    }
  }

  private void sendAndReceiveBothWays(int messages) throws Exception {
    FutureTask<Integer> there = start(() -> sendAll(client, messages));
    FutureTask<Integer> back = start(() -> sendAll(server, messages));
    FutureTask<Integer> atServer = start(() -> receiveAll(server, messages));
    assertThat(receiveAll(client, messages)).isEqualTo(messages);
    assertThat(get(atServer)).isEqualTo(messages);
    assertThat(get(there) + get(back)).isEqualTo(2 * messages);
  }

  private static int sendAll(RdmaConnection to, int messages) throws Exception {
    for (int i = 0; i < messages; i++) {
      to.send(ByteBuffer.allocate(Integer.BYTES).putInt(i).flip(), PATIENCE);
    }
    return messages;
  }

  private static int receiveAll(RdmaConnection from, int messages) throws Exception {
    for (int i = 0; i < messages; i++) {
      try (MessageBuffer message = from.receive(PATIENCE).orElseThrow()) {
        assertThat(message.byteBuffer().getInt()).isEqualTo(i);
      }
    }
    return messages;
  }

  /** Returns a counter of the device, of all its queue pairs. */
  private static long counter(String name) throws IOException {
    Path counters =
        Path.of(CmDevices.list().getFirst().info().systemPath(), "ports", "1", "hw_counters");
    return Long.parseLong(Files.readString(counters.resolve(name)).strip());
  }

  @Test
  void theCloseOfTheNodeEndsAConnectThatIsNotAnswered() throws Exception {
    try (EventChannel events = EventChannel.open();
        CmId silent = events.createId(PortSpace.TCP)) {
      silent.bind(local());
      silent.listen(1);
      FutureTask<RdmaConnection> connect;
      try (RdmaNode other = RdmaNode.open()) {
        connect = start(() -> other.connect(silent.localAddress()));
        assertThat(events.awaitEvent(PATIENCE)).containsInstanceOf(CmEvent.ConnectRequest.class);
      }
      assertThatThrownBy(() -> get(connect))
          .hasCauseInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
  }

  @Test
  void aCloseLosesNothingThatWasSent() throws Exception {
    for (int i = 0; i < SMALL.receives(); i++) {
      client.send(text("message " + i), PATIENCE);
    }
    client.close();
    for (int i = 0; i < SMALL.receives(); i++) {
      assertThat(receive(server)).isEqualTo("message " + i);
    }
    assertThat(server.receive(PATIENCE)).isEmpty();
    assertThat(server.receive(PATIENCE)).isEmpty();
    assertThatThrownBy(() -> server.send(text("too late"), PATIENCE))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void aSideThatDidNotNoticeTheCloseOfThePeerClosesAtOnce() throws Exception {
    client.close();
    FutureTask<Boolean> close =
        start(
            () -> {
              server.close();
              return true;
            });
    assertThat(get(close)).isTrue();
  }

  @Test
  void bothSidesCloseAtOnce() throws Exception {
    client.send(text("unread"), PATIENCE);
    server.send(text("unread"), PATIENCE);
    closeBoth();
  }

  @Test
  void bothSidesCloseAtOnceAlthoughTheirMessagesWaitUntilTheOtherReads() throws Exception {
    for (RdmaConnection side : List.of(client, server)) {
      var unused = side.sendAsync(ByteBuffer.allocate(2 * SMALL.bufferBytes()));
      for (int i = 0; i < 3 * SMALL.receives(); i++) {
        unused = side.sendAsync(text("unread"));
      }
    }
    closeBoth();
  }

  @Test
  void aCloseInTheMiddleOfALongMessageIsNoRegularEndForThePeer() throws Exception {
    ByteBuffer message = ByteBuffer.allocate((int) SMALL.maxMessageBytes());
    FutureTask<Boolean> sending =
        start(
            () -> {
              client.send(message, PATIENCE);
              return true;
            });
    while (client.statistics().outstanding() == 0) {
      assertThat(sending.isDone()).as("sent before the close").isFalse();
    }
    client.close();
    assertThatThrownBy(() -> get(sending)).isInstanceOf(ExecutionException.class);
    assertThatThrownBy(() -> server.receive(PATIENCE))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("ECONNRESET");
  }

  private void closeBoth() throws Exception {
    List<FutureTask<Boolean>> closes = new ArrayList<>();
    for (RdmaConnection side : List.of(client, server)) {
      closes.add(
          start(
              () -> {
                side.close();
                return true;
              }));
    }
    for (FutureTask<Boolean> close : closes) {
      assertThat(get(close)).isTrue();
    }
  }

  @Test
  void aPeerThatGoesAwayWithoutClosingBreaksTheConnection() throws Exception {
    SynchronousCmId peer = resolved();
    try (var queues = SimpleMessages.create(peer.id(), 4, 4)) {
      FutureTask<RdmaConnection> accept = start(() -> listener.accept(PATIENCE));
      peer.connect(ConnectionConfig.DEFAULT.privateData(HELLO.write()), PATIENCE);
      try (RdmaConnection accepted = get(accept)) {
        assertThat(queues.queuePair().number()).isPositive();
        FutureTask<Optional<MessageBuffer>> receive = start(() -> accepted.receive(PATIENCE));
        assertThatThrownBy(() -> receive.get(100, TimeUnit.MILLISECONDS))
            .isInstanceOf(TimeoutException.class);
        peer.close();
        assertThatThrownBy(() -> get(receive))
            .cause()
            .isInstanceOf(RdmaException.class)
            .hasMessageContaining("ECONNRESET");
      }
    } finally {
      peer.close();
    }
  }

  /** Returns the identifier of another program, ready to connect. */
  private SynchronousCmId resolved() throws InterruptedException, TimeoutException {
    SynchronousCmId peer = SynchronousCmId.open(PortSpace.TCP);
    peer.resolveAddress(listener.localAddress(), PATIENCE);
    peer.resolveRoute(PATIENCE);
    return peer;
  }

  @Test
  void anotherProgramIsRejectedAndTheServerKeepsListening() throws Exception {
    FutureTask<RdmaConnection> accept = start(() -> listener.accept(Duration.ofSeconds(2)));
    try (var peer = resolved();
        var queues = SimpleMessages.create(peer.id(), 4, 4)) {
      assertThat(queues.queuePair().number()).isPositive();
      assertThatThrownBy(() -> peer.connect(ConnectionConfig.DEFAULT, PATIENCE))
          .isInstanceOf(ConnectionRejectedException.class);
    }
    assertThatThrownBy(() -> get(accept)).cause().isInstanceOf(TimeoutException.class);
  }

  @Test
  void aPeerReadsAndWritesTheMemoryThatItWasTold() throws Exception {
    MemoryRegion exposed =
        server.register(
            4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    MessageBuffer letter = server.buffer(PATIENCE);
    RemoteMemory.of(exposed).slice(96, 4000).write(letter.byteBuffer());
    letter.byteBuffer().flip();
    server.send(letter, PATIENCE);
    RemoteMemory remote;
    try (MessageBuffer received = client.receive(PATIENCE).orElseThrow()) {
      remote = RemoteMemory.read(received.byteBuffer());
    }
    MemoryRegion local = client.register(4096, AccessFlag.LOCAL_WRITE);
    local.byteBuffer().put(text("written"));
    client.memory().write(local.slice(0, 7), remote.slice(4, 100), PATIENCE);
    assertThat(StandardCharsets.US_ASCII.decode(exposed.byteBuffer().slice(100, 7)).toString())
        .isEqualTo("written");
    client.memory().read(remote, local.slice(1000, 11), PATIENCE);
    assertThat(StandardCharsets.US_ASCII.decode(local.byteBuffer().slice(1004, 7)).toString())
        .isEqualTo("written");
  }

  @Tag("needs-refused-reads")
  @Test
  void aReadThatIsNotPermittedBreaksTheConnection() throws Exception {
    MemoryRegion hidden = server.register(64, AccessFlag.LOCAL_WRITE);
    MemoryRegion local = client.register(64, AccessFlag.LOCAL_WRITE);
    assertThatThrownBy(
            () -> client.memory().read(RemoteMemory.of(hidden), local.slice(0, 64), PATIENCE))
        .isInstanceOf(WorkCompletionException.class);
    assertThatThrownBy(() -> client.send(text("more"), PATIENCE)).isInstanceOf(RdmaException.class);
  }

  @Test
  void manyVirtualThreadsShareAConnection() throws Exception {
    int threads = 100;
    FutureTask<Integer> echo =
        start(
            () -> {
              for (int i = 0; i < threads; i++) {
                server.send(server.receive(PATIENCE).orElseThrow(), PATIENCE);
              }
              return threads;
            });
    List<FutureTask<String>> calls = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      calls.add(
          start(
              () -> {
                client.send(text("call"), PATIENCE);
                return receive(client);
              }));
    }
    for (FutureTask<String> call : calls) {
      assertThat(get(call)).isEqualTo("call");
    }
    assertThat(get(echo)).isEqualTo(threads);
  }

  @Test
  void aMessageThatIsTooLongForThePeerIsRefusedWithTheLimit() {
    assertThat(client.maxMessageBytes()).isEqualTo(64 << 20);
    assertThatThrownBy(() -> client.send(ByteBuffer.allocate((64 << 20) + 1), PATIENCE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("67108865")
        .hasMessageContaining("67108864");
  }

  @Test
  void aReceiveEndsAtItsTimeout() {
    assertThatThrownBy(() -> client.receive(SHORT)).isInstanceOf(TimeoutException.class);
    assertThatThrownBy(() -> client.receive(Duration.ZERO)).isInstanceOf(TimeoutException.class);
  }

  @Test
  void aCloseEndsTheWaitsOfOtherThreads() throws Exception {
    FutureTask<Optional<MessageBuffer>> waiting = start(() -> client.receive(PATIENCE));
    FutureTask<Optional<MessageBuffer>> second = start(() -> client.receive(PATIENCE));
    assertThatThrownBy(() -> waiting.get(100, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    client.close();
    for (FutureTask<?> task : List.of(waiting, second)) {
      assertThatThrownBy(() -> get(task))
          .cause()
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
  }

  @Test
  void aCloseWhileAnotherThreadReadsLosesNoMessage() throws Exception {
    // The thread that waits first polls for all.
    FutureTask<Optional<MessageBuffer>> first = start(() -> client.receive(PATIENCE));
    assertThatThrownBy(() -> first.get(100, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    FutureTask<Boolean> read = sendBehindARead("last");
    client.close();
    assertThatThrownBy(() -> get(first)).cause().isInstanceOf(IllegalStateException.class);
    assertThat(receive(server)).isEqualTo("last");
    assertThat(server.receive(PATIENCE)).isEmpty();
    assertThatItIsDoneOrEndedByTheClose(read);
  }

  @Test
  void twoThreadsThatCloseAtOnceLoseNoMessage() throws Exception {
    FutureTask<Boolean> read = sendBehindARead("last");
    FutureTask<Boolean> other =
        start(
            () -> {
              client.close();
              return true;
            });
    client.close();
    assertThat(get(other)).isTrue();
    assertThat(receive(server)).isEqualTo("last");
    assertThat(server.receive(PATIENCE)).isEmpty();
    assertThatItIsDoneOrEndedByTheClose(read);
  }

  /** Sends a message behind a long read, for which another thread waits. */
  private FutureTask<Boolean> sendBehindARead(String message) throws Exception {
    MemoryRegion exposed = server.register(32 << 20, AccessFlag.REMOTE_READ);
    MemoryRegion local = client.register(exposed.byteSize(), AccessFlag.LOCAL_WRITE);
    RemoteMemory remote = RemoteMemory.of(exposed);
    FutureTask<Boolean> read =
        start(
            () -> {
              client.memory().read(remote, local.slice(0, local.byteSize()), PATIENCE);
              return true;
            });
    // The read is posted by then; it may even be done.
    TimeUnit.MILLISECONDS.sleep(5);
    client.send(text(message), PATIENCE);
    return read;
  }

  /** Which of the two depends on how fast the device is. */
  private static void assertThatItIsDoneOrEndedByTheClose(FutureTask<Boolean> read)
      throws Exception {
    try {
      assertThat(get(read)).isTrue();
    } catch (ExecutionException ended) {
      assertThat(ended).hasCauseInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void anythingAfterCloseIsRefused() throws Exception {
    client.send(text("before"), PATIENCE);
    MessageBuffer held = server.receive(PATIENCE).orElseThrow();
    server.close();
    held.close();
    assertThatThrownBy(() -> server.send(text("x"), PATIENCE))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> server.receive(PATIENCE)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> server.buffer(PATIENCE)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> server.register(1)).isInstanceOf(IllegalStateException.class);
    server.close();
  }
}
