package org.rdma4j.endpoint;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.SharedPolling;

/**
 * Keeps the outcome of each request until a thread asks for it by the request's id. The threads
 * that wait share the polling of the completion queue, as {@link SharedPolling} describes.
 *
 * <p>A request holds its place from before it is posted until its outcome has been taken, so
 * outcomes that nobody asks for cannot accumulate.
 */
final class Mailbox {
  /** The source of outcomes. */
  interface Source {
    /**
     * Waits for outcomes and returns them; the list is empty if the deadline came first. One thread
     * at a time calls this.
     */
    List<Outcome> fetch(Deadline deadline) throws InterruptedException;
  }

  /** The queue of the queue pair in which a request takes a place. */
  enum Lane {
    SEND,
    RECEIVE
  }

  private final class Place {
    final Lane lane;
    final SharedPolling.Waiters waiters = polling.newWaiters();
    @Nullable Outcome outcome;

    Place(Lane lane) {
      this.lane = lane;
    }
  }

  /** Fetches from the source, and puts each outcome in the place of its request. */
  private final class Delivery implements SharedPolling.Source<List<Outcome>> {
    @Override
    public List<Outcome> fetch(Deadline deadline) throws InterruptedException {
      try {
        return source.fetch(deadline);
      } catch (IllegalStateException failed) {
        // The exception names the part of the endpoint that was closed first, not the endpoint.
        throw isClosed() ? closed() : failed;
      }
    }

    @Override
    public void deliver(List<Outcome> outcomes) {
      for (Outcome outcome : outcomes) {
        Place place = places.get(outcome.id());
        if (place != null) {
          place.outcome = outcome;
          place.waiters.wakeOne();
        }
      }
    }
  }

  private final String name;
  private final Source source;
  private final Map<Lane, Integer> free = new EnumMap<>(Lane.class);
  private final ReentrantLock lock = new ReentrantLock();
  private final SharedPolling<List<Outcome>> polling = new SharedPolling<>(lock, new Delivery());
  private final Map<Long, Place> places = new HashMap<>();
  private boolean closed;

  /**
   * Creates an empty mailbox.
   *
   * @param name the name of the endpoint in messages
   * @param source where outcomes come from
   * @param sends the number of places for requests of the send queue
   * @param receives the number of places for receives
   */
  Mailbox(String name, Source source, int sends, int receives) {
    this.name = name;
    this.source = source;
    free.put(Lane.SEND, sends);
    free.put(Lane.RECEIVE, receives);
  }

  /**
   * Takes a place for a request that is about to be posted.
   *
   * @throws IllegalArgumentException if a request with that id has a place
   * @throws IllegalStateException if there is no free place, or this mailbox is closed
   */
  void expect(long id, Lane lane) {
    lock.lock();
    try {
      if (closed) {
        throw closed();
      }
      if (places.containsKey(id)) {
        throw new IllegalArgumentException(
            "id %d belongs to a request that has not been awaited yet; use another id"
                .formatted(id));
      }
      if (Objects.equals(free.get(lane), 0)) {
        throw new IllegalStateException(
            "the %s queue is full of requests that have not been awaited yet; await one of them, or configure a greater depth"
                .formatted(lane == Lane.SEND ? "send" : "receive"));
      }
      free.merge(lane, -1, Integer::sum);
      places.put(id, new Place(lane));
    } finally {
      lock.unlock();
    }
  }

  /** Gives up the place of a request that could not be posted. */
  void forget(long id) {
    lock.lock();
    try {
      vacate(id);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for the outcome of the request with that id, and gives up its place.
   *
   * @throws TimeoutException if the request did not complete in time; it keeps its place
   * @throws IllegalStateException if there is no request with that id, another thread waits for it,
   *     or this mailbox is closed, also while waiting
   */
  Outcome await(long id, Deadline deadline) throws InterruptedException, TimeoutException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    lock.lock();
    try {
      if (closed) {
        throw closed();
      }
      Place place = places.get(id);
      if (place == null) {
        throw new IllegalStateException(
            "no request with id %d is outstanding; post it first, and await it once".formatted(id));
      }
      if (!place.waiters.isEmpty()) {
        throw new IllegalStateException(
            "another thread already awaits the request with id %d; await each id in one thread"
                .formatted(id));
      }
      polling.await(place.waiters, () -> place.outcome != null || closed, deadline);
      Outcome outcome = place.outcome;
      if (outcome == null) {
        if (closed) {
          throw closed();
        }
        throw new TimeoutException(
            "the request with id %d did not complete within %s".formatted(id, deadline.timeout()));
      }
      vacate(id);
      return outcome;
    } finally {
      lock.unlock();
    }
  }

  private void vacate(long id) {
    Place place = places.remove(id);
    if (place != null) {
      free.merge(place.lane, 1, Integer::sum);
    }
  }

  /** Refuses all further calls, and ends the waits of other threads. */
  void close() {
    lock.lock();
    try {
      closed = true;
      polling.wakeAll();
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
