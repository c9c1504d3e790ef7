package org.rdma4j.samples;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;

/** The other process, over TCP: each failure says what to do about it. */
final class TcpPeer implements AutoCloseable {
  private final Socket socket;
  private final String program;
  private final Duration timeout;

  private TcpPeer(Socket socket, String program, Duration timeout) {
    this.socket = socket;
    this.program = program;
    this.timeout = timeout;
  }

  /** Listens on all addresses of this machine. */
  static ServerSocket listen(int port) {
    try {
      // One connection is all that is ever accepted, as in C.
      return new ServerSocket(port, 1);
    } catch (BindException taken) {
      throw new Failure(
          "TCP port %d cannot be listened on (%s): end what uses it, or give both sides another -p"
              .formatted(port, taken.getMessage()),
          taken);
    } catch (IOException failed) {
      throw new Failure("TCP port %d cannot be listened on: %s".formatted(port, failed), failed);
    }
  }

  /**
   * Waits for a client, after which nothing listens any more.
   *
   * @param program what the client is, or would be in C
   * @param timeout how long to wait, here and for what is read
   */
  static TcpPeer accept(ServerSocket listening, String program, Duration timeout) {
    try (listening) {
      listening.setSoTimeout(Math.toIntExact(timeout.toMillis()));
      return new TcpPeer(listening.accept(), program, timeout);
    } catch (SocketTimeoutException nobody) {
      throw new Failure(
          "no client came to TCP port %d within %d s: start it, or wait longer with --timeout"
              .formatted(listening.getLocalPort(), timeout.toSeconds()),
          nobody);
    } catch (IOException failed) {
      throw new Failure("no client could be accepted: " + failed, failed);
    }
  }

  /**
   * Connects to a server.
   *
   * @param program what the server is, or would be in C
   * @param timeout how long to wait, here and for what is read
   */
  static TcpPeer connect(String server, int port, String program, Duration timeout) {
    IOException last = new UnknownHostException(server);
    for (InetAddress address : addresses(server)) {
      Socket socket = new Socket();
      try {
        socket.connect(new InetSocketAddress(address, port), Math.toIntExact(timeout.toMillis()));
        return new TcpPeer(socket, program, timeout);
      } catch (IOException failed) {
        last = failed;
        close(socket);
      }
    }
    String where = server + " port " + port;
    if (last instanceof ConnectException) {
      throw new Failure(
          "no server at %s (%s): start it first, without a server name"
              .formatted(where, last.getMessage()),
          last);
    }
    throw new Failure("cannot reach a server at %s: %s".formatted(where, last), last);
  }

  private static InetAddress[] addresses(String server) {
    try {
      return InetAddress.getAllByName(server);
    } catch (UnknownHostException unknown) {
      throw new Failure("no host is named \"%s\"".formatted(server), unknown);
    }
  }

  void write(byte[] message) {
    try {
      socket.getOutputStream().write(message);
    } catch (IOException failed) {
      throw broken(failed);
    }
  }

  /** Reads that many bytes, which must be there in time together. */
  byte[] read(int bytes) {
    long deadline = System.nanoTime() + timeout.toNanos();
    byte[] message = new byte[bytes];
    try {
      for (int filled = 0; filled < bytes; ) {
        long millis = Duration.ofNanos(deadline - System.nanoTime()).toMillis();
        if (millis <= 0) {
          throw new SocketTimeoutException();
        }
        socket.setSoTimeout(Math.toIntExact(millis));
        int read = socket.getInputStream().read(message, filled, bytes - filled);
        if (read < 0) {
          throw new Failure(
              ("the peer closed the TCP connection after %d of %d bytes: is it %s, and what does it"
                      + " print?")
                  .formatted(filled, bytes, program));
        }
        filled += read;
      }
      return message;
    } catch (IOException failed) {
      throw broken(failed);
    }
  }

  private Failure broken(IOException failure) {
    return failure instanceof SocketTimeoutException
        ? new Failure(
            "the peer connected, but sent nothing more: is it %s?".formatted(program), failure)
        : new Failure(
            "the exchange with the peer failed (%s): what does it print?"
                .formatted(failure.getMessage()),
            failure);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException ignored) {
      // What failed before is what gets told.
    }
  }

  @Override
  public void close() {
    close(socket);
  }
}
