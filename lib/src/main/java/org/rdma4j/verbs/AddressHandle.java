package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_ah_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.Referent;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

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

  static AddressHandle create(ProtectionDomain domain, AddressVector vector) {
    RdmaDevice device = domain.device();
    device.checkPort(vector.port());
    return domain
        .lifetime()
        .whileOpen(
            () -> {
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment attributes = arena.allocate(ibv_ah_attr.layout());
                vector.write(attributes);
                return new AddressHandle(
                    domain,
                    vector,
                    NativeFailures.created(
                        device.info().name(),
                        "ibv_create_ah(" + vector + ")",
                        Calls.pointer(
                            rdma_h.ibv_create_ah$address(), domain.pointer(), attributes)));
              }
            });
  }

  static AddressHandle create(
      ProtectionDomain domain,
      Completions completions,
      int index,
      MemorySegment received,
      int port) {
    RdmaDevice device = domain.device();
    device.checkPort(port);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment completion = completions.copy(index, arena);
      MemorySegment header =
          arena
              .allocate(GlobalRoutingHeader.BYTES, Long.BYTES)
              .copyFrom(received.asSlice(0, GlobalRoutingHeader.BYTES));
      MemorySegment attributes = arena.allocate(ibv_ah_attr.layout());
      domain
          .lifetime()
          .whileOpen(
              () -> {
                // It returns -1 with or without an errno.
                if (rdma_h.ibv_init_ah_from_wc(
                        device.context(), (byte) port, completion, header, attributes)
                    != 0) {
                  throw new RdmaException(
                      "ibv_init_ah_from_wc", 0, "no GID of port " + port + " is its destination");
                }
                return true;
              });
      return create(domain, Objects.requireNonNull(AddressVector.read(attributes)));
    }
  }

  private AddressHandle(ProtectionDomain domain, AddressVector vector, MemorySegment handle) {
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
   * Returns the protection domain that this belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Returns the native {@code struct ibv_ah *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   * @throws IllegalStateException if the address handle is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> handle);
  }

  /**
   * Destroys it, {@code ibv_destroy_ah}, once no thread is inside a post that uses it. Does nothing
   * if it is already closed.
   *
   * @throws RdmaException if the destruction fails
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
