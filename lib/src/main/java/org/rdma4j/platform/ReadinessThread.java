package org.rdma4j.platform;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The one platform thread that waits in epoll for all virtual threads, which would pin their
 * carriers if they blocked in a system call themselves. It is a daemon thread, which the first such
 * wait starts and which never ends.
 */
final class ReadinessThread {
  private static final int EVENTS_AT_ONCE = 256;

  /** So that an error that stays does not take a whole processor. */
  private static final long PAUSE_NANOS = 100_000_000;

  /** The waiting threads by the descriptors that they wait for. */
  private static final Map<Integer, Set<Waiting>> WAITING = new ConcurrentHashMap<>();

  private static final Epoll EPOLL = start();

  private static final class Waiting {
    final Thread thread = Thread.currentThread();
    volatile boolean ready;
  }

  private ReadinessThread() {}

  static boolean await(int fd, long deadline, BooleanSupplier cancelled)
      throws InterruptedException {
    Waiting waiting = new Waiting();
    // Before the descriptor is armed, so that an event that comes immediately finds this thread.
    WAITING.compute(fd, (any, others) -> with(waiting, others));
    try {
      arm(fd);
      while (!waiting.ready) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        long remaining = deadline - System.nanoTime();
        if (remaining <= 0 || cancelled.getAsBoolean()) {
          return false;
        }
        LockSupport.parkNanos(waiting, remaining);
      }
      return true;
    } finally {
      WAITING.computeIfPresent(fd, (any, all) -> without(waiting, all));
    }
  }

  private static Set<Waiting> with(Waiting waiting, @Nullable Set<Waiting> others) {
    Set<Waiting> all = others == null ? ConcurrentHashMap.newKeySet() : others;
    all.add(waiting);
    return all;
  }

  private static @Nullable Set<Waiting> without(Waiting waiting, Set<Waiting> all) {
    all.remove(waiting);
    return all.isEmpty() ? null : all;
  }

  private static Epoll start() {
    Epoll epoll = new Epoll();
    DaemonThreads.named("rdma4j-readiness").start(() -> serve(epoll));
    return epoll;
  }

  /** Goes on whatever is thrown, because all virtual threads that wait depend on this thread. */
  private static void serve(Epoll epoll) {
    MemorySegment events = Epoll.events(Arena.global(), EVENTS_AT_ONCE);
    Throwable failure = null;
    while (true) {
      try {
        if (failure != null) {
          LockSupport.parkNanos(PAUSE_NANOS);
          wakeAll(failure);
          failure = null;
        }
        wakeThoseThatAreReady(epoll, events);
      } catch (Throwable thrown) {
        failure = thrown;
      }
    }
  }

  private static void wakeThoseThatAreReady(Epoll epoll, MemorySegment events) {
    int ready = epoll.await(events);
    for (int i = 0; i < ready; i++) {
      wake(Epoll.descriptor(events, i));
    }
  }

  /** Lets all threads look themselves, because it is not known which of them are ready. */
  private static void wakeAll(Throwable failure) {
    WAITING.keySet().forEach(ReadinessThread::wake);
    System.getLogger("org.rdma4j")
        .log(Level.WARNING, "could not wait for descriptors, will try again", failure);
  }

  /**
   * Wakes all threads that wait for a descriptor, because a thread that no longer waits may take
   * the event.
   */
  private static void wake(int fd) {
    for (Waiting waiting : WAITING.getOrDefault(fd, Set.of())) {
      waiting.ready = true;
      LockSupport.unpark(waiting.thread);
    }
  }

  /**
   * Arms the descriptor for one event. The kernel removes closed descriptors from the set, so only
   * the first wait for a descriptor adds it; later ones make a single call.
   */
  private static void arm(int fd) {
    int events = Epoll.READABLE | Epoll.ONCE;
    while (!EPOLL.modify(fd, events) && !EPOLL.add(fd, events)) {}
  }
}
