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
  /** How often a call without a safepoint may follow another before a call with one. */
  private static final int CALLS_PER_SAFEPOINT = 1024;

  private static final Thread CLOSED = Thread.ofPlatform().unstarted(() -> {});
  private static final VarHandle OWNER;
  private static final VarHandle INSIDE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OWNER = lookup.findVarHandle(HotCall.class, "owner", Thread.class);
      INSIDE = lookup.findVarHandle(HotCall.class, "inside", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** Null until a thread uses it; {@link #CLOSED} once no thread may. */
  private @Nullable Thread owner;

  @SuppressWarnings("UnusedVariable") // read through the VarHandle
  private boolean inside;

  private int calls;

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

  /** Begins a call: until {@link #leave}, the native queue is not destroyed. */
  void enter() {
    check();
    inside = true;
    // Keeps the compiler from swapping the store and the load; the closer's barrier does the rest.
    VarHandle.acquireFence();
    if (owner == CLOSED) {
      inside = false;
      throw closed();
    }
  }

  /** Ends a call. */
  void leave() {
    INSIDE.setRelease(this, false);
    calls++;
    if ((calls & (CALLS_PER_SAFEPOINT - 1)) == 0) {
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
    while ((boolean) INSIDE.getVolatile(this)) {
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
