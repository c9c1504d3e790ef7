package org.rdma4j.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.FileRegion;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.connection.IncomingConnection;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;

/**
 * A channel of bytes over an RDMA connection, as Netty's other socket channels are over TCP.
 *
 * <p>The peer is a channel of this transport, or another user of {@link RdmaConnection} for which
 * the messages are pieces of a stream, and a message without bytes is its end.
 */
public final class RdmaSocketChannel extends AbstractChannel implements SocketChannel {
  private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

  /** How long a channel waits if no memory can be registered, until it tries again. */
  private static final long MEMORY_PAUSE_MILLIS = 10;

  private final RdmaSocketChannelConfig config = new RdmaSocketChannelConfig(this);
  private final @Nullable IncomingConnection incoming;
  private @Nullable RdmaIoHandler home;
  private @Nullable IoRegistration enrolled;
  private @Nullable NodeRegistration registration;
  private volatile @Nullable RdmaConnection connection;
  private @Nullable InboundBytes input;
  private @Nullable OutboundBytes output;
  private @Nullable PendingConnect connecting;
  private volatile @Nullable InetSocketAddress local;
  private volatile @Nullable InetSocketAddress remote;
  private volatile boolean closed;
  private volatile boolean inputShutdown;
  private volatile boolean outputShutdown;
  private boolean endSeen;
  private boolean readPending;

  /** What the event loop sees of the channel. */
  private final RdmaHandle handle =
      new RdmaHandle() {
        @Override
        public @Nullable RdmaIoHandler home() {
          return home;
        }

        @Override
        public void handle(IoRegistration at, IoEvent event) {
          look();
        }

        @Override
        public void close() {
          unsafe().close(voidPromise());
        }
      };

  /** Creates a channel that is to be connected. */
  public RdmaSocketChannel() {
    super(null);
    this.incoming = null;
  }

  /** Creates a channel for a peer that connects; the event loop of the channel accepts it. */
  RdmaSocketChannel(RdmaServerSocketChannel parent, IncomingConnection incoming) {
    super(parent);
    this.incoming = incoming;
    this.local = parent.localAddress();
    this.remote = incoming.peerAddress();
  }

  private void take(RdmaIoHandler node, RdmaConnection established) {
    home = node;
    local = established.localAddress();
    remote = established.peerAddress();
    InboundBytes arriving = new InboundBytes(node, established.domain());
    input = arriving;
    output =
        new OutboundBytes(
            established,
            config,
            node.node().node().config().bufferBytes(),
            this::lookSoon,
            this::awaitMemory);
    connection = established;
  }

  /** Lets messages come, which the event loop finds from now on. */
  private void listen(RdmaConnection established, InboundBytes arriving) {
    established.onMessage(
        message -> {
          arriving.add(message);
          lookIfRead();
        });
    var unused =
        established
            .ended()
            .whenComplete(
                (end, reason) -> {
                  arriving.end(reason);
                  lookSoon();
                });
  }

  // ---- What Netty asks

  @Override
  public RdmaServerSocketChannel parent() {
    return (RdmaServerSocketChannel) super.parent();
  }

  @Override
  public RdmaSocketChannelConfig config() {
    return config;
  }

  @Override
  public ChannelMetadata metadata() {
    return METADATA;
  }

  @Override
  public boolean isOpen() {
    return !closed;
  }

  @Override
  public boolean isActive() {
    return connection != null && !closed;
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    return (InetSocketAddress) super.localAddress();
  }

  @Override
  public @Nullable InetSocketAddress remoteAddress() {
    return (InetSocketAddress) super.remoteAddress();
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    return local;
  }

  @Override
  protected @Nullable SocketAddress remoteAddress0() {
    return remote;
  }

  /**
   * Allocates registered memory, to be filled and written to this channel. It is sent without a
   * copy if it has at least 1 KiB and no other code has retained it; anything else that is written
   * is copied once, into registered memory. It can also be written to another channel of the same
   * event loop, as can what a channel has received.
   *
   * @param bytes the capacity, which does not grow
   * @return the buffer, to be written or released
   * @throws IllegalStateException if the channel is not connected
   * @throws org.rdma4j.RdmaException if memory cannot be registered
   */
  public ByteBuf registeredBuffer(int bytes) {
    RdmaConnection known = connection;
    if (known == null) {
      throw new IllegalStateException("the channel is not connected: " + this);
    }
    MessageBuffer message = known.allocateBuffer(bytes);
    return new MessageByteBuf(alloc(), message, known.domain(), () -> {});
  }

  // ---- Registration

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return NodeRegistration.isCompatible(loop);
  }

  @Override
  protected void doRegister(ChannelPromise promise) {
    NodeRegistration.register(eventLoop(), handle, promise, this::registered);
  }

  private void registered(IoRegistration at) {
    boolean first = registration == null;
    enrolled = at;
    NodeRegistration here = at.attachment();
    registration = here;
    if (first && incoming != null) {
      home = here.handler();
      connecting = PendingConnect.accept(here, incoming, newPromise());
    }
  }

  @Override
  protected void doDeregister() {
    // Not the one below, which the event loop counts.
    if (enrolled != null) {
      enrolled.cancel();
    }
  }

  // ---- Connecting

  @Override
  protected void doBind(SocketAddress address) {
    local = (InetSocketAddress) address;
  }

  private void connect(InetSocketAddress server, ChannelPromise promise) {
    NodeRegistration here = registration;
    if (connection != null) {
      throw new AlreadyConnectedException();
    }
    if (connecting != null) {
      throw new ConnectionPendingException();
    }
    if (server.isUnresolved()) {
      throw new UnresolvedAddressException();
    }
    if (here == null) {
      throw new IllegalStateException("the channel is not registered");
    }
    home = here.handler();
    connecting = PendingConnect.begin(here, local, server, promise);
    int timeout = config.getConnectTimeoutMillis();
    if (timeout > 0) {
      var limit =
          eventLoop()
              .schedule(
                  () ->
                      failConnect(
                          new ConnectTimeoutException(
                              "connection timed out after " + timeout + " ms: " + server)),
                  timeout,
                  TimeUnit.MILLISECONDS);
      promise.addListener(done -> limit.cancel(false));
    }
    promise.addListener(
        (ChannelFuture done) -> {
          if (done.isCancelled()) {
            failConnect(new ClosedChannelException());
          }
        });
  }

  /** Takes the connection, or fails, if the connect is done. */
  private void finishConnect(PendingConnect pending) {
    NodeRegistration here = registration;
    if (!pending.isDone() || here == null) {
      return;
    }
    IOException failure = pending.failure();
    if (failure != null) {
      failConnect(failure);
      return;
    }
    connecting = null;
    RdmaConnection established = pending.connection();
    take(here.handler(), established);
    InboundBytes arriving = input;
    if (arriving != null) {
      listen(established, arriving);
    }
    boolean told = pending.succeed();
    pipeline().fireChannelActive();
    if (!told) {
      unsafe().close(voidPromise());
    }
  }

  private void failConnect(Throwable reason) {
    PendingConnect pending = connecting;
    if (pending != null) {
      connecting = null;
      pending.fail(reason);
      unsafe().close(voidPromise());
    }
  }

  // ---- Reading

  private void lookSoon() {
    if (registration != null) {
      registration.ready();
    }
  }

  private void lookIfRead() {
    InboundBytes arriving = input;
    if (arriving != null && (readPending ? hasInput(arriving) : hasUnseenEnd(arriving))) {
      lookSoon();
    }
  }

  private static boolean hasInput(InboundBytes arriving) {
    return !arriving.isEmpty() || arriving.isEnded();
  }

  /**
   * Returns whether the end is to be reported although no code reads, as all before it was read.
   */
  private boolean hasUnseenEnd(InboundBytes arriving) {
    return arriving.isEmpty() && arriving.isEnded() && !endSeen;
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

  /** Tries again later to send, because no memory could be registered. */
  private void awaitMemory() {
    OutboundBytes sending = output;
    if (sending != null) {
      var unused = eventLoop().schedule(sending::retry, MEMORY_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Does pending work. */
  private void look() {
    PendingConnect pending = connecting;
    if (pending != null) {
      finishConnect(pending);
      return;
    }
    ((StreamUnsafe) unsafe()).flushAgain();
    InboundBytes arriving = input;
    if (closed || arriving == null) {
      return;
    }
    if (readPending || hasUnseenEnd(arriving)) {
      read(arriving);
    } else if (arriving.failure() != null) {
      readEnd(arriving);
    }
  }

  private void read(InboundBytes arriving) {
    ChannelPipeline pipeline = pipeline();
    RecvByteBufAllocator.Handle allocation = unsafe().recvBufAllocHandle();
    allocation.reset(config);
    boolean any = false;
    // A handler may have closed the channel.
    while (!arriving.isEmpty() && (!any || allocation.continueReading())) {
      ByteBuf bytes = arriving.take(alloc(), allocation);
      allocation.lastBytesRead(bytes.readableBytes());
      allocation.incMessagesRead(1);
      readPending = false;
      any = true;
      pipeline.fireChannelRead(bytes);
    }
    boolean end = arriving.isEmpty() && arriving.isEnded() && !closed;
    if (end) {
      readPending = false;
    }
    if (any || (end && !endSeen)) {
      allocation.readComplete();
      pipeline.fireChannelReadComplete();
    }
    if (end && !closed) {
      readEnd(arriving);
    }
  }

  private void readEnd(InboundBytes arriving) {
    Throwable failure = arriving.failure();
    if (failure != null) {
      SocketException reset = new SocketException("Connection reset");
      reset.initCause(failure);
      pipeline().fireExceptionCaught(reset);
      unsafe().close(voidPromise());
    } else if (!inputShutdown && config.isAllowHalfClosure()) {
      inputShutdown = true;
      pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
      lookIfRead();
    } else if (!inputShutdown) {
      unsafe().close(voidPromise());
    } else if (!endSeen) {
      endSeen = true;
      pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
    }
  }

  // ---- Writing

  @Override
  protected Object filterOutboundMessage(Object message) {
    if (message instanceof ByteBuf || message instanceof FileRegion) {
      return message;
    }
    throw new UnsupportedOperationException(
        "a %s cannot be written: encode it to a ByteBuf or a FileRegion first"
            .formatted(message.getClass().getName()));
  }

  @Override
  protected void doWrite(ChannelOutboundBuffer flushed) throws IOException {
    OutboundBytes sending = output;
    if (sending == null) {
      throw new NotYetConnectedException();
    }
    sending.write(flushed);
  }

  // ---- Ending

  @Override
  public boolean isInputShutdown() {
    return inputShutdown || closed;
  }

  @Override
  public boolean isOutputShutdown() {
    return outputShutdown || closed;
  }

  @Override
  public boolean isShutdown() {
    return isInputShutdown() && isOutputShutdown();
  }

  @Override
  public ChannelFuture shutdownInput() {
    return shutdownInput(newPromise());
  }

  @Override
  public ChannelFuture shutdownOutput() {
    return shutdownOutput(newPromise());
  }

  @Override
  public ChannelFuture shutdown() {
    return shutdown(newPromise());
  }

  @Override
  public ChannelFuture shutdownOutput(ChannelPromise promise) {
    return inLoop(promise, () -> ((AbstractUnsafe) unsafe()).shutdownOutput(promise));
  }

  @Override
  public ChannelFuture shutdownInput(ChannelPromise promise) {
    return inLoop(
        promise,
        () -> {
          if (shutdownInputNow(promise)) {
            promise.setSuccess();
          }
        });
  }

  @Override
  public ChannelFuture shutdown(ChannelPromise promise) {
    return inLoop(
        promise,
        () -> {
          if (shutdownInputNow(promise)) {
            ((AbstractUnsafe) unsafe()).shutdownOutput(promise);
          }
        });
  }

  private ChannelFuture inLoop(ChannelPromise promise, Runnable action) {
    if (eventLoop().inEventLoop()) {
      action.run();
    } else {
      eventLoop().execute(action);
    }
    return promise;
  }

  /**
   * Drops what has arrived and what arrives; the next read sees the end.
   *
   * @return whether the channel is connected; otherwise the promise has failed
   */
  private boolean shutdownInputNow(ChannelPromise promise) {
    InboundBytes arriving = input;
    if (arriving == null) {
      promise.setFailure(new NotYetConnectedException());
      return false;
    }
    inputShutdown = true;
    arriving.drop();
    lookIfRead();
    return true;
  }

  @Override
  protected void doShutdownOutput() {
    OutboundBytes sending = output;
    if (sending == null) {
      throw new NotYetConnectedException();
    }
    outputShutdown = true;
    sending.end();
  }

  @Override
  protected void doDisconnect() {
    doClose();
  }

  @Override
  protected void doClose() {
    closed = true;
    InboundBytes arriving = input;
    if (arriving != null) {
      arriving.drop();
    }
    RdmaConnection known = connection;
    RdmaIoHandler node = home;
    PendingConnect pending = connecting;
    connecting = null;
    if (known != null && node != null) {
      if (config.getSoLinger() == 0) {
        known.abort();
      } else {
        node.closeSoon(known);
      }
    }
    if (pending != null) {
      pending.fail(new ClosedChannelException());
    } else if (incoming != null && registration == null) {
      reject(incoming);
    }
  }

  /** Rejects a peer whose channel was closed before an event loop had it. */
  private static void reject(IncomingConnection unwanted) {
    try {
      unwanted.reject("the server has closed the channel");
    } catch (IllegalStateException late) {
      // The server has rejected it before.
    }
  }

  @Override
  protected AbstractUnsafe newUnsafe() {
    return new StreamUnsafe();
  }

  /** Connects, and holds back a flush while there is no room. */
  private final class StreamUnsafe extends AbstractUnsafe {
    @Override
    public void connect(SocketAddress to, @Nullable SocketAddress from, ChannelPromise promise) {
      if (promise.isDone() || !ensureOpen(promise)) {
        return;
      }
      try {
        if (from != null) {
          local = (InetSocketAddress) from;
        }
        RdmaSocketChannel.this.connect((InetSocketAddress) to, promise);
      } catch (ConnectionException failed) {
        promise.tryFailure(PendingConnect.named(failed));
        closeIfClosed();
      } catch (RuntimeException failed) {
        promise.tryFailure(annotateConnectException(failed, to));
        closeIfClosed();
      }
    }

    @Override
    protected void flush0() {
      OutboundBytes sending = output;
      if (sending == null || !sending.isFull()) {
        super.flush0();
      }
    }

    void flushAgain() {
      super.flush0();
    }
  }
}
