package org.rdma4j.cm;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.verbs.Ece;

/**
 * An event of the connection manager: {@code struct rdma_cm_event}. It is a complete copy, and has
 * already been acknowledged when {@link EventChannel} returns it, so a program may keep it for as
 * long as it likes.
 *
 * @see EventChannel#awaitEvent
 */
public sealed interface CmEvent {
  /**
   * Returns the identifier to which this happened.
   *
   * @return the identifier; for a request to connect, the new one
   */
  CmId id();

  /** An event that reports a failure. */
  sealed interface Failure extends CmEvent {
    /**
     * Returns the reason of the failure.
     *
     * @return the errno value, positive
     */
    int errno();
  }

  /**
   * The address was resolved, and the identifier has a device now: {@code
   * RDMA_CM_EVENT_ADDR_RESOLVED}.
   *
   * @param id the identifier
   */
  record AddressResolved(CmId id) implements CmEvent {}

  /**
   * The address was not resolved: {@code RDMA_CM_EVENT_ADDR_ERROR}.
   *
   * @param id the identifier
   * @param errno the reason, an errno value
   */
  record AddressFailed(CmId id, int errno) implements Failure {}

  /**
   * The route was resolved, and the identifier can connect now: {@code
   * RDMA_CM_EVENT_ROUTE_RESOLVED}.
   *
   * @param id the identifier
   */
  record RouteResolved(CmId id) implements CmEvent {}

  /**
   * The route was not resolved: {@code RDMA_CM_EVENT_ROUTE_ERROR}.
   *
   * @param id the identifier
   * @param errno the reason, an errno value
   */
  record RouteFailed(CmId id, int errno) implements Failure {}

  /**
   * A peer requests to connect: {@code RDMA_CM_EVENT_CONNECT_REQUEST}. Accept or reject it. An
   * identifier that is neither accepted nor rejected stays open until it or its channel is closed.
   *
   * @param id the identifier that this request created, to accept or reject
   * @param listener the identifier that listens
   * @param config what the peer sends; for datagrams, only its private data
   */
  record ConnectRequest(CmId id, CmId listener, ConnectionConfig config) implements CmEvent {}

  /**
   * The peer accepted, and the queue pair is an {@linkplain ExternalQueuePair external} one: {@code
   * RDMA_CM_EVENT_CONNECT_RESPONSE}. Bring the queue pair to READY_TO_SEND, then call {@link
   * ExternalQueuePair#establish}.
   *
   * @param id the identifier
   * @param config what the peer sends
   */
  record ConnectResponse(CmId id, ConnectionConfig config) implements CmEvent {}

  /**
   * Connecting failed: {@code RDMA_CM_EVENT_CONNECT_ERROR}.
   *
   * @param id the identifier
   * @param errno the reason, an errno value
   */
  record ConnectFailed(CmId id, int errno) implements Failure {}

  /**
   * The peer does not answer, or for datagrams, does not accept: {@code RDMA_CM_EVENT_UNREACHABLE}.
   *
   * @param id the identifier
   * @param status the reason: a negated errno value, or the positive status with which a peer
   *     refuses datagrams, for example {@link #SIDR_REJECT}
   */
  record Unreachable(CmId id, int status) implements Failure {
    /** No program listens on that port. */
    public static final int SIDR_UNSUPPORTED = 1;

    /** The program that listens there rejected the request. */
    public static final int SIDR_REJECT = 2;

    @Override
    public int errno() {
      return status < 0 ? -status : ErrorNumber.ECONNREFUSED.value();
    }
  }

  /**
   * The peer rejected the connection, or no program listens there: {@code RDMA_CM_EVENT_REJECTED}.
   *
   * @param id the identifier
   * @param reason the reason, as a number of the InfiniBand connection manager; over iWARP, the
   *     negative of an errno value
   * @param privateData what the peer sends, read-only, filled up with zeros
   */
  record Rejected(CmId id, int reason, ByteBuffer privateData) implements CmEvent {
    /** No program listens on that port. */
    public static final int INVALID_SERVICE_ID = 8;

    /** The program that listens there rejected the request. */
    public static final int CONSUMER_DEFINED = 28;

    /** The {@link Ece} of the two sides do not fit. */
    public static final int VENDOR_OPTION_NOT_SUPPORTED = 35;

    /**
     * Returns what the peer sends.
     *
     * @return the private data, read-only; each call returns a buffer with its own position
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
   * @param config what the peer sends; for datagrams, only its private data
   * @param destination the destination of datagrams to the peer; null for a connection
   */
  record Established(CmId id, ConnectionConfig config, @Nullable DatagramDestination destination)
      implements CmEvent {}

  /**
   * One of the two sides ended the connection: {@code RDMA_CM_EVENT_DISCONNECTED}. If it was the
   * peer, the queue pair of this side stays as it is: its posted receives complete, with {@link
   * org.rdma4j.verbs.CompletionStatus#FLUSHED}, only after {@link CmId#disconnect} of this side.
   *
   * @param id the identifier
   */
  record Disconnected(CmId id) implements CmEvent {}

  /**
   * The device was removed: {@code RDMA_CM_EVENT_DEVICE_REMOVAL}. Close the identifier, and close
   * its {@link CmId#device()} too. The removal of a device whose driver cannot take it away from
   * its users, such as soft-RoCE, waits for that.
   *
   * @param id the identifier
   */
  record DeviceRemoved(CmId id) implements CmEvent {}

  /**
   * The multicast group was joined: {@code RDMA_CM_EVENT_MULTICAST_JOIN}.
   *
   * @param id the identifier
   * @param group the group
   * @param destination the destination of datagrams to the group
   */
  record MulticastJoined(CmId id, SocketAddress group, DatagramDestination destination)
      implements CmEvent {}

  /**
   * The multicast group was not joined, or was lost: {@code RDMA_CM_EVENT_MULTICAST_ERROR}.
   *
   * @param id the identifier
   * @param group the group
   * @param errno the reason, an errno value
   */
  record MulticastFailed(CmId id, SocketAddress group, int errno) implements Failure {}

  /**
   * The address moved to another network interface: {@code RDMA_CM_EVENT_ADDR_CHANGE}. Connections
   * do not move along: connect again.
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

  /**
   * The service was found: {@code RDMA_CM_EVENT_ADDRINFO_RESOLVED}. {@link CmIdService#addresses}
   * returns where it is.
   *
   * @param id the identifier
   */
  record ServiceResolved(CmId id) implements CmEvent {}

  /**
   * The service was not found: {@code RDMA_CM_EVENT_ADDRINFO_ERROR}.
   *
   * @param id the identifier
   * @param errno the reason, an errno value
   */
  record ServiceFailed(CmId id, int errno) implements Failure {}

  /**
   * A program wrote this event: {@code RDMA_CM_EVENT_USER}.
   *
   * @param id the identifier
   * @param status the number that {@link CmId#writeEvent} was called with
   * @param argument the other number that it was called with
   */
  record Written(CmId id, int status, long argument) implements CmEvent {}
}
