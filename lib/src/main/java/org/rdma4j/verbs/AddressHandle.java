package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.Referent;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.verbs.address.AddressVector;

/**
 * An address handle, {@code struct ibv_ah}: the way to a port, for datagrams. Many queue pairs of
 * its domain may use it, and one queue pair many of them.
 *
 * <p>All methods may be called from any thread. A datagram that points to a closed one is not
 * posted.
 */
public final class AddressHandle implements AutoCloseable {
  private final ProtectionDomain domain;
  private final AddressVector vector;
  private final MemorySegment handle;
  private final Referent referent;
  private final Lifetime lifetime;

  AddressHandle(ProtectionDomain domain, AddressVector vector, MemorySegment handle) {
    this.domain = domain;
    this.vector = vector;
    this.handle = handle;
    DeviceInfo device = domain.device().info();
    String name = "address handle of " + device.name();
    Referent pointedTo = Referent.of(name);
    this.referent = pointedTo;
    HotCalls posts = domain.referringPosts();
    this.lifetime =
        new Lifetime(
            name,
            () -> {
              pointedTo.leave(posts);
              NativeFailures.check(device.name(), "ibv_destroy_ah", rdma_h.ibv_destroy_ah(handle));
            },
            domain.lifetime());
    Leaks.watch(this, lifetime);
  }

  /**
   * Where it leads.
   *
   * @return the address vector that it was created from
   */
  public AddressVector vector() {
    return vector;
  }

  /**
   * The protection domain that this belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * The way out to the bindings: {@code struct ibv_ah *}. It is valid until this is closed; with
   * it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the address handle is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> handle);
  }

  /**
   * Destroys it, {@code ibv_destroy_ah}, once no thread is inside a post that uses it. Does nothing
   * where it is closed.
   *
   * @throws RdmaException where the destruction fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** What a request that points to this keeps beside the pointer. */
  Referent referent() {
    return referent;
  }

  /** The pointer, for requests that keep the referent beside it. */
  long address() {
    return handle.address();
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
