package org.rdma4j.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Page-aligned memory outside the Java heap, from {@code mmap(2)}, with small or huge pages. It is
 * zeroed, can have any length, and does not count against {@code -XX:MaxDirectMemorySize}.
 *
 * <p>{@link #close} returns the pages to the system at once. The addresses stay mapped while a view
 * of them is reachable. So a stale view reads zeros, and writes through it are lost, but nothing
 * crashes. A close also needs no handshake with other threads, unlike the close of a shared {@link
 * Arena}.
 *
 * <p>All methods may be called from any thread.
 */
public final class PageMemory implements AutoCloseable {
  private final MemorySegment segment;
  private final Runnable giveBack;
  private final AtomicBoolean closed = new AtomicBoolean();

  private PageMemory(MemorySegment segment, Runnable giveBack) {
    this.segment = segment;
    this.giveBack = giveBack;
  }

  /**
   * Maps memory.
   *
   * @param bytes the length in bytes, at least 1; the mapping is rounded up to whole pages
   * @return the memory, filled with zeros
   * @throws IllegalArgumentException if the length is not positive
   * @throws org.rdma4j.RdmaException if {@code mmap} fails: ENOMEM if the address space, or the
   *     limit on it (ulimit -v), is too small
   */
  public static PageMemory allocate(long bytes) {
    long mapped = roundUp(bytes, pageSize());
    MemorySegment all = owned(Libc.mmap(mapped), mapped);
    return new PageMemory(all.asSlice(0, bytes), () -> Libc.releasePages(all, mapped));
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
    MemorySegment all = owned(Libc.mmapHuge(mapped, pageSize, advice), mapped);
    // Huge pages that are given back and then touched raise SIGBUS if no other one is free.
    return new PageMemory(all.asSlice(0, bytes), () -> Libc.replacePages(all, mapped));
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

  private static MemorySegment owned(MemorySegment mapping, long mapped) {
    return mapping.reinterpret(mapped, Arena.ofAuto(), all -> Libc.munmap(all, mapped));
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
