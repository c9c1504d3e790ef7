package org.rdma4j.tools.pingpong;

/** The ways in which the ping-pong programs differ. */
enum PingPongKind {
  /** A reliable connection. */
  RC("ibv_rc_pingpong", 1, 0, (byte) 0x7b),
  /** An unreliable connection. */
  UC("ibv_uc_pingpong", 1, 0, (byte) 0x7b),
  /** Datagrams; the device writes a global routing header before each received one. */
  UD("ibv_ud_pingpong", 1, 40, (byte) 0x7b),
  /** Reliable connections that share a receive queue. */
  SRQ("ibv_srq_pingpong", 256, 0, (byte) 0);

  private final String nameInC;
  private final int addresses;
  private final int headerBytes;
  private final byte fill;

  PingPongKind(String nameInC, int addresses, int headerBytes, byte fill) {
    this.nameInC = nameInC;
    this.addresses = addresses;
    this.headerBytes = headerBytes;
    this.fill = fill;
  }

  /** Returns the name of the program in C. */
  String nameInC() {
    return nameInC;
  }

  /** Returns how many addresses each side sends, whatever the number of its queue pairs. */
  int addresses() {
    return addresses;
  }

  /** Returns the number of bytes before a received message. */
  int headerBytes() {
    return headerBytes;
  }

  /**
   * Returns the byte that C fills its buffer with. Its -c sets the first byte of each page to 0.
   */
  byte fill() {
    return fill;
  }

  /** Returns whether a message can be lost. */
  boolean losesMessages() {
    return this == UC || this == UD;
  }
}
