package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What the device and peers may do with a memory region: {@code enum ibv_access_flags}. The local
 * CPU and sends may always read it.
 *
 * @see MemoryRegionConfig#access(AccessFlag...)
 * @see PathConfig#access(AccessFlag...)
 * @see MemoryWindow
 */
public enum AccessFlag implements NativeConstant {
  /**
   * The device may write received messages and the results of reads and atomics to it: {@code
   * IBV_ACCESS_LOCAL_WRITE}.
   */
  LOCAL_WRITE(rdma_h.IBV_ACCESS_LOCAL_WRITE()),
  /** A peer may write to it; requires LOCAL_WRITE: {@code IBV_ACCESS_REMOTE_WRITE}. */
  REMOTE_WRITE(rdma_h.IBV_ACCESS_REMOTE_WRITE()),
  /** A peer may read it: {@code IBV_ACCESS_REMOTE_READ}. */
  REMOTE_READ(rdma_h.IBV_ACCESS_REMOTE_READ()),
  /** A peer may use atomics on it; requires LOCAL_WRITE: {@code IBV_ACCESS_REMOTE_ATOMIC}. */
  REMOTE_ATOMIC(rdma_h.IBV_ACCESS_REMOTE_ATOMIC()),
  /** Memory windows may be bound to it: {@code IBV_ACCESS_MW_BIND}. */
  MEMORY_WINDOW_BIND(rdma_h.IBV_ACCESS_MW_BIND()),
  /**
   * Requests address its bytes by their offset in the region, from 0, instead of by their address
   * in this process: {@code IBV_ACCESS_ZERO_BASED}.
   */
  ZERO_BASED(rdma_h.IBV_ACCESS_ZERO_BASED()),
  /**
   * Its pages are not pinned; the device faults them in when it needs them: {@code
   * IBV_ACCESS_ON_DEMAND}. Few devices support this; the others refuse the registration. The memory
   * must begin at a page.
   *
   * <p>Soft-RoCE of Linux 7.3 does this wrong, for programs in C too: it reads and writes the
   * beginning of a page instead of the middle, so only messages of one packet to or from the
   * beginning of a page arrive as they were sent.
   */
  ON_DEMAND(rdma_h.IBV_ACCESS_ON_DEMAND()),
  /**
   * It consists of huge pages and is registered {@link #ON_DEMAND}, and the device may fault in
   * whole huge pages: {@code IBV_ACCESS_HUGETLB}.
   */
  HUGE_PAGES(rdma_h.IBV_ACCESS_HUGETLB()),
  /**
   * A peer may flush it with {@link FlushType#GLOBAL}: {@code IBV_ACCESS_FLUSH_GLOBAL}. Devices
   * without {@link org.rdma4j.verbs.attribute.DeviceCapability#FLUSH_GLOBAL} refuse it.
   */
  FLUSH_GLOBAL(rdma_h.IBV_ACCESS_FLUSH_GLOBAL()),
  /**
   * A peer may flush it with {@link FlushType#PERSISTENT}; it must be persistent memory: {@code
   * IBV_ACCESS_FLUSH_PERSISTENT}. Devices without {@link
   * org.rdma4j.verbs.attribute.DeviceCapability#FLUSH_PERSISTENT} refuse it.
   */
  FLUSH_PERSISTENT(rdma_h.IBV_ACCESS_FLUSH_PERSISTENT()),
  /**
   * The device may write to it out of order; devices that do not support this ignore the flag:
   * {@code IBV_ACCESS_RELAXED_ORDERING}.
   */
  RELAXED_ORDERING(rdma_h.IBV_ACCESS_RELAXED_ORDERING());

  private final int value;

  AccessFlag(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
