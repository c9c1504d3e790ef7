package org.rdma4j.cm;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_addrinfo;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.verbs.QueuePairType;

/**
 * Finds InfiniBand services by their names, with the subnet administrator: {@code
 * rdma_resolve_addrinfo} with {@code RAI_SA}. The identifier must be bound to an {@link IbAddress}.
 * {@link AddressInfo#resolve} asks the name services of the host instead.
 *
 * <p>All methods may be called from any thread.
 *
 * @see CmId#service
 */
public final class CmIdService {
  private static final int VERSION = 60;

  private final NativeId id;
  private final PortSpace space;
  private final QueuePairType type;

  CmIdService(NativeId id, PortSpace space, QueuePairType type) {
    this.id = id;
    this.space = space;
    this.type = type;
  }

  /**
   * Begins to look for a service: {@code rdma_resolve_addrinfo}. The outcome is the event {@link
   * CmEvent.ServiceResolved} or {@link CmEvent.ServiceFailed}. At most one search of an identifier
   * can be in progress, until its result was read by {@link #addresses}.
   *
   * @param name the name of the service
   * @throws IllegalStateException if the identifier is closed or has no device yet
   * @throws org.rdma4j.UnsupportedByDeviceException if rdma-core is older than 60
   * @throws RdmaException if the search cannot begin: EINVAL if the kernel does not support it,
   *     EBUSY if another search is in progress
   */
  public void resolve(String name) {
    id.call(
        "rdma_resolve_addrinfo(" + name + ")",
        (pointer, arena) -> {
          NativeFailures.requireFunction(null, "rdma_resolve_addrinfo", VERSION);
          id.requireDevice();
          MemorySegment hints = arena.allocate(rdma_addrinfo.layout());
          rdma_addrinfo.ai_flags(hints, rdma_h.RAI_SA());
          return Calls.integer(
              rdma_h.rdma_resolve_addrinfo$address(),
              pointer,
              MemorySegment.NULL,
              arena.allocateFrom(name),
              hints);
        });
  }

  /**
   * Returns where the service is, after {@link CmEvent.ServiceResolved}: {@code
   * rdma_query_addrinfo}.
   *
   * @return the addresses, at least one; a second call fails
   * @throws org.rdma4j.UnsupportedByDeviceException if rdma-core is older than 60
   * @throws RdmaException if there is no result: ENOENT
   */
  public List<AddressInfo> addresses() {
    return id.query(
        pointer -> {
          NativeFailures.requireFunction(null, "rdma_query_addrinfo", VERSION);
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(ADDRESS);
            CmFailures.check(
                "rdma_query_addrinfo",
                Calls.integer(rdma_h.rdma_query_addrinfo$address(), pointer, result));
            return AddressInfo.take(result.get(ADDRESS, 0), space, type);
          }
        });
  }
}
