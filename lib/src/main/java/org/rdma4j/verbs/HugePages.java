package org.rdma4j.verbs;

/**
 * The sizes of huge pages. A device has a table of the pages of each memory region, and caches a
 * part of it. A region of huge pages has few entries, which fit into that cache, and is registered
 * faster.
 *
 * <p>The system provides only the huge pages that its administrator has reserved.
 *
 * @see MemoryRegionConfig#allocate(long, HugePages)
 */
public enum HugePages {
  /**
   * Pages of 2 MiB, reserved with {@code vm.nr_hugepages} on most machines: {@code MAP_HUGE_2MB}.
   */
  OF_2_MIB(2L << 20),
  /** Pages of 1 GiB, best reserved at boot: {@code MAP_HUGE_1GB}. */
  OF_1_GIB(1L << 30);

  private final long pageSize;

  HugePages(long pageSize) {
    this.pageSize = pageSize;
  }

  /**
   * Returns the size of a page.
   *
   * @return the size in bytes
   */
  public long pageSize() {
    return pageSize;
  }
}
