package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.generated.ibv_mr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.verbs.attribute.OnDemandPagingCapabilities;

/**
 * All memory of this process, which the device may read and no peer may write (implicit on-demand
 * paging): the region that {@code ibv_reg_mr} returns for the address 0, the length {@code
 * SIZE_MAX} and {@code IBV_ACCESS_ON_DEMAND}. Requests can send from any native memory without
 * registering it, see {@link SendRequests#from(ImplicitRegion, MemorySegment)}. Nothing is pinned;
 * the device pages memory in when it reads it.
 *
 * <p>It has no key for peers, and no access flag can be added: a device that could write anywhere
 * could write into the JVM itself.
 *
 * <p>All methods may be called from any thread.
 *
 * @see ProtectionDomain#registerImplicit
 * @see AccessFlag#ON_DEMAND
 * @see OnDemandPagingCapabilities#implicit
 */
public final class ImplicitRegion implements AutoCloseable {
  private static final long WHOLE_ADDRESS_SPACE = -1;

  private final ProtectionDomain domain;
  private final MemorySegment region;
  private final int key;
  private final Lifetime lifetime;

  private ImplicitRegion(ProtectionDomain domain, MemorySegment region) {
    this.domain = domain;
    this.region = region;
    this.key = ibv_mr.lkey(region);
    String device = domain.device().info().name();
    this.lifetime =
        new Lifetime(
            "implicit memory region of " + device,
            () -> NativeFailures.check(device, "ibv_dereg_mr", rdma_h.ibv_dereg_mr(region)),
            domain.lifetime());
    Leaks.watch(this, lifetime);
  }

  static ImplicitRegion register(ProtectionDomain domain) {
    return domain.lifetime().whileOpen(() -> registerWhileOpen(domain));
  }

  private static ImplicitRegion registerWhileOpen(ProtectionDomain domain) {
    String device = domain.device().info().name();
    String call = "ibv_reg_mr(all memory, ON_DEMAND)";
    if (!domain.device().extendedAttributes().onDemandPaging().implicit()) {
      throw new UnsupportedByDeviceException(
          call,
          ErrorNumber.EOPNOTSUPP.value(),
          device,
          "Device "
              + device
              + " does not support implicit on-demand paging: register the memory that requests"
              + " send from");
    }
    return new ImplicitRegion(
        domain,
        NativeFailures.created(
            device,
            call,
            Verbs.ibv_reg_mr(
                domain.pointer(),
                MemorySegment.NULL,
                WHOLE_ADDRESS_SPACE,
                rdma_h.IBV_ACCESS_ON_DEMAND())));
  }

  /**
   * Returns the protection domain that this belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Returns the native {@code struct ibv_mr *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> region);
  }

  /**
   * Ends the access of the device: {@code ibv_dereg_mr}. Requests that still name the region fail.
   * Does nothing if it is already closed.
   *
   * @throws RdmaException if the deregistration fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the key by which requests of this process name the region. */
  int key() {
    if (!lifetime.isOpen()) {
      throw lifetime.closed();
    }
    return key;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
