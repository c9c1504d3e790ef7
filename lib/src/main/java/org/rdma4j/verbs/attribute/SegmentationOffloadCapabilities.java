package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_tso_caps;

/**
 * The support for TCP segmentation by the device: {@code struct ibv_tso_caps}.
 *
 * @param maxBytes the maximum payload that the device segments, in bytes; 0 if it does not support
 *     segmentation
 * @param queuePairTypes a mask of the types of queue pairs that support it: bit n stands for the
 *     value n of {@code enum ibv_qp_type}
 * @see ExtendedDeviceAttributes
 * @see org.rdma4j.verbs.SendRequests#segmented
 */
public record SegmentationOffloadCapabilities(long maxBytes, int queuePairTypes) {
  static SegmentationOffloadCapabilities read(MemorySegment caps) {
    return new SegmentationOffloadCapabilities(
        Integer.toUnsignedLong(ibv_tso_caps.max_tso(caps)), ibv_tso_caps.supported_qpts(caps));
  }
}
