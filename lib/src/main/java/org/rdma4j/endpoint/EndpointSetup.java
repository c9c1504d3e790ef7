package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.Mtu;

/**
 * Connects endpoints: the two sides find each other over TCP, tell each other their addresses in a
 * {@link Handshake}, and close the TCP connection.
 */
final class EndpointSetup {
  private static final int MAX_READS = 0xff;

  private EndpointSetup() {}

  /** The part of one side in a handshake. */
  private interface Side {
    EndpointAddress perform(Handshake handshake, EndpointAddress local, Handshake.Connect connect)
        throws IOException;
  }

  /** Connects to a listener, as {@link Endpoint#connect} describes. */
  static Endpoint connect(InetSocketAddress server, EndpointConfig config, Duration timeout)
      throws IOException {
    Deadline deadline = Deadline.after(timeout);
    if (server.isUnresolved()) {
      throw new UnknownHostException(server.getHostString());
    }
    NativeLibraries.require();
    try (Socket socket = new Socket()) {
      connect(socket, server, deadline);
      return establish(socket, config, deadline, Handshake::asClient);
    }
  }

  /** Connects with the peer at the other end of an accepted socket, which is closed in any case. */
  static Endpoint accept(Socket socket, EndpointConfig config, Deadline deadline)
      throws IOException {
    try (socket) {
      return establish(socket, config, deadline, Handshake::asServer);
    }
  }

  private static void connect(Socket socket, InetSocketAddress server, Deadline deadline)
      throws IOException {
    try {
      socket.connect(server, deadline.millis());
    } catch (ConnectException refused) {
      ConnectException described =
          new ConnectException(
              "no endpoint listens on %s (%s); start that side first"
                  .formatted(server, refused.getMessage()));
      described.initCause(refused);
      throw described;
    } catch (SocketTimeoutException late) {
      SocketTimeoutException described =
          new SocketTimeoutException(
              "%s did not answer within %s".formatted(server, deadline.timeout()));
      described.initCause(late);
      throw described;
    }
  }

  private static Endpoint establish(
      Socket socket, EndpointConfig config, Deadline deadline, Side side) throws IOException {
    LocalPort port = LocalPort.open(config);
    try {
      socket.setTcpNoDelay(true);
      EndpointQueues queues =
          new EndpointQueues(
              port.device(), config, "endpoint to " + socket.getRemoteSocketAddress());
      DeviceAttributes limits = port.device().attributes();
      EndpointAddress local = address(port, queues, limits);
      int maxReads = Math.clamp(limits.maxInitiatorReads(), 0, MAX_READS);
      EndpointAddress remote =
          side.perform(
              new Handshake(socket, deadline),
              local,
              peer -> queues.queuePair().connect(path(port, config, local, peer, maxReads)));
      return new Endpoint(queues, local, remote);
    } catch (IOException | RuntimeException failed) {
      port.device().close();
      throw failed;
    }
  }

  private static EndpointAddress address(
      LocalPort port, EndpointQueues queues, DeviceAttributes limits) {
    Mtu mtu = port.device().port(port.port()).activeMtu();
    return new EndpointAddress(
        queues.queuePair().address(port.port(), port.gidIndex()),
        mtu,
        Math.clamp(limits.maxResponderReads(), 0, MAX_READS),
        queues.buffer().remoteAddress(),
        queues.buffer().remoteKey(),
        queues.buffer().byteSize());
  }

  private static PathConfig path(
      LocalPort port,
      EndpointConfig config,
      EndpointAddress local,
      EndpointAddress peer,
      int maxReads) {
    return PathConfig.to(peer.queuePair())
        .port(port.port())
        .gidIndex(port.gidIndex())
        .mtu(peer.mtu().bytes() < local.mtu().bytes() ? peer.mtu() : local.mtu())
        .access(config.remoteAccess().toArray(new AccessFlag[0]))
        .remoteReads(local.remoteReads())
        .reads(Math.min(maxReads, peer.remoteReads()))
        // About eight seconds in all until the peer counts as unreachable.
        .timeout(18)
        // 6 rather than the maximum of 7, which soft-RoCE treats as "retry forever".
        .retries(6)
        // Without limit: the threads that wait have their own timeouts.
        .rnrRetry(7);
  }
}
