package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_tso_caps;

/**
 * What the device segments for TCP by itself: {@code struct ibv_tso_caps}.
 *
 * @param maxBytes the longest payload in bytes that it segments; 0 where it does not
 * @param queuePairTypes a mask of the types of queue pairs that can: bit n stands for the value n
 *     of {@code enum ibv_qp_type}
 */
public record SegmentationOffloadCapabilities(long maxBytes, int queuePairTypes) {
  static SegmentationOffloadCapabilities read(MemorySegment caps) {
    return new SegmentationOffloadCapabilities(
        Integer.toUnsignedLong(ibv_tso_caps.max_tso(caps)), ibv_tso_caps.supported_qpts(caps));
  }
}
