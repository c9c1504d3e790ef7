package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import org.rdma4j.platform.Deadline;

/**
 * The client's part of the exchange of addresses between two endpoints over TCP. The client sends
 * its address, the server sends its own once it can receive, and the client then confirms that it
 * can receive too. The server answers that as well: it could have discarded the client meanwhile,
 * which would otherwise only learn of it when its messages meet no queue pair. {@link PendingPeers}
 * has the server's part.
 */
final class ClientHandshake {
  /** Connects this side's queue pair. */
  interface Connect {
    void to(EndpointAddress remote) throws HandshakeException;
  }

  private final Socket socket;
  private final Deadline deadline;

  ClientHandshake(Socket socket, Deadline deadline) {
    this.socket = socket;
    this.deadline = deadline;
  }

  /**
   * Performs it.
   *
   * @return the server's address
   */
  EndpointAddress perform(EndpointAddress local, Connect connect) throws IOException {
    write(IncomingMessage.Kind.ADDRESS, local.encode());
    EndpointAddress remote = EndpointAddress.decode(read(IncomingMessage.Kind.ADDRESS));
    connect.to(remote);
    write(IncomingMessage.Kind.READY, new byte[0]);
    read(IncomingMessage.Kind.ACCEPTED);
    return remote;
  }

  private void write(IncomingMessage.Kind kind, byte[] content) throws IOException {
    try {
      socket.getOutputStream().write(kind.encode(content).array());
    } catch (SocketException broken) {
      throw new HandshakeException(
          "the peer closed the TCP connection (%s); the error is in its own output"
              .formatted(broken.getMessage()),
          broken);
    }
  }

  private byte[] read(IncomingMessage.Kind kind) throws IOException {
    IncomingMessage message = new IncomingMessage(kind);
    ReadableByteChannel arriving = Channels.newChannel(socket.getInputStream());
    try {
      do {
        deadline.apply(socket);
      } while (!message.readFrom(arriving));
      return message.content();
    } catch (SocketTimeoutException late) {
      SocketTimeoutException described =
          new SocketTimeoutException(
              "the peer sent %s within %s".formatted(message.progress(), deadline.timeout()));
      described.initCause(late);
      throw described;
    } catch (SocketException broken) {
      throw new HandshakeException(
          "the TCP connection broke after %s (%s)"
              .formatted(message.progress(), broken.getMessage()),
          broken);
    }
  }
}
