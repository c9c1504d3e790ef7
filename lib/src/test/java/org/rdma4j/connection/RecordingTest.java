package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.ConnectionException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/** What JDK Flight Recorder gets of connections. */
@Tag("device")
@Tag("protocol")
final class RecordingTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BYTES = 100;

  @TempDir private Path directory;

  @Test
  void aRecordingShowsWhatConnectionsDid() throws Exception {
    Path file = directory.resolve("connections.jfr");
    String name;
    try (jdk.jfr.Recording recording = new jdk.jfr.Recording();
        RdmaNode node = RdmaNode.open();
        RdmaServer listener = node.bind(RdmaConnectionTest.local())) {
      recording.enable("org.rdma4j.ConnectionStatistics").withPeriod(Duration.ofMillis(100));
      recording.enable("org.rdma4j.NodeStatistics").withPeriod(Duration.ofMillis(100));
      recording.enable("org.rdma4j.Operation");
      recording.start();
      RdmaConnection client = node.connect(listener.localAddress(), PATIENCE);
      RdmaConnection server = listener.accept(PATIENCE);
      name = client.toString();
      FutureTask<Integer> received =
          RdmaConnectionTest.start(
              () -> {
                try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
                  return message.byteBuffer().remaining();
                }
              });
      Thread.sleep(50); // so that the receiver waits
      client.sendAsync(ByteBuffer.allocate(BYTES)).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(RdmaConnectionTest.get(received)).isEqualTo(BYTES);
      try (MemoryRegion target =
              server.register(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
          MemoryRegion source = client.register(BYTES)) {
        client.memory().write(source.slice(0, BYTES), RemoteMemory.of(target), PATIENCE);
      }
      Thread.sleep(500);
      client.close();
      client.ended().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(named(events, "Connect")).hasSize(1);
    assertThat(named(events, "Connect").getFirst().getString("failure")).isEmpty();
    assertThat(named(events, "Wait")).isNotEmpty();
    assertThat(named(events, "Operation"))
        .filteredOn(event -> event.getString("connection").equals(name))
        .filteredOn(event -> event.getLong("bytes") == BYTES)
        .allMatch(event -> event.getBoolean("succeeded"))
        .allMatch(event -> !event.getDuration().isZero())
        .extracting(event -> event.getString("operation"))
        // A file has the events of each thread in their order, but not those of different threads.
        .containsExactlyInAnyOrder("SEND", "WRITE");
    assertThat(named(events, "ConnectionStatistics"))
        .anyMatch(
            event ->
                event.getString("connection").equals(name) && event.getLong("sentMessages") == 1);
    assertThat(named(events, "NodeStatistics"))
        .anyMatch(event -> event.getInt("connections") == 2 && event.getInt("buffers") > 0);
    assertThat(named(events, "ConnectionEnd"))
        .anyMatch(event -> event.getString("connection").equals(name));
  }

  @Test
  void aConnectThatIsRefusedIsNoEndOfAConnection() throws Exception {
    Path file = directory.resolve("refused.jfr");
    try (jdk.jfr.Recording recording = new jdk.jfr.Recording()) {
      try (RdmaNode node = RdmaNode.open()) {
        InetSocketAddress unused;
        try (RdmaServer closed = node.bind(RdmaConnectionTest.local())) {
          unused = closed.localAddress();
        }
        recording.start();
        assertThatThrownBy(() -> node.connect(unused, PATIENCE))
            .isInstanceOf(ConnectionException.class);
      }
      Thread.sleep(500);
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(named(events, "Connect"))
        .singleElement()
        .satisfies(event -> assertThat(event.getString("failure")).isNotEmpty());
    assertThat(named(events, "ConnectionEnd")).isEmpty();
  }

  @Test
  void aConnectionWhosePeerFetchesNothingLooksWhetherItIsStillThere() throws Exception {
    NodeConfig config = NodeConfig.DEFAULT.maxMessageBytes(BYTES << 10);
    BlockingQueue<String> writes = new LinkedBlockingQueue<>();
    try (RecordingStream recording = new RecordingStream();
        RdmaNode node = RdmaNode.open(config.keepAlive(Duration.ofMillis(1)));
        RdmaServer listener = node.bind(RdmaConnectionTest.local());
        RdmaConnection client = node.connect(listener.localAddress(), PATIENCE);
        RdmaConnection server = listener.accept(PATIENCE)) {
      // The second one is fetched only when the first one was closed.
      CompletableFuture<Void> first = client.sendAsync(ByteBuffer.allocate(BYTES << 10));
      CompletableFuture<Void> second = client.sendAsync(ByteBuffer.allocate(BYTES << 10));
      first.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      recording.enable("org.rdma4j.Operation");
      recording.onEvent(
          "org.rdma4j.Operation",
          event -> {
            if (event.getString("operation").equals("PING")) {
              writes.add(event.getString("connection"));
            }
          });
      recording.startAsync();
      String looked = "";
      while (!looked.equals(client.toString())) {
        looked = writes.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(looked).isNotNull();
      }
      assertThat(second).isNotDone();
      assertThat(server.isOpen()).isTrue();
    }
  }

  private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
    return events.stream()
        .filter(event -> event.getEventType().getName().equals("org.rdma4j." + name))
        .toList();
  }
}
