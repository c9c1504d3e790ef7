package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_td_init_attr;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;

/**
 * A thread domain, {@code struct ibv_td}: the promise that what is created in it is used by one
 * thread at a time, which saves the provider its locks. It takes effect through {@link
 * ProtectionDomain#allocateParentDomain}.
 *
 * <p>All methods may be called from any thread.
 */
public final class ThreadDomain implements AutoCloseable {
  private final RdmaDevice device;
  private final MemorySegment domain;
  private final Lifetime lifetime;

  private ThreadDomain(RdmaDevice device, MemorySegment domain) {
    this.device = device;
    this.domain = domain;
    DeviceInfo info = device.info();
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
   * The device that this belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * The way out to the bindings: {@code struct ibv_td *}. It is valid until this is closed; with
   * it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the thread domain is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> domain);
  }

  /**
   * Closes the parent domains that have this one, then deallocates it: {@code ibv_dealloc_td}. Does
   * nothing where it is closed.
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
