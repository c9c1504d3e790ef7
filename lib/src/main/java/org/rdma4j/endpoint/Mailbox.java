package org.rdma4j.endpoint;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.Deadline;

/**
 * Keeps what became of requests until the thread that waits for each comes for it. Of the threads
 * that wait, one at a time fetches for all of them; when it leaves, the next one takes over.
 *
 * <p>A request holds its place from before it is posted until it is told, so that what nobody comes
 * for does not add up.
 */
final class Mailbox {
  /** From where outcomes come. */
  interface Source {
    /** Waits for outcomes; there are none where time was up. One thread at a time calls it. */
    List<Outcome> fetch(Deadline deadline) throws InterruptedException;
  }

  /** Which of the two queues of a queue pair a request takes a place of. */
  enum Lane {
    SEND,
    RECEIVE
  }

  private final class Place {
    final Lane lane;
    final Condition changed = lock.newCondition();
    @Nullable Outcome outcome;

    Place(Lane lane) {
      this.lane = lane;
    }
  }

  private final String name;
  private final Source source;
  private final Map<Lane, Integer> free = new EnumMap<>(Lane.class);
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Long, Place> places = new HashMap<>();
  private final SequencedSet<Place> awaited = new LinkedHashSet<>();
  private boolean fetching;
  private boolean closed;

  /**
   * An empty one.
   *
   * @param name what messages call the endpoint
   */
  Mailbox(String name, Source source, int sends, int receives) {
    this.name = name;
    this.source = source;
    free.put(Lane.SEND, sends);
    free.put(Lane.RECEIVE, receives);
  }

  /**
   * Makes a place for a request that is about to be posted.
   *
   * @throws IllegalArgumentException where there is one of that id
   * @throws IllegalStateException where there is no room, or this is closed
   */
  void expect(long id, Lane lane) {
    lock.lock();
    try {
      if (closed) {
        throw closed();
      }
      if (places.containsKey(id)) {
        throw new IllegalArgumentException(
            "id %d is that of a request that nobody has awaited yet: take another".formatted(id));
      }
      if (Objects.equals(free.get(lane), 0)) {
        throw new IllegalStateException(
            "the %s queue is full of requests that nobody has awaited yet: await one of them, or"
                    .formatted(lane == Lane.SEND ? "send" : "receive")
                + " configure a greater depth");
      }
      free.merge(lane, -1, Integer::sum);
      places.put(id, new Place(lane));
    } finally {
      lock.unlock();
    }
  }

  /** Gives up the place of a request that was not posted after all. */
  void forget(long id) {
    lock.lock();
    try {
      vacate(id);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for the request of that id, and gives up its place.
   *
   * @throws TimeoutException where it did not end in time; it keeps its place
   * @throws IllegalStateException where there is none of that id, another thread waits for it, or
   *     this is closed, also while waiting
   */
  Outcome await(long id, Deadline deadline) throws InterruptedException, TimeoutException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    lock.lock();
    try {
      Place place = places.get(id);
      if (closed) {
        throw closed();
      }
      if (place == null) {
        throw new IllegalStateException(
            "no request of id %d is outstanding: post it first, and await it once".formatted(id));
      }
      if (!awaited.add(place)) {
        throw new IllegalStateException("another thread awaits the request of id " + id);
      }
      try {
        Outcome outcome = await(place, deadline);
        if (outcome == null) {
          throw new TimeoutException(
              "the request of id %d did not complete within %s".formatted(id, deadline.timeout()));
        }
        vacate(id);
        return outcome;
      } finally {
        awaited.remove(place);
        wakeOneToFetch();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The outcome; null where it did not come in time, at least one look having been taken. */
  private @Nullable Outcome await(Place place, Deadline deadline) throws InterruptedException {
    boolean last = false;
    while (place.outcome == null && !last) {
      if (closed) {
        throw closed();
      }
      last = deadline.isOver();
      if (!fetching) {
        fetch(deadline);
      } else if (!last) {
        place.changed.awaitNanos(deadline.nanos());
      }
    }
    return place.outcome;
  }

  private void fetch(Deadline deadline) throws InterruptedException {
    fetching = true;
    List<Outcome> outcomes = List.of();
    lock.unlock();
    try {
      outcomes = source.fetch(deadline);
    } catch (IllegalStateException failed) {
      // What of the endpoint was closed first is of no interest.
      throw isClosed() ? closed() : failed;
    } finally {
      lock.lock();
      fetching = false;
      outcomes.forEach(this::deliver);
    }
  }

  private void deliver(Outcome outcome) {
    Place place = places.get(outcome.id());
    if (place != null) {
      place.outcome = outcome;
      place.changed.signal();
    }
  }

  private void wakeOneToFetch() {
    if (!fetching && !awaited.isEmpty()) {
      awaited.getFirst().changed.signal();
    }
  }

  private void vacate(long id) {
    Place place = places.remove(id);
    if (place != null) {
      free.merge(place.lane, 1, Integer::sum);
    }
  }

  /** Refuses everything from now on, waiting threads included. */
  void close() {
    lock.lock();
    try {
      closed = true;
      awaited.forEach(place -> place.changed.signal());
    } finally {
      lock.unlock();
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  private IllegalStateException closed() {
    return new IllegalStateException(name + " is closed");
  }
}
