package org.rdma4j.verbs;

import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.address.StaticRate;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.Mtu;
import org.rdma4j.verbs.attribute.PortAttributes;

/**
 * How a connection reaches its peer, and when it gives up: the attributes that {@code
 * ibv_modify_qp} needs to bring a queue pair to RTR and RTS. Instances are immutable; each method
 * that takes a value returns a changed copy.
 *
 * <p>The defaults suit most connections:
 *
 * <pre>{@code
 * queuePair.connect(
 *     PathConfig.to(remote).access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
 * }</pre>
 *
 * @param remote the address of the peer's queue pair
 * @param port the local port, from 1; default 1
 * @param gidIndex the index of the local GID that packets come from; {@link #NO_GID} if packets
 *     carry none, which works only within a subnet of InfiniBand; {@link #PREFERRED_GID}, the
 *     default, for the GID that suits the port
 * @param partitionKeyIndex the index of the partition key; default 0
 * @param mtu the maximum payload of a packet; null, the default, for the active MTU of the local
 *     port. Both sides must have the same: if their ports differ, set the smaller one on both
 * @param serviceLevel the service level, 0 to 15; default 0
 * @param trafficClass the traffic class in the global routing header (GRH), 0 to 255; default 0
 * @param flowLabel the flow label in the global routing header, 0 to 0xfffff; default 0
 * @param hopLimit the number of routers that a packet may pass, 0 to 255; default 64
 * @param access what the peer may do with memory of this side; default nothing
 * @param remoteReads the maximum number of reads and atomics of the peer that this side processes
 *     at a time, 0 to {@link DeviceAttributes#maxRemoteReads}; default 1
 * @param reads the maximum number of reads and atomics of this side that are outstanding at a time,
 *     0 to {@link DeviceAttributes#maxReads}; default 1
 * @param minimumRnrTimer how long the peer waits before it sends again if this side had no receive
 *     posted (receiver not ready, RNR): a code from 0 to 31; 0 is 655.36 ms, 1 is 0.01 ms, 12 is
 *     0.64 ms and 31 is 491.52 ms; default 12
 * @param timeout how long to wait for an acknowledgement before sending again: 4.096 microseconds x
 *     2^timeout, 0 to 31; 0 means to wait forever; default 14, which is 67 ms
 * @param retries how many times to send again if no acknowledgement came, 0 to 7; soft-RoCE (Linux
 *     6.1) treats 7 as forever; default 7, as in the programs of rdma-core
 * @param rnrRetries how many times to send again if the peer had no receive posted, 0 to 7; 7 means
 *     forever, but with soft-RoCE of Linux 6.1 only until the retries of {@code retries} are used
 *     up, which ends in RETRY_EXCEEDED; default 7
 * @see QueuePair#connect
 * @see org.rdma4j.verbs.address.AddressVector
 * @see org.rdma4j.verbs.address.QueuePairAddress
 */
public record PathConfig(
    QueuePairAddress remote,
    int port,
    int gidIndex,
    int partitionKeyIndex,
    @Nullable Mtu mtu,
    int serviceLevel,
    int trafficClass,
    int flowLabel,
    int hopLimit,
    Set<AccessFlag> access,
    int remoteReads,
    int reads,
    int minimumRnrTimer,
    int timeout,
    int retries,
    int rnrRetries) {
  /** The value of {@link #gidIndex()} if packets carry no GID. */
  public static final int NO_GID = -1;

  /**
   * The value of {@link #gidIndex()} for the GID that suits the port: {@link Port#preferredGid}, or
   * none on InfiniBand if the peer is in the same subnet.
   */
  public static final int PREFERRED_GID = -2;

  /**
   * Copies the access flags.
   *
   * @throws IllegalArgumentException if a number is out of range
   */
  public PathConfig {
    access = Set.copyOf(access);
    Range.check("gidIndex", gidIndex, PREFERRED_GID, 0xff);
    Range.check("partitionKeyIndex", partitionKeyIndex, 0, 0xffff);
    Range.check("serviceLevel", serviceLevel, 0, 15);
    Range.check("trafficClass", trafficClass, 0, 0xff);
    Range.check("flowLabel", flowLabel, 0, 0xf_ffff);
    Range.check("hopLimit", hopLimit, 0, 0xff);
    Range.check("remoteReads", remoteReads, 0, 0xff);
    Range.check("reads", reads, 0, 0xff);
    Range.check("minimumRnrTimer", minimumRnrTimer, 0, 31);
    Range.check("timeout", timeout, 0, 31);
    Range.check("retries", retries, 0, 7);
    Range.check("rnrRetries", rnrRetries, 0, 7);
  }

  /**
   * Returns the path to a peer, with the default of everything else.
   *
   * @param remote the address of the peer's queue pair
   * @return the path
   */
  public static PathConfig to(QueuePairAddress remote) {
    return new PathConfig(
        remote, 1, PREFERRED_GID, 0, null, 0, 0, 0, 64, Set.of(), 1, 1, 12, 14, 7, 7);
  }

  /**
   * Returns a copy with another {@link #port()}.
   *
   * @param port the local port, from 1
   * @return the copy
   */
  public PathConfig port(int port) {
    return with(draft -> draft.port = port);
  }

  /**
   * Returns a copy with another {@link #gidIndex()}.
   *
   * @param gidIndex the index of the local GID that packets come from; {@link #NO_GID} if packets
   *     carry none; {@link #PREFERRED_GID} for the GID that suits the port
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig gidIndex(int gidIndex) {
    return with(draft -> draft.gidIndex = gidIndex);
  }

  /**
   * Returns a copy with another {@link #partitionKeyIndex()}.
   *
   * @param partitionKeyIndex the index of the partition key
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig partitionKeyIndex(int partitionKeyIndex) {
    return with(draft -> draft.partitionKeyIndex = partitionKeyIndex);
  }

  /**
   * Returns a copy with another {@link #mtu()}.
   *
   * @param mtu the maximum payload of a packet, the same on both sides; null for the active MTU of
   *     the local port
   * @return the copy
   */
  public PathConfig mtu(@Nullable Mtu mtu) {
    return with(draft -> draft.mtu = mtu);
  }

  /**
   * Returns a copy with another {@link #serviceLevel()}.
   *
   * @param serviceLevel the service level, 0 to 15
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig serviceLevel(int serviceLevel) {
    return with(draft -> draft.serviceLevel = serviceLevel);
  }

  /**
   * Returns a copy with another {@link #trafficClass()}.
   *
   * @param trafficClass the traffic class in the global routing header, 0 to 255
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig trafficClass(int trafficClass) {
    return with(draft -> draft.trafficClass = trafficClass);
  }

  /**
   * Returns a copy with another {@link #flowLabel()}.
   *
   * @param flowLabel the flow label in the global routing header, 0 to 0xfffff
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig flowLabel(int flowLabel) {
    return with(draft -> draft.flowLabel = flowLabel);
  }

  /**
   * Returns a copy with another {@link #hopLimit()}.
   *
   * @param hopLimit the number of routers that a packet may pass, 0 to 255
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig hopLimit(int hopLimit) {
    return with(draft -> draft.hopLimit = hopLimit);
  }

  /**
   * Returns a copy with another {@link #access()}.
   *
   * @param access what the peer may do with memory of this side
   * @return the copy
   */
  public PathConfig access(AccessFlag... access) {
    return with(draft -> draft.access = Set.of(access));
  }

  /**
   * Returns a copy with another {@link #remoteReads()}.
   *
   * @param remoteReads the maximum number of reads and atomics of the peer that this side processes
   *     at a time, 0 to {@link DeviceAttributes#maxRemoteReads}
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig remoteReads(int remoteReads) {
    return with(draft -> draft.remoteReads = remoteReads);
  }

  /**
   * Returns a copy with another {@link #reads()}.
   *
   * @param reads the maximum number of reads and atomics of this side that are outstanding at a
   *     time, 0 to {@link DeviceAttributes#maxReads}
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig reads(int reads) {
    return with(draft -> draft.reads = reads);
  }

  /**
   * Returns a copy with another {@link #minimumRnrTimer()}.
   *
   * @param minimumRnrTimer how long the peer waits before it sends again if this side had no
   *     receive posted: a code from 0 to 31; 0 is 655.36 ms, 1 is 0.01 ms, 12 is 0.64 ms and 31 is
   *     491.52 ms
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig minimumRnrTimer(int minimumRnrTimer) {
    return with(draft -> draft.minimumRnrTimer = minimumRnrTimer);
  }

  /**
   * Returns a copy with another {@link #timeout()}.
   *
   * @param timeout how long to wait for an acknowledgement before sending again: 4.096 microseconds
   *     x 2^timeout, 0 to 31; 0 means to wait forever
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig timeout(int timeout) {
    return with(draft -> draft.timeout = timeout);
  }

  /**
   * Returns a copy with another {@link #retries()}.
   *
   * @param retries how many times to send again if no acknowledgement came, 0 to 7; soft-RoCE
   *     (Linux 6.1) treats 7 as forever
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig retries(int retries) {
    return with(draft -> draft.retries = retries);
  }

  /**
   * Returns a copy with another {@link #rnrRetries()}.
   *
   * @param rnrRetries how many times to send again if the peer had no receive posted, 0 to 7; 7
   *     means forever
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public PathConfig rnrRetries(int rnrRetries) {
    return with(draft -> draft.rnrRetries = rnrRetries);
  }

  private PathConfig with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.config();
  }

  /** A mutable copy of a configuration. */
  private static final class Draft {
    final QueuePairAddress remote;
    int port;
    int gidIndex;
    int partitionKeyIndex;
    @Nullable Mtu mtu;
    int serviceLevel;
    int trafficClass;
    int flowLabel;
    int hopLimit;
    Set<AccessFlag> access;
    int remoteReads;
    int reads;
    int minimumRnrTimer;
    int timeout;
    int retries;
    int rnrRetries;

    Draft(PathConfig config) {
      this.remote = config.remote;
      this.port = config.port;
      this.gidIndex = config.gidIndex;
      this.partitionKeyIndex = config.partitionKeyIndex;
      this.mtu = config.mtu;
      this.serviceLevel = config.serviceLevel;
      this.trafficClass = config.trafficClass;
      this.flowLabel = config.flowLabel;
      this.hopLimit = config.hopLimit;
      this.access = config.access;
      this.remoteReads = config.remoteReads;
      this.reads = config.reads;
      this.minimumRnrTimer = config.minimumRnrTimer;
      this.timeout = config.timeout;
      this.retries = config.retries;
      this.rnrRetries = config.rnrRetries;
    }

    PathConfig config() {
      return new PathConfig(
          remote,
          port,
          gidIndex,
          partitionKeyIndex,
          mtu,
          serviceLevel,
          trafficClass,
          flowLabel,
          hopLimit,
          access,
          remoteReads,
          reads,
          minimumRnrTimer,
          timeout,
          retries,
          rnrRetries);
    }
  }

  /**
   * Returns this path with those of GID index and MTU that it leaves to the port.
   *
   * @throws IllegalArgumentException if the port has no GID at the index
   */
  PathConfig resolvedAt(Port local) {
    if (gidIndex >= 0) {
      local.requireGid(gidIndex);
    }
    if (gidIndex != PREFERRED_GID && mtu != null) {
      return this;
    }
    PortAttributes attributes = local.attributes();
    return with(
        draft -> {
          draft.mtu = mtu == null ? attributes.activeMtu() : mtu;
          draft.gidIndex = gidIndex == PREFERRED_GID ? suitableGid(local, attributes) : gidIndex;
        });
  }

  private int suitableGid(Port local, PortAttributes attributes) {
    if (attributes.linkLayer() == LinkLayer.ETHERNET) {
      return local.preferredGid().index();
    }
    boolean sameSubnet =
        remote.gid().isZero()
            || remote.gid().subnetPrefix() == local.preferredGid().gid().subnetPrefix();
    return remote.lid() != 0 && sameSubnet ? NO_GID : local.preferredGid().index();
  }

  AddressVector addressVector() {
    GlobalRoute route =
        gidIndex == NO_GID
            ? null
            : new GlobalRoute(remote.gid(), gidIndex, flowLabel, hopLimit, trafficClass);
    return new AddressVector(port, remote.lid(), serviceLevel, 0, StaticRate.UNLIMITED, route);
  }

  /** Returns the change that moves a connection of the given type from INIT to READY_TO_RECEIVE. */
  QueuePairChange readyToReceive(QueuePairType type) {
    QueuePairChange change =
        QueuePairChange.none()
            .state(QueuePairState.READY_TO_RECEIVE)
            .addressVector(addressVector())
            .mtu(Objects.requireNonNull(mtu))
            .remoteQueuePairNumber(remote.queuePairNumber())
            .receiveSequenceNumber(remote.sequenceNumber());
    return type == QueuePairType.RELIABLE_CONNECTION || type == QueuePairType.XRC_RECEIVE
        ? change.remoteReads(remoteReads).minimumRnrTimer(minimumRnrTimer)
        : change;
  }

  /**
   * Returns the change that moves a connection of the given type from READY_TO_RECEIVE to
   * READY_TO_SEND.
   */
  QueuePairChange readyToSend(QueuePairType type, int sequenceNumber) {
    QueuePairChange change =
        QueuePairChange.none()
            .state(QueuePairState.READY_TO_SEND)
            .sendSequenceNumber(sequenceNumber);
    if (type != QueuePairType.UNRELIABLE_CONNECTION) {
      change = change.timeout(timeout);
    }
    return type == QueuePairType.RELIABLE_CONNECTION || type == QueuePairType.XRC_SEND
        ? change.retries(retries).rnrRetries(rnrRetries).reads(reads)
        : change;
  }
}
