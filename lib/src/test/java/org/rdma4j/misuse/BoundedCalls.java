package org.rdma4j.misuse;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Calls of the library that must end within a time. Neither the time of user code that the library
 * runs in the thread of a call counts, nor that of another call within this one.
 */
final class BoundedCalls {
  private static final class Call {
    final String name;
    final Thread thread = Thread.currentThread();
    final long begun = System.nanoTime();
    final long limit;

    /** What does not count: how long it took, and since when it runs; 0 if it does not. */
    private long away;

    private long awaySince;
    private boolean reported;

    Call(String name, Duration limit) {
      this.name = name;
      this.limit = limit.toNanos();
    }

    synchronized void leave() {
      awaySince = System.nanoTime();
    }

    synchronized void comeBack() {
      away += System.nanoTime() - awaySince;
      awaySince = 0;
    }

    /** Returns whether it takes longer than its limit, which is reported once. */
    synchronized boolean isNewlyLate() {
      long now = awaySince == 0 ? System.nanoTime() : awaySince;
      boolean late = !reported && now - begun - away > limit;
      reported |= late;
      return late;
    }

    @Override
    public String toString() {
      return "%s takes longer than %s, in %s".formatted(name, Duration.ofNanos(limit), thread);
    }
  }

  private static final ThreadLocal<Call> CURRENT = new ThreadLocal<>();

  private final Failures failures;
  private final Duration slack;
  private final Set<Call> inProgress = ConcurrentHashMap.newKeySet();

  /**
   * Creates it.
   *
   * @param slack what each call may take on this machine, in addition to the time that it waits
   */
  BoundedCalls(Failures failures, Duration slack) {
    this.failures = failures;
    this.slack = slack;
    Thread.ofPlatform().daemon().name("watch").start(this::watch);
  }

  /** Makes a call, which may wait for a time. */
  <T> T make(String name, Duration wait, Callable<T> call) throws Exception {
    Call outer = CURRENT.get();
    Call made = new Call(name, wait.plus(slack));
    if (outer != null) {
      outer.leave();
    }
    inProgress.add(made);
    CURRENT.set(made);
    try {
      return call.call();
    } finally {
      CURRENT.set(outer);
      inProgress.remove(made);
      if (made.isNewlyLate()) {
        failures.add(made.toString());
      }
      if (outer != null) {
        outer.comeBack();
      }
    }
  }

  /** Runs user code, perhaps within a call. */
  void user(Runnable code) {
    Call outer = CURRENT.get();
    if (outer == null) {
      code.run();
      return;
    }
    CURRENT.remove();
    outer.leave();
    try {
      code.run();
    } finally {
      outer.comeBack();
      CURRENT.set(outer);
    }
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(500);
        for (Call each : inProgress) {
          if (each.isNewlyLate()) {
            failures.add(each.toString());
            printStacks();
          }
        }
      }
    } catch (InterruptedException never) {
      failures.add("the watch was interrupted", never);
    }
  }

  /** Prints what all threads do, virtual ones too. */
  static void printStacks() {
    try {
      Path directory = Files.createTempDirectory("stacks");
      Path dump = directory.resolve("dump");
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
          .dumpThreads(dump.toString(), ThreadDumpFormat.TEXT_PLAIN);
      System.out.println(Files.readString(dump));
      Files.delete(dump);
      Files.delete(directory);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
