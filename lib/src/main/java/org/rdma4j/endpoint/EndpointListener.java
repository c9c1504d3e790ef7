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
import org.rdma4j.platform.NativeLibraries;

/**
 * Waits for endpoints to connect, on a TCP port. It has no RDMA resources: each accepted endpoint
 * has its own, and stays open when the listener is closed.
 *
 * <p>All methods may be called from any thread.
 */
public final class EndpointListener implements AutoCloseable {
  private final ServerSocket listening;
  private final InetSocketAddress address;
  private final EndpointConfig config;

  /** One thread at a time accepts, because the socket has one timeout for all threads. */
  private final ReentrantLock accepting = new ReentrantLock();

  private EndpointListener(ServerSocket listening, EndpointConfig config) {
    this.listening = listening;
    this.address = (InetSocketAddress) listening.getLocalSocketAddress();
    this.config = config;
  }

  static EndpointListener on(InetSocketAddress local, EndpointConfig config) throws IOException {
    NativeLibraries.require();
    ServerSocket listening = new ServerSocket();
    try {
      listening.bind(local);
      return new EndpointListener(listening, config);
    } catch (IOException failed) {
      listening.close();
      throw new IOException("cannot listen on " + local + " (" + failed.getMessage() + ")", failed);
    }
  }

  /**
   * Returns the address that the listener listens on.
   *
   * @return the TCP address; if port 0 was requested, with the port that the system chose
   */
  public InetSocketAddress address() {
    return address;
  }

  /**
   * Waits for the next peer, and connects with it.
   *
   * @param timeout the time for all steps together, including the wait and the handshake
   * @return the connected endpoint, to which the peer may send at once
   * @throws SocketTimeoutException if no peer came in time, or one came and did not complete the
   *     handshake in time
   * @throws HandshakeException if the peer is not an endpoint, or ended early; the next call waits
   *     for the next peer
   * @throws IOException if the TCP connection fails for another reason
   * @throws InterruptedException if the thread is interrupted while another thread waits for a
   *     peer. A platform thread that waits for a peer itself ignores an interrupt. An interrupt of
   *     a virtual thread closes the socket that it waits on, and so closes the listener
   * @throws IllegalArgumentException if the timeout is negative, or the configuration names a
   *     device, port or GID that does not exist, or requires more than the device has
   * @throws IllegalStateException if the listener is closed, also while waiting
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws org.rdma4j.RdmaException if no port is active, or a resource is not available
   */
  public Endpoint accept(Duration timeout) throws IOException, InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    return EndpointSetup.accept(acceptSocket(deadline), config, deadline);
  }

  private Socket acceptSocket(Deadline deadline) throws IOException, InterruptedException {
    if (!accepting.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
      throw noPeer(deadline);
    }
    try {
      listening.setSoTimeout(deadline.millis());
      return listening.accept();
    } catch (SocketTimeoutException late) {
      SocketTimeoutException described = noPeer(deadline);
      described.initCause(late);
      throw described;
    } catch (SocketException failed) {
      if (listening.isClosed()) {
        throw new IllegalStateException("the listener on " + address + " is closed", failed);
      }
      throw failed;
    } finally {
      accepting.unlock();
    }
  }

  private SocketTimeoutException noPeer(Deadline deadline) {
    return new SocketTimeoutException(
        "no endpoint connected to " + address + " within " + deadline.timeout());
  }

  /**
   * Stops listening, and ends the waits of other threads. Accepted endpoints stay open. Does
   * nothing if the listener is closed.
   *
   * @throws IOException if the socket cannot be closed
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
