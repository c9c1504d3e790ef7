package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What {@link MemoryRegion#reregister} changes: the {@code IBV_REREG_MR_CHANGE_*} flags and their
 * values. Immutable; the methods that set a property return a changed copy.
 *
 * @see MemoryRegion#reregister
 */
public final class MemoryRegionChange {
  private final @Nullable ProtectionDomain domain;
  private final @Nullable Set<AccessFlag> access;
  private final MemoryKind.@Nullable OfProcess memory;

  private MemoryRegionChange(
      @Nullable ProtectionDomain domain,
      @Nullable Set<AccessFlag> access,
      MemoryKind.@Nullable OfProcess memory) {
    this.domain = domain;
    this.access = access;
    this.memory = memory;
  }

  /**
   * Returns an empty change, to which others are added.
   *
   * @return the change
   */
  public static MemoryRegionChange none() {
    return new MemoryRegionChange(null, null, null);
  }

  /**
   * Returns a copy that moves the region to another domain: {@code IBV_REREG_MR_CHANGE_PD}.
   *
   * @param domain the domain, of the same device
   * @return the copy
   */
  public MemoryRegionChange domain(ProtectionDomain domain) {
    return new MemoryRegionChange(domain, access, memory);
  }

  /**
   * Returns a copy that changes the access flags of the region: {@code IBV_REREG_MR_CHANGE_ACCESS}.
   *
   * @param access what the device and peers may do with the region from then on
   * @return the copy
   */
  public MemoryRegionChange access(AccessFlag... access) {
    return access(List.of(access));
  }

  /**
   * Returns a copy that changes the access flags of the region: {@code IBV_REREG_MR_CHANGE_ACCESS}.
   *
   * @param access what the device and peers may do with the region from then on
   * @return the copy
   */
  public MemoryRegionChange access(Collection<AccessFlag> access) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(access);
    return new MemoryRegionChange(domain, Collections.unmodifiableSet(flags), memory);
  }

  /**
   * Returns a copy that gives the region newly allocated memory: {@code
   * IBV_REREG_MR_CHANGE_TRANSLATION}.
   *
   * @param bytes the length in bytes, at least 1
   * @return the copy
   */
  public MemoryRegionChange allocate(long bytes) {
    return new MemoryRegionChange(domain, access, new MemoryKind.Allocated(bytes, null));
  }

  /**
   * Returns a copy that gives the region memory of the caller, as described for {@link
   * MemoryRegionConfig#of(MemorySegment)}: {@code IBV_REREG_MR_CHANGE_TRANSLATION}.
   *
   * @param segment the memory
   * @return the copy
   * @throws IllegalArgumentException if the memory is on the Java heap, is empty, or belongs to an
   *     arena that can be closed
   */
  public MemoryRegionChange memory(MemorySegment segment) {
    return new MemoryRegionChange(domain, access, new MemoryKind.Given(segment, null));
  }

  /**
   * Returns a copy that gives the region memory of the caller, as described for {@link
   * MemoryRegionConfig#of(Arena, MemorySegment)}: {@code IBV_REREG_MR_CHANGE_TRANSLATION}.
   *
   * @param arena the arena of the memory; closing it closes the region first
   * @param segment the memory
   * @return the copy
   * @throws IllegalArgumentException if the memory is on the Java heap, is empty, or belongs to
   *     another arena
   */
  public MemoryRegionChange memory(Arena arena, MemorySegment segment) {
    return new MemoryRegionChange(
        domain, access, new MemoryKind.Given(segment, Objects.requireNonNull(arena)));
  }

  /** Returns the flags of what changes. */
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

  /** Returns the new memory; null if it does not change. */
  MemoryKind.@Nullable OfProcess memory() {
    return memory;
  }
}
