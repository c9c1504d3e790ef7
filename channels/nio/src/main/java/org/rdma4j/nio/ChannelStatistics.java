package org.rdma4j.nio;

import java.util.Map;

/**
 * What the channels of a provider have done, at one moment.
 *
 * @param upgraded the number of channels that were upgraded to RDMA
 * @param stayed the number of channels of clients that have tried to, and stay on TCP
 * @param resumed the number of upgraded channels that go on over TCP because RDMA has failed
 * @param sentBytes the bytes that were written to RDMA
 * @param receivedBytes the bytes that were read from RDMA
 * @param tcpSentBytes the bytes that were written to TCP
 * @param tcpReceivedBytes the bytes that were read from TCP
 * @param registeredBytes the registered memory of all channels, in bytes
 * @param stayedByReason the number of channels that stay on TCP for each reason, also of channels
 *     that were accepted or have not tried: {@code unavailable}, {@code software-device}, {@code
 *     same-host}, {@code other-network}, {@code limit}, {@code memory}, {@code refused}, {@code
 *     left-alone} because the peer has refused another one, {@code one-direction}, {@code
 *     not-asked}, {@code urgent-data}, {@code failed}
 */
public record ChannelStatistics(
    long upgraded,
    long stayed,
    long resumed,
    long sentBytes,
    long receivedBytes,
    long tcpSentBytes,
    long tcpReceivedBytes,
    long registeredBytes,
    Map<String, Long> stayedByReason) {
  /** Creates the statistics. */
  public ChannelStatistics {
    stayedByReason = Map.copyOf(stayedByReason);
  }
}
