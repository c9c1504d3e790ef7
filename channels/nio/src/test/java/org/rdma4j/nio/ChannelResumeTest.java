package org.rdma4j.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Channels whose RDMA connection is cut, and that go on over TCP. */
@Tag("device")
@Timeout(100)
final class ChannelResumeTest {
  private static final int ROUNDS = 20;

  private final Random random = new Random();
  private RdmaSelectorProvider clients;
  private RdmaSelectorProvider servers;
  private ServerSocketChannel listener;
  private SocketChannel client;
  private SocketChannel server;

  @BeforeEach
  void upgrade() throws Exception {
    clients = UpgradeTest.provider("");
    servers = UpgradeTest.provider("");
    listener = UpgradeTest.listen(servers);
    client = clients.openSocketChannel();
    client.connect(listener.getLocalAddress());
    server = listener.accept();
    UpgradeTest.greet(client, server);
    UpgradeTest.await(() -> UpgradeTest.isMoved(client) && UpgradeTest.isMoved(server));
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    server.close();
    listener.close();
    UpgradeTest.await(
        () ->
            clients.rendezvous().memory().held() == 0 && servers.rendezvous().memory().held() == 0);
    clients.rendezvous().close();
    servers.rendezvous().close();
  }

  /** Breaks the RDMA connection from one side, as a failure of its device does. */
  static void cut(SocketChannel channel) throws Exception {
    upgradeOf(channel).stream().connection().abort();
  }

  private static Upgrade upgradeOf(SocketChannel channel) throws Exception {
    Field field = StreamChannel.class.getDeclaredField("upgrade");
    field.setAccessible(true);
    return (Upgrade) field.get(channel);
  }

  private static boolean isResuming(SocketChannel channel) throws Exception {
    return upgradeOf(channel).isResuming();
  }

  private void awaitResumes() throws Exception {
    UpgradeTest.await(
        () -> clients.statistics().resumed() == 1 && servers.statistics().resumed() == 1);
  }

  private static boolean isOverRdma(SocketChannel channel) {
    return ((StreamChannel) channel).isOverRdma();
  }

  @RepeatedTest(ROUNDS)
  void noByteIsLostUnderLoadInBothDirections() throws Exception {
    AtomicLong up = new AtomicLong();
    AtomicLong down = new AtomicLong();
    AtomicLong enough = new AtomicLong(Long.MAX_VALUE);
    var serverReads = waiting(() -> CheckedBytes.read(server, up));
    var clientReads = waiting(() -> CheckedBytes.read(client, down));
    var clientWrites = writing(client, enough);
    var serverWrites = writing(server, enough);
    Thread.sleep(random.nextInt(100));
    cut(random.nextBoolean() ? client : server);
    awaitResumes();
    long more = Math.max(up.get(), down.get()) + 2_000_000;
    UpgradeTest.await(
        () -> {
          for (var each : List.of(serverReads, clientReads, serverWrites, clientWrites)) {
            assertThat(each.task().isDone() ? each.get() : -1L).isEqualTo(-1L);
          }
          return up.get() > more && down.get() > more;
        });
    enough.set(0);
    assertThat(serverReads.get()).isEqualTo(clientWrites.get());
    assertThat(clientReads.get()).isEqualTo(serverWrites.get());
    assertThat(isOverRdma(client)).isFalse();
    assertThat(isOverRdma(server)).isFalse();
  }

  /** Writes, and ends the output. */
  private static ChannelPair.Waiting<Long> writing(SocketChannel channel, AtomicLong enough)
      throws InterruptedException {
    return waiting(
        () -> {
          long count = CheckedBytes.write(channel, new Random(), at -> at < enough.get());
          channel.shutdownOutput();
          return count;
        });
  }

  @RepeatedTest(ROUNDS)
  void anEndRightAfterTheCutComesBehindAllBytes() throws Exception {
    AtomicLong enough = new AtomicLong(Long.MAX_VALUE);
    AtomicLong read = new AtomicLong();
    var reads = waiting(() -> CheckedBytes.read(server, read));
    var writes = writing(client, enough);
    cut(random.nextBoolean() ? client : server);
    UpgradeTest.await(() -> isResuming(client) || clients.statistics().resumed() > 0);
    enough.set(0);
    assertThat(reads.get()).isEqualTo(writes.get()).isPositive();
    awaitResumes();
    server.write(ByteBuffer.wrap(new byte[] {5}));
    assertThat(UpgradeTest.read(client, 1)).containsExactly(5);
  }

  @RepeatedTest(ROUNDS)
  void aCloseAtTheCutNeverShowsAnEndWithoutAllBytes() throws Exception {
    AtomicLong done = new AtomicLong();
    var writes =
        waiting(
            () ->
                CheckedBytes.write(
                    client,
                    new Random(),
                    at -> {
                      done.set(at);
                      return at < 20_000_000;
                    }));
    var reads = waiting(() -> readToEnd(server));
    cut(random.nextBoolean() ? client : server);
    Thread.sleep(random.nextInt(20));
    client.close();
    long written = writes.get();
    long read = reads.get();
    // Negative if it was reset. The close may end the last write in the middle, as over TCP.
    assertThat(read < 0 || (read >= done.get() && read <= written))
        .as("%d of %d to %d", read, done.get(), written)
        .isTrue();
  }

  private static long readToEnd(SocketChannel channel) {
    ByteBuffer target = ByteBuffer.allocate(100_000);
    long count = 0;
    try {
      while (true) {
        int now = channel.read(target.clear());
        if (now < 0) {
          return count;
        }
        count += now;
      }
    } catch (IOException reset) {
      return -1;
    }
  }

  @Test
  void aSelectorSeesTcpAgain() throws Exception {
    try (Selector selector = clients.openSelector()) {
      client.configureBlocking(false);
      SelectionKey key = client.register(selector, OP_READ);
      var selects = waiting(() -> selector.select(20_000));
      server.write(ByteBuffer.wrap(new byte[] {1}));
      assertThat(selects.get()).isEqualTo(1);
      assertThat(client.read(ByteBuffer.allocate(5))).isEqualTo(1);
      selector.selectedKeys().clear();
      var next = waiting(() -> selector.select(20_000));
      cut(server);
      awaitResumes();
      server.write(ByteBuffer.wrap(new byte[] {2}));
      assertThat(next.get()).isEqualTo(1);
      assertThat(client.read(ByteBuffer.allocate(5))).isEqualTo(1);
      selector.selectedKeys().clear();
      key.interestOps(OP_WRITE);
      assertThat(selector.select(20_000)).isEqualTo(1);
      assertThat(client.write(ByteBuffer.wrap(new byte[] {3}))).isEqualTo(1);
      assertThat(UpgradeTest.read(server, 1)).containsExactly(3);
    }
  }

  @RepeatedTest(5)
  void aThreadThatWaitsForTcpIsWokenAndTheConnectionResumes() throws Exception {
    try (SocketChannel waited = clients.openSocketChannel()) {
      waited.connect(listener.getLocalAddress());
      try (SocketChannel waits = listener.accept()) {
        UpgradeTest.greet(waited, waits);
        ByteBuffer target = ByteBuffer.wrap(new byte[] {9, 9, 9});
        var reads = waiting(() -> waits.read(target));
        UpgradeTest.await(() -> UpgradeTest.isMoved(waited) && UpgradeTest.isMoved(waits));
        UpgradeTest.await(() -> !upgradeOf(waits).isWakeUpDue());
        cut(random.nextBoolean() ? waited : waits);
        awaitResumes();
        waited.write(ByteBuffer.wrap(new byte[] {7}));
        assertThat(reads.get()).isEqualTo(1);
        assertThat(target.array()).containsExactly(7, 9, 9);
      }
    }
  }

  @Test
  void aChannelWhoseOutputHasEndedHoldsNothing() throws Exception {
    client.write(ByteBuffer.wrap(new byte[1000]));
    assertThat(clients.rendezvous().memory().held()).isPositive();
    client.shutdownOutput();
    assertThat(clients.rendezvous().memory().held()).isZero();
    assertThat(UpgradeTest.read(server, 1000)).hasSize(1000);
  }

  @Test
  void anIdleConnectionResumes() throws Exception {
    cut(client);
    client.write(ByteBuffer.wrap(new byte[] {7}));
    assertThat(UpgradeTest.read(server, 1)).containsExactly(7);
    awaitResumes();
  }
}
