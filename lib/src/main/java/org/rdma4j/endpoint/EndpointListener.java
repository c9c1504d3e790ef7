package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.platform.Deadline;

/**
 * Waits for endpoints that connect, on a TCP port. It has no RDMA resources: each endpoint it
 * accepts has its own, and outlives it.
 *
 * <p>All methods may be called from any thread.
 */
public final class EndpointListener implements AutoCloseable {
  private final ServerSocket listening;
  private final InetSocketAddress address;
  private final EndpointConfig config;

  /** The socket has one timeout for all threads. */
  private final ReentrantLock accepting = new ReentrantLock();

  private EndpointListener(ServerSocket listening, EndpointConfig config) {
    this.listening = listening;
    this.address = (InetSocketAddress) listening.getLocalSocketAddress();
    this.config = config;
  }

  static EndpointListener on(InetSocketAddress local, EndpointConfig config) throws IOException {
    ServerSocket listening = new ServerSocket();
    try {
      listening.bind(local);
      return new EndpointListener(listening, config);
    } catch (IOException failed) {
      listening.close();
      IOException told =
          new IOException("cannot listen on " + local + " (" + failed.getMessage() + ")");
      told.initCause(failed);
      throw told;
    }
  }

  /**
   * Where it listens.
   *
   * @return the TCP address, with the port that the system chose where 0 was asked for
   */
  public InetSocketAddress address() {
    return address;
  }

  /**
   * Waits for the next peer, and connects with it.
   *
   * @param timeout how long that may take together, the waiting and every step of the handshake
   * @return the connected endpoint, to which the peer may send at once
   * @throws SocketTimeoutException where nobody came within that time, or whoever came did not say
   *     what was to be said
   * @throws HandshakeException where whoever came is no endpoint, or ended early; the next call
   *     waits for the next one
   * @throws IOException where the TCP connection fails otherwise
   * @throws InterruptedException where the thread is interrupted while another one waits for its
   *     peer. A platform thread that waits for a peer itself takes no notice of an interrupt; that
   *     of a virtual one closes the socket it waits on, as it always does, and so the listener
   * @throws IllegalArgumentException where the timeout is negative, or the configuration names a
   *     device, port or GID that is not there, or more than the device has
   * @throws IllegalStateException where the listener is closed, also while waiting
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws org.rdma4j.RdmaException where no port is active, or a resource cannot be had
   */
  public Endpoint accept(Duration timeout) throws IOException, InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    return Endpoint.accepted(acceptSocket(deadline), config, deadline);
  }

  private Socket acceptSocket(Deadline deadline) throws IOException, InterruptedException {
    if (!accepting.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
      throw nobody(deadline);
    }
    try {
      listening.setSoTimeout(deadline.millis());
      return listening.accept();
    } catch (SocketTimeoutException late) {
      SocketTimeoutException told = nobody(deadline);
      told.initCause(late);
      throw told;
    } catch (SocketException failed) {
      if (listening.isClosed()) {
        throw new IllegalStateException("the listener on " + address + " is closed", failed);
      }
      throw failed;
    } finally {
      accepting.unlock();
    }
  }

  private SocketTimeoutException nobody(Deadline deadline) {
    return new SocketTimeoutException(
        "no endpoint connected to " + address + " within " + deadline.timeout());
  }

  /**
   * Stops listening, and ends the waits. Endpoints that it accepted stay as they are. Does nothing
   * where it is closed.
   *
   * @throws IOException where the socket cannot be closed
   */
  @Override
  public void close() throws IOException {
    listening.close();
  }

  @Override
  public String toString() {
    return "listener on " + address;
  }
}
