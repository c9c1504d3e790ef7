package org.rdma4j.cm;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.verbs.QueuePairType;

/**
 * A kind of communication, with port numbers of its own: {@code enum rdma_port_space}.
 *
 * @see CmId#portSpace
 */
public enum PortSpace implements NativeConstant {
  /** Reliable connections: {@code RDMA_PS_TCP}. */
  TCP(rdma_h.RDMA_PS_TCP(), 56, 196, 148),
  /** Datagrams and multicast: {@code RDMA_PS_UDP}. */
  UDP(rdma_h.RDMA_PS_UDP(), 180, 136, 136),
  /** Datagrams to the members of an IPoIB group: {@code RDMA_PS_IPOIB}. */
  IPOIB(rdma_h.RDMA_PS_IPOIB(), 180, 136, 136),
  /** Reliable connections between {@link IbAddress}es: {@code RDMA_PS_IB}. */
  IB(rdma_h.RDMA_PS_IB(), 92, 196, 148);

  private final int value;
  private final int maxConnectBytes;
  private final int maxAcceptBytes;
  private final int maxRejectBytes;

  PortSpace(int value, int maxConnectBytes, int maxAcceptBytes, int maxRejectBytes) {
    this.value = value;
    this.maxConnectBytes = maxConnectBytes;
    this.maxAcceptBytes = maxAcceptBytes;
    this.maxRejectBytes = maxRejectBytes;
  }

  @Override
  public int value() {
    return value;
  }

  /**
   * Returns how much private data a request to connect carries.
   *
   * @return the maximum in bytes; with {@link #IB} and an IP address it is 36 less
   */
  public int maxConnectBytes() {
    return maxConnectBytes;
  }

  /**
   * Returns how much private data an acceptance carries.
   *
   * @return the maximum in bytes
   */
  public int maxAcceptBytes() {
    return maxAcceptBytes;
  }

  /**
   * Returns how much private data a rejection carries.
   *
   * @return the maximum in bytes
   */
  public int maxRejectBytes() {
    return maxRejectBytes;
  }

  /** Returns whether the queue pairs of this port space send datagrams. */
  boolean isDatagram() {
    return this == UDP || this == IPOIB;
  }

  /**
   * Throws IllegalArgumentException if no identifier of this port space can have queue pairs of the
   * type: the kernel takes the type into account only in port space IB.
   */
  void check(QueuePairType type) {
    boolean isConnected =
        type == QueuePairType.UNRELIABLE_CONNECTION
            || type == QueuePairType.XRC_SEND
            || type == QueuePairType.XRC_RECEIVE;
    if (type != queuePairType() && !(this == IB && isConnected)) {
      throw new IllegalArgumentException(
          "type is "
              + type
              + ", must be "
              + queuePairType()
              + (this == IB ? ", UNRELIABLE_CONNECTION, XRC_SEND or XRC_RECEIVE" : "")
              + " in port space "
              + this);
    }
  }

  /** Returns the type of the queue pairs of this port space, unless an identifier has another. */
  QueuePairType queuePairType() {
    return isDatagram() ? QueuePairType.UNRELIABLE_DATAGRAM : QueuePairType.RELIABLE_CONNECTION;
  }
}
