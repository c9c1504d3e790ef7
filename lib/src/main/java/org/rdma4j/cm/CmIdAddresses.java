package org.rdma4j.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteOrder;
import org.rdma4j.bindings.generated.rdma_addr;
import org.rdma4j.bindings.generated.rdma_cm_id;
import org.rdma4j.bindings.generated.rdma_ib_addr;
import org.rdma4j.bindings.generated.rdma_route;
import org.rdma4j.bindings.inlines.RdmaVerbs;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GidEntry;

/**
 * The addresses of both sides of an identifier, as they were when {@link CmId#addresses} was
 * called: {@code struct rdma_addr}.
 *
 * @param local the local address, an InetSocketAddress or an {@link IbAddress}: {@code
 *     rdma_get_local_addr}; the wildcard address and port 0 if the identifier is not bound
 * @param peer the peer's address, an InetSocketAddress or an {@link IbAddress}: {@code
 *     rdma_get_peer_addr}; the wildcard address and port 0 if no address was resolved
 * @param sourceGid the GID from which packets are sent: {@code rdma_ib_addr.sgid}; {@link Gid#ZERO}
 *     if the identifier is not bound to a device
 * @param destinationGid the GID to which packets are sent: {@code rdma_ib_addr.dgid}; {@link
 *     Gid#ZERO} if no address was resolved
 * @param partitionKey the partition key, 0 to 0xffff: {@code rdma_ib_addr.pkey}; 0 on RoCE
 * @see CmId#addresses
 */
public record CmIdAddresses(
    SocketAddress local, SocketAddress peer, Gid sourceGid, Gid destinationGid, int partitionKey) {
  private static final ValueLayout.OfShort BIG_ENDIAN_SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

  static CmIdAddresses read(MemorySegment id) {
    MemorySegment gids =
        rdma_addr.addr.ibaddr(rdma_addr.addr(rdma_route.addr(rdma_cm_id.route(id))));
    Gid source = Gid.read(rdma_ib_addr.sgid(gids));
    return new CmIdAddresses(
        withScope(SocketAddresses.read(RdmaVerbs.rdma_get_local_addr(id)), id, source),
        withScope(SocketAddresses.read(RdmaVerbs.rdma_get_peer_addr(id)), id, source),
        source,
        Gid.read(rdma_ib_addr.dgid(gids)),
        Short.toUnsignedInt(gids.get(BIG_ENDIAN_SHORT, rdma_ib_addr.pkey$offset())));
  }

  /**
   * Adds the network interface to a link-local address that lacks it. Linux sets it in the
   * addresses of the side that connects, and not in those of the side that accepts.
   */
  private static SocketAddress withScope(SocketAddress address, MemorySegment id, Gid source) {
    MemorySegment context = rdma_cm_id.verbs(id);
    if (context.address() == 0
        || !(address instanceof InetSocketAddress inet)
        || !(inet.getAddress() instanceof Inet6Address inet6)
        || !inet6.isLinkLocalAddress()
        || inet6.getScopeId() != 0) {
      return address;
    }
    int networkInterface =
        CmDevices.of(context).ports().stream()
            .flatMap(port -> port.gids().stream())
            .filter(entry -> entry.gid().equals(source))
            .mapToInt(GidEntry::networkInterface)
            .findFirst()
            .orElse(0);
    return networkInterface == 0
        ? address
        : new InetSocketAddress(
            SocketAddresses.inet6(inet6.getAddress(), networkInterface), inet.getPort());
  }
}
