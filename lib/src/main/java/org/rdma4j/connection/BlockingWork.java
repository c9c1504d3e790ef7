package org.rdma4j.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.DaemonThreads;
import org.rdma4j.platform.LockOrder;

/**
 * A limited number of platform threads of a node, which end when there is nothing to do. For what
 * blocks in the kernel, such as registering memory for a long message: a poller would hold up other
 * connections meanwhile, and a virtual thread would hold its carrier. And for what has to make
 * progress while virtual threads of the program keep all processors busy.
 *
 * <p>A thread begins only if none is idle, which a thread pool of the JDK does not do below its
 * core size: peers that cause much short work must not cost a thread for each.
 *
 * <p>No work waits for other work that is queued in the same object, or for a peer.
 */
final class BlockingWork {
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final int most;
  private final Thread.Builder builder;
  private final ReentrantLock lock = LockOrder.BLOCKING_WORK.newLock();
  private final Condition queued = lock.newCondition();
  private final Deque<Runnable> queue = new ArrayDeque<>();
  private int threads;

  /** Threads that wait, including threads that were woken to take something from the queue. */
  private int idle;

  private boolean closed;

  /**
   * Creates it, without a thread.
   *
   * @param name what the names of the threads begin with
   * @param most the maximum number of threads
   */
  BlockingWork(String name, int most) {
    this.most = most;
    this.builder = DaemonThreads.named(name).name(name + "-", 0);
  }

  /**
   * Runs something in one of the threads.
   *
   * @return completes when it is done, with what it has thrown if it failed
   */
  CompletableFuture<Void> run(Runnable action) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    return enqueue(() -> complete(done, action)) ? done : runApart("rdma4j-last", action);
  }

  /** Returns whether something is queued, which it is not after a close. */
  private boolean enqueue(Runnable work) {
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      queue.addLast(work);
      if (queue.size() <= idle) {
        queued.signal();
      } else if (threads < most) {
        begin(work);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Requires the lock. */
  private void begin(Runnable work) {
    threads++;
    boolean begun = false;
    try {
      builder.start(this::work);
      begun = true;
    } finally {
      if (!begun) {
        threads--;
        // The caller learns of it.
        queue.removeLastOccurrence(work);
      }
    }
  }

  private void work() {
    Runnable next = next();
    while (next != null) {
      next.run();
      // User code may have interrupted the thread, which is not for what comes next.
      var unused = Thread.interrupted();
      next = next();
    }
  }

  /** Waits for something to do; returns null if the thread is to end. */
  private @Nullable Runnable next() {
    lock.lock();
    try {
      awaitQueued();
      Runnable next = queue.pollFirst();
      if (next == null) {
        threads--;
      }
      return next;
    } finally {
      lock.unlock();
    }
  }

  /** Requires the lock. */
  private void awaitQueued() {
    idle++;
    try {
      long left = IDLE.toNanos();
      while (queue.isEmpty() && !closed && left > 0) {
        left = queued.awaitNanos(left);
      }
    } catch (InterruptedException byUserCode) {
      // A thread that has nothing to do may end.
    } finally {
      idle--;
    }
  }

  /** Waits until something is done, and throws what it has thrown. */
  static void join(CompletableFuture<Void> done) {
    try {
      done.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw failed;
    }
  }

  /** Runs something in a platform thread of its own, because it waits for other work. */
  static CompletableFuture<Void> runApart(String name, Runnable action) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    DaemonThreads.named(name).start(() -> complete(done, action));
    return done;
  }

  private static void complete(CompletableFuture<Void> done, Runnable action) {
    try {
      action.run();
      done.complete(null);
    } catch (Throwable failed) {
      done.completeExceptionally(failed);
    }
  }

  /** Ends the threads when they have done what is queued. */
  void close() {
    lock.lock();
    try {
      closed = true;
      queued.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
