package org.rdma4j.netty;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ServerSocketChannel;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.IncomingConnection;
import org.rdma4j.connection.RdmaServer;

/**
 * A channel that listens for {@link RdmaSocketChannel}s of other hosts.
 *
 * <p>A channel that it accepts may have any event loop of this transport: its connection is set up
 * with the node of the loop that it is registered with, and it becomes active after that. A peer
 * that no channel is registered for within {@link
 * org.rdma4j.connection.NodeConfig#handshakeTimeout}, because the server does not read, is
 * rejected.
 */
public final class RdmaServerSocketChannel extends AbstractServerChannel
    implements ServerSocketChannel {
  private final RdmaServerSocketChannelConfig config = new RdmaServerSocketChannelConfig(this);
  private final Queue<IncomingConnection> waiting = new ArrayDeque<>();
  private @Nullable IoRegistration enrolled;
  private @Nullable NodeRegistration registration;
  private volatile @Nullable RdmaServer server;
  private volatile @Nullable InetSocketAddress local;
  private volatile boolean closed;
  private boolean readPending;

  /** What the event loop sees of the channel. */
  private final RdmaHandle handle =
      new RdmaHandle() {
        @Override
        public @Nullable RdmaIoHandler home() {
          NodeRegistration known = registration;
          return server == null || known == null ? null : known.handler();
        }

        @Override
        public void handle(IoRegistration at, IoEvent event) {
          accept();
        }

        @Override
        public void close() {
          unsafe().close(voidPromise());
        }
      };

  /** Creates a channel that is to be bound. */
  public RdmaServerSocketChannel() {}

  @Override
  public RdmaServerSocketChannelConfig config() {
    return config;
  }

  @Override
  public boolean isOpen() {
    return !closed;
  }

  @Override
  public boolean isActive() {
    return server != null && !closed;
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    return (InetSocketAddress) super.localAddress();
  }

  @Override
  public @Nullable InetSocketAddress remoteAddress() {
    return null;
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    return local;
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return NodeRegistration.isCompatible(loop);
  }

  @Override
  protected void doRegister(ChannelPromise promise) {
    NodeRegistration.register(eventLoop(), handle, promise, this::registered);
  }

  private void registered(IoRegistration at) {
    enrolled = at;
    registration = at.attachment();
  }

  @Override
  protected void doDeregister() {
    // Not the one below, which the event loop counts.
    if (enrolled != null) {
      enrolled.cancel();
    }
  }

  @Override
  protected void doBind(SocketAddress address) throws BindException {
    NodeRegistration here = registration;
    if (here == null) {
      throw new IllegalStateException("the channel is not registered");
    }
    try {
      RdmaServer bound =
          here.handler().node().node().bind((InetSocketAddress) address, config.getBacklog());
      server = bound;
      local = bound.localAddress();
      bound.onConnect(this::arrived);
    } catch (RdmaException failed) {
      BindException named = new BindException(failed.getMessage());
      named.initCause(failed);
      throw named;
    }
  }

  private void arrived(IncomingConnection incoming) {
    waiting.add(incoming);
    lookIfRead();
  }

  private void lookIfRead() {
    if (readPending && registration != null && !waiting.isEmpty()) {
      registration.ready();
    }
  }

  @Override
  protected void doBeginRead() {
    readPending = true;
    lookIfRead();
  }

  void clearReadPending() {
    if (!isRegistered() || eventLoop().inEventLoop()) {
      readPending = false;
    } else {
      eventLoop().execute(() -> readPending = config.isAutoRead());
    }
  }

  /** Gives the pipeline the peers that have connected. */
  private void accept() {
    if (!readPending) {
      return;
    }
    ChannelPipeline pipeline = pipeline();
    RecvByteBufAllocator.Handle allocation = unsafe().recvBufAllocHandle();
    allocation.reset(config);
    do {
      IncomingConnection next = waiting.poll();
      if (next == null) {
        break;
      }
      readPending = false;
      allocation.incMessagesRead(1);
      pipeline.fireChannelRead(new RdmaSocketChannel(this, next));
    } while (allocation.continueReading());
    allocation.readComplete();
    pipeline.fireChannelReadComplete();
  }

  @Override
  protected void doClose() {
    closed = true;
    // The close of the server rejects them.
    waiting.clear();
    RdmaServer open = server;
    if (open != null) {
      open.close();
    }
  }
}
