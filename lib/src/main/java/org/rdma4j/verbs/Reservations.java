package org.rdma4j.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * The entries of a completion queue that are reserved for the requests of queue pairs, so that the
 * queue cannot overrun.
 */
final class Reservations {
  private int entries;
  private long reserved;

  Reservations(int entries) {
    this.entries = entries;
  }

  synchronized int entries() {
    return entries;
  }

  /**
   * Changes the number of entries, unless more are reserved; the resizer returns the new number.
   */
  synchronized void change(int requested, IntSupplier resizer) {
    if (requested < reserved) {
      throw new IllegalArgumentException(
          "entries is "
              + requested
              + ", must be at least "
              + reserved
              + ", which are reserved for queue pairs");
    }
    entries = resizer.getAsInt();
  }

  synchronized void reserve(long requests) {
    if (reserved + requests > entries) {
      throw new IllegalArgumentException(
          ("a completion queue of %d entries, of which %d are reserved for other queues,"
                  + " cannot hold the completions of %d outstanding requests; create it with more"
                  + " entries, or call QueuePairConfig.ignoreOverrun(true) if fewer are ever signaled"
                  + " and unpolled")
              .formatted(entries, reserved, requests));
    }
    reserved += requests;
  }

  synchronized void release(long requests) {
    reserved -= requests;
  }

  /**
   * Reserves entries of the completion queues of a queue pair, and returns an action that releases
   * them.
   */
  static Runnable reserve(QueuePairConfig config) {
    if (config.ignoreOverrun()) {
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
