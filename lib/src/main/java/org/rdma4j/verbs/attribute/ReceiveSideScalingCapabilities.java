package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_rss_caps;
import org.rdma4j.platform.NativeConstants;

/**
 * The support for spreading received packets over work queues (receive side scaling): {@code struct
 * ibv_rss_caps}.
 *
 * @param queuePairTypes a mask of the types of queue pairs that support it: bit n stands for the
 *     value n of {@code enum ibv_qp_type}; 0 if the device does not support it
 * @param maxIndirectionTables the maximum number of indirection tables
 * @param maxIndirectionTableSize the maximum number of work queues in an indirection table
 * @param fields the fields of packets that the hash can include
 * @param functions the hash functions
 * @see ExtendedDeviceAttributes
 * @see org.rdma4j.verbs.ReceiveHash
 */
public record ReceiveSideScalingCapabilities(
    int queuePairTypes,
    long maxIndirectionTables,
    long maxIndirectionTableSize,
    Set<ReceiveHashField> fields,
    Set<ReceiveHashFunction> functions) {
  static ReceiveSideScalingCapabilities read(MemorySegment caps) {
    return new ReceiveSideScalingCapabilities(
        ibv_rss_caps.supported_qpts(caps),
        Integer.toUnsignedLong(ibv_rss_caps.max_rwq_indirection_tables(caps)),
        Integer.toUnsignedLong(ibv_rss_caps.max_rwq_indirection_table_size(caps)),
        NativeConstants.flags(ReceiveHashField.class, (int) ibv_rss_caps.rx_hash_fields_mask(caps)),
        NativeConstants.flags(ReceiveHashFunction.class, ibv_rss_caps.rx_hash_function(caps)));
  }
}
