package org.rdma4j.tools.perftest;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Lets a test that is ended by Ctrl-C print what it has measured, before the JVM ends. */
final class Interruption implements AutoCloseable {
  private static final long MAX_SECONDS = 5;

  private final Thread hook = new Thread(this::cut, "perftest-interruption");
  private final CountDownLatch reported = new CountDownLatch(1);
  private volatile @Nullable Clock running;

  Interruption() {
    Runtime.getRuntime().addShutdownHook(hook);
  }

  private void cut() {
    Clock clock = running;
    if (clock != null) {
      clock.cut();
      try {
        if (!reported.await(MAX_SECONDS, TimeUnit.SECONDS)) {
          // The loop waits for something else; the JVM must end all the same.
          return;
        }
      } catch (InterruptedException ended) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** A test begins. */
  void begin(Clock clock) {
    running = clock;
  }

  /** The test is complete. */
  void end() {
    running = null;
  }

  /** Everything is printed. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException alreadyEnding) {
      // The hook runs, or has run.
    }
    reported.countDown();
  }
}
