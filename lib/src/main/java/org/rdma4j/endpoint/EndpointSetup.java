package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.NativeLibraries;

/**
 * Connects endpoints: the two sides find each other over TCP, tell each other their addresses, and
 * close the TCP connection.
 */
final class EndpointSetup {
  private EndpointSetup() {}

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
      return establish(socket, config, deadline);
    }
  }

  /**
   * Makes an endpoint that is connected to a peer of which only the address is known.
   *
   * @throws HandshakeException if the address cannot be used
   */
  static Endpoint answer(SocketAddress peer, EndpointConfig config, EndpointAddress remote)
      throws HandshakeException {
    LocalPort port = LocalPort.open(config);
    try {
      LocalEnd end = LocalEnd.create(port, config, peer);
      end.connect(config, remote);
      return end.endpoint(remote);
    } catch (HandshakeException | RuntimeException failed) {
      port.device().close();
      throw failed;
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

  private static Endpoint establish(Socket socket, EndpointConfig config, Deadline deadline)
      throws IOException {
    LocalPort port = LocalPort.open(config);
    try {
      socket.setTcpNoDelay(true);
      LocalEnd end = LocalEnd.create(port, config, socket.getRemoteSocketAddress());
      EndpointAddress remote =
          new ClientHandshake(socket, deadline)
              .perform(end.address(), peer -> end.connect(config, peer));
      return end.endpoint(remote);
    } catch (IOException | RuntimeException failed) {
      port.device().close();
      throw failed;
    }
  }
}
