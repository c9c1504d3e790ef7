package org.rdma4j.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.platform.Libc;

/**
 * Page-aligned memory outside the Java heap, by {@code mmap(2)}: zeroed, of any length, and not
 * counted against {@code -XX:MaxDirectMemorySize}.
 *
 * <p>{@link #close} gives its pages back to the system at once. The addresses stay mapped for as
 * long as a view of them is reachable, so that a stale view reads zeros and what is written through
 * it is lost, but nothing crashes; and closing costs no handshake with other threads, as closing a
 * shared {@link Arena} does.
 *
 * <p>All methods may be called from any thread.
 */
public final class PageMemory implements AutoCloseable {
  private final MemorySegment segment;
  private final AtomicBoolean closed = new AtomicBoolean();

  private PageMemory(MemorySegment segment) {
    this.segment = segment;
  }

  /**
   * Maps memory.
   *
   * @param bytes its length in bytes, at least 1; what is mapped is that rounded up to whole pages
   * @return the memory, all zero
   * @throws IllegalArgumentException where the length is not positive
   * @throws org.rdma4j.RdmaException where {@code mmap} fails, with ENOMEM where the address space
   *     or the limit on it (ulimit -v) does not suffice
   */
  public static PageMemory allocate(long bytes) {
    if (bytes <= 0 || bytes > Long.MAX_VALUE - pageSize()) {
      throw new IllegalArgumentException("bytes is " + bytes + ", must be at least 1");
    }
    long mapped = (bytes + pageSize() - 1) / pageSize() * pageSize();
    MemorySegment segment =
        Libc.mmap(mapped).reinterpret(mapped, Arena.ofAuto(), all -> Libc.munmap(all, mapped));
    return new PageMemory(segment.asSlice(0, bytes));
  }

  /**
   * The size of a page of this system, which is not always 4096.
   *
   * @return its size in bytes
   */
  public static long pageSize() {
    return Libc.pageSize();
  }

  /**
   * The memory, for reading and writing from any thread.
   *
   * @return all of it, aligned to a page
   */
  public MemorySegment segment() {
    return segment;
  }

  /** Gives the pages back to the system. Does nothing the second time. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      Libc.releasePages(segment, segment.byteSize());
    }
  }
}
