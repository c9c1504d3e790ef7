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

  public HotCalls() {
    this(null);
  }

  public HotCalls(@Nullable ThreadConfinement confinement) {
    this.confinement = confinement;
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
    forEach(HotCall::leaveConfinement);
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

  @Nullable ThreadConfinement confinement() {
    return confinement;
  }

  /** Waits until each thread that is inside a call now has left it. */
  public void awaitOutside() {
    awaitOutside(owners(HotCall::owner));
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

  private static void awaitOutside(Thread owner) {
    while (isInside(owner)) {
      Thread.onSpinWait();
    }
  }

  private static boolean isInside(Thread owner) {
    for (StackTraceElement frame : owner.getStackTrace()) {
      if (frame.getClassName().equals(INSIDE)) {
        return true;
      }
    }
    return false;
  }
}
