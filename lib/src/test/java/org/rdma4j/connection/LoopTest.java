package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;

/** What a program does with a node that it runs as its event loop. */
@Tag("device")
final class LoopTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration MOMENT = Duration.ofMillis(100);

  private final List<DrivenNode> loops = new ArrayList<>();
  private DrivenNode loop;
  private RdmaServer server;

  @BeforeEach
  void open() {
    loop = openLoop();
    server = loop.node().bind(RdmaConnectionTest.local());
  }

  private DrivenNode openLoop() {
    DrivenNode opened = DrivenNode.open(NodeConfig.DEFAULT.closeTimeout(PATIENCE));
    loops.add(opened);
    return opened;
  }

  @AfterEach
  void close() {
    loops.forEach(DrivenNode::close);
  }

  private void driveUntil(BooleanSupplier done) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!done.getAsBoolean()) {
      assertThat(System.nanoTime()).as("driven until the condition holds").isLessThan(end);
      for (DrivenNode each : loops) {
        each.poll();
      }
    }
  }

  private record Pair(RdmaConnection client, RdmaConnection peer) {}

  private Pair connect() throws Exception {
    CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
    server.onAccept(accepted::complete);
    CompletableFuture<RdmaConnection> connected =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(() -> connected.isDone() && accepted.isDone());
    return new Pair(connected.join(), accepted.join());
  }

  @Test
  void tasksRunInTheirOrderAndOneThatATaskGivesRunsLater() throws Exception {
    List<Integer> ran = new ArrayList<>();
    loop.execute(
        () -> {
          loop.execute(() -> ran.add(3));
          ran.add(1);
        });
    loop.execute(
        () -> {
          throw new IllegalStateException("thrown by a task");
        });
    loop.execute(() -> ran.add(2));
    assertThat(ran).isEmpty();
    loop.poll();
    assertThat(ran).containsExactly(1, 2);
    driveUntil(() -> ran.size() == 3);
    assertThat(ran).containsExactly(1, 2, 3);
  }

  @Test
  void aTaskOfAnotherThreadEndsTheWaitAndRunsInTheThreadThatDrives() throws Exception {
    long began = System.nanoTime();
    for (int i = 0; i < 20; i++) {
      AtomicReference<Thread> ran = new AtomicReference<>();
      Thread other =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      Thread.sleep(5);
                    } catch (InterruptedException interrupted) {
                      Thread.currentThread().interrupt();
                    }
                    loop.execute(() -> ran.set(Thread.currentThread()));
                  });
      while (ran.get() == null) {
        loop.drive(PATIENCE);
      }
      assertThat(ran.get()).isSameAs(Thread.currentThread());
      other.join();
    }
    // Without the end of the wait, each would take up to 250 ms.
    assertThat(System.nanoTime() - began).isLessThan(Duration.ofSeconds(3).toNanos());
  }

  @ParameterizedTest
  @EnumSource(IdleStrategy.class)
  void timersRunWhenTheyAreDueInTheirOrder(IdleStrategy idle) throws Exception {
    loop.idleStrategy(idle);
    List<Integer> ran = new ArrayList<>();
    long began = System.nanoTime();
    loop.schedule(Duration.ofMillis(60), () -> ran.add(3));
    loop.schedule(Duration.ofMillis(20), () -> ran.add(1));
    loop.schedule(Duration.ofMillis(20), () -> ran.add(2));
    while (ran.size() < 3) {
      loop.driveNanos(PATIENCE.toNanos());
    }
    assertThat(ran).containsExactly(1, 2, 3);
    // The wait ends for the timer, and not at the next of the intervals of 250 ms.
    assertThat(System.nanoTime() - began).isBetween(60_000_000L, 240_000_000L);
  }

  @Test
  void aTimerThatIsCancelledDoesNotRun() throws Exception {
    AtomicInteger ran = new AtomicInteger();
    LoopTimer timer = loop.schedule(Duration.ofMillis(10), ran::incrementAndGet);
    LoopTimer other = loop.schedule(Duration.ofMillis(20), ran::incrementAndGet);
    assertThat(timer.cancel()).isTrue();
    assertThat(timer.cancel()).isFalse();
    driveUntil(() -> ran.get() > 0);
    assertThat(other.cancel()).isFalse();
    assertThat(ran).hasValue(1);
  }

  @Test
  void aPollDoesNoMoreThanItIsAskedForAndEachKindOfWorkHasItsTurn() throws Exception {
    Pair pair = connect();
    AtomicInteger arrived = new AtomicInteger();
    AtomicInteger ran = new AtomicInteger();
    pair.peer().onMessageBytes(bytes -> arrived.incrementAndGet());
    int bytes = NodeConfig.DEFAULT.bufferBytes();
    for (int i = 0; i < 20; i++) {
      pair.client().sendAsync(ByteBuffer.allocate(bytes), 0, (token, failure) -> {});
      loop.execute(ran::incrementAndGet);
      loop.schedule(Duration.ZERO, ran::incrementAndGet);
    }
    Thread.sleep(50);
    for (int i = 0; i < 12; i++) {
      assertThat(loop.poll(1)).isLessThanOrEqualTo(1);
    }
    assertThat(arrived.get()).isLessThanOrEqualTo(12);
    assertThat(ran.get()).isBetween(4, 12);
    driveUntil(() -> arrived.get() == 20 && ran.get() == 40);
    assertThatThrownBy(() -> loop.poll(0)).hasMessage("most is 0, must be from 1 to 2147483647");
  }

  @Test
  void manyConnectionsCloseTogetherWithoutAWaitAndLoseNothing() throws Exception {
    AtomicInteger arrived = new AtomicInteger();
    server.onAccept(
        peer -> {
          peer.onMessageBytes(bytes -> arrived.incrementAndGet());
          var unused = peer.ended().thenCompose(ended -> peer.closeAsync());
        });
    List<CompletableFuture<RdmaConnection>> connecting = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      connecting.add(loop.node().connectAsync(server.localAddress(), PATIENCE));
    }
    driveUntil(() -> connecting.stream().allMatch(CompletableFuture::isDone));
    List<CompletableFuture<Void>> closed = new ArrayList<>();
    for (CompletableFuture<RdmaConnection> each : connecting) {
      RdmaConnection client = each.join();
      client.sendAsync(ByteBuffer.allocate(100), 0, (token, failure) -> {});
      closed.add(client.closeAsync());
      assertThat(client.closeAsync()).as("the second close").isNotNull();
    }
    driveUntil(() -> closed.stream().allMatch(CompletableFuture::isDone));
    assertThat(closed).allMatch(each -> !each.isCompletedExceptionally());
    driveUntil(() -> arrived.get() == 50 && loop.node().statistics().connections() == 0);
  }

  @ParameterizedTest(name = "by a task: {0}")
  @ValueSource(booleans = {false, true})
  void aConnectionThatIsBeingClosedIsNotCollectedAndSoNotReportedAsALeak(boolean byTask)
      throws Exception {
    // The close waits as long as this side receives nothing, and no handler refers to the client.
    CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
    server.onAccept(accepted::complete);
    WeakReference<RdmaConnection> closing = closeOneThatIsNotReferredTo(accepted, byTask);
    for (int i = 0; i < 5; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertThat(closing.get()).isNotNull();
    accepted.join().resumeReceiving();
    driveUntil(() -> accepted.join().ended().isDone());
  }

  private WeakReference<RdmaConnection> closeOneThatIsNotReferredTo(
      CompletableFuture<RdmaConnection> accepted, boolean byTask) throws Exception {
    CompletableFuture<RdmaConnection> connected =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(() -> connected.isDone() && accepted.isDone());
    accepted.join().onMessageBytes(bytes -> {});
    accepted.join().pauseReceiving();
    for (int i = 0; i < 2 * NodeConfig.DEFAULT.receives(); i++) {
      connected.join().sendAsync(ByteBuffer.allocate(5000), 0, (token, failure) -> {});
    }
    if (byTask) {
      loop.execute(connected.join()::close);
      loop.poll();
    } else {
      var unused = connected.join().closeAsync();
    }
    return new WeakReference<>(connected.join());
  }

  @Test
  void aPeerThatTheProgramRejectsGetsTheReason() throws Exception {
    server.onConnect(
        incoming ->
            incoming.reject("closed on Sundays, for " + incoming.peerAddress().getAddress()));
    CompletableFuture<RdmaConnection> connecting =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(connecting::isDone);
    assertThatThrownBy(() -> connecting.get(1, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            ConnectionException.class,
            refused -> assertThat(refused.reason()).isEqualTo(Reason.REFUSED))
        .hasStackTraceContaining("closed on Sundays, for ");
    assertThat(loop.node().statistics().refused()).containsEntry(Refusal.PROGRAM, 1L);

    // A reason may be longer than the connection manager carries.
    server.onConnect(incoming -> incoming.reject("\u00fc" + "x".repeat(1000)));
    CompletableFuture<RdmaConnection> again =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(again::isDone);
    assertThatThrownBy(() -> again.get(1, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasStackTraceContaining("says: ?" + "x".repeat(147));
  }

  @Test
  void aHandlerThatThrowsRejectsThePeer() throws Exception {
    server.onConnect(
        peer -> {
          throw new IllegalStateException("thrown by the handler");
        });
    CompletableFuture<RdmaConnection> connecting =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(connecting::isDone);
    assertThatThrownBy(() -> connecting.get(1, TimeUnit.SECONDS))
        .hasStackTraceContaining("the server failed to decide whether to accept it");
  }

  @Test
  void aDecisionMayComeLaterAndOnlyOnce() throws Exception {
    List<IncomingConnection> waiting = new ArrayList<>();
    server.onConnect(waiting::add);
    CompletableFuture<RdmaConnection> connecting =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(() -> !waiting.isEmpty());
    long until = System.nanoTime() + MOMENT.toNanos();
    driveUntil(() -> System.nanoTime() - until > 0);
    assertThat(connecting).isNotDone();

    CompletableFuture<RdmaConnection> accepted = waiting.getFirst().accept();
    driveUntil(() -> connecting.isDone() && accepted.isDone());
    assertThat(accepted.join().peerAddress()).isEqualTo(waiting.getFirst().peerAddress());
    assertThatThrownBy(() -> waiting.getFirst().reject("too late"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("decide once");
  }

  @Test
  void aPeerOverWhichNobodyDecidesIsRejectedAndTheFutureOfACancelledAcceptLeavesNothing()
      throws Exception {
    loop.close();
    loops.clear();
    loop = DrivenNode.open(NodeConfig.DEFAULT.handshakeTimeout(MOMENT));
    loops.add(loop);
    server = loop.node().bind(RdmaConnectionTest.local(), 1);
    List<IncomingConnection> waiting = new ArrayList<>();
    server.onConnect(waiting::add);
    CompletableFuture<RdmaConnection> first =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(() -> !waiting.isEmpty());
    CompletableFuture<RdmaConnection> second =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(second::isDone);
    assertThatThrownBy(() -> second.get(1, TimeUnit.SECONDS))
        .hasStackTraceContaining("as many peers wait to be accepted as the backlog allows, 1");
    driveUntil(first::isDone);
    assertThatThrownBy(() -> first.get(1, TimeUnit.SECONDS))
        .hasStackTraceContaining(
            "did not decide whether to accept it within NodeConfig.handshakeTimeout");

    server.onConnect(
        incoming -> {
          var unused = incoming.accept().cancel(false);
        });
    CompletableFuture<RdmaConnection> third =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(third::isDone);
    driveUntil(() -> third.join().ended().isDone());
    var unused = third.join().closeAsync();
    driveUntil(() -> loop.node().statistics().connections() == 0);
  }

  @Test
  void aServerThatClosesRejectsThePeersThatWaitForADecision() throws Exception {
    List<IncomingConnection> waiting = new ArrayList<>();
    server.onConnect(waiting::add);
    CompletableFuture<RdmaConnection> connecting =
        loop.node().connectAsync(server.localAddress(), PATIENCE);
    driveUntil(() -> !waiting.isEmpty());
    server.close();
    driveUntil(connecting::isDone);
    assertThatThrownBy(() -> connecting.get(1, TimeUnit.SECONDS))
        .hasStackTraceContaining("the server was closed");
    assertThatThrownBy(() -> waiting.getFirst().accept()).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void oneServerGivesItsConnectionsToSeveralLoops() throws Exception {
    DrivenNode second = openLoop();
    try (RdmaNode clients = RdmaNode.open()) {
      AtomicInteger count = new AtomicInteger();
      List<RdmaConnection> accepted = new ArrayList<>();
      server.onConnect(
          incoming -> {
            var unused =
                incoming
                    .accept(count.getAndIncrement() % 2 == 0 ? loop : second)
                    .thenAccept(
                        peer -> {
                          accepted.add(peer);
                          peer.onMessage(
                              message -> peer.sendAsync(message, 0, (token, failure) -> {}));
                        });
          });
      List<RdmaConnection> connected = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        CompletableFuture<RdmaConnection> connecting =
            clients.connectAsync(server.localAddress(), PATIENCE);
        int expected = i + 1;
        driveUntil(() -> connecting.isDone() && accepted.size() == expected);
        connected.add(connecting.join());
      }
      assertThat(loop.node().statistics().connections()).isEqualTo(3);
      assertThat(second.node().statistics().connections()).isEqualTo(3);
      AtomicInteger echoes = new AtomicInteger();
      for (RdmaConnection each : connected) {
        each.onMessageBytes(bytes -> echoes.incrementAndGet());
        each.sendAsync(ByteBuffer.allocate(8), 0, (token, failure) -> {});
      }
      driveUntil(() -> echoes.get() == 6);
      // The connections of another loop outlive the server and its node.
      loop.close();
      loops.remove(loop);
      RdmaConnection ofSecond = connected.get(1);
      ofSecond.sendAsync(ByteBuffer.allocate(8), 0, (token, failure) -> {});
      driveUntil(() -> echoes.get() == 7);
    }
  }

  @Test
  void aPausedConnectionGetsNoMessageAndItsPeerWaitsAndLosesNothing() throws Exception {
    Pair pair = connect();
    List<Integer> arrived = new ArrayList<>();
    pair.peer()
        .onMessageBytes(
            bytes -> {
              arrived.add(bytes.getInt());
              if (arrived.size() == 5) {
                pair.peer().pauseReceiving();
              }
            });
    for (int i = 0; i < 1000; i++) {
      var unused = pair.client().sendAsync(ByteBuffer.allocate(4).putInt(0, i));
    }
    CompletableFuture<Void> closed = pair.client().closeAsync();
    driveUntil(() -> arrived.size() >= 5);
    long until = System.nanoTime() + MOMENT.toNanos();
    driveUntil(() -> System.nanoTime() - until > 0);
    assertThat(arrived).hasSize(5);
    assertThat(pair.peer().ended()).isNotDone();

    pair.peer().resumeReceiving();
    driveUntil(() -> pair.peer().ended().isDone() && closed.isDone());
    assertThat(arrived).hasSize(1000).isSorted();
  }

  @Test
  void aConnectionIsNotWritableWhileItsMessagesHoldMuchMemory() throws Exception {
    Pair pair = connect();
    List<Boolean> changes = new ArrayList<>();
    int buffer = NodeConfig.DEFAULT.bufferBytes();
    pair.peer().onMessageBytes(bytes -> {});
    pair.peer().pauseReceiving();
    // More than the peer has receives for, and so long that no two of them are sent together.
    for (int i = 0; i < 2 * NodeConfig.DEFAULT.receives(); i++) {
      pair.client().sendAsync(ByteBuffer.allocate(buffer), 0, (token, failure) -> {});
    }
    long until = System.nanoTime() + MOMENT.toNanos();
    driveUntil(() -> System.nanoTime() - until > 0 && pair.client().statistics().credits() == 0);
    long held = pair.client().statistics().heldBytes();
    pair.client().watermarks(2L * buffer, held + 10L * buffer);
    pair.client().onWritability(changes::add);
    int sent = 0;
    while (pair.client().isWritable()) {
      pair.client().sendAsync(ByteBuffer.allocate(buffer), 0, (token, failure) -> {});
      sent++;
      assertThat(sent).isLessThanOrEqualTo(1000);
      loop.poll();
    }
    assertThat(pair.client().statistics().heldBytes()).isEqualTo(held + 11L * buffer);
    driveUntil(() -> !changes.isEmpty());
    assertThat(changes).containsExactly(false);
    assertThat(loop.node().statistics().notWritable()).isEqualTo(1);

    pair.peer().resumeReceiving();
    driveUntil(() -> changes.size() == 2);
    assertThat(changes).containsExactly(false, true);
    driveUntil(() -> pair.client().statistics().heldBytes() == 0);
    assertThat(loop.node().statistics().notWritable()).isZero();
    assertThatThrownBy(() -> pair.client().watermarks(2, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("the watermarks are 2 and 1");
  }

  @Test
  void aConnectionThatBreaksHoldsNothingAndIsCounted() throws Exception {
    Pair pair = connect();
    pair.client().watermarks(0, 0);
    pair.peer().onMessageBytes(bytes -> {});
    pair.peer().pauseReceiving();
    for (int i = 0; i < 100; i++) {
      pair.client().sendAsync(ByteBuffer.allocate(5000), 0, (token, failure) -> {});
    }
    assertThat(pair.client().isWritable()).isFalse();
    pair.peer().abort();
    driveUntil(() -> pair.client().ended().isDone());
    driveUntil(() -> pair.client().statistics().heldBytes() == 0);
    assertThat(pair.client().isWritable()).isTrue();
    assertThat(loop.node().statistics().broken()).containsEntry(Reason.RESET, 1L);
  }

  @Test
  void whatALoopIsGivenIsChecked() {
    assertThatThrownBy(() -> loop.driveNanos(-1)).hasMessage("nanos is -1, must not be negative");
    assertThatThrownBy(() -> loop.schedule(Duration.ofMillis(-5), () -> {}))
        .hasMessage("delay is -5 ms, must not be negative");
    loop.close();
    assertThatThrownBy(() -> loop.schedule(MOMENT, () -> {}))
        .isInstanceOf(IllegalStateException.class);
  }
}
