package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_dmah_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.Range;

/**
 * How a device accesses memory: {@code struct ibv_dmah_init_attr}. It becomes a hint in the packets
 * on PCIe (TPH), such as the processor that will read the data. Immutable; the methods that set a
 * property return a changed copy.
 *
 * @param cpu the number of the processor that uses the data; empty, the default, for none
 * @param processingHint the processing hint, 0 to 3; empty, the default, for none
 * @param persistent whether the memory is persistent; null, the default, does not say
 * @see RdmaDevice#allocateDmaHandle
 */
public record DmaHandleConfig(
    OptionalInt cpu, OptionalInt processingHint, @Nullable Boolean persistent) {
  /** A configuration without hints for the device. */
  public static final DmaHandleConfig DEFAULT =
      new DmaHandleConfig(OptionalInt.empty(), OptionalInt.empty(), null);

  /** Checks the ranges. */
  public DmaHandleConfig {
    cpu.ifPresent(number -> Range.check("cpu", number, 0, Integer.MAX_VALUE));
    processingHint.ifPresent(hint -> Range.check("processingHint", hint, 0, 3));
  }

  /**
   * Returns a copy with another {@link #cpu()}.
   *
   * @param cpu the number of the processor that uses the data
   * @return the copy
   * @throws IllegalArgumentException if the number is negative
   */
  public DmaHandleConfig cpu(int cpu) {
    return new DmaHandleConfig(OptionalInt.of(cpu), processingHint, persistent);
  }

  /**
   * Returns a copy with another {@link #processingHint()}.
   *
   * @param hint the processing hint, 0 to 3
   * @return the copy
   * @throws IllegalArgumentException if the hint is out of range
   */
  public DmaHandleConfig processingHint(int hint) {
    return new DmaHandleConfig(cpu, OptionalInt.of(hint), persistent);
  }

  /**
   * Returns a copy with another {@link #persistent()}.
   *
   * @param persistent whether the memory is persistent
   * @return the copy
   */
  public DmaHandleConfig persistent(boolean persistent) {
    return new DmaHandleConfig(cpu, processingHint, persistent);
  }

  void write(MemorySegment attributes) {
    int mask = 0;
    if (cpu.isPresent()) {
      mask |= rdma_h.IBV_DMAH_INIT_ATTR_MASK_CPU_ID();
      ibv_dmah_init_attr.cpu_id(attributes, cpu.getAsInt());
    }
    if (processingHint.isPresent()) {
      mask |= rdma_h.IBV_DMAH_INIT_ATTR_MASK_PH();
      ibv_dmah_init_attr.ph(attributes, (byte) processingHint.getAsInt());
    }
    if (persistent != null) {
      mask |= rdma_h.IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE();
      ibv_dmah_init_attr.tph_mem_type(
          attributes,
          (byte) (persistent ? rdma_h.IBV_TPH_MEM_TYPE_PM() : rdma_h.IBV_TPH_MEM_TYPE_VM()));
    }
    ibv_dmah_init_attr.comp_mask(attributes, mask);
  }
}
