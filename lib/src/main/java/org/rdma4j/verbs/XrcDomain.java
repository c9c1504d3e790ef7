package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_xrcd_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeFailures;

/**
 * A domain of extended reliable connections, {@code struct ibv_xrcd}: what a receiving queue pair
 * receives goes to any shared receive queue of the same domain, as the sender says. Processes that
 * open it by the same file share it.
 *
 * <p>All methods may be called from any thread.
 */
public final class XrcDomain implements AutoCloseable {
  private static final int NO_FILE = -1;

  private final RdmaDevice device;
  private final MemorySegment domain;
  private final Lifetime lifetime;

  private XrcDomain(RdmaDevice device, MemorySegment domain) {
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

  /** Opens a domain that no other context shares. */
  static XrcDomain open(RdmaDevice device) {
    return open(device, NO_FILE, Libc.O_CREAT);
  }

  static XrcDomain open(RdmaDevice device, Path file, boolean create) {
    int descriptor = Libc.open(file);
    try {
      return open(device, descriptor, create ? Libc.O_CREAT : 0);
    } finally {
      Libc.close(descriptor);
    }
  }

  private static XrcDomain open(RdmaDevice device, int descriptor, int flags) {
    return device
        .lifetime()
        .whileOpen(
            () -> {
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment init = arena.allocate(ibv_xrcd_init_attr.layout());
                ibv_xrcd_init_attr.comp_mask(
                    init, rdma_h.IBV_XRCD_INIT_ATTR_FD() | rdma_h.IBV_XRCD_INIT_ATTR_OFLAGS());
                ibv_xrcd_init_attr.fd(init, descriptor);
                ibv_xrcd_init_attr.oflags(init, flags);
                return new XrcDomain(
                    device,
                    NativeFailures.created(
                        device.info().name(),
                        "ibv_open_xrcd",
                        Verbs.ibv_open_xrcd(device.context(), init)));
              }
            });
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
