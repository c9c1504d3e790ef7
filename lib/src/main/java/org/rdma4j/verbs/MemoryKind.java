package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_mr_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.MemoryVerbs;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;

/**
 * The kind of memory that is registered: what its registration must keep to, and which C function
 * registers it. {@link MemoryRegionConfig} has a static factory for each kind.
 */
sealed interface MemoryKind {
  /** Returns the length of the region in bytes. */
  long bytes();

  /** Returns what messages call a region of this memory. */
  default String regionName() {
    return "memory region of " + bytes() + " bytes";
  }

  /** Returns the access flags of the region if the configuration has these. */
  default Set<AccessFlag> access(Set<AccessFlag> configured) {
    return configured;
  }

  /** Checks the configuration, before memory is allocated. */
  default void check(ProtectionDomain domain, MemoryRegionConfig config) {
    RegistrationRules.checkAccess(config.access());
    RegistrationRules.checkLength(domain.device(), bytes());
  }

  /** Returns the memory for one registration. It is allocated by this call if it has to be. */
  RegionMemory obtain();

  /** Returns the address of the first byte in requests if the configuration has none. */
  long defaultAddress(RegionMemory memory);

  /**
   * Registers the memory. The caller has checked the configuration, and keeps open what the region
   * depends on.
   *
   * @return the {@code struct ibv_mr}
   */
  MemorySegment register(ProtectionDomain domain, RegionMemory memory, MemoryRegionConfig config);

  /** Memory of this process. */
  sealed interface OfProcess extends MemoryKind {
    @Override
    default long defaultAddress(RegionMemory memory) {
      return memory.segment().address();
    }

    @Override
    default MemorySegment register(
        ProtectionDomain domain, RegionMemory memory, MemoryRegionConfig config) {
      MemorySegment segment = memory.segment();
      Set<AccessFlag> access = config.access();
      OptionalLong address = config.remoteAddress();
      RegistrationRules.checkMemory(segment, access);
      RegistrationRules.checkAddress(address, "the memory", segment.address(), bytes());
      DmaHandle handle = config.dmaHandle();
      if (handle != null) {
        return registerExtended(
            domain,
            bytes(),
            config,
            handle,
            init -> {
              ibv_mr_init_attr.addr(init, segment);
              addToMask(init, rdma_h.IBV_REG_MR_MASK_ADDR());
              address.ifPresent(given -> setAddress(init, given));
            });
      }
      int flags = NativeConstants.mask(access);
      return created(
          domain,
          "ibv_reg_mr(" + bytes() + " bytes, " + access + ")",
          address.isEmpty()
              ? Verbs.ibv_reg_mr(domain.pointer(), segment, bytes(), flags)
              : MemoryVerbs.ibv_reg_mr_iova(
                  domain.pointer(), segment, bytes(), address.getAsLong(), flags));
    }
  }

  /**
   * New memory, which is freed when the region is closed.
   *
   * @param pages the size of the pages; null for ordinary ones
   */
  record Allocated(long bytes, @Nullable HugePages pages) implements OfProcess {
    @Override
    public RegionMemory obtain() {
      return RegionMemory.allocate(bytes, pages);
    }
  }

  /**
   * Memory of the caller.
   *
   * @param arena the arena of the memory, which can be closed; null if the memory cannot be freed
   *     while it is reachable
   */
  record Given(MemorySegment segment, @Nullable Arena arena) implements OfProcess {
    public Given {
      RegionMemory.checkGiven(segment, arena);
    }

    @Override
    public long bytes() {
      return segment.byteSize();
    }

    @Override
    public RegionMemory obtain() {
      return RegionMemory.given(segment, arena);
    }
  }

  /** A part of another region. */
  record PartOf(MemorySlice part) implements OfProcess {
    public PartOf {
      RegionMemory.checkNative(part.segment());
    }

    @Override
    public long bytes() {
      return part.length();
    }

    @Override
    public RegionMemory obtain() {
      return RegionMemory.partOf(part);
    }
  }

  /** A part of a DMA buffer. */
  record OfDmaBuffer(int fileDescriptor, long offset, long bytes) implements MemoryKind {
    public OfDmaBuffer {
      Range.check("fileDescriptor", fileDescriptor, 0, Integer.MAX_VALUE);
      RegistrationRules.checkPositive(bytes);
      if (offset < 0 || offset > Long.MAX_VALUE - bytes) {
        throw new IllegalArgumentException(
            "offset is " + offset + ", must be from 0 to " + (Long.MAX_VALUE - bytes));
      }
    }

    @Override
    public String regionName() {
      return MemoryKind.super.regionName() + " of a DMA buffer";
    }

    @Override
    public void check(ProtectionDomain domain, MemoryRegionConfig config) {
      MemoryKind.super.check(domain, config);
      RegistrationRules.checkAddress(config.remoteAddress(), "the offset", offset, bytes);
    }

    @Override
    public RegionMemory obtain() {
      return RegionMemory.elsewhere();
    }

    @Override
    public long defaultAddress(RegionMemory memory) {
      return offset;
    }

    @Override
    public MemorySegment register(
        ProtectionDomain domain, RegionMemory memory, MemoryRegionConfig config) {
      long address = config.remoteAddress().orElse(offset);
      DmaHandle handle = config.dmaHandle();
      if (handle != null) {
        return registerExtended(
            domain,
            bytes,
            config,
            handle,
            init -> {
              ibv_mr_init_attr.fd(init, fileDescriptor);
              ibv_mr_init_attr.fd_offset(init, offset);
              addToMask(init, rdma_h.IBV_REG_MR_MASK_FD() | rdma_h.IBV_REG_MR_MASK_FD_OFFSET());
              setAddress(init, address);
            });
      }
      return created(
          domain,
          "ibv_reg_dmabuf_mr(descriptor " + fileDescriptor + ", " + config.access() + ")",
          MemoryVerbs.ibv_reg_dmabuf_mr(
              domain.pointer(),
              offset,
              bytes,
              address,
              fileDescriptor,
              NativeConstants.mask(config.access())));
    }
  }

  /** A part of the memory of a device. Its first byte has the address 0. */
  record OnDevice(DeviceMemory memory, long offset, long bytes) implements MemoryKind {
    public OnDevice {
      RegistrationRules.checkPositive(bytes);
      memory.checkPart(offset, bytes);
    }

    @Override
    public String regionName() {
      return MemoryKind.super.regionName() + " of device memory";
    }

    @Override
    public Set<AccessFlag> access(Set<AccessFlag> configured) {
      return with(configured, AccessFlag.ZERO_BASED);
    }

    @Override
    public void check(ProtectionDomain domain, MemoryRegionConfig config) {
      MemoryKind.super.check(domain, config);
      SameDevice.check("device memory", memory.device(), domain.device());
      config.refuseAddressAndHandle("device memory");
    }

    @Override
    public RegionMemory obtain() {
      return RegionMemory.onDevice(memory);
    }

    @Override
    public long defaultAddress(RegionMemory of) {
      return 0;
    }

    @Override
    public MemorySegment register(
        ProtectionDomain domain, RegionMemory of, MemoryRegionConfig config) {
      return created(
          domain,
          "ibv_reg_dm_mr(" + bytes + " bytes, " + config.access() + ")",
          MemoryVerbs.ibv_reg_dm_mr(
              domain.pointer(),
              memory.pointer(),
              offset,
              bytes,
              NativeConstants.mask(config.access())));
    }
  }

  /** No memory: the device discards what is written, and reads zeros. */
  record Nothing() implements MemoryKind {
    @Override
    public long bytes() {
      return Long.MAX_VALUE;
    }

    @Override
    public String regionName() {
      return "null memory region";
    }

    @Override
    public Set<AccessFlag> access(Set<AccessFlag> configured) {
      return with(configured, AccessFlag.LOCAL_WRITE);
    }

    @Override
    public void check(ProtectionDomain domain, MemoryRegionConfig config) {
      if (config.access().size() > 1) {
        throw new IllegalArgumentException(
            "access is "
                + config.access()
                + ", must be at most LOCAL_WRITE for a null region, which only requests of this"
                + " process can use");
      }
      config.refuseAddressAndHandle("a null region");
    }

    @Override
    public RegionMemory obtain() {
      return RegionMemory.elsewhere();
    }

    @Override
    public long defaultAddress(RegionMemory memory) {
      return 0;
    }

    @Override
    public MemorySegment register(
        ProtectionDomain domain, RegionMemory memory, MemoryRegionConfig config) {
      return created(domain, "ibv_alloc_null_mr", MemoryVerbs.ibv_alloc_null_mr(domain.pointer()));
    }
  }

  private static Set<AccessFlag> with(Set<AccessFlag> configured, AccessFlag added) {
    Set<AccessFlag> all = EnumSet.of(added);
    all.addAll(configured);
    return all;
  }

  /**
   * Registers memory, and passes the hints of the handle to the device.
   *
   * @param describe sets where the memory is, in a {@code struct ibv_mr_init_attr}
   */
  private static MemorySegment registerExtended(
      ProtectionDomain domain,
      long bytes,
      MemoryRegionConfig config,
      DmaHandle handle,
      Consumer<MemorySegment> describe) {
    NativeFailures.requireFunction(domain.device().info().name(), "ibv_reg_mr_ex", 59);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_mr_init_attr.layout());
      ibv_mr_init_attr.length(init, bytes);
      ibv_mr_init_attr.access(init, NativeConstants.mask(config.access()));
      ibv_mr_init_attr.dmah(init, handle.pointer());
      addToMask(init, rdma_h.IBV_REG_MR_MASK_DMAH());
      describe.accept(init);
      return created(
          domain,
          "ibv_reg_mr_ex(" + bytes + " bytes, " + config.access() + ")",
          Calls.pointer(rdma_h.ibv_reg_mr_ex$address(), domain.pointer(), init));
    }
  }

  private static void setAddress(MemorySegment init, long address) {
    ibv_mr_init_attr.iova(init, address);
    addToMask(init, rdma_h.IBV_REG_MR_MASK_IOVA());
  }

  private static void addToMask(MemorySegment init, int mask) {
    ibv_mr_init_attr.comp_mask(init, ibv_mr_init_attr.comp_mask(init) | mask);
  }

  private static MemorySegment created(ProtectionDomain domain, String call, MemorySegment region) {
    return NativeFailures.created(domain.device().info().name(), call, region);
  }
}
