package org.rdma4j.tools.command;

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

/** A TCP connection to the peer, whose failures say what to do. */
public final class TcpPeer implements AutoCloseable {
  private final Socket socket;
  private final String program;
  private final Duration timeout;

  private TcpPeer(Socket socket, String program, Duration timeout) {
    this.socket = socket;
    this.program = program;
    this.timeout = timeout;
  }

  /**
   * Listens on all addresses of this machine.
   *
   * @param port the TCP port, or 0 to let the system choose one
   * @return the listening socket
   */
  public static ServerSocket listen(int port) {
    try {
      // The program accepts only one connection, as in C.
      return new ServerSocket(port, 1);
    } catch (BindException taken) {
      throw new Failure(
          ("cannot listen on TCP port %d (%s); end the program that uses it, or give both sides"
                  + " another -p")
              .formatted(port, taken.getMessage()),
          taken);
    } catch (IOException failed) {
      throw new Failure("cannot listen on TCP port %d: %s".formatted(port, failed), failed);
    }
  }

  /**
   * Waits for a client, then stops listening.
   *
   * @param listening the listening socket, which is closed
   * @param program the name of the program that the client should be, in C if it exists there
   * @param timeout the longest time to wait for the client, and for each message from it
   * @return the connection
   */
  public static TcpPeer accept(ServerSocket listening, String program, Duration timeout) {
    try (listening) {
      listening.setSoTimeout(Math.toIntExact(timeout.toMillis()));
      return new TcpPeer(listening.accept(), program, timeout);
    } catch (SocketTimeoutException noClient) {
      throw new Failure(
          ("no client connected to TCP port %d within %d s; start the client, or wait longer with"
                  + " --timeout")
              .formatted(listening.getLocalPort(), timeout.toSeconds()),
          noClient);
    } catch (IOException failed) {
      throw new Failure("cannot accept a client: " + failed, failed);
    }
  }

  /**
   * Connects to a server.
   *
   * @param server its name or address
   * @param port its TCP port
   * @param program the name of the program that the server should be, in C if it exists there
   * @param timeout the longest time to wait for the connection, and for each message
   * @return the connection
   */
  public static TcpPeer connect(String server, int port, String program, Duration timeout) {
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
          ("no server listens at %s (%s); start it first, with the same command but without a"
                  + " server name")
              .formatted(where, last.getMessage()),
          last);
    }
    throw new Failure("cannot connect to a server at %s: %s".formatted(where, last), last);
  }

  private static InetAddress[] addresses(String server) {
    try {
      return InetAddress.getAllByName(server);
    } catch (UnknownHostException unknown) {
      throw new Failure("no host is named \"%s\"".formatted(server), unknown);
    }
  }

  /**
   * Sends a message.
   *
   * @param message the bytes
   */
  public void write(byte[] message) {
    try {
      socket.getOutputStream().write(message);
    } catch (IOException failed) {
      throw broken(failed);
    }
  }

  /**
   * Reads a message, all of which must arrive within the timeout.
   *
   * @param bytes the length of the message
   * @return the bytes
   */
  public byte[] read(int bytes) {
    return read(bytes, timeout);
  }

  /**
   * Reads a message, all of which must arrive within a time of its own.
   *
   * @param bytes the length of the message
   * @param timeout the longest time to wait
   * @return the bytes
   */
  public byte[] read(int bytes, Duration timeout) {
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
              ("the peer closed the TCP connection after %d of %d bytes; check its output, and that"
                      + " it is %s")
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
            "the peer connected but did not send its whole message in time; check that it is %s"
                .formatted(program),
            failure)
        : new Failure(
            "the TCP connection to the peer failed (%s); check the peer's output"
                .formatted(failure.getMessage()),
            failure);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException ignored) {
      // The caller reports an earlier failure, or needs nothing more from the socket.
    }
  }

  @Override
  public void close() {
    close(socket);
  }
}
