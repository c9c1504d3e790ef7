package org.rdma4j.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.SocketAddress;
import java.nio.ByteOrder;
import org.rdma4j.bindings.generated.rdma_addr;
import org.rdma4j.bindings.generated.rdma_cm_id;
import org.rdma4j.bindings.generated.rdma_ib_addr;
import org.rdma4j.bindings.generated.rdma_route;
import org.rdma4j.bindings.inlines.RdmaVerbs;
import org.rdma4j.verbs.address.Gid;

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
    return new CmIdAddresses(
        SocketAddresses.read(RdmaVerbs.rdma_get_local_addr(id)),
        SocketAddresses.read(RdmaVerbs.rdma_get_peer_addr(id)),
        Gid.read(rdma_ib_addr.sgid(gids)),
        Gid.read(rdma_ib_addr.dgid(gids)),
        Short.toUnsignedInt(gids.get(BIG_ENDIAN_SHORT, rdma_ib_addr.pkey$offset())));
  }
}
