package org.rdma4j.platform;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is to poll for something that several threads wait for. The turn belongs to one
 * thread, its owner. While another platform thread waits, it borrows the turn and polls itself for
 * a moment, which saves a change of threads. The owner then stays away until no thread has polled
 * for 2 ms, or until a thread sleeps that relies on it.
 */
public final class PollingTurn {
  /**
   * How long the owner stays away after the turn was used last. More than the 1 ms for which a
   * thread polls, because the time is noted only when the turn is borrowed and given back.
   */
  private static final long AWAY_NANOS = 2_000_000;

  /** More than it takes the owner to notice that the turn is wanted. */
  private static final long TAKE_OVER_NANOS = 200_000;

  private static final long SECOND = 1_000_000_000;

  /** What a poll of the owner returns if it left the turn to another thread. */
  private static final int LEFT = -1;

  private final IntSupplier poll;
  private final IntSupplier pollUnlessWanted = this::pollUnlessWanted;
  private final IntSupplier pollForBorrower = this::pollForBorrower;
  private final IntSupplier pollTogether = this::pollTogether;
  private final long awayNanos;
  private final long longestAwayNanos;
  private final Spin ownersSpin = new Spin();
  private final Spin borrowersSpin = new Spin();

  /** Held by the thread that polls, also while it handles what it has found. */
  private final ReentrantLock turn = LockOrder.POLLING_TURN.newLock();

  /** What the thread that has borrowed the turn waits for. */
  private BooleanSupplier awaited = () -> true;

  /** The turns of which the thread that has borrowed this one may have borrowed others, too. */
  private PollingTurn[] together = {};

  private volatile @Nullable Thread owner;

  /** The number of threads that sleep until the owner finds something. */
  private final AtomicInteger sleepers = new AtomicInteger();

  /** Whether a poll may find something. */
  private volatile boolean useful = true;

  /** When a thread last borrowed the turn, or gave it back. */
  private volatile long borrowed;

  /** Whether the owner stays away, or is about to look whether it should. */
  private volatile boolean away;

  /** Whether the owner has the turn and looks for what may come soon. */
  private volatile boolean ownerSpins;

  /** Whether a thread that waits wants to look for itself instead. */
  private volatile boolean wanted;

  /**
   * Creates a turn that no thread has.
   *
   * @param poll polls once, handles what is there, and returns how much that was; called by one
   *     thread at a time
   */
  public PollingTurn(IntSupplier poll) {
    this(poll, AWAY_NANOS);
  }

  PollingTurn(IntSupplier poll, long awayNanos) {
    this.poll = poll;
    this.awayNanos = awayNanos;
    this.longestAwayNanos = 4 * awayNanos;
    this.borrowed = System.nanoTime() - longestAwayNanos;
  }

  /**
   * Notes whether a poll may find something. If not, threads that poll with several turns leave
   * this one to its owner.
   *
   * @param mayFind whether there is anything to poll for; true until this is called
   */
  public void useful(boolean mayFind) {
    useful = mayFind;
  }

  /**
   * Returns whether the calling thread has the turn.
   *
   * @return whether it is inside a poll
   */
  public boolean isMine() {
    return turn.isHeldByCurrentThread();
  }

  /**
   * Polls in the thread that owns the turn, once no thread borrows it any more.
   *
   * @param ifNothing called with the turn if nothing was found, also not within a moment; its
   *     result counts
   * @return what was found; 0 for nothing; negative if the turn was left to another thread
   */
  public int pollAsOwner(IntSupplier ifNothing) {
    owner = Thread.currentThread();
    stayAway();
    turn.lock();
    try {
      int found = poll.getAsInt();
      if (found == 0) {
        ownerSpins = true;
        try {
          found = ownersSpin.until(System.nanoTime() + SECOND, pollUnlessWanted);
        } finally {
          ownerSpins = false;
        }
      }
      return found == 0 ? ifNothing.getAsInt() : found;
    } finally {
      turn.unlock();
    }
  }

  private void stayAway() {
    long longest = awayNanos;
    // Set before the look at the time, so that a thread that recalls this one meanwhile wakes it.
    away = true;
    long left = longest - (System.nanoTime() - borrowed);
    while (left > 0 && sleepers.get() == 0) {
      LockSupport.parkNanos(left);
      longest = Math.min(2 * longest, longestAwayNanos);
      left = longest - (System.nanoTime() - borrowed);
    }
    away = false;
  }

  private int pollUnlessWanted() {
    return wanted ? LEFT : poll.getAsInt();
  }

  /**
   * Takes the turn, if no other thread has it, for a thread that polls in the place of the owner.
   *
   * @return whether the calling thread has it, and must {@link #leave} it
   */
  public boolean tryTake() {
    return turn.tryLock();
  }

  /** Leaves a turn that {@link #tryTake} has taken. */
  public void leave() {
    turn.unlock();
  }

  /**
   * Polls in any thread, when it has the turn, until nothing is there any more.
   *
   * @param poll polls once, and returns how much it found
   */
  public void pollAll(IntSupplier poll) {
    turn.lock();
    try {
      int found;
      do {
        found = poll.getAsInt();
      } while (found > 0);
    } finally {
      turn.unlock();
    }
  }

  /**
   * Polls in the calling thread, unless another thread polls, until a condition holds or polling no
   * longer pays. If the condition does not hold then, the caller {@link #relyOnOwner relies} on the
   * owner while it sleeps.
   *
   * @param end when to stop at the latest, on the scale of {@link System#nanoTime}
   * @param done the condition
   */
  public void pollUntil(long end, BooleanSupplier done) {
    if (!tryBorrow()) {
      return;
    }
    try {
      var unused = poll.getAsInt();
      if (!done.getAsBoolean()) {
        awaited = done;
        borrowersSpin.until(end, pollForBorrower);
      }
    } finally {
      giveBack();
    }
  }

  /**
   * Polls with all useful turns that the calling thread can borrow, until a condition holds or
   * polling no longer pays. If the condition does not hold then, the caller {@link #relyOnOwner
   * relies} on their owners while it sleeps.
   *
   * @param turns the turns, of which the calling thread has none
   * @param done the condition, which may become true without anything being found
   */
  public static void pollUntil(PollingTurn[] turns, BooleanSupplier done) {
    PollingTurn first = null;
    try {
      for (PollingTurn each : turns) {
        if (each.useful && each.tryBorrow() && first == null) {
          first = each;
        }
      }
      if (first != null) {
        first.together = turns;
        first.awaited = done;
        if (first.pollTogether() == 0) {
          first.borrowersSpin.until(System.nanoTime() + SECOND, first.pollTogether);
        }
      }
    } finally {
      for (PollingTurn each : turns) {
        if (each.isMine()) {
          each.giveBack();
        }
      }
    }
  }

  private int pollTogether() {
    for (PollingTurn each : together) {
      if (each.isMine()) {
        var unused = each.poll.getAsInt();
      }
    }
    return awaited.getAsBoolean() ? 1 : 0;
  }

  /**
   * Makes the owner poll until {@link #relyNoMore}, although other threads may borrow the turn: the
   * calling thread is about to sleep until something is found.
   */
  public void relyOnOwner() {
    sleepers.incrementAndGet();
    recallOwner();
  }

  /** Records that the calling thread sleeps no more. */
  public void relyNoMore() {
    sleepers.decrementAndGet();
  }

  private int pollForBorrower() {
    return poll.getAsInt() > 0 && awaited.getAsBoolean() ? 1 : 0;
  }

  /**
   * Takes the turn if no thread uses it, or if the owner has found nothing yet. Then the calling
   * thread polls, and need not be woken up.
   *
   * @return whether it has the turn, and must {@link #giveBack} it; false for virtual threads,
   *     which would block their carrier
   */
  public boolean tryBorrow() {
    if (Thread.currentThread().isVirtual() || !(turn.tryLock() || takeOver())) {
      return false;
    }
    borrowed = System.nanoTime();
    return true;
  }

  /** Frees the turn. The owner stays away for a while yet. */
  public void giveBack() {
    borrowed = System.nanoTime();
    turn.unlock();
  }

  @SuppressWarnings("ThreadPriorityCheck") // Nothing relies on it: it only makes room earlier.
  private boolean takeOver() {
    if (!ownerSpins) {
      return false;
    }
    long now = System.nanoTime();
    // Set before the owner frees the turn, because it looks then whether to stay away.
    borrowed = now;
    wanted = true;
    try {
      while (!turn.tryLock()) {
        if (System.nanoTime() - now > TAKE_OVER_NANOS) {
          return false;
        }
        // Not onSpinWait, because the owner may need this processor.
        Thread.yield();
      }
      return true;
    } finally {
      wanted = false;
    }
  }

  /** Makes the owner poll again immediately, because no other thread does. */
  public void recallOwner() {
    borrowed = System.nanoTime() - longestAwayNanos;
    if (away) {
      LockSupport.unpark(owner);
    }
  }

  /**
   * Makes the owner poll again immediately if it stays away, because the calling thread has begun
   * something and does not poll for it.
   */
  public void attend() {
    if (away && !isMine()) {
      recallOwner();
    }
  }
}
