package org.rdma4j.connection;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.rdma4j.platform.DaemonThreads;

/**
 * A limited number of platform threads of a node, which end when there is nothing to do. For what
 * blocks in the kernel, such as registering memory for a long message: a poller would hold up other
 * connections meanwhile, and a virtual thread would hold its carrier. And for what has to make
 * progress while virtual threads of the program keep all processors busy.
 *
 * <p>No work waits for other work that is queued in the same object.
 */
final class BlockingWork {
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final ThreadPoolExecutor threads;

  /**
   * Creates it, without a thread.
   *
   * @param name what the names of the threads begin with
   * @param most the maximum number of threads
   */
  BlockingWork(String name, int most) {
    threads =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE.toMillis(),
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(),
            DaemonThreads.named(name).name(name + "-", 0).factory());
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Runs something in one of the threads.
   *
   * @return completes when it is done, with what it has thrown if it failed
   */
  CompletableFuture<Void> run(Runnable action) {
    try {
      return CompletableFuture.runAsync(action, threads);
    } catch (RejectedExecutionException closed) {
      return runApart("rdma4j-last", action);
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
    DaemonThreads.named(name)
        .start(
            () -> {
              try {
                action.run();
                done.complete(null);
              } catch (Throwable failed) {
                done.completeExceptionally(failed);
              }
            });
    return done;
  }

  /** Ends the threads when they have done what is queued. */
  void close() {
    threads.shutdown();
  }
}
