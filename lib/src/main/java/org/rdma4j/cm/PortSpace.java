package org.rdma4j.cm;

import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.verbs.QueuePairType;

/** What kind of communication an identifier is for: {@code enum rdma_port_space}. */
public enum PortSpace {
  /** Reliable connections: {@code RDMA_PS_TCP}. */
  TCP(rdma_h.RDMA_PS_TCP(), 56, 196, 148),
  /** Datagrams, and multicast: {@code RDMA_PS_UDP}. */
  UDP(rdma_h.RDMA_PS_UDP(), 180, 136, 136),
  /** Datagrams to members of an IPoIB group: {@code RDMA_PS_IPOIB}. */
  IPOIB(rdma_h.RDMA_PS_IPOIB(), 180, 136, 136),
  /** Reliable connections by {@link IbAddress}: {@code RDMA_PS_IB}. */
  IB(rdma_h.RDMA_PS_IB(), 92, 196, 148);

  private final int value;
  private final int connectBytes;
  private final int acceptBytes;
  private final int rejectBytes;

  PortSpace(int value, int connectBytes, int acceptBytes, int rejectBytes) {
    this.value = value;
    this.connectBytes = connectBytes;
    this.acceptBytes = acceptBytes;
    this.rejectBytes = rejectBytes;
  }

  /**
   * The value in rdma_cma.h.
   *
   * @return the value of the C constant that the documentation of this one names
   */
  public int value() {
    return value;
  }

  /**
   * The most private data that a request to connect carries.
   *
   * @return how many bytes; {@link #IB} by an IP address carries 36 fewer
   */
  public int connectBytes() {
    return connectBytes;
  }

  /**
   * The most private data that an acceptance carries.
   *
   * @return how many bytes
   */
  public int acceptBytes() {
    return acceptBytes;
  }

  /**
   * The most private data that a rejection carries.
   *
   * @return how many bytes
   */
  public int rejectBytes() {
    return rejectBytes;
  }

  /** Whether its queue pairs send datagrams. */
  boolean isDatagram() {
    return this == UDP || this == IPOIB;
  }

  /** What its queue pairs are. */
  QueuePairType queuePairType() {
    return isDatagram() ? QueuePairType.UNRELIABLE_DATAGRAM : QueuePairType.RELIABLE_CONNECTION;
  }
}
