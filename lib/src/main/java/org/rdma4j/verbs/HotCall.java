package org.rdma4j.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.inlines.DataPath;

/**
 * The right of one thread to call into the data path of one queue, and the queue's right to end it.
 *
 * <p>The thread marks by a plain store that it is inside a call, and looks whether it still may;
 * the closer takes the right away, has every thread pass a memory barrier, and waits until the mark
 * is gone. So one of the two sees the other, and the cost falls on the closer.
 */
final class HotCall {
  /**
   * A call without a safepoint may follow another 1024 times, each of two marks, before one with
   * it.
   */
  private static final int MARKS_PER_SAFEPOINT = 2 * 1024 - 1;

  private static final Thread CLOSED = Thread.ofPlatform().unstarted(() -> {});
  private static final VarHandle OWNER;
  private static final VarHandle MARK;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OWNER = lookup.findVarHandle(HotCall.class, "owner", Thread.class);
      MARK = lookup.findVarHandle(HotCall.class, "mark", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** Null until a thread uses it; {@link #CLOSED} once no thread may. */
  private @Nullable Thread owner;

  /** Odd while the owner is inside a call; it counts the calls besides. */
  private int mark;

  /** What messages call the object that has this right. */
  private final String name;

  HotCall(String name) {
    this.name = name;
  }

  /** Checks that this thread may use the object that has this right. */
  void check() {
    if (owner != Thread.currentThread()) {
      adopt();
    }
  }

  /**
   * Begins a call: until {@link #leave}, the native queue is not destroyed.
   *
   * @return what leave is to be given
   */
  int enter() {
    check();
    int entered = mark + 1;
    mark = entered;
    // Keeps the compiler from swapping the store and the load; the closer's barrier does the rest.
    VarHandle.acquireFence();
    if (owner == CLOSED) {
      mark = entered + 1;
      throw closed();
    }
    return entered;
  }

  /** Ends the call that began with that mark. */
  void leave(int entered) {
    MARK.setRelease(this, entered + 1);
    if ((entered & MARKS_PER_SAFEPOINT) == MARKS_PER_SAFEPOINT) {
      DataPath.safepoint();
    }
  }

  /** Gives the right up, so that the next thread that asks gets it. */
  void release() {
    check();
    OWNER.compareAndSet(this, Thread.currentThread(), null);
  }

  /** Takes the right away; a thread may still be inside a call that it began before. */
  void revoke() {
    OWNER.setVolatile(this, CLOSED);
  }

  /** Waits for that thread, after a barrier in every thread. */
  void awaitLeave() {
    while (((int) MARK.getVolatile(this) & 1) != 0) {
      Thread.onSpinWait();
    }
  }

  private void adopt() {
    Thread current = Thread.currentThread();
    Thread witness = (Thread) OWNER.compareAndExchange(this, (Thread) null, current);
    if (witness == CLOSED) {
      throw closed();
    }
    if (witness != null) {
      throw new IllegalStateException(
          name
              + " belongs to thread \""
              + witness.getName()
              + "\" and was used by \""
              + current.getName()
              + "\": each thread makes its own, or the owner calls release()");
    }
  }

  private IllegalStateException closed() {
    return new IllegalStateException(name + ": the queue is closed");
  }
}
