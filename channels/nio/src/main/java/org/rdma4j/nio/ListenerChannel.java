package org.rdma4j.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Listens over TCP, with a channel of the JDK, and if possible over RDMA, too. */
final class ListenerChannel extends ServerSocketChannel implements OverTcp {
  private final ServerSocketChannel tcp;
  private final CopyOnWriteArrayList<ReadyKey> watchers = new CopyOnWriteArrayList<>();
  private final ListenerSocket socket;
  private final RdmaSelectorProvider provider;
  private final RdmaListener rdma;

  ListenerChannel(RdmaSelectorProvider provider, ServerSocketChannel tcp) throws IOException {
    super(provider);
    this.provider = provider;
    this.tcp = tcp;
    this.socket = new ListenerSocket(this, tcp.socket());
    this.rdma = new RdmaListener(provider.rendezvous());
  }

  @Override
  public ServerSocketChannel tcp() {
    return tcp;
  }

  @Override
  public CopyOnWriteArrayList<ReadyKey> watchers() {
    return watchers;
  }

  private void closeIfTcpIs() throws IOException {
    if (!tcp.isOpen()) {
      close();
    }
  }

  @Override
  public ServerSocketChannel bind(@Nullable SocketAddress local, int backlog) throws IOException {
    tcp.bind(local, backlog);
    bound();
    return this;
  }

  /** Listens over RDMA, too. */
  void bound() throws IOException {
    if (tcp.getLocalAddress() instanceof InetSocketAddress address) {
      rdma.listen(address);
    }
  }

  boolean isRdmaListening() {
    return rdma.isListening();
  }

  private StreamChannel channel(SocketChannel accepted) throws IOException {
    return StreamChannel.accepted(provider, accepted, rdma.upgrades());
  }

  @Override
  public @Nullable SocketChannel accept() throws IOException {
    try {
      SocketChannel accepted = tcp.accept();
      return accepted == null ? null : channel(accepted);
    } finally {
      closeIfTcpIs();
    }
  }

  /** Accepts for a socket, within its timeout. */
  Socket acceptSocket() throws IOException {
    try {
      SocketChannel accepted = tcp.socket().accept().getChannel();
      return channel(accepted).socket();
    } finally {
      closeIfTcpIs();
    }
  }

  @Override
  protected void implCloseSelectableChannel() throws IOException {
    tcp.close();
    rdma.close();
  }

  @Override
  protected void implConfigureBlocking(boolean block) throws IOException {
    tcp.configureBlocking(block);
  }

  @Override
  public boolean isOverRdma() {
    return false;
  }

  @Override
  public int tcpOperations() {
    return validOps();
  }

  @Override
  public int readyOperations() {
    return 0;
  }

  @Override
  public @Nullable SocketAddress getLocalAddress() throws IOException {
    return tcp.getLocalAddress();
  }

  @Override
  public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
    tcp.setOption(name, value);
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> name) throws IOException {
    return tcp.getOption(name);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return tcp.supportedOptions();
  }

  @Override
  public ServerSocket socket() {
    return socket;
  }

  @Override
  public String toString() {
    return tcp.toString();
  }
}
