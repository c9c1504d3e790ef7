package org.rdma4j.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;

/**
 * Page-aligned memory outside the Java heap, from {@code mmap(2)}, with small or huge pages. It is
 * zeroed, can have any length, and does not count against {@code -XX:MaxDirectMemorySize}.
 *
 * <p>{@link #close} returns the pages to the system immediately. The addresses stay mapped while a
 * view of them is reachable. So a stale view reads zeros, and writes through it are lost, but
 * nothing crashes. A close also needs no handshake with other threads, unlike the close of a shared
 * {@link Arena}.
 *
 * <p>All methods may be called from any thread.
 */
public final class PageMemory implements AutoCloseable {
  /** How long to wait for the collector, as java.nio waits for direct memory. */
  private static final int[] WAITS_MILLIS = {1, 2, 4, 8, 16, 32, 64, 128, 256};

  /** The length of the mappings that are closed, and that the collector has yet to unmap. */
  private static final AtomicLong CLOSED_BYTES = new AtomicLong();

  private final MemorySegment segment;
  private final Runnable giveBack;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Gives the pages of a mapping back, and leaves its addresses mapped. */
  private interface GiveBack {
    void pages(MemorySegment all, long mapped);
  }

  private PageMemory(long bytes, long mapped, Supplier<MemorySegment> map, GiveBack giveBack) {
    AtomicBoolean wasClosed = new AtomicBoolean();
    MemorySegment all =
        mapped(map)
            .reinterpret(
                mapped,
                Arena.ofAuto(),
                unreachable -> {
                  Libc.munmap(unreachable, mapped);
                  if (wasClosed.get()) {
                    CLOSED_BYTES.addAndGet(-mapped);
                  }
                });
    this.segment = all.asSlice(0, bytes);
    this.giveBack =
        () -> {
          giveBack.pages(all, mapped);
          wasClosed.set(true);
          CLOSED_BYTES.addAndGet(mapped);
        };
  }

  /**
   * Maps memory. If the address space is used up, has the collector unmap what was closed, and
   * tries again: closed memory counts against {@code ulimit -v} and the limit of strict overcommit
   * until then.
   */
  private static MemorySegment mapped(Supplier<MemorySegment> map) {
    try {
      return map.get();
    } catch (RdmaException full) {
      if (full.errno() != ErrorNumber.ENOMEM.value() || CLOSED_BYTES.get() == 0) {
        throw full;
      }
      return mappedAfterCollection(map, full);
    }
  }

  private static MemorySegment mappedAfterCollection(
      Supplier<MemorySegment> map, RdmaException full) {
    boolean interrupted = false;
    RdmaException last = full;
    try {
      System.gc();
      for (int wait : WAITS_MILLIS) {
        try {
          Thread.sleep(wait);
        } catch (InterruptedException later) {
          interrupted = true;
        }
        try {
          return map.get();
        } catch (RdmaException stillFull) {
          last = stillFull;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    throw last;
  }

  /**
   * Maps memory.
   *
   * @param bytes the length in bytes, at least 1; the mapping is rounded up to whole pages
   * @return the memory, filled with zeros
   * @throws IllegalArgumentException if the length is not positive
   * @throws RdmaException if {@code mmap} fails: ENOMEM if the address space, or the limit on it
   *     (ulimit -v), is too small, also after the collector has unmapped what was closed
   */
  public static PageMemory allocate(long bytes) {
    long mapped = roundUp(bytes, pageSize());
    return new PageMemory(bytes, mapped, () -> Libc.mmap(mapped), Libc::releasePages);
  }

  /**
   * Maps memory of huge pages, {@code MAP_HUGETLB}.
   *
   * @param bytes the length in bytes, at least 1; the mapping is rounded up to whole huge pages
   * @param pageSize the size of a huge page in bytes
   * @return the memory, filled with zeros and aligned to a huge page
   * @throws IllegalArgumentException if the length is not positive
   * @throws org.rdma4j.RdmaException if {@code mmap} fails: ENOMEM if too few huge pages are free
   *     ({@code vm.nr_hugepages}), EINVAL if this machine has no pages of that size
   */
  public static PageMemory allocateHuge(long bytes, long pageSize) {
    long mapped = roundUp(bytes, pageSize);
    String advice = advice(mapped / pageSize, pageSize);
    // Huge pages that are given back and then touched raise SIGBUS if no other one is free.
    return new PageMemory(
        bytes, mapped, () -> Libc.mmapHuge(mapped, pageSize, advice), Libc::replacePages);
  }

  private static String advice(long pages, long pageSize) {
    String file = "/sys/kernel/mm/hugepages/hugepages-" + (pageSize >> 10) + "kB/nr_hugepages";
    return "It takes "
        + pages
        + " free huge pages of "
        + (pageSize >> 20)
        + " MiB: set vm.nr_hugepages (sysctl) or "
        + file
        + " to more; if there is no such file, the kernel or the processor has no pages of that"
        + " size";
  }

  private static long roundUp(long bytes, long pageSize) {
    if (bytes <= 0 || bytes > Long.MAX_VALUE - pageSize) {
      throw new IllegalArgumentException("bytes is " + bytes + ", must be at least 1");
    }
    return (bytes + pageSize - 1) / pageSize * pageSize;
  }

  /**
   * Returns the size of a page of this system, which is not always 4096.
   *
   * @return the size in bytes
   */
  public static long pageSize() {
    return Libc.pageSize();
  }

  /**
   * Returns the memory, which any thread may read and write.
   *
   * @return the whole memory, aligned to a page
   */
  public MemorySegment segment() {
    return segment;
  }

  /** Returns the pages to the system. Does nothing if they were already returned. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      giveBack.run();
    }
  }
}
