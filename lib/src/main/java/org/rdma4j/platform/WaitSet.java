package org.rdma4j.platform;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.function.BooleanSupplier;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Errno;

/**
 * Descriptors for which a thread waits together, and which another thread can wake: {@code epoll}
 * and {@code eventfd}. The kernel forgets descriptors that are closed.
 *
 * <p>All methods may be called from any thread.
 */
public final class WaitSet implements AutoCloseable {
  private static final int EFD_CLOEXEC = 0x80000;
  private static final int EFD_NONBLOCK = 0x800;

  private static final MethodHandle EVENTFD = link("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle READ = link("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle WRITE = link("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final ThreadMemory COUNT = new ThreadMemory(Long.BYTES, Long.BYTES);

  private final Epoll descriptors = new Epoll();
  private final int alarm;

  /** This guards it, because another file may get the number of a closed descriptor. */
  private boolean closed;

  /** Creates an empty set. */
  public WaitSet() {
    int created = -1;
    boolean done = false;
    try {
      created =
          Libc.check(
              "eventfd", (int) EVENTFD.invokeExact(Errno.state(), 0, EFD_CLOEXEC | EFD_NONBLOCK));
      descriptors.add(created, Epoll.READABLE);
      done = true;
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    } finally {
      if (!done) {
        descriptors.close();
        if (created >= 0) {
          Libc.close(created);
        }
      }
    }
    this.alarm = created;
  }

  private static MethodHandle link(String name, MemoryLayout result, MemoryLayout... arguments) {
    return Errno.downcall(FunctionDescriptor.of(result, arguments))
        .bindTo(Linker.nativeLinker().defaultLookup().find(name).orElseThrow());
  }

  /** Adds a descriptor, which its owner closes. */
  public synchronized void add(int fd) {
    if (!closed) {
      descriptors.add(fd, Epoll.READABLE);
    }
  }

  /** Returns a descriptor that can be read when one of the set can, or {@link #wake} was called. */
  public int descriptor() {
    return descriptors.descriptor();
  }

  /**
   * Waits until a descriptor can be read or {@link #wake} is called, also if that was before.
   *
   * @param end the end of the wait, on the scale of {@link System#nanoTime}
   * @param cancelled asked from time to time; true ends the wait
   * @return whether there is something; false if time is up or the wait was cancelled
   */
  public boolean await(long end, BooleanSupplier cancelled) throws InterruptedException {
    return Readiness.await(descriptors.descriptor(), end, cancelled);
  }

  /** Ends the wait of another thread, or the next one. Does nothing if this is closed. */
  public synchronized void wake() {
    if (!closed) {
      MemorySegment one = COUNT.get();
      one.set(JAVA_LONG, 0, 1);
      transfer("write", WRITE, one);
    }
  }

  /** Forgets that {@link #wake} was called. */
  public synchronized void reset() {
    if (!closed) {
      transfer("read", READ, COUNT.get());
    }
  }

  /** EAGAIN means that there is nothing to forget. */
  private void transfer(String name, MethodHandle call, MemorySegment count) {
    long result;
    try {
      result = (long) call.invokeExact(Errno.state(), alarm, count, (long) Long.BYTES);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
    if (result < 0 && Errno.errno() != ErrorNumber.EAGAIN.value()) {
      throw new RdmaException(name + "(eventfd)", Errno.errno());
    }
  }

  /** Closes it. No thread may wait any more. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      descriptors.close();
      Libc.close(alarm);
    }
  }
}
