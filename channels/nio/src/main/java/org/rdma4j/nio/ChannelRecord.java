package org.rdma4j.nio;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What an operator may know of one connected channel or socket. It does not refer to the channel,
 * which the program may drop.
 */
final class ChannelRecord {
  /**
   * What carries the channel, and since when.
   *
   * @param kind why that is TCP; null if it is not, or not decided yet
   */
  private record Way(
      boolean overRdma, long sinceMillis, @Nullable StayReason kind, String reason) {}

  private final ChannelRegister register;
  private final InetSocketAddress client;
  private final InetSocketAddress server;
  private final boolean isClient;
  private final AtomicLong tcpSent = new AtomicLong();
  private final AtomicLong tcpReceived = new AtomicLong();
  private final AtomicLong rdmaSent = new AtomicLong();
  private final AtomicLong rdmaReceived = new AtomicLong();
  private volatile Way way =
      new Way(
          false,
          System.currentTimeMillis(),
          null,
          "not decided: both sides must send enough first");

  ChannelRecord(
      ChannelRegister register,
      InetSocketAddress client,
      InetSocketAddress server,
      boolean isClient) {
    this.register = register;
    this.client = client;
    this.server = server;
    this.isClient = isClient;
  }

  /** Returns the name of the TCP connection: addresses and ports, those of the client first. */
  String name() {
    return name(client, server);
  }

  static String name(InetSocketAddress client, InetSocketAddress server) {
    return name(client) + " " + name(server);
  }

  /** The scope of an IPv6 address is different on both sides. */
  private static String name(InetSocketAddress address) {
    InetAddress host = address.getAddress();
    String text = host.getHostAddress();
    int scope = text.indexOf('%');
    return (scope < 0 ? text : text.substring(0, scope)) + " " + address.getPort();
  }

  boolean isClient() {
    return isClient;
  }

  synchronized void upgraded() {
    way = new Way(true, System.currentTimeMillis(), null, "");
  }

  synchronized void resumed(String reason) {
    way = new Way(false, System.currentTimeMillis(), null, reason);
  }

  /** Records why the channel stays on TCP; returns whether that was not recorded before. */
  synchronized boolean staysOnTcp(StayReason kind, String reason) {
    Way before = way;
    way = new Way(false, before.sinceMillis, kind, reason);
    return before.kind == null;
  }

  /** Removes it from the channels that are open. */
  void closed() {
    register.remove(this);
  }

  void sentOverTcp(long bytes) {
    tcpSent.addAndGet(bytes);
    register.tcpSent().add(bytes);
  }

  void receivedOverTcp(long bytes) {
    tcpReceived.addAndGet(bytes);
    register.tcpReceived().add(bytes);
  }

  void sentOverRdma(long bytes) {
    rdmaSent.addAndGet(bytes);
  }

  void receivedOverRdma(long bytes) {
    rdmaReceived.addAndGet(bytes);
  }

  ChannelState state() {
    Way now = way;
    return new ChannelState(
        name(),
        isClient,
        now.overRdma ? "RDMA" : "TCP",
        Instant.ofEpochMilli(now.sinceMillis).toString(),
        now.reason,
        tcpSent.get(),
        tcpReceived.get(),
        rdmaSent.get(),
        rdmaReceived.get());
  }
}
