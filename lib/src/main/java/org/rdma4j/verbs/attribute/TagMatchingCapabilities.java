package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_tm_caps;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The support for matching tagged messages to buffers by the device: {@code struct ibv_tm_caps}.
 *
 * @param maxRendezvousHeader the maximum length of the header of a rendezvous request, in bytes
 * @param maxTags the maximum number of tagged buffers in a matching list; 0 if the device does not
 *     match tags
 * @param reliableConnection whether the device matches messages of reliable connections
 * @param maxOperations the maximum number of outstanding operations on a list
 * @param maxSges the maximum number of scatter/gather entries of a tagged buffer
 * @see ExtendedDeviceAttributes
 * @see org.rdma4j.verbs.TagOperations
 */
public record TagMatchingCapabilities(
    long maxRendezvousHeader,
    long maxTags,
    boolean reliableConnection,
    long maxOperations,
    long maxSges) {
  static TagMatchingCapabilities read(MemorySegment caps) {
    return new TagMatchingCapabilities(
        Integer.toUnsignedLong(ibv_tm_caps.max_rndv_hdr_size(caps)),
        Integer.toUnsignedLong(ibv_tm_caps.max_num_tags(caps)),
        (ibv_tm_caps.flags(caps) & rdma_h.IBV_TM_CAP_RC()) != 0,
        Integer.toUnsignedLong(ibv_tm_caps.max_ops(caps)),
        Integer.toUnsignedLong(ibv_tm_caps.max_sge(caps)));
  }
}
