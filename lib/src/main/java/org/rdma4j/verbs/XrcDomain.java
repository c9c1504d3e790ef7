package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;

/**
 * A domain of extended reliable connections, {@code struct ibv_xrcd}: what a receiving queue pair
 * receives goes to any shared receive queue of the same domain, as the sender says. Processes that
 * open it by the same file share it.
 *
 * <p>All methods may be called from any thread.
 */
public final class XrcDomain implements AutoCloseable {
  private final RdmaDevice device;
  private final MemorySegment domain;
  private final Lifetime lifetime;

  /** In a call during which the device is open. */
  XrcDomain(RdmaDevice device, MemorySegment domain) {
    this.device = device;
    this.domain = domain;
    DeviceInfo info = device.info();
    this.lifetime =
        new Lifetime(
            "XRC domain of " + info.name(),
            () -> NativeFailures.check(info.name(), "ibv_close_xrcd", Verbs.ibv_close_xrcd(domain)),
            device.lifetime());
    Leaks.watch(this, lifetime);
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
   * The way out to the bindings: {@code struct ibv_xrcd *}. It is valid until this is closed; with
   * it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the domain is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> domain);
  }

  /**
   * Closes the shared receive queues and receiving queue pairs of this domain, then the domain:
   * {@code ibv_close_xrcd}. Does nothing where it is closed.
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
