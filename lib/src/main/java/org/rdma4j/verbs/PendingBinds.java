package org.rdma4j.verbs;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.datapath.RequestChain;

/**
 * The requests of a batch that bind memory windows, until they are posted. A window takes its new
 * binding when the request is built, so this class tells it whether the request was posted or
 * dropped.
 */
final class PendingBinds {
  private final RequestChain chain;
  private final List<Bind> binds = new ArrayList<>();

  private record Bind(long request, MemoryWindow window, int key, MemoryWindow.Binding before) {}

  PendingBinds(RequestChain chain) {
    this.chain = chain;
  }

  void add(long request, MemoryWindow window, int key, MemoryWindow.Binding before) {
    binds.add(new Bind(request, window, key, before));
  }

  /** Posts the chain and returns the number of requests that were posted. */
  int post() {
    // Any other exception means that another thread owns the chain, and with it the binds.
    int posted;
    try {
      posted = chain.post();
    } catch (PostException refused) {
      settlePosted();
      throw refused;
    }
    settlePosted();
    return posted;
  }

  private void settlePosted() {
    binds.removeIf(
        bind -> {
          boolean posted = chain.isPosted(bind.request);
          if (posted) {
            bind.window.settle(bind.key);
          }
          return posted;
        });
  }

  /** Undoes the binds of dropped requests, the last one first. */
  void drop() {
    binds.reversed().forEach(bind -> bind.window.dropped(bind.key, bind.before));
    binds.clear();
  }
}
