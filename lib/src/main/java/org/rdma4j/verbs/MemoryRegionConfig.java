package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a region, and how it is registered. There is a static factory for each kind of
 * memory. Immutable; the methods that set a property return a changed copy.
 *
 * {@snippet :
 * // 1 GiB in huge pages
 * MemoryRegionConfig huge = MemoryRegionConfig.allocate(1 << 30, HugePages.OF_2_MIB);
 * MemoryRegion region = domain.register(huge.access(AccessFlag.LOCAL_WRITE));
 *
 * // a mapped file
 * MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size(), arena);
 * MemoryRegion ofFile =
 *     domain.register(MemoryRegionConfig.of(arena, mapped).access(AccessFlag.LOCAL_WRITE));
 * }
 *
 * @see ProtectionDomain#register(MemoryRegionConfig)
 * @see AccessFlag
 * @see HugePages
 */
public final class MemoryRegionConfig {
  private final MemoryKind kind;
  private final Set<AccessFlag> access;
  private final OptionalLong remoteAddress;
  private final @Nullable DmaHandle dmaHandle;

  private MemoryRegionConfig(
      MemoryKind kind,
      Set<AccessFlag> access,
      OptionalLong remoteAddress,
      @Nullable DmaHandle dmaHandle) {
    this.kind = kind;
    this.access = access;
    this.remoteAddress = remoteAddress;
    this.dmaHandle = dmaHandle;
  }

  private static MemoryRegionConfig of(MemoryKind kind) {
    return new MemoryRegionConfig(kind, Set.of(), OptionalLong.empty(), null);
  }

  /**
   * Returns a configuration for page-aligned memory outside the Java heap. It is allocated when it
   * is registered, and freed when the region is closed.
   *
   * @param bytes the length in bytes, at least 1
   * @return the configuration, without access flags
   */
  public static MemoryRegionConfig allocate(long bytes) {
    return of(new MemoryKind.Allocated(bytes, null));
  }

  /**
   * Returns a configuration for memory in huge pages: {@code mmap(MAP_HUGETLB)}. It is allocated
   * when it is registered, and freed when the region is closed. The registration fails with ENOMEM
   * if there are not enough free huge pages, see {@code vm.nr_hugepages}.
   *
   * @param bytes the length in bytes, at least 1; whole huge pages are allocated
   * @param pages the size of the pages
   * @return the configuration, without access flags
   */
  public static MemoryRegionConfig allocate(long bytes, HugePages pages) {
    return of(new MemoryKind.Allocated(bytes, pages));
  }

  /**
   * Returns a configuration for memory of the caller that is not freed while it is reachable:
   * memory of {@link Arena#ofAuto} or {@link Arena#global}, or of a direct ByteBuffer. The region
   * keeps it reachable.
   *
   * @param memory the memory, of any length and alignment; {@link MemoryRegion#segment()} returns
   *     this segment
   * @return the configuration, without access flags
   * @throws IllegalArgumentException if the memory is on the Java heap, is empty, or belongs to an
   *     arena that can be closed; use {@link #of(Arena, MemorySegment)} for such an arena
   */
  public static MemoryRegionConfig of(MemorySegment memory) {
    return of(new MemoryKind.Given(memory, null));
  }

  /**
   * Returns a configuration for memory of the caller in an arena of the caller, such as a mapped
   * file. Closing the arena closes the region first, so the device never accesses freed memory.
   * Each registration takes a few hundred bytes of the arena until the arena is closed.
   *
   * <p>A file that is mapped READ_WRITE can be registered with LOCAL_WRITE if it is on a file
   * system in memory (tmpfs, hugetlbfs); new kernels refuse files of other file systems with
   * EFAULT. To send a file, map it {@code PRIVATE}: Linux 6.1 refuses {@code READ_ONLY} with EFAULT
   * too.
   *
   * @param arena the arena of the memory. If it is a confined one, its thread must do the
   *     registration
   * @param memory the memory, of any length and alignment; {@link MemoryRegion#segment()} returns
   *     this segment
   * @return the configuration, without access flags
   * @throws IllegalArgumentException if the memory is on the Java heap, is empty, or belongs to
   *     another arena
   */
  public static MemoryRegionConfig of(Arena arena, MemorySegment memory) {
    return of(new MemoryKind.Given(memory, Objects.requireNonNull(arena)));
  }

  /**
   * Returns a configuration that registers a part of a region once more, with other access or in
   * another domain. Closing the whole region closes the region of the part first.
   *
   * @param part the part, at least 1 byte long
   * @return the configuration, without access flags
   * @throws IllegalArgumentException if the part is empty
   * @throws UnsupportedOperationException if this process cannot access the memory of the region
   */
  public static MemoryRegionConfig of(MemorySlice part) {
    return of(new MemoryKind.PartOf(part));
  }

  /**
   * Returns a configuration for a part of device memory: {@code ibv_reg_dm_mr}. The region is
   * always {@link AccessFlag#ZERO_BASED}: its first byte has the address 0 in requests. Closing the
   * device memory closes the region first. A remote address or a DMA handle cannot be set.
   *
   * @param memory the device memory, of the device that the memory is registered on
   * @param offset the offset of the first byte in the device memory
   * @param bytes the number of bytes, at least 1
   * @return the configuration, with ZERO_BASED and no other access flag
   * @throws IllegalArgumentException if the number of bytes is not at least 1
   * @throws IndexOutOfBoundsException if the part is not within the device memory
   */
  public static MemoryRegionConfig of(DeviceMemory memory, long offset, long bytes) {
    return of(new MemoryKind.OnDevice(memory, offset, bytes));
  }

  /**
   * Returns a configuration for a part of a DMA buffer, such as the memory of a GPU: {@code
   * ibv_reg_dmabuf_mr}. Its default {@link #remoteAddress} is the offset.
   *
   * @param fileDescriptor the file descriptor of the DMA buffer; it may be closed after the
   *     registration
   * @param offset the offset of the first byte in the buffer, at least 0
   * @param bytes the number of bytes, at least 1
   * @return the configuration, without access flags
   * @throws IllegalArgumentException if an argument is out of range
   * @see DmaBuffer
   */
  public static MemoryRegionConfig ofDmaBuffer(int fileDescriptor, long offset, long bytes) {
    return of(new MemoryKind.OfDmaBuffer(fileDescriptor, offset, bytes));
  }

  /**
   * Returns a configuration for a null region: {@code ibv_alloc_null_mr}. The device discards what
   * is written to it and reads zeros from it. Requests of this process may use any part of it, and
   * peers none. A remote address or a DMA handle cannot be set.
   *
   * @return the configuration, with {@link AccessFlag#LOCAL_WRITE}, for a region of {@link
   *     Long#MAX_VALUE} bytes without memory
   */
  public static MemoryRegionConfig nullRegion() {
    return of(new MemoryKind.Nothing());
  }

  /**
   * Returns a copy with these access flags.
   *
   * @param access what the device and peers may do with the memory; the local CPU and sends may
   *     always read it
   * @return the copy
   */
  public MemoryRegionConfig access(AccessFlag... access) {
    return access(List.of(access));
  }

  /**
   * Returns a copy with these access flags.
   *
   * @param access what the device and peers may do with the memory; the local CPU and sends may
   *     always read it
   * @return the copy
   */
  public MemoryRegionConfig access(Collection<AccessFlag> access) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(access);
    return new MemoryRegionConfig(
        kind, Collections.unmodifiableSet(flags), remoteAddress, dmaHandle);
  }

  /**
   * Returns a copy with this remote address (IOVA): requests of this process and of peers use it
   * for the first byte, instead of the address in this process: {@code ibv_reg_mr_iova}. The
   * default with {@link AccessFlag#ZERO_BASED} is 0.
   *
   * @param address the address, as an unsigned number. It must have the same offset within its page
   *     as the memory has in this process, or in the DMA buffer
   * @return the copy
   */
  public MemoryRegionConfig remoteAddress(long address) {
    return new MemoryRegionConfig(kind, access, OptionalLong.of(address), dmaHandle);
  }

  /**
   * Returns a copy with this DMA handle: {@code ibv_reg_mr_ex}. Closing the handle closes the
   * region.
   *
   * @param handle the handle, of the device that the memory is registered on
   * @return the copy
   */
  public MemoryRegionConfig dmaHandle(DmaHandle handle) {
    return new MemoryRegionConfig(kind, access, remoteAddress, handle);
  }

  MemoryKind kind() {
    return kind;
  }

  Set<AccessFlag> access() {
    return kind.access(access);
  }

  OptionalLong remoteAddress() {
    return access().contains(AccessFlag.ZERO_BASED) && remoteAddress.isEmpty()
        ? OptionalLong.of(0)
        : remoteAddress;
  }

  @Nullable DmaHandle dmaHandle() {
    return dmaHandle;
  }

  /** Refuses what the memory of some kinds cannot have. */
  void refuseAddressAndHandle(String what) {
    if (remoteAddress.isPresent()) {
      throw new IllegalArgumentException(
          "remoteAddress is 0x%x, must not be set for %s, whose first byte has the address 0"
              .formatted(remoteAddress.getAsLong(), what));
    }
    if (dmaHandle != null) {
      throw new IllegalArgumentException(
          "dmaHandle is "
              + dmaHandle
              + ", must not be set for "
              + what
              + ", which the device does not access over the bus");
    }
  }
}
