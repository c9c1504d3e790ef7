package org.rdma4j.platform;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Errno;

/**
 * The one platform thread that waits in epoll for all virtual threads, which would pin their
 * carriers if they blocked in a system call themselves. It is a daemon thread, which the first such
 * wait starts and which never ends.
 */
final class ReadinessThread {
  private static final int EPOLL_CLOEXEC = 0x80000;
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLL_CTL_MOD = 3;
  private static final int EPOLLIN_ONCE = 1 | 1 << 30;

  /** {@code struct epoll_event} is packed on x86-64 and on no other architecture. */
  private static final long DATA_OFFSET = System.getProperty("os.arch").equals("amd64") ? 4 : 8;

  private static final long EVENT_SIZE = DATA_OFFSET + 8;
  private static final int EVENTS_AT_ONCE = 256;

  /** So that an error that stays does not take a whole processor. */
  private static final long PAUSE_NANOS = 100_000_000;

  private static final MethodHandle EPOLL_CTL =
      link("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle EPOLL_WAIT =
      link("epoll_wait", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);

  /** The waiting threads by the descriptors that they wait for. */
  private static final Map<Integer, Set<Waiting>> WAITING = new ConcurrentHashMap<>();

  private static final int EPOLL = start();

  private static final class Waiting {
    final Thread thread = Thread.currentThread();
    volatile boolean ready;
  }

  private ReadinessThread() {}

  static boolean await(int fd, long deadline, BooleanSupplier cancelled)
      throws InterruptedException {
    Waiting waiting = new Waiting();
    // Before the descriptor is armed, so that an event that comes at once finds this thread.
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

  private static int start() {
    int epoll;
    try {
      epoll = (int) link("epoll_create1", JAVA_INT).invokeExact(Errno.state(), EPOLL_CLOEXEC);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
    if (epoll < 0) {
      throw new RdmaException("epoll_create1", Errno.errno());
    }
    Thread.ofPlatform().daemon().name("rdma4j-readiness").start(() -> serve(epoll));
    return epoll;
  }

  /** Goes on whatever is thrown, because all virtual threads that wait depend on this thread. */
  private static void serve(int epoll) {
    MemorySegment events = Arena.global().allocate(EVENT_SIZE * EVENTS_AT_ONCE, 8);
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

  private static void wakeThoseThatAreReady(int epoll, MemorySegment events) throws Throwable {
    int ready = (int) EPOLL_WAIT.invokeExact(Errno.state(), epoll, events, EVENTS_AT_ONCE, -1);
    if (ready < 0 && Errno.errno() != ErrorNumber.EINTR.value()) {
      throw new RdmaException("epoll_wait", Errno.errno());
    }
    for (int i = 0; i < ready; i++) {
      wake((int) events.get(JAVA_LONG_UNALIGNED, i * EVENT_SIZE + DATA_OFFSET));
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
    while (!control(EPOLL_CTL_MOD, fd, ErrorNumber.ENOENT)
        && !control(EPOLL_CTL_ADD, fd, ErrorNumber.EEXIST)) {}
  }

  /** Returns false if the call failed with the expected error. */
  private static boolean control(int operation, int fd, ErrorNumber expected) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(EVENT_SIZE, 8);
      event.set(JAVA_INT, 0, EPOLLIN_ONCE);
      event.set(JAVA_LONG_UNALIGNED, DATA_OFFSET, fd);
      int result;
      try {
        result = (int) EPOLL_CTL.invokeExact(Errno.state(), EPOLL, operation, fd, event);
      } catch (Throwable thrown) {
        throw Errno.unexpected(thrown);
      }
      if (result < 0 && Errno.errno() != expected.value()) {
        throw new RdmaException("epoll_ctl", Errno.errno());
      }
      return result == 0;
    }
  }

  private static MethodHandle link(String name, MemoryLayout... arguments) {
    return Errno.downcall(FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments))
        .bindTo(Linker.nativeLinker().defaultLookup().find(name).orElseThrow());
  }
}
