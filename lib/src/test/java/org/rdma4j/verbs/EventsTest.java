package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.platform.Spin;

/** Threads that wait for completions, or for the events of a completion channel. */
@Tag("device")
final class EventsTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private Loopback loopback;

  @BeforeEach
  void connect() {
    loopback = Loopback.connected();
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anEventWakesTheThreadThatWaits(boolean virtual) throws Exception {
    loopback.b.receive(1, 0, 64);
    loopback.b.queue.requestNotification(false);
    FutureTask<Optional<CompletionQueue>> waiting = start(virtual, LONG);
    Thread.sleep(100);
    assertThat(waiting.isDone()).isFalse();

    loopback.a.sends.add(1).from(loopback.a.region, 0, 1);
    loopback.a.sends.post();
    assertThat(waiting.get(60, TimeUnit.SECONDS)).contains(loopback.b.queue);
  }

  @Test
  void aWaitForCompletionsPollsBeforeItSleeps() throws Exception {
    FutureTask<Void> waits =
        new FutureTask<>(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                // A new Completions each time: an object that has polled without success several
                // times
                // polls only seldom.
                loopback.b.queue.completions(1).await(Duration.ofMillis(1));
              }
              return null;
            });
    Thread waiter = thread(false, waits);
    try {
      while (!isSpinning(waiter)) {
        assertThat(waits).isNotDone();
        Thread.sleep(1);
      }
    } finally {
      waiter.interrupt();
      waiter.join();
    }
  }

  @Test
  void completionsAreAwaitedEvenIfTheProgramTookTheEventOfAnEarlierWait() throws Exception {
    Completions completions = loopback.b.queue.completions(1);
    for (long i = 0; i < 3; i++) {
      assertThat(completions.await(Duration.ofMillis(10))).isZero();
      loopback.b.receive(i, 0, 64);
      loopback.a.sends.add(i).from(loopback.a.region, 0, 1);
      loopback.a.sends.post();
      if (i == 0) {
        assertThat(loopback.b.channel.awaitEvent(LONG)).contains(loopback.b.queue);
      }
      assertThat(completions.await(LONG)).isEqualTo(1);
      assertThat(completions.workRequestId(0)).isEqualTo(i);
    }
  }

  @Test
  void aWaitGoesOnAfterAnEventWhoseCompletionWasPolledBefore() throws Exception {
    loopback.b.receive(1, 0, 64);
    loopback.b.receive(2, 0, 64);
    loopback.b.queue.requestNotification(false);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 1);
    loopback.a.sends.post();
    loopback.b.await(1);
    Completions completions = loopback.b.queue.completions(1);
    FutureTask<Integer> waiting = new FutureTask<>(() -> completions.await(LONG));
    thread(false, waiting);
    // The event of the first completion is there already.
    assertThatThrownBy(() -> waiting.get(500, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    loopback.a.sends.add(2).from(loopback.a.region, 0, 1);
    loopback.a.sends.post();
    assertThat(waiting.get(60, TimeUnit.SECONDS)).isEqualTo(1);
    assertThat(completions.workRequestId(0)).isEqualTo(2);
  }

  @Test
  void aThreadThatPollsBeforeItWaitsFindsEachCompletion() throws Exception {
    Completions completions = loopback.b.queue.completions(1);
    int found = completions.pollBeforeWait();
    assertThat(found).isZero();
    for (int i = 0; i < 200; i++) {
      loopback.b.receive(i, 0, 64);
      loopback.a.sends.add(i).from(loopback.a.region, 0, 1).signaled().post();
      if (i % 3 == 0) {
        // So that it is there before the poll.
        Thread.sleep(1);
      }
      do {
        found = completions.pollBeforeWait();
        if (found == 0) {
          assertThat(loopback.b.channel.awaitReady(LONG)).isTrue();
          found = completions.poll();
        }
      } while (found == 0);
      assertThat(completions.workRequestId(0)).isEqualTo(i);
      loopback.a.await(1);
    }
  }

  @Test
  void aPollBeforeAWaitTakesTheEventOfACompletionThatWasPolled() throws Exception {
    Completions completions = loopback.b.queue.completions(1);
    assertThat(completions.pollBeforeWait()).isZero();
    loopback.b.receive(1, 0, 64);
    loopback.b.receive(2, 0, 64);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 1).post();
    assertThat(loopback.b.channel.awaitReady(LONG)).isTrue();
    assertThat(completions.poll()).isEqualTo(1);
    Thread.currentThread().interrupt();
    assertThat(completions.pollBeforeWait()).isZero();
    assertThat(Thread.interrupted()).as("interrupted").isTrue();
    assertThat(loopback.b.channel.awaitReady(Duration.ZERO)).isFalse();

    loopback.a.sends.add(2).from(loopback.a.region, 0, 1).post();
    assertThat(loopback.b.channel.awaitReady(LONG)).isTrue();
    assertThat(completions.pollBeforeWait()).isEqualTo(1);
    assertThat(completions.workRequestId(0)).isEqualTo(2);
  }

  @Test
  void aPollTakesAnEventWithoutWaiting() throws Exception {
    assertThat(loopback.b.channel.pollEvent()).isEmpty();
    loopback.b.receive(1, 0, 64);
    loopback.b.queue.requestNotification(false);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 1).post();
    assertThat(loopback.b.channel.awaitReady(LONG)).isTrue();
    Thread.currentThread().interrupt();
    assertThat(loopback.b.channel.pollEvent()).contains(loopback.b.queue);
    assertThat(Thread.interrupted()).as("interrupted").isTrue();
    assertThat(loopback.b.channel.pollEvent()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneEventEndsTheWaitsOfAllThreadsForWhichThereIsACompletion(boolean virtual)
      throws Exception {
    List<FutureTask<Integer>> waits = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      loopback.b.receive(i, 0, 64);
      loopback.a.sends.add(i).from(loopback.a.region, 0, 1);
      // Each takes one completion, and then does not come back to the queue.
      FutureTask<Integer> wait =
          new FutureTask<>(() -> loopback.b.queue.completions(1).await(LONG));
      thread(virtual, wait);
      waits.add(wait);
    }
    assertThatThrownBy(() -> waits.getFirst().get(500, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    loopback.a.sends.post();
    for (FutureTask<Integer> wait : waits) {
      assertThat(wait.get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWaitForCompletionsEndsAlthoughAnotherThreadTakesItsEvent(boolean virtual) throws Exception {
    for (int i = 0; i < 20; i++) {
      loopback.b.receive(1, 0, 64);
      FutureTask<Integer> waiting =
          new FutureTask<>(() -> loopback.b.queue.completions(1).await(LONG));
      FutureTask<Optional<CompletionQueue>> thief = start(virtual, Duration.ofSeconds(2));
      thread(virtual, waiting);
      Thread.sleep(20);
      loopback.a.sends.add(1).from(loopback.a.region, 0, 1).post();
      assertThat(waiting.get(10, TimeUnit.SECONDS)).isEqualTo(1);
      thief.get(30, TimeUnit.SECONDS);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closingTheQueueEndsTheWaitForItsCompletions(boolean virtual) throws Exception {
    FutureTask<Integer> waiting =
        new FutureTask<>(() -> loopback.b.queue.completions(1).await(LONG));
    thread(virtual, waiting);
    assertThatThrownBy(() -> waiting.get(500, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    loopback.b.queue.close();
    assertThatThrownBy(() -> waiting.get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWaitEndsAtItsTimeout(boolean virtual) throws Exception {
    long started = System.nanoTime();
    FutureTask<Optional<CompletionQueue>> waiting = start(virtual, Duration.ofMillis(200));
    assertThat(waiting.get(60, TimeUnit.SECONDS)).isEmpty();
    assertThat(System.nanoTime() - started).isGreaterThanOrEqualTo(200_000_000);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWaitThatTakesNoEventLeavesItThere(boolean virtual) throws Exception {
    loopback.b.queue.requestNotification(false);
    FutureTask<Boolean> waiting = new FutureTask<>(() -> loopback.b.channel.awaitReady(LONG));
    thread(virtual, waiting);
    assertThatThrownBy(() -> waiting.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    loopback.b.receive(1, 0, 64);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 1);
    loopback.a.sends.post();
    assertThat(waiting.get(60, TimeUnit.SECONDS)).isTrue();

    assertThat(loopback.b.channel.awaitReady(Duration.ZERO)).isTrue();
    assertThat(loopback.b.channel.awaitEvent(Duration.ZERO)).contains(loopback.b.queue);
    assertThat(loopback.b.channel.awaitReady(Duration.ZERO)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closingTheChannelEndsAWaitThatTakesNoEvent(boolean virtual) throws Exception {
    FutureTask<Boolean> waiting = new FutureTask<>(() -> loopback.b.channel.awaitReady(LONG));
    thread(virtual, waiting);
    assertThatThrownBy(() -> waiting.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    loopback.b.channel.close();
    assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("completion channel");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInterruptEndsTheWait(boolean virtual) throws Exception {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    Thread waiter =
        thread(
            virtual,
            () -> {
              try {
                loopback.b.channel.awaitEvent(LONG);
                thrown.complete(new AssertionError("no exception"));
              } catch (Throwable expected) {
                thrown.complete(expected);
              }
            });
    Thread.sleep(100);
    waiter.interrupt();
    assertThat(thrown.get(30, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
  }

  @Test
  void anInterruptedThreadDoesNotWait() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> loopback.b.channel.awaitEvent(LONG))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> loopback.b.channel.awaitReady(LONG))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closingTheChannelEndsTheWait(boolean virtual) throws Exception {
    FutureTask<Optional<CompletionQueue>> waiting = start(virtual, LONG);
    Thread.sleep(100);
    loopback.b.channel.close();
    assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("completion channel");
    assertThatThrownBy(loopback.b.queue::handle).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void unreadEventsDoNotKeepAQueueFromClosing() throws InterruptedException {
    loopback.b.receive(1, 0, 64);
    loopback.b.queue.requestNotification(false);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 1);
    loopback.a.sends.post();
    loopback.b.await(1);
    loopback.b.queue.close();
    assertThat(loopback.b.channel.awaitEvent(Duration.ofMillis(50))).isEmpty();
  }

  @Tag("needs-connecting-by-address")
  @Test
  void eachQueueOfAChannelHasItsOwnEvents() throws InterruptedException {
    CompletionQueue second = loopback.device.createCompletionQueue(64, loopback.b.channel);
    QueuePair receiver = loopback.domain.createQueuePair(Loopback.config(second));
    CompletionQueue senders = loopback.device.createCompletionQueue(64);
    QueuePair sender = loopback.domain.createQueuePair(Loopback.config(senders));
    sender.connect(loopback.path(loopback.address(receiver)));
    receiver.connect(loopback.path(loopback.address(sender)));
    ReceiveRequests receives = receiver.receiveRequests(1);
    receives.add(1).into(loopback.b.region, 0, 64).post();
    second.requestNotification(false);
    loopback.b.queue.requestNotification(false);
    sender.sendRequests(1).add(1).from(loopback.a.region, 0, 1).post();

    assertThat(loopback.b.channel.awaitEvent(Loopback.PATIENCE)).containsSame(second);
    assertThat(second.channel()).containsSame(loopback.b.channel);
  }

  @Test
  void manyVirtualThreadsWaitWithoutPinningTheirCarriers() throws Exception {
    List<FutureTask<Optional<CompletionQueue>>> waits = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      waits.add(start(true, Duration.ofMillis(500)));
    }
    FutureTask<Boolean> other = new FutureTask<>(() -> true);
    Thread.ofVirtual().start(other);
    assertThat(other.get(30, TimeUnit.SECONDS)).isTrue();
    for (FutureTask<Optional<CompletionQueue>> wait : waits) {
      assertThat(wait.get(60, TimeUnit.SECONDS)).isEmpty();
    }
  }

  @Test
  void aQueueWithoutAChannelHasNoEvents() {
    CompletionQueue queue = loopback.device.createCompletionQueue(1);
    assertThat(queue.channel()).isEmpty();
    assertThatThrownBy(() -> queue.requestNotification(false))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("without a completion channel");
    assertThatThrownBy(() -> queue.completions(1).pollBeforeWait())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has no completion channel");
  }

  @Test
  void aNegativeTimeoutIsRefused() {
    assertThatThrownBy(() -> loopback.b.channel.awaitEvent(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1 ms");
    assertThatThrownBy(() -> loopback.b.channel.awaitReady(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1 ms");
  }

  @Test
  void theDescriptorBecomesReadableWithAnEvent() throws Exception {
    assertThat(loopback.b.channel.fileDescriptor()).isPositive();
    loopback.b.receive(1, 0, 64);
    loopback.b.queue.requestNotification(false);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 1);
    loopback.a.sends.post();
    assertThat(
            org.rdma4j.platform.Readiness.await(
                loopback.b.channel.fileDescriptor(),
                System.nanoTime() + LONG.toNanos(),
                () -> false))
        .isTrue();
  }

  private FutureTask<Optional<CompletionQueue>> start(boolean virtual, Duration timeout) {
    FutureTask<Optional<CompletionQueue>> task =
        new FutureTask<>(() -> loopback.b.channel.awaitEvent(timeout));
    thread(virtual, task);
    return task;
  }

  private static boolean isSpinning(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(
            frame ->
                frame.getClassName().equals(Spin.class.getName())
                    && frame.getMethodName().equals("until"));
  }

  private static Thread thread(boolean virtual, Runnable body) {
    return virtual ? Thread.ofVirtual().start(body) : Thread.ofPlatform().daemon().start(body);
  }
}
