package org.rdma4j.cm;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_addrinfo;
import org.rdma4j.bindings.generated.rdma_cm_event;
import org.rdma4j.bindings.generated.rdma_cm_id;
import org.rdma4j.bindings.generated.rdma_event_channel;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.Waits;
import org.rdma4j.platform.Descriptors;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.verbs.QueuePairType;

/**
 * An event channel, {@code struct rdma_event_channel}: a queue of the events of its identifiers. It
 * creates the identifiers, and knows them: a program does not have to keep an identifier to receive
 * its events.
 *
 * <p>All methods may be called from any thread. If several threads wait, each event goes to one of
 * them. A thread that handles an event may close the event's identifier, also while another thread
 * waits here; unread events of that identifier are discarded.
 *
 * @see CmId
 * @see CmEvent
 * @see ChannelSet
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
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if it cannot be opened: ENODEV if this machine has no RDMA device, ENOENT
   *     if the kernel module rdma_ucm is not loaded, EACCES if the user does not have permission
   */
  public static EventChannel open() {
    NativeLibraries.require();
    Descriptors.require("rdma_create_event_channel");
    MemorySegment pointer = Calls.pointer(rdma_h.rdma_create_event_channel$address());
    if (pointer.address() == 0) {
      throw CmFailures.of("rdma_create_event_channel", Errno.errno());
    }
    return new EventChannel(pointer);
  }

  /**
   * Creates an identifier whose events arrive on this channel: {@code rdma_create_id}.
   *
   * @param space the kind of communication
   * @return the identifier, which is neither bound nor resolved
   * @throws RdmaException if it cannot be created
   */
  public CmId createId(PortSpace space) {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(ADDRESS);
            CmFailures.check(
                "rdma_create_id(" + space + ")",
                Calls.integer(
                    rdma_h.rdma_create_id$address(),
                    channel.pointer(),
                    result,
                    MemorySegment.NULL,
                    space.value()));
            return add(result.get(ADDRESS, 0), space, space.queuePairType());
          }
        });
  }

  /**
   * Creates an identifier whose queue pairs are of a type of the caller's choice, and binds it to a
   * local address: {@code rdma_create_ep} and {@code rdma_migrate_id}. That is how XRC is used with
   * the connection manager: one side creates an XRC_SEND queue pair, the other an XRC_RECEIVE one.
   * Requests to connect to an identifier that listens have its type too.
   *
   * @param space the kind of communication; only {@link PortSpace#IB} leaves the type open
   * @param type the type of the queue pairs; in port space IB, RELIABLE_CONNECTION,
   *     UNRELIABLE_CONNECTION, XRC_SEND or XRC_RECEIVE
   * @param local an InetSocketAddress or an {@link IbAddress}, see {@link CmId#bind}; the wildcard
   *     address with port 0 for an identifier that will connect to a peer
   * @return the identifier, which is bound and not resolved
   * @throws IllegalArgumentException if the port space does not allow the type, or the address is
   *     unresolved or of another kind
   * @throws RdmaException if it cannot be created or bound
   */
  public CmId createId(PortSpace space, QueuePairType type, SocketAddress local) {
    space.check(type);
    SocketAddresses.check(local);
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(ADDRESS);
            MemorySegment info = arena.allocate(rdma_addrinfo.layout());
            rdma_addrinfo.ai_flags(info, rdma_h.RAI_PASSIVE());
            rdma_addrinfo.ai_port_space(info, space.value());
            rdma_addrinfo.ai_qp_type(info, type.value());
            rdma_addrinfo.ai_src_addr(info, SocketAddresses.write(local, arena));
            rdma_addrinfo.ai_src_len(info, SocketAddresses.length(local));
            CmFailures.check(
                "rdma_create_ep(" + space + ", " + type + ", " + local + ")",
                Calls.integer(
                    rdma_h.rdma_create_ep$address(),
                    result,
                    info,
                    MemorySegment.NULL,
                    MemorySegment.NULL));
            return migrated(result.get(ADDRESS, 0), space, type);
          }
        });
  }

  /** Moves an identifier with a channel of its own to this channel. */
  private CmId migrated(MemorySegment id, PortSpace space, QueuePairType type) {
    channel.lock();
    try {
      int failed = Calls.integer(rdma_h.rdma_migrate_id$address(), id, channel.pointer());
      int errno = Errno.errno();
      if (failed != 0) {
        rdma_h.rdma_destroy_ep(id);
        throw CmFailures.of("rdma_migrate_id", errno);
      }
      return add(id, space, type);
    } finally {
      channel.unlock();
    }
  }

  private CmId add(MemorySegment id, PortSpace space, QueuePairType type) {
    channel.lock();
    try {
      MemorySegment pointer = id.reinterpret(rdma_cm_id.layout().byteSize());
      CmId added = new CmId(this, new NativeId(pointer, space, channel, lifetime), space, type);
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
   * @param timeout the maximum time to wait; zero does not wait
   * @return the event; empty if none came in time
   * @throws InterruptedException if the thread is interrupted before or while it waits, which it
   *     notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the channel is closed, also while waiting
   * @throws RdmaException if the event cannot be read
   */
  public Optional<CmEvent> awaitEvent(Duration timeout) throws InterruptedException {
    return waits.await(timeout, descriptor, lifetime, this::next);
  }

  /**
   * Takes the next event if there is one, and acknowledges it: {@code rdma_get_cm_event}, {@code
   * rdma_ack_cm_event}. It does not wait and ignores interrupts.
   *
   * @return the event; empty if there is none
   * @throws RdmaException if the event cannot be read
   */
  public Optional<CmEvent> pollEvent() {
    return lifetime.whileOpen(() -> Optional.ofNullable(next()));
  }

  /** Returns null if there is no event. */
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
          throw CmFailures.of("rdma_get_cm_event", errno);
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

  /** Copies the event and acknowledges it; returns null if its identifier is closed. */
  private @Nullable CmEvent take(MemorySegment event, int errno) {
    boolean request = rdma_cm_event.event(event) == rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST();
    MemorySegment pointer = rdma_cm_event.id(event);
    MemorySegment known = request ? rdma_cm_event.listen_id(event) : pointer;
    CmId id = ids.get(known.address());
    CmEvent taken = null;
    try {
      if (id != null && id.isOpen()) {
        taken = request ? request(event, id) : EventReader.read(event, id, errno);
        id.managedQueuePair().noteStateAfter(taken);
      }
    } finally {
      rdma_h.rdma_ack_cm_event(event);
    }
    if (request && taken == null) {
      CmFailures.check("rdma_destroy_id", Calls.integer(rdma_h.rdma_destroy_id$address(), pointer));
    }
    return taken;
  }

  private CmEvent request(MemorySegment event, CmId listener) {
    ConnectionConfig config = EventReader.config(event, listener);
    return new CmEvent.ConnectRequest(
        add(rdma_cm_event.id(event), listener.portSpace(), listener.queuePairType()),
        listener,
        config);
  }

  /**
   * Returns the file descriptor on which events arrive, for a program that calls poll or epoll
   * itself. It is non-blocking and belongs to this channel: do not read or close it.
   *
   * @return the descriptor
   */
  public int fileDescriptor() {
    return lifetime.whileOpen(() -> descriptor);
  }

  /**
   * Returns the {@code struct rdma_event_channel *}, to call the bindings directly. It is valid
   * until this channel is closed. This library cannot protect calls that are made with it: they may
   * crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(channel::pointer);
  }

  /**
   * Ends the waits, closes the identifiers of this channel and their queue pairs, then the channel:
   * {@code rdma_destroy_event_channel}. Identifiers of requests to connect that the program has not
   * handled are closed too. Does nothing if the channel is closed.
   *
   * @throws RdmaException if a destruction failed; the other steps are done all the same
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
