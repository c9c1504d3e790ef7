package org.rdma4j.datapath;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** All objects that call into the data path of one queue. */
public final class HotCalls {
  private static final String INSIDE = HotCall.class.getName();

  private final List<WeakReference<HotCall>> calls = new ArrayList<>();

  /** What lets only one thread at a time call; null if the provider takes locks. */
  private final @Nullable ThreadConfinement confinement;

  /** Is notified of each new owner; null if the queue needs no lock of this side. */
  private final @Nullable QueueUse use;

  public HotCalls() {
    this(null);
  }

  public HotCalls(@Nullable ThreadConfinement confinement) {
    this(confinement, null);
  }

  HotCalls(@Nullable ThreadConfinement confinement, @Nullable QueueUse use) {
    this.confinement = confinement;
    this.use = use;
  }

  public synchronized void add(HotCall call) {
    calls.removeIf(each -> each.refersTo(null));
    calls.add(new WeakReference<>(call));
  }

  synchronized int size() {
    return calls.size();
  }

  /**
   * Ends all calls: when this method returns, no thread is inside a call, and none can begin one.
   */
  public void revoke() {
    awaitOutside(owners(HotCall::revoke));
    forEach(this::leave);
  }

  /** Makes the next call of each object look closer. */
  public void disarm() {
    forEach(HotCall::disarm);
  }

  private synchronized void forEach(Consumer<HotCall> action) {
    for (WeakReference<HotCall> reference : calls) {
      HotCall call = reference.get();
      if (call != null) {
        action.accept(call);
      }
    }
  }

  /**
   * Records that the current thread has become the owner of a call.
   *
   * @throws IllegalStateException if it must not
   */
  void enter(HotCall call) {
    if (confinement != null) {
      confinement.enter(call);
    }
    if (use != null) {
      use.enter();
    }
  }

  /** Records that the thread that was the owner of a call is not any more. */
  void leave(HotCall call) {
    if (confinement != null) {
      confinement.leave(call);
    }
  }

  /** Returns the owners of the calls. */
  Set<Thread> owners() {
    return owners(HotCall::owner);
  }

  /** Waits until each thread that is inside a call now has left it. */
  public void awaitOutside() {
    awaitOutside(owners());
  }

  private synchronized Set<Thread> owners(Function<HotCall, @Nullable Thread> ownerOf) {
    Set<Thread> owners = new HashSet<>();
    for (WeakReference<HotCall> reference : calls) {
      HotCall call = reference.get();
      Thread owner = call == null ? null : ownerOf.apply(call);
      if (owner != null) {
        owners.add(owner);
      }
    }
    return owners;
  }

  private static void awaitOutside(Set<Thread> owners) {
    owners.remove(Thread.currentThread());
    owners.forEach(HotCalls::awaitOutside);
  }

  /**
   * Waits until a thread that posts or polls now has done so. It does not while it becomes an
   * owner: then it may be waiting for another thread that waits for this one.
   */
  static void awaitDone(Thread owner) {
    while (isInside(owner, true)) {
      Thread.onSpinWait();
    }
  }

  private static void awaitOutside(Thread owner) {
    while (isInside(owner, false)) {
      Thread.onSpinWait();
    }
  }

  private static boolean isInside(Thread owner, boolean unlessAdopting) {
    for (StackTraceElement frame : owner.getStackTrace()) {
      if (frame.getClassName().equals(INSIDE)) {
        return !(unlessAdopting && frame.getMethodName().equals(HotCall.ADOPT));
      }
    }
    return false;
  }
}
