package org.rdma4j.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.SocketAddress;
import java.nio.ByteOrder;
import java.util.Objects;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.sockaddr_ib;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.Gid;

/**
 * An address of InfiniBand, {@code struct sockaddr_ib}: a GID and a service instead of an IP
 * address and a port. Immutable.
 */
public final class IbAddress extends SocketAddress {
  private static final long serialVersionUID = 1L;
  private static final ValueLayout.OfLong BIG_ENDIAN =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt BIG_ENDIAN_INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfShort BIG_ENDIAN_SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int PORT_MASK = 0xffff;

  /** The first half of the GID. */
  private final long subnetPrefix;

  /** The second half of the GID. */
  private final long interfaceId;

  /** As {@link #partitionKey} says. */
  private final int partitionKey;

  /** As {@link #serviceId} says. */
  private final long serviceId;

  /** As {@link #serviceMask} says. */
  private final long serviceMask;

  /** As {@link #flowInfo} says. */
  private final int flowInfo;

  /** As {@link #scope} says. */
  private final long scope;

  /**
   * An address of all its parts.
   *
   * @param gid {@code sib_addr}; {@link Gid#ZERO} for any
   * @param partitionKey {@code sib_pkey}, 0 to 0xffff as a number; 0xffff is the default partition
   * @param serviceId {@code sib_sid}, as a number: the port space, and the port in its last 16 bits
   * @param serviceMask {@code sib_sid_mask}, as a number: which bits of the service count
   * @param flowInfo {@code sib_flowinfo}, as a number
   * @param scope {@code sib_scope_id}
   * @throws IllegalArgumentException where the partition key is out of range
   */
  public IbAddress(
      Gid gid, int partitionKey, long serviceId, long serviceMask, int flowInfo, long scope) {
    this.subnetPrefix = gid.subnetPrefix();
    this.interfaceId = gid.interfaceId();
    this.partitionKey = Range.check("partitionKey", partitionKey, 0, 0xffff);
    this.serviceId = serviceId;
    this.serviceMask = serviceMask;
    this.flowInfo = flowInfo;
    this.scope = scope;
  }

  /**
   * The address of a port of a port space at a GID, in the default partition.
   *
   * @param gid the GID; {@link Gid#ZERO} for any
   * @param space the port space
   * @param port the port, 0 to 65535; 0 where any is wanted
   * @return the address
   * @throws IllegalArgumentException where the port is out of range
   */
  public static IbAddress of(Gid gid, PortSpace space, int port) {
    Range.check("port", port, 0, PORT_MASK);
    return new IbAddress(
        gid, 0xffff, (long) space.value() << 16 | port, port == 0 ? ~PORT_MASK : -1L, 0, 0);
  }

  static IbAddress read(MemorySegment raw) {
    return new IbAddress(
        Gid.read(sockaddr_ib.sib_addr(raw)),
        Short.toUnsignedInt(raw.get(BIG_ENDIAN_SHORT, sockaddr_ib.sib_pkey$offset())),
        raw.get(BIG_ENDIAN, sockaddr_ib.sib_sid$offset()),
        raw.get(BIG_ENDIAN, sockaddr_ib.sib_sid_mask$offset()),
        raw.get(BIG_ENDIAN_INT, sockaddr_ib.sib_flowinfo$offset()),
        sockaddr_ib.sib_scope_id(raw));
  }

  void write(MemorySegment raw) {
    sockaddr_ib.sib_family(raw, (short) rdma_h.AF_IB());
    raw.set(BIG_ENDIAN_SHORT, sockaddr_ib.sib_pkey$offset(), (short) partitionKey);
    raw.set(BIG_ENDIAN_INT, sockaddr_ib.sib_flowinfo$offset(), flowInfo);
    gid().write(sockaddr_ib.sib_addr(raw));
    raw.set(BIG_ENDIAN, sockaddr_ib.sib_sid$offset(), serviceId);
    raw.set(BIG_ENDIAN, sockaddr_ib.sib_sid_mask$offset(), serviceMask);
    sockaddr_ib.sib_scope_id(raw, scope);
  }

  /**
   * The GID.
   *
   * @return {@code sib_addr}
   */
  public Gid gid() {
    return new Gid(subnetPrefix, interfaceId);
  }

  /**
   * The partition key.
   *
   * @return {@code sib_pkey}, 0 to 0xffff, as a number
   */
  public int partitionKey() {
    return partitionKey;
  }

  /**
   * The service.
   *
   * @return {@code sib_sid}, as a number
   */
  public long serviceId() {
    return serviceId;
  }

  /**
   * Which bits of the service count.
   *
   * @return {@code sib_sid_mask}, as a number
   */
  public long serviceMask() {
    return serviceMask;
  }

  /**
   * The port within the port space.
   *
   * @return the last 16 bits of the service
   */
  public int port() {
    return (int) serviceId & PORT_MASK;
  }

  /**
   * The flow information.
   *
   * @return {@code sib_flowinfo}, as a number
   */
  public int flowInfo() {
    return flowInfo;
  }

  /**
   * The scope.
   *
   * @return {@code sib_scope_id}
   */
  public long scope() {
    return scope;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof IbAddress that
        && subnetPrefix == that.subnetPrefix
        && interfaceId == that.interfaceId
        && partitionKey == that.partitionKey
        && serviceId == that.serviceId
        && serviceMask == that.serviceMask
        && flowInfo == that.flowInfo
        && scope == that.scope;
  }

  @Override
  public int hashCode() {
    return Objects.hash(subnetPrefix, interfaceId, partitionKey, serviceId);
  }

  @Override
  public String toString() {
    return gid() + " service 0x" + Long.toHexString(serviceId);
  }
}
