package org.rdma4j.platform;

import java.util.EnumMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A lock that fails if a thread breaks the {@link LockOrder}. */
final class CheckedLock extends ReentrantLock {
  private static final long serialVersionUID = 1;

  private static final List<LockOrder> FROM_LAST = List.of(LockOrder.values()).reversed();

  /** How many locks of each place the thread holds. */
  private static final ThreadLocal<EnumMap<LockOrder, Integer>> HELD =
      ThreadLocal.withInitial(() -> new EnumMap<>(LockOrder.class));

  private final LockOrder place;

  CheckedLock(LockOrder place) {
    this.place = place;
  }

  /**
   * Checks that the calling thread holds no lock behind a place.
   *
   * @throws AssertionError if it holds one
   */
  static void checkHeldUpTo(LockOrder place) {
    LockOrder last = lastHeld();
    if (last != null && last.compareTo(place) > 0) {
      throw new AssertionError(
          "code of users would run while the thread holds the lock "
              + last
              + ": release it before that");
    }
  }

  private static @Nullable LockOrder lastHeld() {
    EnumMap<LockOrder, Integer> held = HELD.get();
    for (LockOrder each : FROM_LAST) {
      if (held.getOrDefault(each, 0) > 0) {
        return each;
      }
    }
    return null;
  }

  /** Checks that the calling thread may wait for this lock. */
  private void checkOrder() {
    LockOrder last = isHeldByCurrentThread() ? null : lastHeld();
    boolean may =
        last == null
            || last.compareTo(place) < 0
            || (last == place && place == LockOrder.CHANNEL_OF_EVENTS);
    if (!may) {
      throw new AssertionError(
          "the thread would wait for the lock %s while it holds the lock %s: take them in the order of LockOrder"
              .formatted(place, last));
    }
  }

  private void taken() {
    var unused = HELD.get().merge(place, 1, Integer::sum);
  }

  @Override
  public void lock() {
    checkOrder();
    super.lock();
    taken();
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    checkOrder();
    super.lockInterruptibly();
    taken();
  }

  @Override
  public boolean tryLock() {
    boolean taken = super.tryLock();
    if (taken) {
      taken();
    }
    return taken;
  }

  @Override
  public boolean tryLock(long timeout, TimeUnit unit) throws InterruptedException {
    checkOrder();
    boolean taken = super.tryLock(timeout, unit);
    if (taken) {
      taken();
    }
    return taken;
  }

  @Override
  public void unlock() {
    super.unlock();
    var unused = HELD.get().merge(place, -1, Integer::sum);
  }
}
