package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.bindings.generated.ibv_async_event;
import org.rdma4j.bindings.generated.ibv_qp;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.lifetime.NativeObjects;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;

/** Reads the asynchronous events of a device. */
final class AsyncEvents {
  private final DeviceInfo device;
  private final MemorySegment context;
  private final NativeObjects objects;

  AsyncEvents(DeviceInfo device, MemorySegment context, NativeObjects objects) {
    this.device = device;
    this.context = context;
    this.objects = objects;
  }

  /**
   * Returns the next event; null if there is none. The event is acknowledged only after its object
   * has been looked up: the destruction of the object waits for the acknowledgement, so the object
   * exists until then.
   */
  @Nullable AsyncEvent next() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(ibv_async_event.layout());
      if (Calls.integer(rdma_h.ibv_get_async_event$address(), context, event) != 0) {
        int errno = Errno.errno();
        if (errno == ErrorNumber.EAGAIN.value() || errno == ErrorNumber.EINTR.value()) {
          return null;
        }
        throw NativeFailures.failure(device.name(), "ibv_get_async_event", errno);
      }
      try {
        return read(event);
      } finally {
        rdma_h.ibv_ack_async_event(event);
      }
    }
  }

  private AsyncEvent read(MemorySegment event) {
    AsyncEventType type =
        NativeConstants.of(
            AsyncEventType.class, ibv_async_event.event_type(event), AsyncEventType.UNKNOWN);
    MemorySegment element = ibv_async_event.element(event);
    return switch (type) {
      case QUEUE_PAIR_FATAL,
          QUEUE_PAIR_REQUEST_ERROR,
          QUEUE_PAIR_ACCESS_ERROR,
          COMMUNICATION_ESTABLISHED,
          SEND_QUEUE_DRAINED,
          PATH_MIGRATED,
          PATH_MIGRATION_ERROR,
          LAST_REQUEST_REACHED -> {
        MemorySegment queuePair = ibv_async_event.element.qp(element);
        yield new AsyncEvent.OfQueuePair(
            type, ibv_qp.qp_num(queuePair), objects.find(QueuePair.class, queuePair.address()));
      }
      case COMPLETION_QUEUE_ERROR ->
          new AsyncEvent.OfCompletionQueue(
              type,
              objects.find(CompletionQueue.class, ibv_async_event.element.cq(element).address()));
      case SHARED_RECEIVE_QUEUE_ERROR, SHARED_RECEIVE_QUEUE_LIMIT_REACHED ->
          new AsyncEvent.OfSharedReceiveQueue(
              type,
              objects.find(
                  SharedReceiveQueue.class, ibv_async_event.element.srq(element).address()));
      case WORK_QUEUE_FATAL ->
          new AsyncEvent.OfWorkQueue(
              type, objects.find(WorkQueue.class, ibv_async_event.element.wq(element).address()));
      case PORT_ACTIVE,
          PORT_ERROR,
          LID_CHANGE,
          PARTITION_KEY_CHANGE,
          SUBNET_MANAGER_CHANGE,
          CLIENT_REREGISTER,
          GID_CHANGE ->
          new AsyncEvent.OfPort(type, ibv_async_event.element.port_num(element));
      case DEVICE_FATAL, DEVICE_SPEED_CHANGE, UNKNOWN -> new AsyncEvent.OfDevice(type);
    };
  }
}
