package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.connection.NodeStatistics;

/** Channels whose peers read late, or not at all. */
@Tag("device")
@Timeout(100)
final class SlowReaderTest {
  /** What a channel may hold, with what the peer holds and what both nodes have in any case. */
  private static final long MOST_BYTES = 6 << 20;

  private RdmaSelectorProvider clients;
  private RdmaSelectorProvider servers;
  private SocketChannel client;
  private SocketChannel server;

  @BeforeEach
  void connect() throws Exception {
    clients = UpgradeTest.provider("");
    servers = UpgradeTest.provider("");
    try (ServerSocketChannel listener = UpgradeTest.listen(servers)) {
      client = clients.openSocketChannel();
      client.connect(listener.getLocalAddress());
      server = listener.accept();
      UpgradeTest.greet(client, server);
      UpgradeTest.await(() -> UpgradeTest.isMoved(client) && UpgradeTest.isMoved(server));
    }
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    server.close();
    clients.rendezvous().close();
    servers.rendezvous().close();
  }

  private static long registeredBytes(RdmaSelectorProvider provider) {
    NodeStatistics statistics = provider.rendezvous().node().statistics();
    return statistics.buffers() * 16384L + statistics.largeBytes();
  }

  /** Writes so many bytes at a time until there is no room for a while; returns their number. */
  private int writeUntilFull(int length) throws Exception {
    client.configureBlocking(false);
    int count = 0;
    int refusals = 0;
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (refusals < 20) {
      for (int i = 0; i < length; i++) {
        bytes.put(i, (byte) (count + i));
      }
      int written = client.write(bytes.clear());
      count += written;
      if (written == 0) {
        refusals++;
        Thread.sleep(5);
      }
    }
    return count;
  }

  private void readAll(int count) throws Exception {
    byte[] read = UpgradeTest.read(server, count);
    for (int i = 0; i < count; i++) {
      assertThat(read[i]).isEqualTo((byte) i);
    }
  }

  @Test
  void smallWritesHoldNoMoreMemoryThanTheSendBufferOfASocket() throws Exception {
    int count = writeUntilFull(10);
    assertThat(count).as("bytes that were taken").isGreaterThan(256 << 10);
    assertThat(registeredBytes(clients)).isLessThan(MOST_BYTES);
    readAll(count);
  }

  @Test
  void whatWasWrittenLastArrivesWhenTheReaderComesBack() throws Exception {
    int count = writeUntilFull(1000);
    client.close();
    readAll(count);
    assertThat(UpgradeTest.readOne(server)).isEqualTo(-1);
  }

  @Test
  void aBlockingWriterOfSmallPiecesWaitsForTheReader() throws Exception {
    int pieces = 1 << 18;
    var writer =
        waiting(
            () -> {
              ByteBuffer bytes = ByteBuffer.allocate(10);
              for (int i = 0; i < pieces; i++) {
                for (int j = 0; j < 10; j++) {
                  bytes.put(j, (byte) (10 * i + j));
                }
                client.write(bytes.clear());
              }
              return true;
            });
    Thread.sleep(500);
    assertThat(writer.task().isDone()).isFalse();
    assertThat(registeredBytes(clients)).isLessThan(MOST_BYTES);
    readAll(10 * pieces);
    assertThat(writer.get()).isTrue();
  }

  @Test
  void aSelectorFindsAWriterReadyWhenTheReaderComesBack() throws Exception {
    int count = writeUntilFull(100);
    try (Selector selector = clients.openSelector()) {
      client.register(selector, SelectionKey.OP_WRITE);
      assertThat(selector.selectNow()).isZero();
      readAll(count);
      assertThat(selector.select(10_000)).isEqualTo(1);
    }
  }
}
