package org.rdma4j.nio;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What an operator may know of one connected channel or socket. It does not refer to the channel,
 * which the program may drop.
 */
final class ChannelRecord {
  /** Over what the channel goes, and since when. */
  private record Way(boolean overRdma, long sinceMillis, String reason) {}

  private final ChannelRegister register;
  private final InetSocketAddress client;
  private final InetSocketAddress server;
  private final boolean isClient;
  private final AtomicLong tcpSent = new AtomicLong();
  private final AtomicLong tcpReceived = new AtomicLong();
  private final AtomicLong rdmaSent = new AtomicLong();
  private final AtomicLong rdmaReceived = new AtomicLong();
  private volatile Way way =
      new Way(false, System.currentTimeMillis(), "not decided: both sides must send enough first");

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

  void upgraded() {
    way = new Way(true, System.currentTimeMillis(), "");
  }

  /** Records that the channel uses TCP, since it was connected or since RDMA has ended. */
  void staysOnTcp(String reason) {
    Way before = way;
    way = new Way(false, before.overRdma ? System.currentTimeMillis() : before.sinceMillis, reason);
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
