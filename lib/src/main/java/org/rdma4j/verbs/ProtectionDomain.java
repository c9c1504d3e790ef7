package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_ah_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.memory.PageMemory;

/**
 * A protection domain, {@code struct ibv_pd}: queue pairs and memory regions work together only
 * within one.
 *
 * <p>All methods may be called from any thread.
 */
public final class ProtectionDomain implements AutoCloseable {
  private final RdmaDevice device;
  private final MemorySegment domain;
  private final Lifetime lifetime;

  /** The chains whose requests point to address handles, and other objects, of this. */
  private final HotCalls referringPosts = new HotCalls();

  ProtectionDomain(RdmaDevice device, MemorySegment domain) {
    this.device = device;
    this.domain = domain;
    this.lifetime =
        new Lifetime(
            "protection domain of " + device.info().name(),
            () -> Native.check("ibv_dealloc_pd", rdma_h.ibv_dealloc_pd(domain)),
            device.lifetime());
    Leaks.watch(this, lifetime);
  }

  /**
   * Allocates page-aligned memory outside the Java heap and registers it: {@code ibv_reg_mr}. The
   * memory is freed after its deregistration.
   *
   * @param bytes its length in bytes, at least 1
   * @param access what it may be used for; the local CPU and sends may always read it
   * @return the region, all zero
   * @throws IllegalArgumentException where the length is not positive or longer than the device's
   *     {@link DeviceAttributes#maxMemoryRegionSize}, or a remote right that writes comes without
   *     LOCAL_WRITE
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where it cannot be allocated or registered: ENOMEM where the limit on
   *     locked memory (ulimit -l) does not suffice
   */
  public MemoryRegion register(long bytes, AccessFlag... access) {
    return register(bytes, List.of(access));
  }

  /**
   * Allocates page-aligned memory outside the Java heap and registers it: {@code ibv_reg_mr}. The
   * memory is freed after its deregistration.
   *
   * @param bytes its length in bytes, at least 1
   * @param access what it may be used for; the local CPU and sends may always read it
   * @return the region, all zero
   * @throws IllegalArgumentException where the length is not positive or longer than the device's
   *     {@link DeviceAttributes#maxMemoryRegionSize}, or a remote right that writes comes without
   *     LOCAL_WRITE
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where it cannot be allocated or registered: ENOMEM where the limit on
   *     locked memory (ulimit -l) does not suffice
   */
  public MemoryRegion register(long bytes, Collection<AccessFlag> access) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(access);
    if (!flags.contains(AccessFlag.LOCAL_WRITE)
        && (flags.contains(AccessFlag.REMOTE_WRITE) || flags.contains(AccessFlag.REMOTE_ATOMIC))) {
      throw new IllegalArgumentException(
          "access is " + flags + ": REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too");
    }
    long most = device.limits().maxMemoryRegionSize();
    if (bytes <= 0 || Long.compareUnsigned(bytes, most) > 0) {
      throw new IllegalArgumentException(
          "bytes is "
              + bytes
              + ", must be from 1 to "
              + Long.toUnsignedString(most)
              + " on "
              + device.info().name());
    }
    return lifetime.whileOpen(
        () -> {
          PageMemory memory = PageMemory.allocate(bytes);
          try {
            return new MemoryRegion(this, memory, flags);
          } catch (RuntimeException failed) {
            memory.close();
            throw failed;
          }
        });
  }

  /**
   * Creates a queue pair: {@code ibv_create_qp}.
   *
   * @param config its queues and their capacities
   * @return the queue pair, in state RESET
   * @throws IllegalArgumentException where a capacity is beyond what the device offers, a
   *     completion queue belongs to another device, or a completion queue cannot hold the
   *     completions of all queue pairs that use it, see {@link QueuePairConfig#mayOverrun}
   * @throws IllegalStateException where the domain or a completion queue is closed
   * @throws RdmaException where it cannot be created
   */
  public QueuePair createQueuePair(QueuePairConfig config) {
    config.check(this);
    return lifetime.whileOpen(
        () ->
            config
                .sendCompletions()
                .whileOpen(
                    () ->
                        config
                            .receiveCompletions()
                            .whileOpen(
                                () ->
                                    whileOpen(
                                        config.sharedReceiveQueue(),
                                        () -> QueuePair.create(this, config)))));
  }

  private static <T> T whileOpen(@Nullable SharedReceiveQueue queue, Supplier<T> call) {
    return queue == null ? call.get() : queue.lifetime().whileOpen(call);
  }

  /**
   * Creates a shared receive queue: {@code ibv_create_srq}.
   *
   * @param depth the most receives that can be posted, from 1 to {@link
   *     DeviceAttributes#maxSharedReceiveQueueRequests}
   * @param sges the most scatter/gather entries of a receive, from 1 to {@link
   *     DeviceAttributes#maxSharedReceiveQueueSges}
   * @return the queue, empty
   * @throws IllegalArgumentException where a number is out of range
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where the device refuses it
   */
  public SharedReceiveQueue createSharedReceiveQueue(int depth, int sges) {
    DeviceAttributes limits = device.limits();
    Arguments.checkRange("depth", depth, 1, limits.maxSharedReceiveQueueRequests());
    Arguments.checkRange("sges", sges, 1, limits.maxSharedReceiveQueueSges());
    return lifetime.whileOpen(() -> SharedReceiveQueue.create(this, depth, sges));
  }

  /**
   * Creates an address handle: {@code ibv_create_ah}.
   *
   * @param vector the way to the destination
   * @return the handle
   * @throws IllegalArgumentException where the device has no such port
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where the device refuses it: there is no such GID, or no way there
   */
  public AddressHandle createAddressHandle(AddressVector vector) {
    device.checkPort(vector.port());
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_ah_attr.layout());
            vector.write(attributes);
            return new AddressHandle(
                this,
                vector,
                Native.created(
                    "ibv_create_ah(" + vector + ")",
                    Calls.pointer(rdma_h.ibv_create_ah$address(), domain, attributes)));
          }
        });
  }

  /**
   * Creates an address handle that leads back to the sender of a received datagram: {@code
   * ibv_init_ah_from_wc} and {@code ibv_create_ah}.
   *
   * @param completions the polled completions
   * @param index which of them is that of the datagram
   * @param received the memory of its receive, with the {@link GlobalRoutingHeader} before the
   *     payload
   * @param port the local port that it came by, from 1
   * @return the handle
   * @throws IllegalArgumentException where the device has no such port
   * @throws IndexOutOfBoundsException where there is no such completion, or the memory is shorter
   *     than 40 bytes
   * @throws IllegalStateException where the domain is closed, or the memory is
   * @throws RdmaException where the device refuses it: no GID of the port is the datagram's
   *     destination
   */
  public AddressHandle createAddressHandle(
      Completions completions, int index, MemorySegment received, int port) {
    device.checkPort(port);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment completion = completions.copy(index, arena);
      MemorySegment header =
          arena
              .allocate(GlobalRoutingHeader.BYTES, Long.BYTES)
              .copyFrom(received.asSlice(0, GlobalRoutingHeader.BYTES));
      MemorySegment attributes = arena.allocate(ibv_ah_attr.layout());
      lifetime.whileOpen(
          () -> {
            // Returns -1 with or without an errno.
            if (rdma_h.ibv_init_ah_from_wc(
                    device.context(), (byte) port, completion, header, attributes)
                != 0) {
              throw new RdmaException(
                  "ibv_init_ah_from_wc", 0, "no GID of port " + port + " is its destination");
            }
            return true;
          });
      return createAddressHandle(Objects.requireNonNull(AddressVector.read(attributes)));
    }
  }

  /**
   * The device that this belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * The way out to the bindings: {@code struct ibv_pd *}. It is valid until this is closed; with
   * it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the domain is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> domain);
  }

  /**
   * Closes the queue pairs and memory regions of this domain, youngest first, then the domain:
   * {@code ibv_dealloc_pd}. Does nothing where it is closed.
   *
   * @throws RdmaException where a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** The pointer, for those whose life lies within this one's. */
  MemorySegment pointer() {
    return domain;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  HotCalls referringPosts() {
    return referringPosts;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
