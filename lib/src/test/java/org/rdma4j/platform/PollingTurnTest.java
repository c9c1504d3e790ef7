package org.rdma4j.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The owner stays away for an hour here, so that a lost wake-up shows: no thread polls any more.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PollingTurnTest {
  private static final int ROUNDS = 20_000;

  private final AtomicInteger there = new AtomicInteger();
  private final AtomicInteger found = new AtomicInteger();
  private final AtomicInteger polling = new AtomicInteger();
  private final AtomicBoolean overlapped = new AtomicBoolean();
  private final AtomicBoolean ended = new AtomicBoolean();
  private final PollingTurn turn = new PollingTurn(this::poll, Duration.ofHours(1).toNanos());
  private final Thread owner = new Thread(this::own, "owner");

  @AfterEach
  void end() throws InterruptedException {
    ended.set(true);
    turn.recallOwner();
    owner.join(20_000);
    assertThat(owner.isAlive()).as("the owner polls on").isFalse();
    assertThat(overlapped).as("two threads polled at the same time").isFalse();
  }

  private int poll() {
    if (polling.getAndIncrement() != 0) {
      overlapped.set(true);
    }
    int taken = there.getAndSet(0);
    found.addAndGet(taken);
    polling.getAndDecrement();
    return taken;
  }

  private void own() {
    while (!ended.get()) {
      if (turn.pollAsOwner(() -> 0) == 0) {
        Thread.onSpinWait();
      }
    }
  }

  private static long later() {
    return System.nanoTime() + Duration.ofMinutes(1).toNanos();
  }

  private void awaitFound(int count) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (found.get() < count) {
      assertThat(System.nanoTime() - end).as("no thread polls").isNegative();
      Thread.onSpinWait();
    }
  }

  @Test
  void theOwnerFindsWhatIsThere() {
    owner.start();
    there.set(3);
    awaitFound(3);
    assertThat(found).hasValue(3);
  }

  @Test
  void aThreadThatGivesUpReliesOnTheOwner() {
    owner.start();
    for (int round = 1; round <= ROUNDS; round++) {
      turn.pollUntil(System.nanoTime() + 1_000, () -> false);
      turn.relyOnOwner();
      there.incrementAndGet();
      awaitFound(round);
      turn.relyNoMore();
    }
    assertThat(found).hasValue(ROUNDS);
  }

  @Test
  void aThreadThatFindsWhatItWaitsForKeepsTheOwnerAway() throws InterruptedException {
    owner.start();
    there.set(1);
    awaitFound(1);
    AtomicInteger goal = new AtomicInteger(1);
    do {
      there.set(1);
      goal.set(found.get() + 1);
      turn.pollUntil(later(), () -> found.get() >= goal.get());
    } while (owner.getState() != Thread.State.TIMED_WAITING);
    int before = found.get();
    there.set(1);
    Thread.sleep(20);
    assertThat(found).hasValue(before);
    turn.attend();
    awaitFound(before + 1);
  }

  @Test
  void theOwnerPollsWhileAThreadReliesOnItAlthoughAnotherBorrowsTheTurn() {
    turn.relyOnOwner();
    assertThat(turn.tryTake()).isTrue();
    owner.start();
    while (owner.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    // Now the owner waits for the turn. It will have it, although it was borrowed just now.
    assertThat(turn.tryBorrow()).isTrue();
    turn.giveBack();
    turn.leave();
    there.set(1);
    awaitFound(1);
    there.set(1);
    awaitFound(2);
  }

  @Test
  void aThreadTakesTheTurnFromAnOwnerThatFindsNothing() {
    owner.start();
    int borrowed = 0;
    while (borrowed < 100) {
      turn.recallOwner();
      if (turn.tryBorrow()) {
        try {
          assertThat(turn.isMine()).isTrue();
          borrowed++;
        } finally {
          turn.giveBack();
        }
      }
    }
    assertThat(turn.isMine()).isFalse();
  }

  @Test
  void aVirtualThreadDoesNotPoll() throws InterruptedException {
    AtomicBoolean borrowed = new AtomicBoolean(true);
    Thread.ofVirtual().start(() -> borrowed.set(turn.tryBorrow())).join();
    assertThat(borrowed).isFalse();
  }

  @Test
  void onlyOneThreadPollsAtATime() throws InterruptedException {
    owner.start();
    CountDownLatch finished = new CountDownLatch(2);
    for (int i = 0; i < 2; i++) {
      Thread.ofPlatform()
          .start(
              () -> {
                for (int round = 0; round < ROUNDS / 10; round++) {
                  there.incrementAndGet();
                  turn.pollUntil(System.nanoTime() + 1_000, () -> there.get() == 0);
                  turn.pollAll(this::poll);
                }
                finished.countDown();
              });
    }
    assertThat(finished.await(50, TimeUnit.SECONDS)).isTrue();
    turn.pollAll(this::poll);
    assertThat(found).hasValue(2 * (ROUNDS / 10));
  }

  @Test
  void aTurnIsTakenByOneThreadUntilThatLeavesIt() throws InterruptedException {
    assertThat(turn.tryTake()).isTrue();
    assertThat(turn.isMine()).isTrue();
    AtomicBoolean taken = new AtomicBoolean(true);
    Thread.ofPlatform().start(() -> taken.set(turn.tryTake())).join();
    assertThat(taken).isFalse();
    turn.leave();
    assertThat(turn.isMine()).isFalse();
  }

  @Test
  void aThreadPollsWithAllTurnsThatItCanBorrow() {
    AtomicInteger others = new AtomicInteger();
    PollingTurn other = new PollingTurn(others::incrementAndGet);
    there.set(1);
    PollingTurn.pollUntil(
        new PollingTurn[] {turn, other}, () -> found.get() == 1 && others.get() > 0);
    assertThat(found).hasValue(1);
    assertThat(others).hasPositiveValue();
    assertThat(turn.isMine()).isFalse();
    assertThat(other.isMine()).isFalse();
  }

  @Test
  void aThreadPollsWithTheOtherTurnsIfOneIsTaken() throws InterruptedException {
    CountDownLatch taken = new CountDownLatch(1);
    CountDownLatch finished = new CountDownLatch(1);
    PollingTurn other = new PollingTurn(() -> 0);
    Thread taker =
        Thread.ofPlatform()
            .start(
                () ->
                    other.pollAll(
                        () -> {
                          taken.countDown();
                          try {
                            finished.await();
                          } catch (InterruptedException interrupted) {
                            Thread.currentThread().interrupt();
                          }
                          return 0;
                        }));
    taken.await();
    there.set(1);
    PollingTurn.pollUntil(new PollingTurn[] {other, turn}, () -> found.get() == 1);
    assertThat(found).hasValue(1);
    finished.countDown();
    taker.join();
  }

  @Test
  void aTurnThatIsNotUsefulIsLeftToItsOwner() {
    PollingTurn useless = new PollingTurn(() -> found.incrementAndGet());
    useless.useful(false);
    AtomicInteger others = new AtomicInteger();
    PollingTurn other = new PollingTurn(others::incrementAndGet);
    PollingTurn[] both = {useless, other};
    PollingTurn.pollUntil(both, () -> others.get() > 0);
    assertThat(found).hasValue(0);
    useless.useful(true);
    PollingTurn.pollUntil(both, () -> found.get() > 0);
    assertThat(found).hasPositiveValue();
  }

  @Test
  void turnsAreGivenBackIfTheConditionThrows() {
    assertThatThrownBy(
            () ->
                PollingTurn.pollUntil(
                    new PollingTurn[] {turn},
                    () -> {
                      throw new IllegalStateException("mischief");
                    }))
        .hasMessage("mischief");
    assertThat(turn.isMine()).isFalse();
  }

  @Test
  void pollingEndsIfNothingIsFound() {
    PollingTurn.pollUntil(new PollingTurn[] {turn}, () -> false);
    PollingTurn.pollUntil(new PollingTurn[0], () -> false);
    assertThat(turn.isMine()).isFalse();
  }
}
