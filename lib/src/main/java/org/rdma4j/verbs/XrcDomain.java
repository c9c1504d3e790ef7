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
 * A domain of extended reliable connections (XRC), {@code struct ibv_xrcd}. A queue pair that
 * receives in this domain delivers each message to the shared receive queue of the domain that the
 * sender names. Processes that open the domain of the same file share it.
 *
 * <p>All methods may be called from any thread.
 *
 * @see QueuePairConfig#xrcReceive
 * @see SharedReceiveQueueConfig
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

  /** Opens a new domain that no other context shares. */
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
   * Returns the device that this domain belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the native {@code struct ibv_xrcd *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> domain);
  }

  /**
   * Closes the shared receive queues and the receiving queue pairs of this domain, then the domain:
   * {@code ibv_close_xrcd}. Does nothing if it is already closed.
   *
   * @throws RdmaException if the destruction of an object fails; all others are destroyed all the
   *     same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this domain open. */
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
