package org.rdma4j.nio;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link java.net.ServerSocket} of a program that uses no channels calls: a socket of the
 * JDK, and if possible a listener over RDMA, too.
 */
final class PlainListener extends SocketImpl {
  private volatile @Nullable PlatformSocket platform;
  private volatile @Nullable Rendezvous rendezvous;
  private volatile @Nullable RdmaListener rdma;

  /** Returns the socket of the JDK, which is not made before it is used. */
  private PlatformSocket platform() {
    PlatformSocket socket = platform;
    if (socket == null) {
      socket = PlatformSocket.ofListener();
      platform = socket;
    }
    return socket;
  }

  @Override
  protected void create(boolean isStream) throws IOException {
    platform().create(isStream);
  }

  @Override
  protected void bind(InetAddress address, int port) throws IOException {
    platform().bind(address, port);
  }

  @Override
  protected void listen(int backlog) throws IOException {
    PlatformSocket socket = platform();
    socket.listen(backlog);
    Rendezvous known = PlainSockets.rendezvous();
    if (known != null) {
      RdmaListener other = new RdmaListener(known);
      rendezvous = known;
      rdma = other;
      PlainSockets.closeIfDropped(this, other::close);
      other.listen(socket.local());
    }
  }

  @Override
  protected void accept(SocketImpl accepting) throws IOException {
    if (!(accepting instanceof PlainSocket plain)) {
      throw new IOException(
          "An instance of "
              + getClass()
              + " cannot accept a connection with an instance of "
              + accepting.getClass());
    }
    PlatformSocket accepted = platform().accept();
    RdmaListener other = rdma;
    boolean done = false;
    try {
      plain.accepted(accepted, other != null && other.upgrades() ? rendezvous : null);
      done = true;
    } finally {
      if (!done) {
        accepted.close();
      }
    }
  }

  @Override
  protected void close() throws IOException {
    PlatformSocket socket = platform;
    try {
      if (socket != null) {
        socket.close();
      }
    } finally {
      RdmaListener other = rdma;
      if (other != null) {
        other.close();
      }
    }
  }

  // ---- Addresses and options

  /** Only the JDK's own sockets use it. */
  @Override
  protected @Nullable FileDescriptor getFileDescriptor() {
    return null;
  }

  @Override
  protected @Nullable InetAddress getInetAddress() {
    return platform().address();
  }

  @Override
  protected int getPort() {
    return platform().port();
  }

  @Override
  protected int getLocalPort() {
    return platform().localPort();
  }

  @Override
  public void setOption(int option, Object value) throws SocketException {
    platform().setOption(option, value);
  }

  @Override
  public Object getOption(int option) throws SocketException {
    return platform().getOption(option);
  }

  @Override
  protected <T> void setOption(SocketOption<T> option, T value) throws IOException {
    platform().setOption(option, value);
  }

  @Override
  protected <T> T getOption(SocketOption<T> option) throws IOException {
    return platform().getOption(option);
  }

  @Override
  protected Set<SocketOption<?>> supportedOptions() {
    return platform().supportedOptions();
  }

  // ---- What a ServerSocket never calls

  @Override
  protected void connect(String host, int port) throws IOException {
    throw listens();
  }

  @Override
  protected void connect(InetAddress address, int port) throws IOException {
    throw listens();
  }

  @Override
  protected void connect(SocketAddress address, int timeout) throws IOException {
    throw listens();
  }

  @Override
  protected InputStream getInputStream() throws IOException {
    throw listens();
  }

  @Override
  protected OutputStream getOutputStream() throws IOException {
    throw listens();
  }

  @Override
  protected int available() throws IOException {
    throw listens();
  }

  @Override
  protected void sendUrgentData(int data) throws IOException {
    throw listens();
  }

  private static IOException listens() {
    return new IOException("a ServerSocket only listens");
  }
}
