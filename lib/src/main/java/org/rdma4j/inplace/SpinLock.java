package org.rdma4j.inplace;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Keeps other threads out of a queue for the few nanoseconds of a post or poll, as the spin lock of
 * libmlx5 does.
 */
final class SpinLock {
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(SpinLock.class, "held", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  @SuppressWarnings("unused") // by way of the handle
  private int held;

  /** Waits until no other thread holds the lock, and takes it. */
  void lock() {
    while (!HELD.compareAndSet(this, 0, 1)) {
      Thread.onSpinWait();
    }
  }

  /** Gives the lock back. */
  void unlock() {
    HELD.setRelease(this, 0);
  }
}
