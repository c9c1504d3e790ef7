package org.rdma4j.platform;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Errno;

/**
 * A set of descriptors that are waited for together: {@code epoll}. The kernel removes closed
 * descriptors from it. It is a descriptor itself, which can be read when one of the set can be
 * read.
 */
final class Epoll {
  static final int READABLE = 1;

  /** Only the next event of the descriptor is reported, until it is armed again. */
  static final int ONCE = 1 << 30;

  private static final int EPOLL_CLOEXEC = 0x80000;
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLL_CTL_MOD = 3;

  /** {@code struct epoll_event} is packed on x86-64 and on no other architecture. */
  private static final long DATA_OFFSET = System.getProperty("os.arch").equals("amd64") ? 4 : 8;

  private static final long EVENT_SIZE = DATA_OFFSET + 8;

  private static final MethodHandle CREATE = link("epoll_create1", JAVA_INT);
  private static final MethodHandle CONTROL =
      link("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle WAIT =
      link("epoll_wait", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);

  private final int descriptor;

  /** Creates an empty set. */
  Epoll() {
    try {
      this.descriptor =
          Libc.check("epoll_create1", (int) CREATE.invokeExact(Errno.state(), EPOLL_CLOEXEC));
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static MethodHandle link(String name, MemoryLayout... arguments) {
    return Errno.downcall(FunctionDescriptor.of(JAVA_INT, arguments))
        .bindTo(Linker.nativeLinker().defaultLookup().find(name).orElseThrow());
  }

  int descriptor() {
    return descriptor;
  }

  /** Adds a descriptor; returns false if it is there already. */
  boolean add(int fd, int events) {
    return control(EPOLL_CTL_ADD, fd, events, ErrorNumber.EEXIST);
  }

  /** Changes what is waited for; returns false if the descriptor is not there. */
  boolean modify(int fd, int events) {
    return control(EPOLL_CTL_MOD, fd, events, ErrorNumber.ENOENT);
  }

  /** Returns false if the call failed with the expected error. */
  private boolean control(int operation, int fd, int events, ErrorNumber expected) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(EVENT_SIZE, 8);
      event.set(JAVA_INT, 0, events);
      event.set(JAVA_LONG_UNALIGNED, DATA_OFFSET, fd);
      int result;
      try {
        result = (int) CONTROL.invokeExact(Errno.state(), descriptor, operation, fd, event);
      } catch (Throwable thrown) {
        throw Errno.unexpected(thrown);
      }
      if (result < 0 && Errno.errno() != expected.value()) {
        throw new RdmaException("epoll_ctl", Errno.errno());
      }
      return result == 0;
    }
  }

  /** Returns memory for so many events. */
  static MemorySegment events(Arena arena, int count) {
    return arena.allocate(EVENT_SIZE * count, 8);
  }

  /** Blocks the thread until there are events; returns their number, 0 if a signal ended it. */
  int await(MemorySegment events) {
    int count = (int) (events.byteSize() / EVENT_SIZE);
    int ready;
    try {
      ready = (int) WAIT.invokeExact(Errno.state(), descriptor, events, count, -1);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
    if (ready < 0 && Errno.errno() != ErrorNumber.EINTR.value()) {
      throw new RdmaException("epoll_wait", Errno.errno());
    }
    return Math.max(0, ready);
  }

  /** Returns the descriptor of one of the events. */
  static int descriptor(MemorySegment events, int index) {
    return (int) events.get(JAVA_LONG_UNALIGNED, index * EVENT_SIZE + DATA_OFFSET);
  }

  void close() {
    Libc.close(descriptor);
  }
}
