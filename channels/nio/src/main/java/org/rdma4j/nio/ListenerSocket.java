package org.rdma4j.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.ServerSocketChannel;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The socket of a channel that listens. It is that of the JDK's channel, but for what it accepts
 * and the end.
 */
final class ListenerSocket extends ServerSocket {
  private final ListenerChannel channel;
  private final ServerSocket tcp;

  ListenerSocket(ListenerChannel channel, ServerSocket tcp) throws IOException {
    this.channel = channel;
    this.tcp = tcp;
  }

  @Override
  public ServerSocketChannel getChannel() {
    return channel;
  }

  @Override
  public void bind(@Nullable SocketAddress local) throws IOException {
    tcp.bind(local);
    channel.bound();
  }

  @Override
  public void bind(@Nullable SocketAddress local, int backlog) throws IOException {
    tcp.bind(local, backlog);
    channel.bound();
  }

  @Override
  public Socket accept() throws IOException {
    return channel.acceptSocket();
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
  public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
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
  public int getLocalPort() {
    return tcp.getLocalPort();
  }

  @Override
  public @Nullable SocketAddress getLocalSocketAddress() {
    return tcp.getLocalSocketAddress();
  }

  @Override
  public boolean isBound() {
    return tcp.isBound();
  }

  @Override
  public void setSoTimeout(int millis) throws SocketException {
    tcp.setSoTimeout(millis);
  }

  @Override
  public int getSoTimeout() throws IOException {
    return tcp.getSoTimeout();
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
  public void setReceiveBufferSize(int bytes) throws SocketException {
    tcp.setReceiveBufferSize(bytes);
  }

  @Override
  public int getReceiveBufferSize() throws SocketException {
    return tcp.getReceiveBufferSize();
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
