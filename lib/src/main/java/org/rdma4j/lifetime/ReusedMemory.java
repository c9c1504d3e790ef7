package org.rdma4j.lifetime;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A piece of registered memory that serves one user after the other. It counts the operations in
 * progress, so that the next user gets it only after the device has finished with it.
 *
 * <p>A user that returns the memory first ends {@link #isHeld}, and then calls {@link #release}. An
 * operation is counted before {@link #isHeld} is read. So of an operation that begins while another
 * thread returns the memory, either the release notices the operation, or the operation the
 * release.
 *
 * <p>All methods may be called from any thread. None allocates or takes a lock.
 */
public abstract class ReusedMemory {
  private static final AtomicIntegerFieldUpdater<ReusedMemory> STATE =
      AtomicIntegerFieldUpdater.newUpdater(ReusedMemory.class, "state");

  /** Is added to the number of operations if the memory was released before they have ended. */
  private static final int RELEASED = Integer.MIN_VALUE;

  private volatile int state;

  /** Returns whether a user holds the memory. */
  protected abstract boolean isHeld();

  /** Makes the memory available to the next user. May be called with the lock of a connection. */
  protected abstract void giveBack();

  /**
   * Counts an operation on the memory until {@link #end}.
   *
   * @throws IllegalStateException if no user holds the memory; nothing is counted then
   */
  final void begin() {
    STATE.incrementAndGet(this);
    if (!isHeld()) {
      end();
      throw new IllegalStateException(
          "the memory of the operation is not in use: its buffer was closed or sent, or its slab"
              + " was released");
    }
  }

  /** Ends an operation. The last one gives the memory back if it was released before. */
  final void end() {
    if (STATE.decrementAndGet(this) == RELEASED) {
      state = 0;
      giveBack();
    }
  }

  /** Gives the memory back: now, or at the end of the last operation on it. */
  protected final void release() {
    if (state == 0) {
      giveBack();
    } else if (STATE.getAndAdd(this, RELEASED) == 0) {
      // The last operation has ended meanwhile.
      state = 0;
      giveBack();
    }
  }
}
