package org.rdma4j.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.nio.handover.Handover;
import org.rdma4j.nio.handover.Proof;
import org.rdma4j.testing.DeviceAddress;

/** Channels whose RDMA connection is cut, and that go on over TCP. */
@Tag("device")
@Timeout(100)
final class ChannelResumeTest {
  private static final int ROUNDS = 20;

  private final Random random = new Random();
  private final Field joined = field(RdmaStream.class, "joined");
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
    UpgradeTest.await(() -> isWhollyMoved(client) && isWhollyMoved(server));
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

  private static Field field(Class<?> type, String name) {
    try {
      Field found = type.getDeclaredField(name);
      found.setAccessible(true);
      return found;
    } catch (NoSuchFieldException missing) {
      throw new AssertionError(missing);
    }
  }

  /** Breaks the RDMA connection from one side, as a failure of its device does. */
  static void cut(SocketChannel channel) throws Exception {
    upgradeOf(channel).stream().abort();
  }

  private static Upgrade upgradeOf(SocketChannel channel) {
    return Objects.requireNonNull(((StreamChannel) channel).upgrade().get());
  }

  /** Returns whether both directions use RDMA, and the peer is known to have the offset. */
  private static boolean isWhollyMoved(SocketChannel channel) throws Exception {
    return UpgradeTest.isMoved(channel)
        && upgradeOf(channel).isOffsetSeen()
        && !upgradeOf(channel).wakeUp().isDue();
  }

  private static boolean isResuming(SocketChannel channel) throws Exception {
    return upgradeOf(channel).isResuming();
  }

  private void awaitResumes() throws Exception {
    UpgradeTest.await(
        () -> clients.statistics().resumed() == 1 && servers.statistics().resumed() == 1);
  }

  @RepeatedTest(ROUNDS)
  void noByteIsLostUnderLoadInBothDirections() throws Exception {
    List<RdmaStream> streams = List.of(upgradeOf(client).stream(), upgradeOf(server).stream());
    Traffic traffic = new Traffic();
    Thread.sleep(random.nextInt(100));
    cut(random.nextBoolean() ? client : server);
    awaitResumes();
    traffic.endAfterMore();
    for (RdmaStream each : streams) {
      assertThat(joined.get(each)).as("buffer of bytes that were not sent").isNull();
    }
  }

  /** Both sides write, and read what the other one has written. */
  private final class Traffic {
    private final AtomicLong up = new AtomicLong();
    private final AtomicLong down = new AtomicLong();
    private final AtomicLong enough = new AtomicLong(Long.MAX_VALUE);
    private final ChannelPair.Waiting<Long> serverReads;
    private final ChannelPair.Waiting<Long> clientReads;
    private final ChannelPair.Waiting<Long> clientWrites;
    private final ChannelPair.Waiting<Long> serverWrites;

    Traffic() throws Exception {
      serverReads = waiting(() -> CheckedBytes.read(server, up));
      clientReads = waiting(() -> CheckedBytes.read(client, down));
      clientWrites = writing(client, enough);
      serverWrites = writing(server, enough);
    }

    /** Waits for more bytes in both directions, then ends both, and compares their lengths. */
    void endAfterMore() throws Exception {
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
    }
  }

  private static void exchange(SocketChannel one, SocketChannel other, int bytes)
      throws IOException {
    one.write(ByteBuffer.allocate(bytes));
    assertThat(UpgradeTest.read(other, bytes)).hasSize(bytes);
    other.write(ByteBuffer.allocate(bytes));
    assertThat(UpgradeTest.read(one, bytes)).hasSize(bytes);
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
        UpgradeTest.await(() -> !upgradeOf(waits).wakeUp().isDue());
        cut(random.nextBoolean() ? waited : waits);
        awaitResumes();
        waited.write(ByteBuffer.wrap(new byte[] {7}));
        assertThat(reads.get()).isEqualTo(1);
        assertThat(target.array()).containsExactly(7, 9, 9);
      }
    }
  }

  @RepeatedTest(ROUNDS)
  void aConnectionOfWhichOneSideHasEndedResumes() throws Exception {
    AtomicLong down = new AtomicLong();
    AtomicLong enough = new AtomicLong(Long.MAX_VALUE);
    var serverReads = waiting(() -> readToEnd(server));
    var clientReads = waiting(() -> CheckedBytes.read(client, down));
    var serverWrites = writing(server, enough);
    long written = CheckedBytes.write(client, random, at -> at < 3_000_000);
    client.shutdownOutput();
    assertThat(client.socket().isOutputShutdown()).isTrue();
    Thread.sleep(random.nextInt(20));
    cut(random.nextBoolean() ? client : server);
    awaitResumes();
    assertThat(serverReads.get()).isEqualTo(written);
    long more = down.get() + 2_000_000;
    UpgradeTest.await(() -> clientReads.task().isDone() || down.get() > more);
    enough.set(0);
    assertThat(clientReads.get()).isEqualTo(serverWrites.get()).isGreaterThan(more);
    assertThatThrownBy(() -> client.write(ByteBuffer.wrap(new byte[] {1})))
        .isInstanceOf(ClosedChannelException.class);
  }

  @RepeatedTest(5)
  void aSideWhoseOffsetIsNotConfirmedResumesBehindItsPeer() throws Exception {
    Traffic traffic = new Traffic();
    field(Upgrade.class, "offsetSeen").set(upgradeOf(server), false);
    cut(random.nextBoolean() ? client : server);
    awaitResumes();
    traffic.endAfterMore();
  }

  /** Lets a thread do something while the output of a channel cannot move. */
  private static void withOutputHeld(SocketChannel channel, UpgradeTest.Condition meanwhile)
      throws Exception {
    Object output = ((StreamChannel) channel).output();
    Lock lock = (Lock) field(ChannelOutput.class, "lock").get(output);
    lock.lock();
    try {
      assertThat(meanwhile.holds()).isTrue();
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether a side has joined the RDMA connection, whether its output has moved or not. */
  static boolean hasJoined(SocketChannel channel) throws Exception {
    Upgrade upgrade = ((StreamChannel) channel).upgrade().get();
    return upgrade != null && ((Handover) field(Upgrade.class, "handover").get(upgrade)).isJoined();
  }

  /**
   * RDMA fails during the upgrade, while one side still writes to TCP, so that the other side does
   * not know its offset. The server moves its output to RDMA after the client.
   */
  @ParameterizedTest
  @CsvSource({
    "true, true, false", "true, false, false", "false, true, false", "false, false, false",
    "true, true, true", "true, false, true", "false, true, true", "false, false, true"
  })
  void aCutInTheMomentOfTheUpgradeLosesNothing(
      boolean ofClient, boolean isCutByClient, boolean isBlockedInRead) throws Exception {
    try (SocketChannel one = clients.openSocketChannel()) {
      one.connect(listener.getLocalAddress());
      try (SocketChannel other = listener.accept()) {
        UpgradeTest.greet(one, other);
        var reads = isBlockedInRead ? waiting(() -> UpgradeTest.read(one, 1)) : null;
        withOutputHeld(
            ofClient ? one : other,
            () -> {
              UpgradeTest.await(() -> hasJoined(one) && hasJoined(other));
              if (!ofClient) {
                UpgradeTest.await(() -> upgradeOf(one).output().isMoved());
                one.write(ByteBuffer.wrap(new byte[] {1}));
              }
              cut(isCutByClient ? one : other);
              Thread.sleep(random.nextInt(50));
              return true;
            });
        // May begin a record, and is the last byte over TCP for now.
        other.write(ByteBuffer.wrap(new byte[] {-11}));
        byte[] read = reads == null ? UpgradeTest.read(one, 1) : reads.get();
        assertThat(read).containsExactly(-11);
        one.write(ByteBuffer.wrap(new byte[] {2}));
        byte[] expected = ofClient ? new byte[] {2} : new byte[] {1, 2};
        assertThat(UpgradeTest.read(other, expected.length)).isEqualTo(expected);
        awaitResumes();
        exchange(one, other, 100_000);
      }
    }
  }

  @Test
  void aSelectorSeesWhatWasHeldBackInTheMomentOfTheUpgrade() throws Exception {
    try (SocketChannel one = clients.openSocketChannel();
        Selector selector = clients.openSelector()) {
      one.connect(listener.getLocalAddress());
      try (SocketChannel other = listener.accept()) {
        UpgradeTest.greet(one, other);
        one.configureBlocking(false);
        one.register(selector, OP_READ);
        withOutputHeld(
            one,
            () -> {
              UpgradeTest.await(() -> hasJoined(one) && hasJoined(other));
              return true;
            });
        // May begin a record, for which the client searches until it has the server's offset.
        withOutputHeld(
            one,
            () -> {
              other.write(ByteBuffer.wrap(new byte[] {-11}));
              assertThat(selector.select(20_000)).isEqualTo(1);
              assertThat(one.read(ByteBuffer.allocate(5))).isZero();
              selector.selectedKeys().clear();
              return true;
            });
        one.write(ByteBuffer.wrap(new byte[] {1}));
        assertThat(selector.select(20_000)).isEqualTo(1);
        assertThat(one.read(ByteBuffer.allocate(5))).isEqualTo(1);
        assertThat(UpgradeTest.read(other, 1)).containsExactly(1);
        UpgradeTest.await(() -> isWhollyMoved(one) && isWhollyMoved(other));
        other.write(ByteBuffer.wrap(new byte[] {2}));
        selector.selectedKeys().clear();
        assertThat(selector.select(20_000)).isEqualTo(1);
        assertThat(one.read(ByteBuffer.allocate(5))).isEqualTo(1);
      }
    }
  }

  @RepeatedTest(5)
  void anEndOfTheServerBeforeItHasTheOffsetOfItsClientResumes() throws Exception {
    try (SocketChannel one = clients.openSocketChannel()) {
      one.connect(listener.getLocalAddress());
      try (SocketChannel ends = listener.accept()) {
        UpgradeTest.greet(one, ends);
        withOutputHeld(
            one,
            () -> {
              UpgradeTest.await(() -> hasJoined(one) && hasJoined(ends));
              ends.shutdownOutput();
              return true;
            });
        one.write(ByteBuffer.wrap(new byte[] {1}));
        assertThat(UpgradeTest.read(ends, 1)).containsExactly(1);
        assertThat(UpgradeTest.readOne(one)).isEqualTo(-1);
        UpgradeTest.await(() -> upgradeOf(ends).isOffsetSeen());
        cut(random.nextBoolean() ? one : ends);
        awaitResumes();
        one.write(ByteBuffer.wrap(new byte[] {2}));
        assertThat(UpgradeTest.read(ends, 1)).containsExactly(2);
      }
    }
  }

  /** The byte that wakes the thread comes before the record of the peer, or not at all. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aThreadThatIsJustBeingWokenIsWokenByTheResume(boolean isSent) throws Exception {
    boolean done = false;
    for (int i = 0; i < ROUNDS && !done; i++) {
      done = resumesWhileAThreadIsBeingWoken(isSent);
    }
    assertThat(done).as("was cut while a thread was being woken").isTrue();
  }

  private boolean resumesWhileAThreadIsBeingWoken(boolean isSent) throws Exception {
    Field woken = field(WakeUp.class, "hasWokenPeer");
    try (SocketChannel waited = clients.openSocketChannel()) {
      waited.connect(listener.getLocalAddress());
      try (SocketChannel waits = listener.accept()) {
        UpgradeTest.greet(waited, waits);
        ByteBuffer target = ByteBuffer.allocate(100);
        var reads = waiting(() -> waits.read(target));
        while (!upgradeOf(waited).output().isMoved()) {
          Thread.onSpinWait();
        }
        // Holds the thread that delivers to the peer.
        Lock lock = (Lock) field(Upgrade.class, "lock").get(upgradeOf(waited));
        lock.lock();
        try {
          if ((boolean) woken.get(upgradeOf(waited).wakeUp())) {
            return false;
          }
          UpgradeTest.await(() -> upgradeOf(waits).output().isMoved());
          assertThat(upgradeOf(waits).wakeUp().isDue()).isTrue();
          woken.set(upgradeOf(waited).wakeUp(), !isSent);
          cut(waits);
          Thread.sleep(random.nextInt(20));
        } finally {
          lock.unlock();
        }
        awaitResumes();
        waited.write(ByteBuffer.wrap(new byte[] {7}));
        assertThat(reads.get()).isEqualTo(1);
        assertThat(target.array()).startsWith(7, 0);
        exchange(waited, waits, 100);
        return true;
      }
    }
  }

  @RepeatedTest(5)
  void aConnectionOfWhichOneSideHasShutItsInputResumes() throws Exception {
    client.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
    server.shutdownInput();
    client.write(ByteBuffer.wrap(new byte[] {4}));
    cut(random.nextBoolean() ? client : server);
    awaitResumes();
    checkWithoutInput(client, server);
    try (ChannelPair tcp = ChannelPair.connect(JdkProvider.find())) {
      tcp.server().shutdownInput();
      checkWithoutInput(tcp.client(), tcp.server());
    }
  }

  private static void checkWithoutInput(SocketChannel client, SocketChannel server)
      throws IOException {
    assertThat(client.write(ByteBuffer.wrap(new byte[] {5}))).isEqualTo(1);
    assertThat(UpgradeTest.readOne(server)).isEqualTo(-1);
    assertThat(server.socket().isInputShutdown()).isTrue();
    server.write(ByteBuffer.wrap(new byte[] {6}));
    assertThat(UpgradeTest.read(client, 1)).containsExactly(6);
    server.shutdownOutput();
    assertThat(UpgradeTest.readOne(client)).isEqualTo(-1);
  }

  /** Lets a direction move to RDMA while the bytes 1, 2, 3 have come over TCP and were not read. */
  private void upgradeBehindThreeBytes(SocketChannel writes, SocketChannel reads) throws Exception {
    // The proof needs that these, and none behind them, were read.
    exchange(writes, reads, Proof.RECORDED);
    writes.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
    UpgradeTest.await(
        () ->
            upgradeOf(reads).input().tcpBytes() == 3
                && upgradeOf(reads).isOffsetSeen()
                && UpgradeTest.isMoved(writes));
  }

  @RepeatedTest(5)
  void bytesThatCameBeforeTheUpgradeAreReadFirst() throws Exception {
    try (SocketChannel writes = clients.openSocketChannel()) {
      writes.connect(listener.getLocalAddress());
      try (SocketChannel reads = listener.accept()) {
        upgradeBehindThreeBytes(writes, reads);
        writes.write(ByteBuffer.wrap(new byte[] {4, 5}));
        cut(random.nextBoolean() ? writes : reads);
        UpgradeTest.await(() -> clients.statistics().resumed() == 1 && isResuming(reads));
        writes.write(ByteBuffer.wrap(new byte[] {6}));
        assertThat(UpgradeTest.read(reads, 6)).containsExactly(1, 2, 3, 4, 5, 6);
        reads.write(ByteBuffer.wrap(new byte[] {7}));
        assertThat(UpgradeTest.read(writes, 1)).containsExactly(7);
        awaitResumes();
      }
    }
  }

  @RepeatedTest(5)
  void aSideThatShutsItsInputBeforeThisHasMovedResumes() throws Exception {
    try (SocketChannel writes = clients.openSocketChannel()) {
      writes.connect(listener.getLocalAddress());
      try (SocketChannel reads = listener.accept()) {
        upgradeBehindThreeBytes(writes, reads);
        reads.shutdownInput();
        assertThat(UpgradeTest.readOne(reads)).isEqualTo(-1);
        writes.write(ByteBuffer.wrap(new byte[] {4}));
        cut(random.nextBoolean() ? writes : reads);
        awaitResumes();
        checkWithoutInput(writes, reads);
      }
    }
  }

  @RepeatedTest(5)
  void aSideThatEndsItsOutputBeforeThisHasMovedResumes() throws Exception {
    try (SocketChannel other = clients.openSocketChannel()) {
      other.connect(listener.getLocalAddress());
      try (SocketChannel ends = listener.accept()) {
        UpgradeTest.greet(other, ends);
        Object output = ((StreamChannel) ends).output();
        Lock lock = (Lock) field(ChannelOutput.class, "lock").get(output);
        lock.lock();
        try {
          UpgradeTest.await(() -> upgradeOf(ends).output().isDue());
          ends.shutdownOutput();
        } finally {
          lock.unlock();
        }
        assertThat(UpgradeTest.readOne(other)).isEqualTo(-1);
        UpgradeTest.await(() -> upgradeOf(ends).isOffsetSeen());
        other.write(ByteBuffer.wrap(new byte[] {1}));
        cut(random.nextBoolean() ? other : ends);
        awaitResumes();
        other.write(ByteBuffer.wrap(new byte[] {2}));
        assertThat(UpgradeTest.read(ends, 2)).containsExactly(1, 2);
      }
    }
  }

  @RepeatedTest(3)
  void aSideThatCannotResumeSaysSo() throws Exception {
    ((StreamChannel) server).input().tcpEnds();
    long began = System.nanoTime();
    cut(client);
    assertThatThrownBy(() -> UpgradeTest.readOne(client)).isInstanceOf(SocketException.class);
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(5));
    assertThatThrownBy(() -> UpgradeTest.readOne(server)).isInstanceOf(SocketException.class);
  }

  @RepeatedTest(ROUNDS)
  void aCloseWhileItResumesLosesNothing() throws Exception {
    // Not more than it takes without a reader.
    assertThat(client.write(ByteBuffer.allocate(500_000))).isEqualTo(500_000);
    cut(client);
    UpgradeTest.await(() -> isResuming(client) || clients.statistics().resumed() > 0);
    client.close();
    assertThat(readToEnd(server)).isEqualTo(500_000);
  }

  @RepeatedTest(ROUNDS)
  void aCutDuringACloseLosesNothing() throws Exception {
    client.configureBlocking(false);
    long written = UpgradeTest.fill(client);
    client.close();
    Thread.sleep(random.nextInt(20));
    cut(random.nextBoolean() ? client : server);
    assertThat(readToEnd(server)).isEqualTo(written);
  }

  /** The device of a peer acknowledges bytes that have not reached the program, and may fail. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCloseWaitsForTheProgramOfThePeerAndNotForItsDevice(boolean isCutByReader) throws Exception {
    RdmaStream sends = upgradeOf(server).stream();
    Object arrivals = field(RdmaStream.class, "arrivals").get(upgradeOf(client).stream());
    // Holds the thread that delivers to the client.
    synchronized (arrivals) {
      server.write(ByteBuffer.allocate(1000));
      UpgradeTest.await(() -> sends.isMarked() && sends.inFlight() == 0);
      // Longer than bytes were held that only the device had acknowledged.
      Thread.sleep(1500);
      server.close();
      Thread.sleep(100);
      if (isCutByReader) {
        cut(client);
      } else {
        sends.connection().abort();
      }
    }
    assertThat(readToEnd(client)).isEqualTo(1000);
  }

  @Test
  void aChannelWhoseOutputHasEndedSoonHoldsNothing() throws Exception {
    client.write(ByteBuffer.wrap(new byte[1000]));
    client.shutdownOutput();
    assertThat(UpgradeTest.read(server, 1000)).hasSize(1000);
    assertThat(clients.rendezvous().memory().held()).isPositive();
    UpgradeTest.await(() -> clients.rendezvous().memory().held() == 0);
  }

  @Test
  @SuppressWarnings("try") // The test closes one of them before the end.
  void aChannelThatCannotBeUpgradedAgainIsTriedLater() throws Exception {
    RdmaSelectorProvider onlyOne = UpgradeTest.provider("", DeviceAddress.ipv4(), 1);
    try (SocketChannel first = onlyOne.openSocketChannel();
        SocketChannel second = onlyOne.openSocketChannel()) {
      first.connect(listener.getLocalAddress());
      second.connect(listener.getLocalAddress());
      try (SocketChannel other = listener.accept();
          SocketChannel another = listener.accept()) {
        UpgradeTest.greet(first, other);
        UpgradeTest.await(() -> isWhollyMoved(first) && isWhollyMoved(other));
        cut(first);
        UpgradeTest.await(() -> onlyOne.statistics().resumed() == 1);
        UpgradeTest.greet(second, another);
        UpgradeTest.await(() -> UpgradeTest.isMoved(second));
        UpgradeTest.greet(first, other);
        // Until it has tried.
        Thread.sleep(2000);
        second.close();
        UpgradeTest.await(() -> isWhollyMoved(first) && isWhollyMoved(other));
        assertThat(onlyOne.statistics().stayed()).isZero();
        UpgradeTest.greet(first, other);
      }
    } finally {
      onlyOne.rendezvous().close();
    }
  }

  @Test
  void aClaimThatIsRefusedAfterAResumeIsMadeAgain() throws Exception {
    RdmaSelectorProvider onlyOne = UpgradeTest.provider("", DeviceAddress.ipv4(), 1);
    RdmaSelectorProvider impatient = impatient();
    try (ServerSocketChannel listens = UpgradeTest.listen(onlyOne);
        SocketChannel first = impatient.openSocketChannel();
        SocketChannel second = impatient.openSocketChannel()) {
      first.connect(listens.getLocalAddress());
      second.connect(listens.getLocalAddress());
      try (SocketChannel other = listens.accept()) {
        try (SocketChannel another = listens.accept()) {
          UpgradeTest.greet(first, other);
          UpgradeTest.await(() -> isWhollyMoved(first) && isWhollyMoved(other));
          cut(first);
          UpgradeTest.await(() -> onlyOne.statistics().resumed() == 1);
          UpgradeTest.greet(second, another);
          UpgradeTest.await(() -> UpgradeTest.isMoved(another));
          UpgradeTest.greet(first, other);
          // Until its claim was refused.
          Thread.sleep(2000);
          UpgradeTest.greet(first, other);
        }
        UpgradeTest.await(() -> isWhollyMoved(first) && isWhollyMoved(other));
        assertThat(impatient.statistics().stayed()).isZero();
        UpgradeTest.greet(first, other);
      }
    } finally {
      impatient.rendezvous().close();
      onlyOne.rendezvous().close();
    }
  }

  /** Creates a provider that does not leave a server alone which has refused a claim. */
  static RdmaSelectorProvider impatient() {
    return new RdmaSelectorProvider(
        new ChannelSettings(
            true,
            true,
            new Proof(new byte[0], 32),
            Duration.ofSeconds(60),
            0,
            Long.MAX_VALUE,
            1L << 30,
            List.of(),
            Map.of(InetAddress.getLoopbackAddress(), DeviceAddress.ipv4())));
  }

  @RepeatedTest(3)
  void aChannelThatHasResumedIsUpgradedAgain() throws Exception {
    Traffic traffic = new Traffic();
    for (int i = 1; i <= 2; i++) {
      cut(random.nextBoolean() ? client : server);
      long upgrades = i + 1L;
      UpgradeTest.await(
          () ->
              clients.statistics().upgraded() == upgrades
                  && servers.statistics().upgraded() == upgrades
                  && isWhollyMoved(client)
                  && isWhollyMoved(server));
    }
    traffic.endAfterMore();
    assertThat(clients.statistics().resumed()).isEqualTo(2);
  }

  @Test
  void anIdleConnectionResumes() throws Exception {
    cut(client);
    client.write(ByteBuffer.wrap(new byte[] {7}));
    assertThat(UpgradeTest.read(server, 1)).containsExactly(7);
    awaitResumes();
  }
}
