package org.rdma4j.verbs;

/**
 * The sizes of huge pages. A device finds the pages of a registered region through a table of its
 * own: a region of huge pages has few, which its cache holds, and is registered faster.
 *
 * <p>The system hands out only those that its administrator has set aside.
 */
public enum HugePages {
  /** Pages of 2 MiB, those of {@code vm.nr_hugepages} on most machines: {@code MAP_HUGE_2MB}. */
  OF_2_MIB(2L << 20),
  /** Pages of 1 GiB, best set aside at boot: {@code MAP_HUGE_1GB}. */
  OF_1_GIB(1L << 30);

  private final long pageSize;

  HugePages(long pageSize) {
    this.pageSize = pageSize;
  }

  /**
   * The size of a page.
   *
   * @return its size in bytes
   */
  public long pageSize() {
    return pageSize;
  }
}
