package org.rdma4j.nio;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Lets a limited number of threads at the same time do something with a server, in the order in
 * which they come. A server that is slow delays only the threads that want this server.
 *
 * @param <S> what distinguishes the servers
 */
final class Turns<S> {
  private static final class Queue {
    final Semaphore free;

    /** The number of threads that have a turn, or wait for one. */
    int threads;

    Queue(int most) {
      free = new Semaphore(most, true);
    }
  }

  private final int most;
  private final ConcurrentHashMap<S, Queue> queues = new ConcurrentHashMap<>();

  /**
   * Creates turns, which no thread has.
   *
   * @param most the maximum number of threads for each server
   */
  Turns(int most) {
    this.most = most;
  }

  /** Waits until it is the turn of the calling thread, which then must {@link #end} it. */
  void begin(S server) throws InterruptedException {
    Queue queue = join(server);
    boolean done = false;
    try {
      queue.free.acquire();
      done = true;
    } finally {
      if (!done) {
        leave(server);
      }
    }
  }

  /** Begins a turn if one is free, without waiting. */
  boolean tryBegin(S server) {
    boolean begun = join(server).free.tryAcquire();
    if (!begun) {
      leave(server);
    }
    return begun;
  }

  /** Ends a turn. */
  void end(S server) {
    queues.computeIfPresent(
        server,
        (unused, queue) -> {
          queue.free.release();
          return --queue.threads == 0 ? null : queue;
        });
  }

  private Queue join(S server) {
    return queues.compute(
        server,
        (unused, known) -> {
          Queue queue = known == null ? new Queue(most) : known;
          queue.threads++;
          return queue;
        });
  }

  private void leave(S server) {
    queues.computeIfPresent(server, (unused, queue) -> --queue.threads == 0 ? null : queue);
  }

  /** Returns the number of servers with which a thread does something, or wants to. */
  int servers() {
    return queues.size();
  }
}
