package org.rdma4j.cm;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_cm_event;
import org.rdma4j.bindings.generated.rdma_cm_id;
import org.rdma4j.bindings.generated.rdma_event_channel;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.rdma_ud_param;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.Waits;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.address.AddressVector;

/**
 * An event channel, {@code struct rdma_event_channel}: a file descriptor on which it is told what
 * happened to the identifiers of the channel.
 *
 * <p>All methods may be called from any thread; where several wait, each event goes to one of them.
 * An identifier may be closed by the thread that handles its events, while another thread waits
 * here, and with events of it unread, which are then gone. The channel knows its identifiers, so
 * that a program need not keep those whose events lead to them.
 */
public final class EventChannel implements AutoCloseable {
  private final Map<Long, CmId> ids = new ConcurrentHashMap<>();
  private final NativeChannel channel;
  private final int descriptor;
  private final Waits waits;
  private final Lifetime lifetime;

  private EventChannel(MemorySegment pointer) {
    channel = new NativeChannel(pointer, ids);
    descriptor = rdma_event_channel.fd(pointer);
    Waits waiting = new Waits();
    waits = waiting;
    lifetime =
        new Lifetime(
            "event channel", waiting::wake, () -> rdma_h.rdma_destroy_event_channel(pointer));
    try {
      Libc.setNonBlocking(descriptor);
    } catch (RuntimeException failed) {
      lifetime.close();
      throw failed;
    }
    Leaks.watch(this, lifetime);
  }

  /**
   * Opens a channel: {@code rdma_create_event_channel}.
   *
   * @return the channel
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where it cannot be opened: ENODEV where this machine has no RDMA device,
   *     ENOENT where the kernel's module rdma_ucm is not loaded, EACCES where the user may not
   */
  public static EventChannel open() {
    NativeLibraries.require();
    MemorySegment pointer = Calls.pointer(rdma_h.rdma_create_event_channel$address());
    if (pointer.address() == 0) {
      throw Cm.failure("rdma_create_event_channel", Errno.errno());
    }
    return new EventChannel(pointer);
  }

  /**
   * Creates an identifier whose events arrive here: {@code rdma_create_id}.
   *
   * @param space what kind of communication it is for
   * @return the identifier, neither bound nor resolved
   * @throws IllegalStateException where the channel is closed
   * @throws RdmaException where it cannot be created
   */
  public CmId createId(PortSpace space) {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(ADDRESS);
            Cm.check(
                "rdma_create_id(" + space + ")",
                Calls.integer(
                    rdma_h.rdma_create_id$address(),
                    channel.pointer(),
                    result,
                    MemorySegment.NULL,
                    space.value()));
            return add(result.get(ADDRESS, 0), space);
          }
        });
  }

  private CmId add(MemorySegment id, PortSpace space) {
    channel.lock();
    try {
      MemorySegment pointer = id.reinterpret(rdma_cm_id.layout().byteSize());
      CmId added = new CmId(this, new NativeId(pointer, channel), space);
      channel.add(pointer, added);
      return added;
    } finally {
      channel.unlock();
    }
  }

  /**
   * Waits for the next event and acknowledges it: {@code rdma_get_cm_event}, {@code
   * rdma_ack_cm_event}. A virtual thread does not hold its carrier while it waits.
   *
   * @param timeout how long to wait at most; zero looks and does not wait
   * @return the event; empty where none came within that time
   * @throws InterruptedException where the thread is interrupted before or while it waits, which it
   *     notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where the channel is closed, also while waiting
   * @throws RdmaException where the event cannot be read
   */
  public Optional<CmEvent> awaitEvent(Duration timeout) throws InterruptedException {
    return waits.await(timeout, descriptor, lifetime, this::next);
  }

  /**
   * The next event, where there is one: {@code rdma_get_cm_event}, {@code rdma_ack_cm_event}. It
   * does not wait, and does not mind an interrupt.
   *
   * @return the event; empty where none has come
   * @throws IllegalStateException where the channel is closed
   * @throws RdmaException where the event cannot be read
   */
  public Optional<CmEvent> pollEvent() {
    return lifetime.whileOpen(() -> Optional.ofNullable(next()));
  }

  /** Null where there is none. */
  private @Nullable CmEvent next() {
    channel.lock();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(ADDRESS);
      while (true) {
        int failed = Calls.integer(rdma_h.rdma_get_cm_event$address(), channel.pointer(), result);
        int errno = Errno.errno();
        if (failed != 0) {
          if (errno == ErrorNumber.EAGAIN.value() || errno == ErrorNumber.EINTR.value()) {
            return null;
          }
          throw Cm.failure("rdma_get_cm_event", errno);
        }
        CmEvent event =
            take(result.get(ADDRESS, 0).reinterpret(rdma_cm_event.layout().byteSize()), errno);
        if (event != null) {
          return event;
        }
      }
    } finally {
      channel.unlock();
    }
  }

  /** Copies the event and acknowledges it; null where its identifier was closed. */
  private @Nullable CmEvent take(MemorySegment event, int errno) {
    boolean request = rdma_cm_event.event(event) == rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST();
    MemorySegment pointer = rdma_cm_event.id(event);
    MemorySegment known = request ? rdma_cm_event.listen_id(event) : pointer;
    CmId id = ids.get(known.address());
    CmEvent taken = null;
    try {
      if (id != null && id.isOpen()) {
        taken = request ? request(event, id) : read(event, id, errno);
      }
    } finally {
      rdma_h.rdma_ack_cm_event(event);
    }
    if (request && taken == null) {
      Cm.check("rdma_destroy_id", Calls.integer(rdma_h.rdma_destroy_id$address(), pointer));
    }
    return taken;
  }

  private CmEvent request(MemorySegment event, CmId listener) {
    ConnectionParameters parameters = parameters(event, listener);
    return new CmEvent.ConnectRequest(
        add(rdma_cm_event.id(event), listener.portSpace()), listener, parameters);
  }

  private static @Nullable CmEvent read(MemorySegment event, CmId id, int errno) {
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
      return new CmEvent.ConnectResponse(id, parameters(event, id));
    }
    if (type == rdma_h.RDMA_CM_EVENT_CONNECT_ERROR()) {
      id.queuePairIsIn(QueuePairState.ERROR);
      return new CmEvent.ConnectFailed(id, failure);
    }
    if (type == rdma_h.RDMA_CM_EVENT_UNREACHABLE()) {
      return new CmEvent.Unreachable(id, rdma_cm_event.status(event));
    }
    if (type == rdma_h.RDMA_CM_EVENT_REJECTED()) {
      id.queuePairIsIn(QueuePairState.ERROR);
      return new CmEvent.Rejected(
          id, rdma_cm_event.status(event), parameters(event, id).privateData());
    }
    if (type == rdma_h.RDMA_CM_EVENT_ESTABLISHED()) {
      id.queuePairIsIn(QueuePairState.READY_TO_SEND);
      return new CmEvent.Established(
          id,
          parameters(event, id),
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
    // One that a newer library knows and this one does not.
    return null;
  }

  private static @Nullable CmEvent multicast(MemorySegment event, CmId id, int failure) {
    MemorySegment param = datagrams(event);
    SocketAddress group = id.group(rdma_ud_param.private_data(param));
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

  /** The kernel gives an errno value, negated; librdmacm itself -1, and the reason in errno. */
  private static int failure(int status, int errno) {
    return status == -1 && errno != 0 ? errno : Math.abs(status);
  }

  private static MemorySegment datagrams(MemorySegment event) {
    return rdma_cm_event.param.ud(rdma_cm_event.param(event));
  }

  private static ConnectionParameters parameters(MemorySegment event, CmId id) {
    if (!id.portSpace().isDatagram()) {
      return ConnectionParameters.read(rdma_cm_event.param.conn(rdma_cm_event.param(event)));
    }
    MemorySegment param = datagrams(event);
    ByteBuffer privateData =
        ConnectionParameters.privateData(
            rdma_ud_param.private_data(param), rdma_ud_param.private_data_len(param));
    return ConnectionParameters.DEFAULT.privateData(privateData);
  }

  /** Null where there is no address. */
  private static @Nullable DatagramDestination destination(MemorySegment param) {
    AddressVector vector = AddressVector.read(rdma_ud_param.ah_attr(param));
    return vector == null
        ? null
        : new DatagramDestination(vector, rdma_ud_param.qp_num(param), rdma_ud_param.qkey(param));
  }

  /**
   * The file descriptor on which events arrive, for a poll or epoll of one's own. It is
   * non-blocking and belongs to this channel: to be neither read nor closed.
   *
   * @return the descriptor
   * @throws IllegalStateException where the channel is closed
   */
  public int fileDescriptor() {
    return lifetime.whileOpen(() -> descriptor);
  }

  /**
   * The way out to the bindings: {@code struct rdma_event_channel *}. It is valid until this is
   * closed; with it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the channel is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(channel::pointer);
  }

  /**
   * Ends the waits, closes the identifiers of this channel with their queue pairs, those included
   * that came with a request to connect and that nobody took, then the channel: {@code
   * rdma_destroy_event_channel}. Does nothing where it is closed.
   *
   * @throws RdmaException where a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  Lifetime lifetime() {
    return lifetime;
  }

  NativeChannel channel() {
    return channel;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
