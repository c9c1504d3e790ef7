package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_packet_pacing_caps;

/**
 * The support for limiting the rate of a queue pair: {@code struct ibv_packet_pacing_caps}.
 *
 * @param minRate the lowest limit in kbit/s
 * @param maxRate the highest limit in kbit/s; 0 if the device does not support limits
 * @param queuePairTypes a mask of the types of queue pairs that support limits: bit n stands for
 *     the value n of {@code enum ibv_qp_type}
 * @see ExtendedDeviceAttributes
 * @see org.rdma4j.verbs.QueuePair#limitRate
 */
public record PacketPacingCapabilities(long minRate, long maxRate, int queuePairTypes) {
  static PacketPacingCapabilities read(MemorySegment caps) {
    return new PacketPacingCapabilities(
        Integer.toUnsignedLong(ibv_packet_pacing_caps.qp_rate_limit_min(caps)),
        Integer.toUnsignedLong(ibv_packet_pacing_caps.qp_rate_limit_max(caps)),
        ibv_packet_pacing_caps.supported_qpts(caps));
  }
}
