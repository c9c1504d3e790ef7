package org.rdma4j.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** How many of the entries are promised to the queues of queue pairs. */
final class Reservations {
  private int entries;
  private long reserved;

  Reservations(int entries) {
    this.entries = entries;
  }

  synchronized int entries() {
    return entries;
  }

  /** Resizes where that holds what is promised; the resizer returns what was granted. */
  synchronized void change(int wanted, IntSupplier resizer) {
    if (wanted < reserved) {
      throw new IllegalArgumentException(
          "entries is " + wanted + ", but " + reserved + " are promised to queue pairs");
    }
    entries = resizer.getAsInt();
  }

  synchronized void reserve(long requests) {
    if (reserved + requests > entries) {
      throw new IllegalArgumentException(
          ("a completion queue of %d entries, %d of them promised to other queues, cannot hold"
                  + " the completions of %d outstanding requests: make it deeper, or call"
                  + " QueuePairConfig.mayOverrun(true) where fewer are ever signalled and unpolled")
              .formatted(entries, reserved, requests));
    }
    reserved += requests;
  }

  synchronized void release(long requests) {
    reserved -= requests;
  }

  /**
   * Promises entries of the completion queues to this queue pair; what it returns gives them back.
   */
  static Runnable reserve(QueuePairConfig config) {
    if (config.mayOverrun()) {
      return () -> {};
    }
    List<Runnable> releases = new ArrayList<>();
    Runnable release = () -> releases.forEach(Runnable::run);
    try {
      CompletionQueue sends = config.sendCompletions();
      if (sends != null) {
        reserve(sends.reservations(), config.sendDepth(), releases);
      }
      CompletionQueue receives = config.receiveCompletions();
      SharedReceiveQueue shared = config.sharedReceiveQueue();
      if (receives != null && shared == null) {
        reserve(receives.reservations(), config.receiveDepth(), releases);
      } else if (receives != null && shared != null) {
        Reservations capacity = receives.reservations();
        ReceiveReservations places = shared.places();
        places.reserve(capacity);
        releases.add(() -> places.release(capacity));
      }
    } catch (IllegalArgumentException tooMany) {
      release.run();
      throw tooMany;
    }
    return release;
  }

  private static void reserve(Reservations capacity, int requests, List<Runnable> releases) {
    capacity.reserve(requests);
    releases.add(() -> capacity.release(requests));
  }
}
