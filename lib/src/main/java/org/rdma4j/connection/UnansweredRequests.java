package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The requests of a peer that their handler did not answer before it returned. The program may
 * answer them later, unless it has dropped them: then they are refused, so that the peer need not
 * wait for ever.
 */
final class UnansweredRequests {
  private record Unanswered(
      long number, AtomicBoolean answered, WeakReference<IncomingRequest> request) {}

  private final Link link;
  private final Queue<Unanswered> requests = new ConcurrentLinkedQueue<>();

  UnansweredRequests(Link link) {
    this.link = link;
  }

  /** Adds a request whose handler has returned, unless it was answered. */
  void add(IncomingRequest request) {
    AtomicBoolean answered = request.answered();
    if (!answered.get()) {
      requests.add(new Unanswered(request.number(), answered, new WeakReference<>(request)));
    }
  }

  /**
   * Refuses requests that the program has dropped, while the peer can learn of it. Called at
   * intervals by one thread.
   */
  void refuseDropped() {
    Iterator<Unanswered> all = requests.iterator();
    while (all.hasNext()) {
      Unanswered each = all.next();
      if (each.answered.get()) {
        all.remove();
      } else if (each.request.refersTo(null)) {
        all.remove();
        link.log(
            Level.WARNING,
            "a request was dropped without an answer, so it is refused: answer or refuse each one",
            null);
        link.later(() -> IncomingRequest.refuse(link, each.number, "the program has dropped it"));
      }
    }
  }
}
