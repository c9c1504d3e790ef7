package org.rdma4j.valkey;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOptions;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.ConnectionRejectedException;

/** What {@link ValkeySocket} is built on: the JDK keeps the states of the socket. */
final class ValkeyStream extends SocketImpl {
  private static final Duration LONGEST = Duration.ofDays(36_500);
  private static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(30);

  /** How long a server may take no byte, if the socket has no timeout. */
  private static final Duration DEFAULT_WRITE_TIMEOUT = Duration.ofSeconds(60);

  private static final int MIN_BYTES = 4096;
  private static final int MAX_BYTES = 1 << 30;

  private final Map<Integer, Object> options = new ConcurrentHashMap<>();
  private final ReentrantLock writing = new ReentrantLock();
  private volatile @Nullable ValkeyLink link;
  private volatile boolean closed;

  ValkeyStream() {
    options.put(SocketOptions.SO_TIMEOUT, 0);
    options.put(SocketOptions.SO_RCVBUF, 1 << 20);
    options.put(SocketOptions.SO_SNDBUF, 1 << 19);
    options.put(SocketOptions.TCP_NODELAY, true);
    options.put(SocketOptions.SO_KEEPALIVE, true);
    options.put(SocketOptions.SO_LINGER, -1);
    options.put(SocketOptions.SO_REUSEADDR, false);
    options.put(SocketOptions.SO_OOBINLINE, false);
    options.put(SocketOptions.IP_TOS, 0);
  }

  @Override
  protected void create(boolean stream) {}

  @Override
  protected void connect(String host, int port) throws IOException {
    connect(new InetSocketAddress(host, port), 0);
  }

  @Override
  protected void connect(InetAddress host, int port) throws IOException {
    connect(new InetSocketAddress(host, port), 0);
  }

  @Override
  protected void connect(SocketAddress server, int timeout) throws IOException {
    InetSocketAddress inet = (InetSocketAddress) server;
    Duration limit = timeout == 0 ? DEFAULT_CONNECT_TIMEOUT : Duration.ofMillis(timeout);
    long deadline = System.nanoTime() + limit.toNanos();
    try {
      ValkeyLink connected =
          ValkeyLink.connect(
              inet,
              bytes("receive buffer", SocketOptions.SO_RCVBUF),
              bytes("send buffer", SocketOptions.SO_SNDBUF),
              this,
              deadline);
      InetSocketAddress local = connected.localAddress();
      localport = local.getPort();
      options.put(SocketOptions.SO_BINDADDR, local.getAddress());
      // Last, because another thread may close the socket from now on.
      link = connected;
    } catch (TimeoutException late) {
      throw withCause(
          new SocketTimeoutException(
              "%s did not answer within %d ms".formatted(inet, limit.toMillis())),
          late);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new SocketException("interrupted while connecting to " + inet, interrupt);
    } catch (ConnectionRejectedException rejected) {
      throw withCause(
          new ConnectException(
              ("%s rejected the connection. Check that Valkey listens for RDMA there"
                      + " (rdma-bind, rdma-port), and that its log has no error: %s")
                  .formatted(inet, rejected.getMessage())),
          rejected);
    } catch (RdmaException failed) {
      throw withCause(
          new ConnectException("cannot connect to " + inet + ": " + failed.getMessage()), failed);
    }
    address = inet.getAddress();
    port = inet.getPort();
    if (closed) {
      close();
    }
  }

  private int bytes(String name, int option) throws SocketException {
    int bytes = (Integer) Objects.requireNonNull(options.get(option));
    if (bytes < MIN_BYTES || bytes > MAX_BYTES) {
      throw new SocketException(
          "the %s has %d bytes, must have %d to %d".formatted(name, bytes, MIN_BYTES, MAX_BYTES));
    }
    return bytes;
  }

  private static <E extends IOException> E withCause(E exception, Throwable cause) {
    exception.initCause(cause);
    return exception;
  }

  private ValkeyLink link() throws SocketException {
    ValkeyLink connected = link;
    if (connected == null || closed) {
      throw new SocketException("Socket closed");
    }
    return connected;
  }

  private long deadline(Duration withoutTimeout) {
    int timeout = (Integer) Objects.requireNonNull(options.get(SocketOptions.SO_TIMEOUT));
    return System.nanoTime()
        + (timeout == 0 ? withoutTimeout : Duration.ofMillis(timeout)).toNanos();
  }

  @Override
  protected InputStream getInputStream() {
    return new Input();
  }

  @Override
  protected OutputStream getOutputStream() {
    return new Output();
  }

  /** The bytes that the server writes. */
  private final class Input extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, target.length);
      if (length == 0) {
        return 0;
      }
      return link().read(target, offset, length, deadline(LONGEST));
    }

    @Override
    public int available() throws IOException {
      return ValkeyStream.this.available();
    }
  }

  /** The bytes that the server reads. */
  private final class Output extends OutputStream {
    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, source.length);
      writing.lock();
      try {
        int written = 0;
        while (written < length) {
          written +=
              link()
                  .write(
                      source, offset + written, length - written, deadline(DEFAULT_WRITE_TIMEOUT));
        }
      } finally {
        writing.unlock();
      }
    }
  }

  @Override
  protected int available() throws IOException {
    return link().available();
  }

  @Override
  protected void close() {
    closed = true;
    ValkeyLink connected = link;
    if (connected != null) {
      connected.close();
    }
  }

  @Override
  public void setOption(int option, Object value) {
    options.put(option, value);
  }

  @Override
  public @Nullable Object getOption(int option) throws SocketException {
    Object value = options.get(option);
    if (value == null && option != SocketOptions.SO_BINDADDR) {
      throw new SocketException("a socket over RDMA does not have the option " + option);
    }
    return value;
  }

  @Override
  protected void bind(InetAddress host, int port) throws SocketException {
    throw new SocketException("a socket to Valkey over RDMA cannot be bound");
  }

  @Override
  protected void listen(int backlog) throws SocketException {
    throw new SocketException("a socket to Valkey over RDMA cannot listen");
  }

  @Override
  protected void accept(SocketImpl socket) throws SocketException {
    throw new SocketException("a socket to Valkey over RDMA cannot accept");
  }

  @Override
  protected void sendUrgentData(int data) throws SocketException {
    throw new SocketException("RDMA has no urgent data");
  }
}
