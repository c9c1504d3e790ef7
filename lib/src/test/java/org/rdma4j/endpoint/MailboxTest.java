package org.rdma4j.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.CompletionOpcode;

/** Which thread gets which outcome; a queue of outcomes takes the place of the device. */
final class MailboxTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int SENDS = 1000;

  private final BlockingQueue<Outcome> arriving = new LinkedBlockingQueue<>();
  private final AtomicInteger fetching = new AtomicInteger();
  private final AtomicInteger maxFetching = new AtomicInteger();
  private final Mailbox mailbox = new Mailbox("endpoint to x", this::fetch, SENDS, 2);

  private List<Outcome> fetch(Deadline deadline) throws InterruptedException {
    maxFetching.accumulateAndGet(fetching.incrementAndGet(), Math::max);
    try {
      Outcome outcome = arriving.poll(deadline.nanos(), TimeUnit.NANOSECONDS);
      return outcome == null ? List.of() : List.of(outcome);
    } finally {
      fetching.decrementAndGet();
    }
  }

  private void arrive(long id) {
    arriving.add(Outcome.of(new Completion(id, CompletionOpcode.SEND, 0)));
  }

  @Test
  void anOutcomeIsKeptUntilItIsAwaited() throws Exception {
    expect(1, 2, 3);
    arrive(3);
    arrive(1);
    arrive(2);
    assertThat(await(1).id()).isEqualTo(1);
    assertThat(arriving).hasSize(1);
    assertThat(await(2).id()).isEqualTo(2);
    assertThat(await(3).id()).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void manyThreadsEachGetTheirOwnAndOneFetchesForAll(boolean virtual) throws Exception {
    List<Long> ids = new ArrayList<>();
    List<Future<Outcome>> waits = new ArrayList<>();
    for (long id = 0; id < SENDS; id++) {
      ids.add(id);
      mailbox.expect(id, Mailbox.Lane.SEND);
      waits.add(start(virtual, id, LONG));
    }
    Collections.shuffle(ids);
    ids.forEach(this::arrive);
    for (int id = 0; id < SENDS; id++) {
      assertThat(waits.get(id).get(30, TimeUnit.SECONDS).id()).isEqualTo(id);
    }
    assertThat(maxFetching).hasValue(1);
  }

  @Test
  void aWaitEndsAtItsTimeoutAndTheRequestCanBeAwaitedAgain() throws Exception {
    expect(1);
    long start = System.nanoTime();
    assertThatThrownBy(() -> mailbox.await(1, Deadline.after(Duration.ofMillis(100))))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("id 1")
        .hasMessageContaining("PT0.1S");
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(100_000_000);
    arrive(1);
    assertThat(mailbox.await(1, Deadline.after(Duration.ZERO)).id()).isEqualTo(1);
  }

  @Test
  void aThreadThatDoesNotFetchEndsAtItsTimeoutToo() throws Exception {
    expect(1, 2);
    Future<Outcome> fetches = start(false, 1, LONG);
    awaitFetching();
    assertThatThrownBy(() -> mailbox.await(2, Deadline.after(Duration.ofMillis(100))))
        .isInstanceOf(TimeoutException.class);
    arrive(1);
    fetches.get(30, TimeUnit.SECONDS);
  }

  @Test
  void whenTheThreadThatFetchesLeavesAnotherTakesOver() throws Exception {
    expect(1, 2);
    Future<Outcome> first = start(false, 1, Duration.ofMillis(300));
    awaitFetching();
    Future<Outcome> second = start(false, 2, LONG);
    assertThatThrownBy(() -> first.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(TimeoutException.class);
    arrive(2);
    assertThat(second.get(30, TimeUnit.SECONDS).id()).isEqualTo(2);
  }

  @Test
  void whenTheThreadThatFetchesIsInterruptedAnotherTakesOver() throws Exception {
    expect(1, 2);
    FutureTask<Outcome> first = new FutureTask<>(() -> mailbox.await(1, Deadline.after(LONG)));
    Thread fetches = Thread.ofPlatform().daemon().start(first);
    awaitFetching();
    Future<Outcome> second = start(false, 2, LONG);
    fetches.interrupt();
    assertThatThrownBy(() -> first.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(InterruptedException.class);
    arrive(2);
    assertThat(second.get(30, TimeUnit.SECONDS).id()).isEqualTo(2);
  }

  @Test
  void aThreadThatWasInterruptedBeforeDoesNotWait() {
    expect(1);
    arrive(1);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> mailbox.await(1, Deadline.after(LONG)))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void aSecondThreadForTheSameRequestIsRefused() throws Exception {
    expect(1);
    Future<Outcome> first = start(false, 1, LONG);
    awaitFetching();
    assertThatThrownBy(() -> mailbox.await(1, Deadline.after(LONG)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("another thread already awaits the request with id 1");
    arrive(1);
    assertThat(first.get(30, TimeUnit.SECONDS).id()).isEqualTo(1);
  }

  @Test
  void anIdThatWasNotPostedIsRefused() throws Exception {
    assertThatThrownBy(() -> mailbox.await(1, Deadline.after(LONG)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no request with id 1");
    expect(1);
    arrive(1);
    await(1);
    assertThatThrownBy(() -> mailbox.await(1, Deadline.after(LONG)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void anIdInUseIsRefusedAndFreeOnceItWasAwaited() throws Exception {
    expect(1);
    assertThatThrownBy(() -> mailbox.expect(1, Mailbox.Lane.RECEIVE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("id 1");
    arrive(1);
    await(1);
    expect(1);
  }

  @Test
  void aRequestHoldsItsPlaceUntilItWasAwaited() throws Exception {
    mailbox.expect(1, Mailbox.Lane.RECEIVE);
    mailbox.expect(2, Mailbox.Lane.RECEIVE);
    arrive(1);
    arrive(2);
    await(2);
    mailbox.expect(3, Mailbox.Lane.RECEIVE);
    assertThatThrownBy(() -> mailbox.expect(4, Mailbox.Lane.RECEIVE))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the receive queue is full");
    mailbox.expect(4, Mailbox.Lane.SEND);
    mailbox.forget(3);
    mailbox.expect(5, Mailbox.Lane.RECEIVE);
  }

  @Test
  void closingEndsAllWaits() throws Exception {
    expect(1, 2);
    Future<Outcome> fetches = start(false, 1, Duration.ofSeconds(1));
    awaitFetching();
    Future<Outcome> waits = start(false, 2, LONG);
    Thread.sleep(50);
    mailbox.close();
    assertThatThrownBy(() -> waits.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("endpoint to x is closed");
    assertThatThrownBy(() -> fetches.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class);
    assertThatThrownBy(() -> mailbox.expect(3, Mailbox.Lane.SEND)).hasMessageContaining("closed");
    assertThatThrownBy(() -> mailbox.await(1, Deadline.after(LONG))).hasMessageContaining("closed");
  }

  @Test
  void aFailureToFetchReachesTheThreadThatFetches() {
    Mailbox broken =
        new Mailbox(
            "x",
            deadline -> {
              throw new IllegalStateException("overrun");
            },
            1,
            1);
    broken.expect(1, Mailbox.Lane.SEND);
    assertThatThrownBy(() -> broken.await(1, Deadline.after(LONG))).hasMessage("overrun");
  }

  private void expect(long... ids) {
    for (long id : ids) {
      mailbox.expect(id, Mailbox.Lane.SEND);
    }
  }

  private Outcome await(long id) throws Exception {
    return mailbox.await(id, Deadline.after(LONG));
  }

  private void awaitFetching() throws InterruptedException {
    long deadline = System.nanoTime() + LONG.toNanos();
    while (fetching.get() == 0) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.sleep(5);
    }
  }

  private Future<Outcome> start(boolean virtual, long id, Duration timeout) {
    FutureTask<Outcome> task = new FutureTask<>(() -> mailbox.await(id, Deadline.after(timeout)));
    (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(task);
    return task;
  }
}
