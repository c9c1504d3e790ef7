package org.rdma4j.cm;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.verbs.Ece;

/**
 * An event of the connection manager: {@code struct rdma_cm_event}. It has been acknowledged when
 * it is handed out, and holds nothing back: all of it can be read at any time.
 */
public sealed interface CmEvent {
  /**
   * What it happened to.
   *
   * @return the identifier; of a request to connect, the new one
   */
  CmId id();

  /** An event that tells of a failure. */
  sealed interface Failure extends CmEvent {
    /**
     * Why.
     *
     * @return the errno value, positive
     */
    int errno();
  }

  /**
   * The address was resolved: the identifier has a device now: {@code RDMA_CM_EVENT_ADDR_RESOLVED}.
   *
   * @param id the identifier
   */
  record AddressResolved(CmId id) implements CmEvent {}

  /**
   * The address was not resolved: {@code RDMA_CM_EVENT_ADDR_ERROR}.
   *
   * @param id the identifier
   * @param errno why, the errno value
   */
  record AddressFailed(CmId id, int errno) implements Failure {}

  /**
   * The route was resolved: the identifier can connect: {@code RDMA_CM_EVENT_ROUTE_RESOLVED}.
   *
   * @param id the identifier
   */
  record RouteResolved(CmId id) implements CmEvent {}

  /**
   * The route was not resolved: {@code RDMA_CM_EVENT_ROUTE_ERROR}.
   *
   * @param id the identifier
   * @param errno why, the errno value
   */
  record RouteFailed(CmId id, int errno) implements Failure {}

  /**
   * A peer wants to connect. An identifier that nobody accepts or rejects stays open until it, or
   * its channel, is closed: {@code RDMA_CM_EVENT_CONNECT_REQUEST}.
   *
   * @param id the identifier that is new, to accept or reject
   * @param listener the identifier that listens
   * @param parameters what the peer tells; for datagrams, its private data alone
   */
  record ConnectRequest(CmId id, CmId listener, ConnectionParameters parameters)
      implements CmEvent {}

  /**
   * The peer accepted, and the identifier has no queue pair: once that of one's own is ready to
   * send, {@link CmId#establish} has to be called: {@code RDMA_CM_EVENT_CONNECT_RESPONSE}.
   *
   * @param id the identifier
   * @param parameters what the peer tells
   */
  record ConnectResponse(CmId id, ConnectionParameters parameters) implements CmEvent {}

  /**
   * The connection failed while it was made: {@code RDMA_CM_EVENT_CONNECT_ERROR}.
   *
   * @param id the identifier
   * @param errno why, the errno value
   */
  record ConnectFailed(CmId id, int errno) implements Failure {}

  /**
   * The peer does not answer, or for datagrams, does not accept: {@code RDMA_CM_EVENT_UNREACHABLE}.
   *
   * @param id the identifier
   * @param status why: an errno value, negated; or the positive status of a peer's refusal of
   *     datagrams, such as {@link #SIDR_REJECT}
   */
  record Unreachable(CmId id, int status) implements Failure {
    /** The datagrams' service is not known there. */
    public static final int SIDR_UNSUPPORTED = 1;

    /** The program that listens there rejected it. */
    public static final int SIDR_REJECT = 2;

    @Override
    public int errno() {
      return status < 0 ? -status : ErrorNumber.ECONNREFUSED.value();
    }
  }

  /**
   * The peer rejected the connection, or nobody listens there: {@code RDMA_CM_EVENT_REJECTED}.
   *
   * @param id the identifier
   * @param reason why, as the InfiniBand connection manager has it; where the network is iWARP, an
   *     errno value
   * @param privateData what the peer told, read-only, zeros behind it
   */
  record Rejected(CmId id, int reason, ByteBuffer privateData) implements CmEvent {
    /** Nobody listens at that port there. */
    public static final int INVALID_SERVICE_ID = 8;

    /** The program that listens there rejected it. */
    public static final int CONSUMER_DEFINED = 28;

    /** The two sides' {@link Ece} do not fit. */
    public static final int VENDOR_OPTION_NOT_SUPPORTED = 35;

    /**
     * What the peer told.
     *
     * @return its private data, read-only, with a position of its own
     */
    @Override
    public ByteBuffer privateData() {
      return privateData.duplicate();
    }
  }

  /**
   * The connection is there, or for datagrams, the peer accepted: {@code
   * RDMA_CM_EVENT_ESTABLISHED}.
   *
   * @param id the identifier
   * @param parameters what the peer tells; for datagrams, its private data alone
   * @param destination where datagrams to the peer have to be sent; null for a connection
   */
  record Established(
      CmId id, ConnectionParameters parameters, @Nullable DatagramDestination destination)
      implements CmEvent {}

  /**
   * The connection was ended, by either side: {@code RDMA_CM_EVENT_DISCONNECTED}.
   *
   * @param id the identifier
   */
  record Disconnected(CmId id) implements CmEvent {}

  /**
   * The device is gone: the identifier has to be closed: {@code RDMA_CM_EVENT_DEVICE_REMOVAL}.
   * Close its {@link CmId#device} too: the removal of a device whose driver can't take it from its
   * users, such as soft-RoCE, waits for that.
   *
   * @param id the identifier
   */
  record DeviceRemoved(CmId id) implements CmEvent {}

  /**
   * The multicast group was joined: {@code RDMA_CM_EVENT_MULTICAST_JOIN}.
   *
   * @param id the identifier
   * @param group the group
   * @param destination where datagrams to the group have to be sent
   */
  record MulticastJoined(CmId id, SocketAddress group, DatagramDestination destination)
      implements CmEvent {}

  /**
   * The multicast group was not joined, or was lost: {@code RDMA_CM_EVENT_MULTICAST_ERROR}.
   *
   * @param id the identifier
   * @param group the group
   * @param errno why, the errno value
   */
  record MulticastFailed(CmId id, SocketAddress group, int errno) implements Failure {}

  /**
   * The address moved to another network interface: connections have to be made anew: {@code
   * RDMA_CM_EVENT_ADDR_CHANGE}.
   *
   * @param id the identifier
   */
  record AddressChanged(CmId id) implements CmEvent {}

  /**
   * The queue pair of a connection that ended may be used again: {@code
   * RDMA_CM_EVENT_TIMEWAIT_EXIT}.
   *
   * @param id the identifier
   */
  record TimeWaitExited(CmId id) implements CmEvent {}
}
