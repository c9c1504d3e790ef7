package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_td_init_attr;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.datapath.ThreadConfinement;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;

/**
 * A thread domain, {@code struct ibv_td}: only one thread at a time uses the queues that are
 * created in it, so the provider need not lock them. A thread that uses one of them while another
 * owns any gets an IllegalStateException. It takes effect through a parent domain, see {@link
 * ProtectionDomain#allocateParentDomain}.
 *
 * <p>All methods may be called from any thread.
 *
 * @see ProtectionDomain#allocateParentDomain
 */
public final class ThreadDomain implements AutoCloseable {
  private final RdmaDevice device;
  private final MemorySegment domain;
  private final ThreadConfinement confinement;
  private final Lifetime lifetime;

  private ThreadDomain(RdmaDevice device, MemorySegment domain) {
    this.device = device;
    this.domain = domain;
    DeviceInfo info = device.info();
    this.confinement = new ThreadConfinement("thread domain of " + info.name());
    this.lifetime =
        new Lifetime(
            "thread domain of " + info.name(),
            () -> NativeFailures.check(info.name(), "ibv_dealloc_td", Verbs.ibv_dealloc_td(domain)),
            device.lifetime());
    Leaks.watch(this, lifetime);
  }

  static ThreadDomain allocate(RdmaDevice device) {
    return device
        .lifetime()
        .whileOpen(
            () -> {
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment init = arena.allocate(ibv_td_init_attr.layout());
                return new ThreadDomain(
                    device,
                    NativeFailures.created(
                        device.info().name(),
                        "ibv_alloc_td",
                        Verbs.ibv_alloc_td(device.context(), init)));
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
   * Returns the native {@code struct ibv_td *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> domain);
  }

  /**
   * Closes the parent domains that use this thread domain, then deallocates it: {@code
   * ibv_dealloc_td}. Does nothing if it is already closed.
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

  /** Returns what lets one thread at a time use the queues of this domain. */
  ThreadConfinement confinement() {
    return confinement;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
