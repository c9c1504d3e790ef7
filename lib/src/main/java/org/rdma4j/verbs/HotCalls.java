package org.rdma4j.verbs;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.rdma4j.platform.MemoryBarrier;

/** All rights to call into the data path of one queue. */
final class HotCalls {
  private final List<WeakReference<HotCall>> calls = new ArrayList<>();

  synchronized HotCall grant(String name) {
    calls.removeIf(call -> call.refersTo(null));
    HotCall call = new HotCall(name);
    calls.add(new WeakReference<>(call));
    return call;
  }

  synchronized int size() {
    return calls.size();
  }

  /** Ends them: when this returns, no thread is inside a call, and none gets in any more. */
  synchronized void revoke() {
    List<HotCall> reachable =
        calls.stream().map(WeakReference::get).filter(Objects::nonNull).toList();
    if (reachable.isEmpty()) {
      return;
    }
    reachable.forEach(HotCall::revoke);
    MemoryBarrier.everyThread();
    reachable.forEach(HotCall::awaitLeave);
  }
}
