package org.rdma4j.connection;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A few platform threads of a node for what blocks in the kernel: registering memory for a long
 * message, and destroying a queue pair. A poller would hold up other connections meanwhile, and a
 * virtual thread would hold its carrier.
 *
 * <p>No work waits for other work that is queued here.
 */
final class BlockingWork {
  private static final int THREADS = 8;
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final ThreadPoolExecutor threads;

  BlockingWork() {
    threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE.toMillis(),
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("rdma4j-blocking-", 0).factory());
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
      return runApart("rdma4j-blocking-last", action);
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
    Thread.ofPlatform()
        .daemon()
        .name(name)
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
