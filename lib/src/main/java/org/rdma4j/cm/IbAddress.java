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
 * An InfiniBand address, {@code struct sockaddr_ib}: a GID and a service instead of an IP address
 * and a port. Immutable.
 */
public final class IbAddress extends SocketAddress {
  private static final long serialVersionUID = 1L;
  private static final ValueLayout.OfLong BIG_ENDIAN_LONG =
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

  /** See {@link #partitionKey}. */
  private final int partitionKey;

  /** See {@link #serviceId}. */
  private final long serviceId;

  /** See {@link #serviceMask}. */
  private final long serviceMask;

  /** See {@link #flowInfo}. */
  private final int flowInfo;

  /** See {@link #scope}. */
  private final long scope;

  /**
   * Creates an address from all its parts.
   *
   * @param gid the GID, {@code sib_addr}; {@link Gid#ZERO} for any
   * @param partitionKey the partition key, {@code sib_pkey}, 0 to 0xffff; 0xffff is the default
   *     partition
   * @param serviceId the service, {@code sib_sid}: the port space, and the port in the last 16 bits
   * @param serviceMask the bits of the service that are compared, {@code sib_sid_mask}
   * @param flowInfo the flow information, {@code sib_flowinfo}
   * @param scope the scope, {@code sib_scope_id}
   * @throws IllegalArgumentException if the partition key is out of range
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
   * Returns the address of a GID and a port, in the default partition.
   *
   * @param gid the GID; {@link Gid#ZERO} for any
   * @param space the port space
   * @param port the port, 0 to 65535; 0 for any
   * @return the address
   * @throws IllegalArgumentException if the port is out of range
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
        raw.get(BIG_ENDIAN_LONG, sockaddr_ib.sib_sid$offset()),
        raw.get(BIG_ENDIAN_LONG, sockaddr_ib.sib_sid_mask$offset()),
        raw.get(BIG_ENDIAN_INT, sockaddr_ib.sib_flowinfo$offset()),
        sockaddr_ib.sib_scope_id(raw));
  }

  void write(MemorySegment raw) {
    sockaddr_ib.sib_family(raw, (short) rdma_h.AF_IB());
    raw.set(BIG_ENDIAN_SHORT, sockaddr_ib.sib_pkey$offset(), (short) partitionKey);
    raw.set(BIG_ENDIAN_INT, sockaddr_ib.sib_flowinfo$offset(), flowInfo);
    gid().write(sockaddr_ib.sib_addr(raw));
    raw.set(BIG_ENDIAN_LONG, sockaddr_ib.sib_sid$offset(), serviceId);
    raw.set(BIG_ENDIAN_LONG, sockaddr_ib.sib_sid_mask$offset(), serviceMask);
    sockaddr_ib.sib_scope_id(raw, scope);
  }

  /**
   * Returns the GID.
   *
   * @return the GID, {@code sib_addr}
   */
  public Gid gid() {
    return new Gid(subnetPrefix, interfaceId);
  }

  /**
   * Returns the partition key.
   *
   * @return the key, {@code sib_pkey}, 0 to 0xffff
   */
  public int partitionKey() {
    return partitionKey;
  }

  /**
   * Returns the service.
   *
   * @return the service, {@code sib_sid}
   */
  public long serviceId() {
    return serviceId;
  }

  /**
   * Returns the bits of the service that are compared.
   *
   * @return the mask, {@code sib_sid_mask}
   */
  public long serviceMask() {
    return serviceMask;
  }

  /**
   * Returns the port within the port space.
   *
   * @return the port, the last 16 bits of the service
   */
  public int port() {
    return (int) serviceId & PORT_MASK;
  }

  /**
   * Returns the flow information.
   *
   * @return the flow information, {@code sib_flowinfo}
   */
  public int flowInfo() {
    return flowInfo;
  }

  /**
   * Returns the scope.
   *
   * @return the scope, {@code sib_scope_id}
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
