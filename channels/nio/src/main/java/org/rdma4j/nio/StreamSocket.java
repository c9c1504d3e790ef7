package org.rdma4j.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The socket of a channel. It is that of the JDK's channel, but for what must go through the
 * channel: connecting, the streams and the end.
 */
final class StreamSocket extends Socket {
  private final StreamChannel channel;
  private final Socket tcp;

  /** Whether the program wants urgent data among the others, which TCP alone can give it. */
  private volatile boolean urgentInline;

  StreamSocket(StreamChannel channel, Socket tcp) throws SocketException {
    super(noImplementation());
    this.channel = channel;
    this.tcp = tcp;
  }

  /** The methods that would use one are all overridden. */
  @SuppressWarnings("NullAway") // Socket accepts null.
  private static SocketImpl noImplementation() {
    return null;
  }

  @Override
  public SocketChannel getChannel() {
    return channel;
  }

  @Override
  public void connect(SocketAddress remote) throws IOException {
    channel.connect(remote, 0);
  }

  @Override
  public void connect(SocketAddress remote, int timeout) throws IOException {
    channel.connect(remote, timeout);
  }

  @Override
  public void bind(@Nullable SocketAddress local) throws IOException {
    tcp.bind(local);
  }

  @Override
  public InputStream getInputStream() throws IOException {
    return new StreamInput(
        channel, channel.isInputMoved() ? InputStream.nullInputStream() : tcp.getInputStream());
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    // This one checks that the output can be used; it is not used itself.
    var unused = tcp.getOutputStream();
    return Channels.newOutputStream(channel);
  }

  @Override
  public void shutdownInput() throws IOException {
    channel.shutdownInput(tcp);
  }

  @Override
  public void shutdownOutput() throws IOException {
    channel.shutdownOutput(tcp);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
    tcp.setOption(name, value);
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> name) throws IOException {
    return tcp.getOption(name);
  }

  @Override
  public @Nullable InetAddress getInetAddress() {
    return tcp.getInetAddress();
  }

  @Override
  public InetAddress getLocalAddress() {
    return tcp.getLocalAddress();
  }

  @Override
  public int getPort() {
    return tcp.getPort();
  }

  @Override
  public int getLocalPort() {
    return tcp.getLocalPort();
  }

  @Override
  public @Nullable SocketAddress getRemoteSocketAddress() {
    return tcp.getRemoteSocketAddress();
  }

  @Override
  public @Nullable SocketAddress getLocalSocketAddress() {
    return tcp.getLocalSocketAddress();
  }

  @Override
  public void setTcpNoDelay(boolean on) throws SocketException {
    tcp.setTcpNoDelay(on);
  }

  @Override
  public boolean getTcpNoDelay() throws SocketException {
    return tcp.getTcpNoDelay();
  }

  @Override
  public void setSoLinger(boolean on, int seconds) throws SocketException {
    tcp.setSoLinger(on, seconds);
  }

  @Override
  public int getSoLinger() throws SocketException {
    return tcp.getSoLinger();
  }

  @Override
  public void sendUrgentData(int data) throws IOException {
    tcp.sendUrgentData(data);
  }

  boolean isUrgentInline() {
    return urgentInline;
  }

  /**
   * Urgent data among the others would be counted by this side, but not by the peer. So the channel
   * stays on TCP, or it is too late, and urgent data is dropped as before.
   */
  @Override
  public void setOOBInline(boolean on) throws SocketException {
    if (!on || channel.staysWithTcp()) {
      tcp.setOOBInline(on);
    } else {
      // Fails if the socket is closed.
      var unused = tcp.getOOBInline();
    }
    urgentInline = on;
  }

  @Override
  public boolean getOOBInline() throws SocketException {
    return tcp.getOOBInline() || urgentInline;
  }

  @Override
  public void setSoTimeout(int millis) throws SocketException {
    tcp.setSoTimeout(millis);
  }

  @Override
  public int getSoTimeout() throws SocketException {
    return tcp.getSoTimeout();
  }

  @Override
  public void setSendBufferSize(int bytes) throws SocketException {
    tcp.setSendBufferSize(bytes);
  }

  @Override
  public int getSendBufferSize() throws SocketException {
    return tcp.getSendBufferSize();
  }

  @Override
  public void setReceiveBufferSize(int bytes) throws SocketException {
    tcp.setReceiveBufferSize(bytes);
  }

  @Override
  public int getReceiveBufferSize() throws SocketException {
    return tcp.getReceiveBufferSize();
  }

  @Override
  public void setKeepAlive(boolean on) throws SocketException {
    tcp.setKeepAlive(on);
  }

  @Override
  public boolean getKeepAlive() throws SocketException {
    return tcp.getKeepAlive();
  }

  @Override
  public void setTrafficClass(int trafficClass) throws SocketException {
    tcp.setTrafficClass(trafficClass);
  }

  @Override
  public int getTrafficClass() throws SocketException {
    return tcp.getTrafficClass();
  }

  @Override
  public void setReuseAddress(boolean on) throws SocketException {
    tcp.setReuseAddress(on);
  }

  @Override
  public boolean getReuseAddress() throws SocketException {
    return tcp.getReuseAddress();
  }

  @Override
  public boolean isConnected() {
    return tcp.isConnected();
  }

  @Override
  public boolean isBound() {
    return tcp.isBound();
  }

  @Override
  public boolean isInputShutdown() {
    return channel.isInputShut();
  }

  @Override
  public boolean isOutputShutdown() {
    return channel.isOutputShut() || tcp.isOutputShutdown();
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return tcp.supportedOptions();
  }

  @Override
  public String toString() {
    return tcp.toString();
  }
}
