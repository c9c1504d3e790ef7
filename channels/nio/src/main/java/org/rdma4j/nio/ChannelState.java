package org.rdma4j.nio;

/**
 * What is known of one open channel at one moment: see {@link ChannelsMXBean#getChannels}.
 *
 * @param connection the addresses and ports of the TCP connection, those of the client first
 * @param client whether this side has connected
 * @param over what carries its bytes now: {@code RDMA}, or {@code TCP}
 * @param since since when that carries them, in UTC, such as {@code 2026-11-28T02:56:00Z}
 * @param reason why it is on TCP, also why it resumed there; empty if it is not
 * @param tcpSentBytes the bytes that were written to TCP
 * @param tcpReceivedBytes the bytes that were read from TCP
 * @param rdmaSentBytes the bytes that were written to RDMA
 * @param rdmaReceivedBytes the bytes that were read from RDMA
 */
public record ChannelState(
    String connection,
    boolean client,
    String over,
    String since,
    String reason,
    long tcpSentBytes,
    long tcpReceivedBytes,
    long rdmaSentBytes,
    long rdmaReceivedBytes) {}
