package org.rdma4j.endpoint;

import java.net.SocketAddress;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.Mtu;

/**
 * This side of a connection that is being made.
 *
 * @param port the port
 * @param queues the native objects
 * @param address what the peer is told about them
 * @param maxReads the number of reads and atomics that may be outstanding
 */
record LocalEnd(LocalPort port, EndpointQueues queues, EndpointAddress address, int maxReads) {
  private static final int MAX_READS = 0xff;

  /** Creates the native objects. If this fails, closing the device closes those that exist. */
  static LocalEnd create(LocalPort port, EndpointConfig config, SocketAddress peer) {
    EndpointQueues queues = new EndpointQueues(port.device(), config, "endpoint to " + peer);
    DeviceAttributes limits = port.device().attributes();
    return new LocalEnd(
        port,
        queues,
        address(port, queues, limits),
        Math.clamp(limits.maxInitiatorReads(), 0, MAX_READS));
  }

  private static EndpointAddress address(
      LocalPort port, EndpointQueues queues, DeviceAttributes limits) {
    Mtu mtu = port.device().port(port.port()).attributes().activeMtu();
    return new EndpointAddress(
        queues.queuePair().address(port.port(), port.gidIndex()),
        mtu,
        Math.clamp(limits.maxResponderReads(), 0, MAX_READS),
        queues.buffer().remoteAddress(),
        queues.buffer().remoteKey(),
        queues.buffer().byteSize());
  }

  /**
   * Connects the queue pair to that of the peer.
   *
   * @throws HandshakeException if the address of the peer cannot be used
   */
  void connect(EndpointConfig config, EndpointAddress peer) throws HandshakeException {
    try {
      queues.queuePair().connect(path(config, peer));
    } catch (RdmaException | IllegalArgumentException refused) {
      throw new HandshakeException(
          "the address that the peer sent cannot be used, %s: %s"
              .formatted(peer.queuePair(), refused.getMessage()),
          refused);
    }
  }

  Endpoint endpoint(EndpointAddress remote) {
    return new Endpoint(queues, address, remote);
  }

  private PathConfig path(EndpointConfig config, EndpointAddress peer) {
    return PathConfig.to(peer.queuePair())
        .port(port.port())
        .gidIndex(port.gidIndex())
        .mtu(peer.mtu().bytes() < address.mtu().bytes() ? peer.mtu() : address.mtu())
        .access(config.remoteAccess().toArray(new AccessFlag[0]))
        .remoteReads(address.remoteReads())
        .reads(Math.min(maxReads, peer.remoteReads()))
        // About eight seconds in all until the peer counts as unreachable.
        .timeout(18)
        // 6 rather than the maximum of 7, which soft-RoCE treats as "retry forever".
        .retries(6)
        // Without limit: the threads that wait have their own timeouts. Soft-RoCE of Linux 6.1 uses
        // up the retries meanwhile, and so waits for those eight seconds.
        .rnrRetry(7);
  }
}
