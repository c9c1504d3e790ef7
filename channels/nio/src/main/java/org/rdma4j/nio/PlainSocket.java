package org.rdma4j.nio;

import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link java.net.Socket} of a program that uses no channels calls: a socket of the JDK, and
 * after it has connected, its stream if it may be upgraded to RDMA.
 */
final class PlainSocket extends SocketImpl {
  private final boolean direct;
  private volatile @Nullable PlatformSocket platform;
  private volatile @Nullable PlainStream stream;
  private volatile int timeout;

  /** Whether the program wants urgent data among the others, which TCP alone can give it. */
  private volatile boolean urgentInline;

  /**
   * Creates it.
   *
   * @param direct whether it never uses a proxy of the system
   */
  PlainSocket(boolean direct) {
    this.direct = direct;
  }

  /** Returns the socket of the JDK, which is not made before it is used. */
  private PlatformSocket platform() {
    PlatformSocket socket = platform;
    if (socket == null) {
      socket = direct ? PlatformSocket.withoutProxy() : PlatformSocket.ofClient();
      platform = socket;
    }
    return socket;
  }

  // ---- Connecting

  @Override
  protected void create(boolean isStream) throws IOException {
    platform().create(isStream);
  }

  @Override
  protected void bind(InetAddress address, int port) throws IOException {
    platform().bind(address, port);
  }

  @Override
  protected void connect(String host, int port) throws IOException {
    connect(new InetSocketAddress(host, port), 0);
  }

  @Override
  protected void connect(InetAddress address, int port) throws IOException {
    connect(new InetSocketAddress(address, port), 0);
  }

  @Override
  protected void connect(SocketAddress address, int millis) throws IOException {
    PlatformSocket socket = platform();
    socket.connect(address, millis);
    Rendezvous rendezvous = PlainSockets.rendezvous();
    if (rendezvous != null && !urgentInline && !socket.isProxied()) {
      carry(PlainStream.connected(rendezvous, socket));
    }
  }

  /** Becomes the socket of a connection that a listener has accepted. */
  void accepted(PlatformSocket socket, @Nullable Rendezvous rendezvous) throws IOException {
    PlatformSocket before = platform;
    if (timeout > 0) {
      socket.setOption(SocketOptions.SO_TIMEOUT, timeout);
    }
    platform = socket;
    if (rendezvous != null) {
      carry(PlainStream.accepted(rendezvous, socket));
    }
    if (before != null) {
      before.close();
    }
  }

  private void carry(@Nullable PlainStream carrying) {
    stream = carrying;
    if (carrying != null) {
      PlainSockets.closeIfDropped(this, carrying::abandoned);
    }
  }

  @Override
  protected void listen(int backlog) throws IOException {
    throw new IOException("a Socket does not listen");
  }

  @Override
  protected void accept(SocketImpl accepting) throws IOException {
    throw new IOException("a Socket does not accept");
  }

  // ---- Reading and writing

  @Override
  protected InputStream getInputStream() throws IOException {
    PlainStream carrying = stream;
    return carrying == null ? platform().input() : new Input(carrying);
  }

  @Override
  protected OutputStream getOutputStream() throws IOException {
    PlainStream carrying = stream;
    return carrying == null ? platform().output() : new Output(carrying);
  }

  @Override
  protected int available() throws IOException {
    PlainStream carrying = stream;
    return carrying == null ? platform().available() : carrying.available();
  }

  /** As long as a thread reads, the socket is not dropped. */
  private final class Input extends InputStream {
    private final PlainStream carrying;

    Input(PlainStream carrying) {
      this.carrying = carrying;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      try {
        return carrying.read(target, offset, length, timeout);
      } finally {
        Reference.reachabilityFence(PlainSocket.this);
      }
    }

    @Override
    public int available() throws IOException {
      return PlainSocket.this.available();
    }

    @Override
    public void close() throws IOException {
      PlainSocket.this.close();
    }
  }

  /** As long as a thread writes, the socket is not dropped. */
  private final class Output extends OutputStream {
    private final PlainStream carrying;

    Output(PlainStream carrying) {
      this.carrying = carrying;
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      try {
        carrying.write(source, offset, length);
      } finally {
        Reference.reachabilityFence(PlainSocket.this);
      }
    }

    @Override
    public void close() throws IOException {
      PlainSocket.this.close();
    }
  }

  @Override
  protected boolean supportsUrgentData() {
    return true;
  }

  /** Uses TCP in any case, where the peer drops it unless it wants it among the others. */
  @Override
  protected void sendUrgentData(int data) throws IOException {
    platform().sendUrgentData(data);
  }

  // ---- The end

  @Override
  protected void shutdownInput() throws IOException {
    PlainStream carrying = stream;
    if (carrying == null) {
      platform().shutdownInput();
    } else {
      carrying.shutdownInput();
    }
  }

  @Override
  protected void shutdownOutput() throws IOException {
    PlainStream carrying = stream;
    if (carrying == null) {
      platform().shutdownOutput();
    } else {
      carrying.shutdownOutput();
    }
  }

  @Override
  protected void close() throws IOException {
    PlainStream carrying = stream;
    PlatformSocket socket = platform;
    if (carrying != null) {
      carrying.close();
    } else if (socket != null) {
      socket.close();
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
    if (option == SocketOptions.SO_OOBINLINE && value instanceof Boolean inline) {
      setUrgentInline(inline);
      return;
    }
    platform().setOption(option, value);
    if (option == SocketOptions.SO_TIMEOUT) {
      timeout = (int) value;
    }
  }

  /**
   * Urgent data among the others would be counted by this side, but not by the peer. So such a
   * socket stays on TCP, or it is too late, and urgent data is dropped as before.
   */
  private void setUrgentInline(boolean inline) throws SocketException {
    PlainStream carrying = stream;
    if (!inline || carrying == null || carrying.staysWithTcp()) {
      platform().setOption(SocketOptions.SO_OOBINLINE, inline);
    } else {
      // Fails if the socket is closed.
      var unused = platform().getOption(SocketOptions.SO_OOBINLINE);
    }
    urgentInline = inline;
  }

  @Override
  public Object getOption(int option) throws SocketException {
    PlainStream carrying = stream;
    if (carrying != null && !carrying.isOpen()) {
      throw new SocketException("Socket closed");
    }
    Object value = platform().getOption(option);
    return option == SocketOptions.SO_OOBINLINE ? (Object) urgentInline : value;
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
}
