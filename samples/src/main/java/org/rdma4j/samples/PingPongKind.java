package org.rdma4j.samples;

/** What the programs of the ping-pong family differ in. */
enum PingPongKind {
  /** A reliable connection. */
  RC("ibv_rc_pingpong", 1, 0, (byte) 0x7b),
  /** An unreliable connection. */
  UC("ibv_uc_pingpong", 1, 0, (byte) 0x7b),
  /** Datagrams, in front of which the device writes a global routing header. */
  UD("ibv_ud_pingpong", 1, 40, (byte) 0x7b),
  /** Reliable connections whose receives are shared. */
  SRQ("ibv_srq_pingpong", 256, 0, (byte) 0);

  private final String namesake;
  private final int addresses;
  private final int headerBytes;
  private final byte fill;

  PingPongKind(String namesake, int addresses, int headerBytes, byte fill) {
    this.namesake = namesake;
    this.addresses = addresses;
    this.headerBytes = headerBytes;
    this.fill = fill;
  }

  /** The program in C. */
  String namesake() {
    return namesake;
  }

  /** How many addresses each side sends the other, whatever number of queue pairs it has. */
  int addresses() {
    return addresses;
  }

  /** How many bytes come before a message where it is received. */
  int headerBytes() {
    return headerBytes;
  }

  /** What C fills its buffer with; its -c puts a 0 at the start of each page. */
  byte fill() {
    return fill;
  }

  /** Whether a message can be lost. */
  boolean losesMessages() {
    return this == UC || this == UD;
  }
}
