package org.rdma4j.cm;

import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.bindings.generated.rdma_cm_event;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.rdma_ud_param;
import org.rdma4j.verbs.address.AddressVector;

/** Copies a {@code struct rdma_cm_event} into a {@link CmEvent}. */
final class EventReader {
  private EventReader() {}

  /**
   * Reads an event of an existing identifier, that is, any but a request to connect.
   *
   * @param errno the value of errno after {@code rdma_get_cm_event}
   * @return the event; null if this library does not know its type, or if it is about a group that
   *     the identifier has left
   */
  static @Nullable CmEvent read(MemorySegment event, CmId id, int errno) {
    int type = rdma_cm_event.event(event);
    int failure = failure(rdma_cm_event.status(event), errno);
    if (type == rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED()) {
      return new CmEvent.AddressResolved(id);
    }
    if (type == rdma_h.RDMA_CM_EVENT_ADDR_ERROR()) {
      return new CmEvent.AddressFailed(id, failure);
    }
    if (type == rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED()) {
      return new CmEvent.RouteResolved(id);
    }
    if (type == rdma_h.RDMA_CM_EVENT_ROUTE_ERROR()) {
      return new CmEvent.RouteFailed(id, failure);
    }
    if (type == rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE()) {
      return new CmEvent.ConnectResponse(id, config(event, id));
    }
    if (type == rdma_h.RDMA_CM_EVENT_CONNECT_ERROR()) {
      return new CmEvent.ConnectFailed(id, failure);
    }
    if (type == rdma_h.RDMA_CM_EVENT_UNREACHABLE()) {
      return new CmEvent.Unreachable(id, rdma_cm_event.status(event));
    }
    if (type == rdma_h.RDMA_CM_EVENT_REJECTED()) {
      return new CmEvent.Rejected(id, rdma_cm_event.status(event), config(event, id).privateData());
    }
    if (type == rdma_h.RDMA_CM_EVENT_ESTABLISHED()) {
      return new CmEvent.Established(
          id,
          config(event, id),
          id.portSpace().isDatagram() ? destination(datagrams(event)) : null);
    }
    if (type == rdma_h.RDMA_CM_EVENT_DISCONNECTED()) {
      return new CmEvent.Disconnected(id);
    }
    if (type == rdma_h.RDMA_CM_EVENT_DEVICE_REMOVAL()) {
      return new CmEvent.DeviceRemoved(id);
    }
    if (type == rdma_h.RDMA_CM_EVENT_MULTICAST_JOIN()
        || type == rdma_h.RDMA_CM_EVENT_MULTICAST_ERROR()) {
      return multicast(event, id, failure);
    }
    if (type == rdma_h.RDMA_CM_EVENT_ADDR_CHANGE()) {
      return new CmEvent.AddressChanged(id);
    }
    if (type == rdma_h.RDMA_CM_EVENT_TIMEWAIT_EXIT()) {
      return new CmEvent.TimeWaitExited(id);
    }
    if (type == rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED()) {
      return new CmEvent.ServiceResolved(id);
    }
    if (type == rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR()) {
      return new CmEvent.ServiceFailed(id, failure);
    }
    if (type == rdma_h.RDMA_CM_EVENT_USER()) {
      return new CmEvent.Written(
          id, rdma_cm_event.status(event), rdma_cm_event.param.arg(rdma_cm_event.param(event)));
    }
    return null;
  }

  /** Reads what the peer sent; of datagrams, that is only the private data. */
  static ConnectionConfig config(MemorySegment event, CmId id) {
    if (!id.portSpace().isDatagram()) {
      return ConnectionConfig.read(rdma_cm_event.param.conn(rdma_cm_event.param(event)));
    }
    MemorySegment param = datagrams(event);
    return ConnectionConfig.DEFAULT.privateData(
        PrivateData.read(
            rdma_ud_param.private_data(param),
            Byte.toUnsignedLong(rdma_ud_param.private_data_len(param))));
  }

  private static @Nullable CmEvent multicast(MemorySegment event, CmId id, int failure) {
    MemorySegment param = datagrams(event);
    SocketAddress group = id.multicast().group(rdma_ud_param.private_data(param));
    if (group == null) {
      return null;
    }
    if (rdma_cm_event.event(event) == rdma_h.RDMA_CM_EVENT_MULTICAST_ERROR()) {
      return new CmEvent.MulticastFailed(id, group, failure);
    }
    DatagramDestination destination = destination(param);
    return destination == null
        ? new CmEvent.MulticastFailed(id, group, ErrorNumber.EADDRNOTAVAIL.value())
        : new CmEvent.MulticastJoined(id, group, destination);
  }

  /** The kernel reports a negated errno value; librdmacm itself reports -1 and sets errno. */
  private static int failure(int status, int errno) {
    return status == -1 && errno != 0 ? errno : Math.abs(status);
  }

  private static MemorySegment datagrams(MemorySegment event) {
    return rdma_cm_event.param.ud(rdma_cm_event.param(event));
  }

  /** Returns null if the event has no address. */
  private static @Nullable DatagramDestination destination(MemorySegment param) {
    AddressVector vector = AddressVector.read(rdma_ud_param.ah_attr(param));
    return vector == null
        ? null
        : new DatagramDestination(vector, rdma_ud_param.qp_num(param), rdma_ud_param.qkey(param));
  }
}
