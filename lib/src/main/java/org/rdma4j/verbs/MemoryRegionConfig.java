package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What memory a region is registered over, and how. Immutable; each method that takes a value
 * returns a changed copy.
 *
 * <pre>{@code
 * domain.register(MemoryRegionConfig.allocate(1 << 30, HugePages.OF_2_MIB).access(LOCAL_WRITE));
 * domain.register(MemoryRegionConfig.of(arena, file.map(READ_WRITE, 0, bytes, arena)).access(LOCAL_WRITE));
 * }</pre>
 */
public final class MemoryRegionConfig {
  private final long bytes;
  private final Supplier<RegionMemory> memory;
  private final Set<AccessFlag> access;
  private final OptionalLong remoteAddress;

  private MemoryRegionConfig(
      long bytes,
      Supplier<RegionMemory> memory,
      Set<AccessFlag> access,
      OptionalLong remoteAddress) {
    this.bytes = bytes;
    this.memory = memory;
    this.access = access;
    this.remoteAddress = remoteAddress;
  }

  private static MemoryRegionConfig of(long bytes, Supplier<RegionMemory> memory) {
    return new MemoryRegionConfig(bytes, memory, Set.of(), OptionalLong.empty());
  }

  /**
   * Page-aligned memory outside the Java heap, allocated with the region and freed after its
   * deregistration.
   *
   * @param bytes its length in bytes, at least 1
   * @return the configuration: no access but that of the local CPU and of sends
   */
  public static MemoryRegionConfig allocate(long bytes) {
    return of(bytes, () -> RegionMemory.allocate(bytes));
  }

  /**
   * Memory of huge pages, {@code mmap(MAP_HUGETLB)}, allocated with the region and freed after its
   * deregistration. Registering fails with ENOMEM where fewer huge pages are free, see {@code
   * vm.nr_hugepages}.
   *
   * @param bytes its length in bytes, at least 1; it takes whole huge pages
   * @param pages of which size
   * @return the configuration: no access but that of the local CPU and of sends
   */
  public static MemoryRegionConfig allocate(long bytes, HugePages pages) {
    return of(bytes, () -> RegionMemory.allocate(bytes, pages));
  }

  /**
   * Memory of the caller that cannot be freed while it is reachable, which the region keeps it: of
   * {@link Arena#ofAuto}, {@link Arena#global}, or a direct ByteBuffer.
   *
   * @param memory the memory, of any length and alignment; the region's {@link
   *     MemoryRegion#segment} is this very segment
   * @return the configuration: no access but that of the local CPU and of sends
   * @throws IllegalArgumentException where it is on the Java heap, has no bytes, or is of an arena
   *     that can be closed, which {@link #of(Arena, MemorySegment)} takes
   */
  public static MemoryRegionConfig of(MemorySegment memory) {
    RegionMemory.of(memory);
    return of(memory.byteSize(), () -> RegionMemory.of(memory));
  }

  /**
   * Memory of the caller in an arena of the caller's, such as a mapped file. Closing the arena
   * closes the region first, so that the device never reaches freed memory. Each registration
   * leaves some hundred bytes in the arena until that is closed.
   *
   * <p>A file can be mapped and registered for writing where it lies in memory (tmpfs, hugetlbfs);
   * newer kernels refuse that of other file systems with EFAULT. To send a file, map it {@code
   * PRIVATE}: Linux 6.1 refuses {@code READ_ONLY}, with EFAULT too.
   *
   * @param arena the arena that the memory is of; where that is a confined one, its thread has to
   *     register
   * @param memory the memory, of any length and alignment; the region's {@link
   *     MemoryRegion#segment} is this very segment
   * @return the configuration: no access but that of the local CPU and of sends
   * @throws IllegalArgumentException where it is on the Java heap, has no bytes, or is of another
   *     arena
   */
  public static MemoryRegionConfig of(Arena arena, MemorySegment memory) {
    RegionMemory.of(arena, memory);
    return of(memory.byteSize(), () -> RegionMemory.of(arena, memory));
  }

  /**
   * A part of a region, registered once more: for other access, or in another domain. Closing the
   * whole closes the part first.
   *
   * @param part the part, of at least 1 byte
   * @return the configuration: no access but that of the local CPU and of sends
   * @throws IllegalArgumentException where it has no bytes
   * @throws UnsupportedOperationException where the region has no memory of this process
   * @throws IllegalStateException where the region is closed
   */
  public static MemoryRegionConfig of(MemorySlice part) {
    RegionMemory.of(part);
    return of(part.length(), () -> RegionMemory.of(part));
  }

  /**
   * A copy with other access.
   *
   * @param access what it may be used for; the local CPU and sends may always read it
   * @return the copy
   */
  public MemoryRegionConfig access(AccessFlag... access) {
    return access(List.of(access));
  }

  /**
   * A copy with other access.
   *
   * @param access what it may be used for; the local CPU and sends may always read it
   * @return the copy
   */
  public MemoryRegionConfig access(Collection<AccessFlag> access) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(access);
    return new MemoryRegionConfig(bytes, memory, Collections.unmodifiableSet(flags), remoteAddress);
  }

  /**
   * A copy whose first byte requests and peers name by an address of the caller's choice, its IOVA,
   * instead of the one it has in this process: {@code ibv_reg_mr_iova}. With {@link
   * AccessFlag#ZERO_BASED} that is 0 from the start.
   *
   * @param address the address, unsigned, at the same offset within its page as the memory is in
   *     this process
   * @return the copy
   */
  public MemoryRegionConfig remoteAddress(long address) {
    return new MemoryRegionConfig(bytes, memory, access, OptionalLong.of(address));
  }

  long bytes() {
    return bytes;
  }

  Set<AccessFlag> access() {
    return access;
  }

  OptionalLong remoteAddress() {
    return access.contains(AccessFlag.ZERO_BASED) && remoteAddress.isEmpty()
        ? OptionalLong.of(0)
        : remoteAddress;
  }

  /** The memory, allocated now where it is to be. */
  RegionMemory memory() {
    return memory.get();
  }
}
