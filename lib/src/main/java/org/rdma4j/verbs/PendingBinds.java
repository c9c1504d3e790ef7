package org.rdma4j.verbs;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.datapath.RequestChain;

/**
 * The requests of a chain that bind memory windows, until they are posted. A window learns of its
 * bind when the request is built; so it has to be told if the request is dropped, and when it was
 * posted.
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

  /** Posts the chain; returns how many requests that were. */
  int post() {
    // An exception of another kind says that the chain is another thread's, and so are the binds.
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

  /** Undoes the binds whose requests were dropped, youngest first. */
  void drop() {
    binds.reversed().forEach(bind -> bind.window.dropped(bind.key, bind.before));
    binds.clear();
  }
}
