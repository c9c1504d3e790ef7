package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.ConnectionException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/** Nodes that the thread of the test drives. */
@Tag("device")
final class DrivenNodeTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration MOMENT = Duration.ofSeconds(1);
  private static final int LONG = 3_000_000;

  private DrivenNode driven;
  private RdmaServer server;

  /** The threads of nodes of earlier tests, which may still be ending. */
  private final Set<Thread> before = threadsOfNodes();

  @BeforeEach
  void open() {
    driven = DrivenNode.open(NodeConfig.DEFAULT.closeTimeout(PATIENCE));
    server = driven.node().bind(RdmaConnectionTest.local());
  }

  @AfterEach
  void close() {
    driven.close();
  }

  private void driveUntil(BooleanSupplier done) throws Exception {
    driveUntil(driven, done);
  }

  private static void driveUntil(DrivenNode node, BooleanSupplier done) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!done.getAsBoolean()) {
      assertThat(System.nanoTime()).as("driven until the condition holds").isLessThan(end);
      if (node.poll() == 0) {
        node.awaitReady(MOMENT);
      }
    }
  }

  /** A connection of the driven node to itself. */
  private record Pair(RdmaConnection client, RdmaConnection peer) {}

  private Pair connect() throws Exception {
    CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
    server.onAccept(accepted::complete);
    CompletableFuture<RdmaConnection> connected =
        driven.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(() -> connected.isDone() && accepted.isDone());
    return new Pair(connected.join(), accepted.join());
  }

  private static Set<Thread> threadsOfNodes() {
    Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    threads.removeIf(
        each ->
            !each.getName().startsWith("rdma4j-poller")
                && !each.getName().equals("rdma4j-connection-manager"));
    return threads;
  }

  @Test
  void handlersFuturesAndAcceptsRunInTheThreadThatDrives() throws Exception {
    Set<Thread> seen = new HashSet<>();
    CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
    server.onAccept(
        peer -> {
          seen.add(Thread.currentThread());
          accepted.complete(peer);
        });
    CompletableFuture<RdmaConnection> connecting =
        driven.node().connectAsync(server.localAddress(), PATIENCE);
    var noted = connecting.thenRun(() -> seen.add(Thread.currentThread()));
    driveUntil(() -> noted.isDone() && accepted.isDone());
    RdmaConnection client = connecting.join();
    AtomicInteger echoes = new AtomicInteger();
    accepted
        .join()
        .onMessage(
            message -> {
              seen.add(Thread.currentThread());
              accepted
                  .join()
                  .sendAsync(message, 0, (token, failure) -> seen.add(Thread.currentThread()));
            });
    client.onMessageBytes(
        bytes -> {
          seen.add(Thread.currentThread());
          echoes.incrementAndGet();
        });
    for (int i = 0; i < 100; i++) {
      var unused =
          client.sendAsync(ByteBuffer.allocate(64)).thenRun(() -> seen.add(Thread.currentThread()));
    }
    driveUntil(() -> echoes.get() == 100);
    assertThat(seen).containsExactly(Thread.currentThread());
    assertThat(before).containsAll(threadsOfNodes());
  }

  @Test
  void longMessagesArriveWhole() throws Exception {
    Pair pair = connect();
    byte[] sent = new byte[LONG];
    new Random(1).nextBytes(sent);
    List<byte[]> received = new ArrayList<>();
    pair.peer()
        .onMessageBytes(
            bytes -> {
              byte[] copy = new byte[bytes.remaining()];
              bytes.get(copy);
              received.add(copy);
            });
    CompletableFuture<Void> first = pair.client().sendAsync(ByteBuffer.wrap(sent));
    CompletableFuture<Void> second = pair.client().sendAsync(ByteBuffer.wrap(sent));
    driveUntil(() -> received.size() == 2 && first.isDone() && second.isDone());
    assertThat(received).allSatisfy(each -> assertThat(each).isEqualTo(sent));
  }

  @Test
  void aMethodThatWaitsDrivesInTheThreadThatDrives() throws Exception {
    try (DrivenNode other = DrivenNode.open()) {
      FutureTask<RdmaConnection> connecting =
          new FutureTask<>(() -> other.node().connect(server.localAddress(), PATIENCE));
      CountDownLatch drives = new CountDownLatch(1);
      Thread thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    // So that this thread drives the other node.
                    other.poll();
                    drives.countDown();
                    connecting.run();
                  });
      drives.await();
      RdmaConnection peer = server.accept(PATIENCE);
      RdmaConnection client = connecting.get(60, TimeUnit.SECONDS);
      thread.join();
      other.poll();
      FutureTask<Boolean> echoing =
          new FutureTask<>(
              () -> {
                other.poll();
                for (int i = 0; i < 200; i++) {
                  client.send(client.receive(PATIENCE).orElseThrow(), PATIENCE);
                }
                client.close();
                return true;
              });
      Thread echo = Thread.ofPlatform().start(echoing);
      ByteBuffer answer = ByteBuffer.allocate(8);
      for (int i = 0; i < 200; i++) {
        peer.send(ByteBuffer.allocate(8).putLong(0, i), PATIENCE);
        assertThat(peer.receive(answer.clear(), PATIENCE)).isTrue();
        assertThat(answer.getLong(0)).isEqualTo(i);
      }
      assertThat(peer.receive(PATIENCE)).isEmpty();
      assertThat(echoing.get(60, TimeUnit.SECONDS)).isTrue();
      echo.join();
    }
  }

  @Test
  void anotherThreadThatWaitsIsServedByTheThreadThatDrives() throws Exception {
    Pair pair = connect();
    FutureTask<Integer> receiving =
        new FutureTask<>(
            () -> {
              int received = 0;
              for (var next = pair.peer().receive(PATIENCE);
                  next.isPresent();
                  next = pair.peer().receive(PATIENCE)) {
                next.get().close();
                received++;
              }
              return received;
            });
    Thread.ofPlatform().start(receiving);
    FutureTask<Boolean> sending =
        new FutureTask<>(
            () -> {
              for (int i = 0; i < 500; i++) {
                pair.client().send(ByteBuffer.allocate(64), PATIENCE);
              }
              pair.client().close();
              return true;
            });
    Thread.ofVirtual().start(sending);
    driveUntil(() -> receiving.isDone() && sending.isDone());
    assertThat(sending.get()).isTrue();
    assertThat(receiving.get()).isEqualTo(500);
  }

  @Test
  void aWaitEndsWhenTimeIsUpOrAtOnceIfItWasWokenUpBefore() throws Exception {
    driveUntil(() -> driven.poll() == 0);
    long began = System.nanoTime();
    while (driven.awaitReady(Duration.ofMillis(50))) {
      driven.poll();
    }
    assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(50_000_000);

    driven.wakeup();
    assertThat(driven.awaitReady(Duration.ZERO)).as("woken up before").isTrue();
  }

  @Test
  void drivingEndsWhenTimeIsUpOrAtOnceIfItWasWokenUpBefore() throws Exception {
    driveUntil(() -> driven.poll() == 0);
    long began = System.nanoTime();
    while (System.nanoTime() - began < 50_000_000) {
      driven.drive(Duration.ofMillis(50));
    }
    assertThat(System.nanoTime() - began).isLessThan(Duration.ofSeconds(4).toNanos());

    long woken = System.nanoTime();
    for (int i = 0; i < 20; i++) {
      driven.wakeup();
      driven.drive(PATIENCE);
    }
    // Without the wakeup, each would end at the next of the intervals of 250 ms.
    assertThat(System.nanoTime() - woken).isLessThan(Duration.ofSeconds(4).toNanos());
  }

  @Test
  void drivingFindsWhatArrivesWhileItPollsAndWhileItWaits() throws Exception {
    Pair pair = connect();
    AtomicInteger arrived = new AtomicInteger();
    pair.peer().onMessageBytes(bytes -> arrived.incrementAndGet());
    for (int i = 1; i <= 100; i++) {
      long pause = i % 10 == 0 ? 5_000_000 : 50_000;
      Thread other =
          Thread.ofPlatform()
              .start(
                  () -> {
                    LockSupport.parkNanos(pause);
                    pair.client().sendAsync(ByteBuffer.allocate(8), 0, (token, failure) -> {});
                  });
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (arrived.get() < i) {
        driven.drive(PATIENCE);
        assertThat(System.nanoTime() - end).as("message " + i).isNegative();
      }
      other.join();
    }
  }

  /** Something that another thread does soon, while this one waits for the node. */
  private interface Doing {
    void run();
  }

  /**
   * Checks that a wait ends because of what another thread does, and not at the next of the
   * intervals of 250 ms at which it ends anyway.
   */
  private void assertThatItEndsAWait(Doing doing, BooleanSupplier seen) throws Exception {
    long waited = 0;
    for (int i = 0; i < 20; i++) {
      AtomicBoolean done = new AtomicBoolean();
      Thread other =
          Thread.ofPlatform()
              .start(
                  () -> {
                    LockSupport.parkNanos(10_000_000);
                    done.set(true);
                    doing.run();
                  });
      long began = System.nanoTime();
      driveUntil(() -> done.get() && seen.getAsBoolean());
      waited += System.nanoTime() - began;
      other.join();
    }
    assertThat(Duration.ofNanos(waited)).isLessThan(Duration.ofSeconds(4));
  }

  @Test
  void aWakeupEndsTheWaitOfTheThreadThatDrives() throws Exception {
    AtomicInteger wakeups = new AtomicInteger();
    assertThatItEndsAWait(
        () -> {
          wakeups.incrementAndGet();
          driven.wakeup();
        },
        () -> wakeups.getAndSet(0) > 0);
  }

  @Test
  void aMessageEndsTheWaitOfTheThreadThatDrives() throws Exception {
    Pair pair = connect();
    AtomicInteger arrived = new AtomicInteger();
    pair.peer().onMessageBytes(bytes -> arrived.incrementAndGet());
    assertThatItEndsAWait(
        () -> pair.client().sendAsync(ByteBuffer.allocate(8), 0, (token, failure) -> {}),
        () -> arrived.getAndSet(0) > 0);
  }

  @Test
  void aHandlerMustNeitherDriveNorWait() throws Exception {
    Pair pair = connect();
    List<Throwable> thrown = new ArrayList<>();
    pair.peer()
        .onMessageBytes(
            bytes -> {
              thrown.add(caught(driven::poll));
              thrown.add(caught(() -> driven.awaitReady(PATIENCE)));
              thrown.add(caught(() -> pair.client().receive(PATIENCE)));
              thrown.add(caught(() -> driven.node().connect(server.localAddress(), PATIENCE)));
            });
    pair.client().send(ByteBuffer.allocate(1), PATIENCE);
    driveUntil(() -> thrown.size() == 4);
    assertThat(thrown)
        .allSatisfy(each -> assertThat(each).isInstanceOf(IllegalStateException.class));
    assertThat(thrown.getFirst()).hasMessageContaining("a handler must not drive its node");
  }

  private interface Call {
    void run() throws Exception;
  }

  private static Throwable caught(Call call) {
    try {
      call.run();
      return new AssertionError("nothing was thrown");
    } catch (Exception thrown) {
      return thrown;
    }
  }

  @Test
  void whatAHandlerThrowsEndsOnlyItsConnection() throws Exception {
    Pair broken = connect();
    Pair other = connect();
    broken
        .peer()
        .onMessageBytes(
            bytes -> {
              throw new IllegalStateException("thrown by the test");
            });
    AtomicInteger arrived = new AtomicInteger();
    other.peer().onMessageBytes(bytes -> arrived.incrementAndGet());
    broken.client().send(ByteBuffer.allocate(1), PATIENCE);
    driveUntil(() -> broken.client().ended().isDone() && broken.peer().ended().isDone());
    other.client().send(ByteBuffer.allocate(1), PATIENCE);
    driveUntil(() -> arrived.get() == 1);
    assertThat(broken.client().ended()).isCompletedExceptionally();
  }

  @Test
  void aConnectionThatAHandlerClosesEndsAtBothEnds() throws Exception {
    Pair pair = connect();
    pair.peer().onMessageBytes(bytes -> pair.peer().close());
    pair.client().send(ByteBuffer.allocate(1), PATIENCE);
    driveUntil(() -> pair.client().ended().isDone() && pair.peer().ended().isDone());
    assertThat(pair.client().receive(PATIENCE)).isEmpty();
    pair.client().close();
    driveUntil(() -> driven.node().statistics().connections() == 0);
  }

  @Test
  void readsAndWritesOfTheMemoryOfThePeerComplete() throws Exception {
    Pair pair = connect();
    try (MemoryRegion target =
            pair.peer().register(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        MemoryRegion source = pair.client().register(64, AccessFlag.LOCAL_WRITE)) {
      source.byteBuffer().putLong(0, 42);
      RemoteMemory remote = RemoteMemory.of(target);
      pair.client().memory().write(source.slice(0, 64), remote, PATIENCE);
      assertThat(target.byteBuffer().getLong(0)).isEqualTo(42);
      AtomicBoolean done = new AtomicBoolean();
      pair.client()
          .memory()
          .writeAsync(
              source.slice(0, 64), remote, 0, (token, failure) -> done.set(failure == null));
      driveUntil(done::get);
    }
  }

  @Test
  void aRefusedConnectFailsItsFuture() throws Exception {
    InetSocketAddress unused = server.localAddress();
    server.close();
    CompletableFuture<RdmaConnection> connected = driven.node().connectAsync(unused, PATIENCE);
    driveUntil(connected::isDone);
    assertThatThrownBy(connected::join)
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(ConnectionException.class);
  }

  @Test
  void aConnectThatTakesTooLongFailsItsFutureAndLeavesNothing() throws Exception {
    CompletableFuture<RdmaConnection> connected =
        driven.node().connectAsync(server.localAddress(), Duration.ZERO);
    // The first poll is at an interval only if events have not led to an outcome before.
    Thread.sleep(300);
    driveUntil(connected::isDone);
    if (connected.isCompletedExceptionally()) {
      assertThatThrownBy(() -> connected.get())
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(TimeoutException.class);
    } else {
      connected.join().close();
    }
    server.close();
    driveUntil(() -> driven.node().statistics().connections() == 0);
  }

  @Test
  void aConnectThatIsCancelledLeavesNothing() throws Exception {
    CompletableFuture<RdmaConnection> connected =
        driven.node().connectAsync(server.localAddress(), PATIENCE);
    connected.cancel(false);
    long quiet = System.nanoTime() + Duration.ofMillis(500).toNanos();
    driveUntil(() -> System.nanoTime() - quiet > 0);
    server.close();
    driveUntil(() -> driven.node().statistics().connections() == 0);
  }

  @Test
  void peersThatConnectedBeforeTheHandlerWasSetAreAccepted() throws Exception {
    CompletableFuture<RdmaConnection> connected =
        driven.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(connected::isDone);
    CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
    server.onAccept(accepted::complete);
    driveUntil(() -> accepted.isDone());
    assertThatThrownBy(() -> server.accept(Duration.ZERO))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has a handler of connections");
  }

  @Test
  void aCloseByTheThreadThatDrivesTellsEveryUserFirst() throws Exception {
    Pair pair = connect();
    AtomicReference<Thread> told = new AtomicReference<>();
    var unused =
        pair.peer().ended().whenComplete((nothing, failure) -> told.set(Thread.currentThread()));
    long began = System.nanoTime();
    driven.close();
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(50));
    assertThat(told.get()).isNotNull();
    assertThatThrownBy(driven::poll).isInstanceOf(IllegalStateException.class);
    driven.wakeup();
  }

  @Test
  void aCloseByAnotherThreadEndsTheWaitOfTheOneThatDrives() throws Exception {
    Pair pair = connect();
    FutureTask<Throwable> driving =
        new FutureTask<>(
            () -> {
              try {
                while (true) {
                  driven.poll();
                  driven.awaitReady(PATIENCE);
                }
              } catch (IllegalStateException closed) {
                return closed;
              }
            });
    Thread.ofPlatform().start(driving);
    Thread.sleep(50);
    driven.close();
    assertThat(driving.get(30, TimeUnit.SECONDS)).hasMessageContaining("closed");
    assertThat(pair.client().ended()).isDone();
  }

  @Test
  void aHandlerThatRunsInAThreadThatClosesMustNotWait() throws Exception {
    NodeConfig inline =
        NodeConfig.DEFAULT.handlers(Runnable::run).closeTimeout(Duration.ofMillis(100));
    try (DrivenNode node = DrivenNode.open(inline);
        RdmaServer listener = node.node().bind(RdmaConnectionTest.local())) {
      List<RdmaConnection> peers = new ArrayList<>();
      listener.onAccept(peers::add);
      List<RdmaConnection> clients = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        CompletableFuture<RdmaConnection> connecting =
            node.node().connectAsync(listener.localAddress(), PATIENCE);
        int size = i + 1;
        driveUntil(node, () -> connecting.isDone() && peers.size() == size);
        clients.add(connecting.join());
      }
      CompletableFuture<Throwable> refusal = new CompletableFuture<>();
      peers
          .getFirst()
          .onMessageBytes(
              bytes -> {
                try {
                  clients.getLast().receive(Duration.ofMillis(10));
                  refusal.complete(new AssertionError("it has waited"));
                } catch (Throwable thrown) {
                  refusal.complete(thrown);
                }
              });
      var unused = clients.getFirst().sendAsync(ByteBuffer.allocate(8));
      // The thread of the test does not drive, so that the closing thread delivers the message.
      Thread closing = Thread.ofPlatform().start(clients.getFirst()::close);
      assertThat(refusal.get(60, TimeUnit.SECONDS))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("a handler must not wait");
      driveUntil(node, () -> !closing.isAlive());
    }
  }

  @Test
  void aNodeWithThreadsConnectsToADrivenOne() throws Exception {
    server.onAccept(peer -> peer.onMessage(message -> peer.sendAsync(message, 0, (t, f) -> {})));
    AtomicBoolean done = new AtomicBoolean();
    FutureTask<Boolean> client =
        new FutureTask<>(
            () -> {
              try (RdmaNode node = RdmaNode.open();
                  RdmaConnection connection = node.connect(server.localAddress(), PATIENCE)) {
                for (int i = 0; i < 200; i++) {
                  connection.send(ByteBuffer.allocate(64), PATIENCE);
                  connection.receive(PATIENCE).orElseThrow().close();
                }
              } finally {
                done.set(true);
              }
              return true;
            });
    Thread.ofPlatform().start(client);
    driveUntil(done::get);
    assertThat(client.get()).isTrue();
  }
}
