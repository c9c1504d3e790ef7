package org.rdma4j.verbs;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** All that calls into the data path of one queue. */
final class HotCalls {
  private static final String INSIDE = HotCall.class.getName();

  private final List<WeakReference<HotCall>> calls = new ArrayList<>();

  synchronized void add(HotCall call) {
    calls.removeIf(each -> each.refersTo(null));
    calls.add(new WeakReference<>(call));
  }

  synchronized int size() {
    return calls.size();
  }

  /** Ends them: when this returns, no thread is inside a call, and none gets in any more. */
  synchronized void revoke() {
    Set<Thread> owners = new HashSet<>();
    for (WeakReference<HotCall> reference : calls) {
      HotCall call = reference.get();
      Thread owner = call == null ? null : call.revoke();
      if (owner != null) {
        owners.add(owner);
      }
    }
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
