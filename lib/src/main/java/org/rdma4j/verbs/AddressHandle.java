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
import org.rdma4j.efa.EfaLibrary;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/**
 * An address handle, {@code struct ibv_ah}: the path to a remote port, for datagrams. All queue
 * pairs of its protection domain can use it, and a queue pair can use many address handles.
 *
 * <pre>{@code
 * AddressHandle handle = domain.createAddressHandle(vector);
 * requests.add(1).send().from(region, 0, 64).to(handle, remoteQueuePairNumber, queueKey);
 * }</pre>
 *
 * <p>All methods may be called from any thread. A post of a datagram whose address handle is closed
 * throws IllegalStateException.
 *
 * @see ProtectionDomain#createAddressHandle(AddressVector)
 * @see SendRequests#to
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
                // It returns -1 and may leave errno unset.
                if (rdma_h.ibv_init_ah_from_wc(
                        device.context(), (byte) port, completion, header, attributes)
                    != 0) {
                  throw new RdmaException(
                      "ibv_init_ah_from_wc",
                      0,
                      "No GID of port "
                          + port
                          + " is the destination of the datagram; name the port that received it");
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
   * Returns the address vector that this handle was created from.
   *
   * @return the address vector
   */
  public AddressVector vector() {
    return vector;
  }

  /**
   * Returns the number that an EFA device gave this address handle: {@code efadv_query_ah}. A
   * completion of a message from its port has this number as its {@link Completions#sourceLid}.
   *
   * @return the number, 0 to 65534
   * @throws IllegalStateException if the address handle is closed
   * @throws org.rdma4j.UnsupportedByDeviceException if the device is not one of EFA, or libefa is
   *     not installed
   * @throws RdmaException if the query fails
   */
  public int number() {
    return lifetime.whileOpen(
        () -> EfaLibrary.addressHandleNumber(domain.device().info().name(), handle));
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
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> handle);
  }

  /**
   * Destroys the address handle, {@code ibv_destroy_ah}, after waiting for posts in progress that
   * use it. Does nothing if it is already closed.
   *
   * @throws RdmaException if the destruction fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the referent, which a request keeps in addition to the pointer. */
  Referent referent() {
    return referent;
  }

  /** Returns the pointer, for requests that also keep the referent. */
  long address() {
    return handle.address();
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
