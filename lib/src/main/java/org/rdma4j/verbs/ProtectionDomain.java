package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_h;
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
    config.check(device);
    return lifetime.whileOpen(
        () ->
            config
                .sendCompletions()
                .whileOpen(
                    () ->
                        config
                            .receiveCompletions()
                            .whileOpen(() -> QueuePair.create(this, config))));
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

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
