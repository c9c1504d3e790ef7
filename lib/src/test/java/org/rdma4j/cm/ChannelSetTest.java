package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;

/** Threads that wait for completions and for events of the connection manager together. */
@Tag("device")
final class ChannelSetTest {
  private static final Duration MOMENT = Duration.ofMillis(50);

  private final ChannelSet channels = ChannelSet.open();
  private SynchronousCmId listener;
  private SynchronousCmId client;
  private EventChannel events;
  private CompletionChannel completionChannel;
  private Completions completions;
  private ProtectionDomain domain;
  private QueuePair queuePair;

  @BeforeEach
  void create() throws Exception {
    listener = CmLoopback.listener(PortSpace.TCP);
    client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
    events = client.id().channel();
    completionChannel = client.id().device().createCompletionChannel();
    CompletionQueue queue = client.id().device().createCompletionQueue(8, completionChannel);
    completions = queue.completions(1);
    domain = client.id().device().allocateProtectionDomain();
    queuePair = client.id().createQueuePair(domain, QueuePairConfig.reliable(queue));
    channels.add(completionChannel);
    channels.add(events);
  }

  @AfterEach
  void close() {
    channels.close();
    client.close();
    completionChannel.close();
    domain.close();
    listener.close();
  }

  /** Raises an event of the completion channel: that of a receive that is flushed. */
  private void complete() {
    var region = domain.register(64, AccessFlag.LOCAL_WRITE);
    queuePair.receiveRequests(1).add(7).into(region, 0, 64).post();
    queuePair.toError();
  }

  /** Raises an event of the event channel. */
  private void resolve() {
    events
        .createId(PortSpace.TCP)
        .resolveAddress(CmLoopback.address(listener), Duration.ofSeconds(5));
  }

  private FutureTask<Boolean> startWait(boolean virtual) {
    FutureTask<Boolean> task = new FutureTask<>(() -> channels.awaitReady(PATIENCE));
    start(virtual, task);
    return task;
  }

  private static Thread start(boolean virtual, Runnable task) {
    return virtual ? Thread.ofVirtual().start(task) : Thread.ofPlatform().daemon().start(task);
  }

  private static void staysWaiting(FutureTask<Boolean> task) {
    assertThatThrownBy(() -> task.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCompletionEndsTheWait(boolean virtual) throws Exception {
    assertThat(completions.pollBeforeWait()).isZero();
    FutureTask<Boolean> waiting = startWait(virtual);
    staysWaiting(waiting);
    complete();
    assertThat(CmLoopback.get(waiting)).isTrue();
    assertThat(completions.poll()).isEqualTo(1);
    assertThat(completions.workRequestId(0)).isEqualTo(7);
    assertThat(events.pollEvent()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anEventOfTheConnectionManagerEndsTheWait(boolean virtual) throws Exception {
    assertThat(completions.pollBeforeWait()).isZero();
    FutureTask<Boolean> waiting = startWait(virtual);
    staysWaiting(waiting);
    resolve();
    assertThat(CmLoopback.get(waiting)).isTrue();
    assertThat(events.pollEvent()).containsInstanceOf(CmEvent.AddressResolved.class);
    assertThat(completions.poll()).isZero();
  }

  @Test
  void theEndOfAConnectionEndsTheWaitForItsCompletions() throws Exception {
    try (CmLoopback.Pair pair = CmLoopback.connected(PortSpace.TCP);
        ChannelSet both = ChannelSet.open()) {
      both.add(completionChannel);
      both.add(pair.client().id().channel());
      assertThat(both.awaitReady(MOMENT)).isFalse();
      assertThat(pair.client().pollDisconnected()).isFalse();
      pair.server().id().disconnect();
      assertThat(both.awaitReady(PATIENCE)).isTrue();
      Thread.currentThread().interrupt();
      assertThat(pair.client().pollDisconnected()).isTrue();
      assertThat(Thread.interrupted()).as("interrupted").isTrue();
      assertThat(pair.client().awaitDisconnected(Duration.ZERO)).isTrue();
      pair.client().close();
      pair.server().close();
      assertThatThrownBy(pair.server()::pollDisconnected).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aWaitLeavesTheEventsThere() throws Exception {
    assertThat(completions.pollBeforeWait()).isZero();
    complete();
    assertThat(channels.awaitReady(PATIENCE)).isTrue();
    assertThat(channels.awaitReady(Duration.ZERO)).isTrue();
    resolve();
    assertThat(events.awaitEvent(PATIENCE)).isPresent();
    assertThat(channels.awaitReady(Duration.ZERO)).as("a completion").isTrue();
    assertThat(completionChannel.pollEvent()).isPresent();
    assertThat(completionChannel.pollEvent()).isEmpty();
    assertThat(channels.awaitReady(Duration.ZERO)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWaitEndsAtItsTimeout(boolean virtual) throws Exception {
    long began = System.nanoTime();
    FutureTask<Boolean> waiting =
        new FutureTask<>(() -> channels.awaitReady(Duration.ofMillis(200)));
    start(virtual, waiting);
    assertThat(CmLoopback.get(waiting)).isFalse();
    assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(200_000_000);
    assertThatThrownBy(() -> channels.awaitReady(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1 ms");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWakeUpEndsOneWait(boolean virtual) throws Exception {
    FutureTask<Boolean> waiting = startWait(virtual);
    staysWaiting(waiting);
    channels.wakeup();
    assertThat(CmLoopback.get(waiting)).isTrue();
    assertThat(channels.awaitReady(MOMENT)).as("the next wait").isFalse();
  }

  @Test
  void eachWakeUpEndsOneWaitWhenTheyComeInTurn() throws Exception {
    var turns = new SynchronousQueue<Integer>();
    FutureTask<Void> waker =
        new FutureTask<>(
            () -> {
              while (turns.take() > 0) {
                channels.wakeup();
              }
              return null;
            });
    start(false, waker);
    for (int i = 0; i < 2000; i++) {
      turns.put(1);
      assertThat(channels.awaitReady(PATIENCE)).isTrue();
      assertThat(channels.awaitReady(Duration.ZERO)).as("after wake-up %d", i).isFalse();
    }
    turns.put(0);
    waker.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void aWakeUpBeforeAWaitEndsIt() throws Exception {
    channels.wakeup();
    channels.wakeup();
    assertThat(channels.awaitReady(PATIENCE)).isTrue();
    assertThat(channels.awaitReady(MOMENT)).as("the next wait").isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInterruptEndsTheWait(boolean virtual) throws Exception {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    Thread waiter =
        start(
            virtual,
            () -> {
              try {
                thrown.complete(new AssertionError("ready: " + channels.awaitReady(PATIENCE)));
              } catch (Throwable expected) {
                thrown.complete(expected);
              }
            });
    Thread.sleep(100);
    waiter.interrupt();
    assertThat(thrown.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .isInstanceOf(InterruptedException.class);
  }

  @Test
  void aChannelThatIsAddedWhileAThreadWaitsEndsTheWait() throws Exception {
    try (EventChannel more = EventChannel.open()) {
      more.createId(PortSpace.TCP)
          .resolveAddress(CmLoopback.address(listener), Duration.ofSeconds(5));
      FutureTask<Boolean> waiting = startWait(false);
      staysWaiting(waiting);
      channels.add(more);
      channels.add(more);
      assertThat(CmLoopback.get(waiting)).isTrue();
    }
    assertThat(channels.awaitReady(MOMENT)).as("of a closed channel").isFalse();
  }

  @Test
  void aClosedChannelLeavesTheSet() throws Exception {
    assertThat(completions.pollBeforeWait()).isZero();
    complete();
    assertThat(channels.awaitReady(PATIENCE)).isTrue();
    completionChannel.close();
    assertThat(channels.awaitReady(MOMENT)).isFalse();
    resolve();
    assertThat(channels.awaitReady(PATIENCE)).isTrue();
    assertThatThrownBy(() -> channels.add(completionChannel))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("completion channel")
        .hasMessageContaining("is closed");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCloseEndsAllWaits(boolean virtual) throws Exception {
    List<FutureTask<Boolean>> waits = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waits.add(startWait(virtual));
    }
    staysWaiting(waits.getLast());
    channels.close();
    channels.close();
    for (FutureTask<Boolean> each : waits) {
      assertThatThrownBy(() -> CmLoopback.get(each))
          .hasCauseInstanceOf(IllegalStateException.class)
          .hasMessageContaining("channel set is closed");
    }
    assertThatThrownBy(channels::wakeup).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> channels.add(events)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> channels.add(completionChannel))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> channels.awaitReady(Duration.ZERO))
        .isInstanceOf(IllegalStateException.class);
    resolve();
    assertThat(events.awaitEvent(PATIENCE)).as("its channels stay open").isPresent();
  }

  @Test
  void aClosedSetLeavesNoDescriptor() throws IOException {
    int before = descriptors();
    for (int i = 0; i < 20; i++) {
      try (ChannelSet set = ChannelSet.open()) {
        set.add(events);
      }
    }
    assertThat(descriptors()).isEqualTo(before);
  }

  private static int descriptors() throws IOException {
    try (var open = Files.list(Path.of("/proc/self/fd"))) {
      return (int) open.count();
    }
  }
}
