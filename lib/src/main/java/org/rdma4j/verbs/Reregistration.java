package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What {@link MemoryRegion#reregister} changes: the {@code IBV_REREG_MR_CHANGE_*} flags and their
 * values. Immutable; each method that takes a value returns a changed copy.
 */
public final class Reregistration {
  private final @Nullable ProtectionDomain domain;
  private final @Nullable Set<AccessFlag> access;
  private final @Nullable Supplier<RegionMemory> memory;

  private Reregistration(
      @Nullable ProtectionDomain domain,
      @Nullable Set<AccessFlag> access,
      @Nullable Supplier<RegionMemory> memory) {
    this.domain = domain;
    this.access = access;
    this.memory = memory;
  }

  /**
   * No change, to add some to.
   *
   * @return the change
   */
  public static Reregistration none() {
    return new Reregistration(null, null, null);
  }

  /**
   * A copy that moves the region to another domain: {@code IBV_REREG_MR_CHANGE_PD}.
   *
   * @param domain the domain, of the same device
   * @return the copy
   */
  public Reregistration domain(ProtectionDomain domain) {
    return new Reregistration(domain, access, memory);
  }

  /**
   * A copy that changes what the region may be used for: {@code IBV_REREG_MR_CHANGE_ACCESS}.
   *
   * @param access what it may be used for from then on
   * @return the copy
   */
  public Reregistration access(AccessFlag... access) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(List.of(access));
    return new Reregistration(domain, Collections.unmodifiableSet(flags), memory);
  }

  /**
   * A copy that puts newly allocated memory under the region: {@code
   * IBV_REREG_MR_CHANGE_TRANSLATION}.
   *
   * @param bytes its length in bytes, at least 1
   * @return the copy
   */
  public Reregistration allocate(long bytes) {
    return new Reregistration(domain, access, () -> RegionMemory.allocate(bytes));
  }

  /**
   * A copy that puts memory of the caller under the region, as {@link
   * MemoryRegionConfig#of(MemorySegment)} takes it: {@code IBV_REREG_MR_CHANGE_TRANSLATION}.
   *
   * @param segment the memory
   * @return the copy
   * @throws IllegalArgumentException where it is on the Java heap, has no bytes, or is of an arena
   *     that can be closed
   */
  public Reregistration memory(MemorySegment segment) {
    RegionMemory.of(segment);
    return new Reregistration(domain, access, () -> RegionMemory.of(segment));
  }

  /**
   * A copy that puts memory of the caller under the region, as {@link MemoryRegionConfig#of(Arena,
   * MemorySegment)} takes it: {@code IBV_REREG_MR_CHANGE_TRANSLATION}.
   *
   * @param arena the arena that the memory is of, whose close closes the region first
   * @param segment the memory
   * @return the copy
   * @throws IllegalArgumentException where it is on the Java heap, has no bytes, or is of another
   *     arena
   */
  public Reregistration memory(Arena arena, MemorySegment segment) {
    RegionMemory.of(arena, segment);
    return new Reregistration(domain, access, () -> RegionMemory.of(arena, segment));
  }

  /** The flags that tell what changes. */
  int flags() {
    return (domain == null ? 0 : rdma_h.IBV_REREG_MR_CHANGE_PD())
        | (access == null ? 0 : rdma_h.IBV_REREG_MR_CHANGE_ACCESS())
        | (memory == null ? 0 : rdma_h.IBV_REREG_MR_CHANGE_TRANSLATION());
  }

  ProtectionDomain domainOr(ProtectionDomain unchanged) {
    return domain == null ? unchanged : domain;
  }

  Set<AccessFlag> accessOr(Set<AccessFlag> unchanged) {
    return access == null ? unchanged : access;
  }

  boolean changesDomain() {
    return domain != null;
  }

  boolean changesAccess() {
    return access != null;
  }

  /** The new memory, allocated now where it is to be; null where it stays. */
  @Nullable RegionMemory memory() {
    return memory == null ? null : memory.get();
  }
}
