package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_rss_caps;
import org.rdma4j.platform.NativeConstants;

/**
 * How the device spreads received packets over work queues: {@code struct ibv_rss_caps}.
 *
 * @param queuePairTypes a mask of the types of queue pairs that can: bit n stands for the value n
 *     of {@code enum ibv_qp_type}; 0 where none can
 * @param maxIndirectionTables the most indirection tables
 * @param maxIndirectionTableSize the most work queues in such a table
 * @param fields the fields of packets that it can hash
 * @param functions the hashes that it knows
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
