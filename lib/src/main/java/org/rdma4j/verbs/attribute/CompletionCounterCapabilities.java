package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_comp_cntr_caps;
import org.rdma4j.platform.NativeConstants;

/**
 * What completion counters of a device can do: {@code struct ibv_comp_cntr_caps}.
 *
 * @param maxValue the largest number that a counter can have, as an unsigned number
 * @param maxCounters the maximum number of counters
 * @param operations the operations that can be counted
 * @see org.rdma4j.verbs.RdmaDevice#completionCounters
 */
public record CompletionCounterCapabilities(
    long maxValue, int maxCounters, Set<CountedOperation> operations) {
  /**
   * Reads {@code struct ibv_comp_cntr_caps}.
   *
   * @param caps native memory that holds the struct
   * @return the capabilities
   * @throws IndexOutOfBoundsException if the memory is shorter than the struct
   */
  public static CompletionCounterCapabilities read(MemorySegment caps) {
    return new CompletionCounterCapabilities(
        ibv_comp_cntr_caps.max_value(caps),
        ibv_comp_cntr_caps.max_counters(caps),
        NativeConstants.flags(
            CountedOperation.class, ibv_comp_cntr_caps.supported_qp_attach_ops(caps)));
  }
}
