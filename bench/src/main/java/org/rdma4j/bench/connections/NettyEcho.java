package org.rdma4j.bench.connections;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.SocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rdma4j.netty.RdmaIoHandler;
import org.rdma4j.netty.RdmaServerSocketChannel;
import org.rdma4j.netty.RdmaSocketChannel;

/**
 * Echoes of a client of Netty, one message outstanding. Each side has an event loop with one
 * thread.
 */
final class NettyEcho implements AutoCloseable {
  private static final int BYTES = 64;

  /** How long a message may take there and back. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final EventLoopGroup loop;
  private final Echoes echoes;
  private final Channel channel;

  private NettyEcho(EventLoopGroup loop, Bootstrap bootstrap, SocketAddress server) {
    this.loop = loop;
    this.echoes = new Echoes();
    this.channel =
        bootstrap.group(loop).handler(echoes).connect(server).syncUninterruptibly().channel();
  }

  /** Connects over the transport of rdma4j-netty. */
  static NettyEcho overTransport(SocketAddress server) {
    return new NettyEcho(
        loop(RdmaIoHandler.newFactory()), new Bootstrap().channel(RdmaSocketChannel.class), server);
  }

  /** Connects over Netty's transport for channels, which are those of a provider. */
  static NettyEcho overChannels(SelectorProvider provider, SocketAddress server) {
    return new NettyEcho(
        loop(NioIoHandler.newFactory(provider)),
        new Bootstrap().channelFactory(() -> new NioSocketChannel(provider)),
        server);
  }

  /** Serves until the process ends. */
  static void serveTransport(SocketAddress local) {
    serve(
        loop(RdmaIoHandler.newFactory()),
        new ServerBootstrap().channel(RdmaServerSocketChannel.class),
        local);
  }

  /** Serves until the process ends. */
  static void serveChannels(SelectorProvider provider, SocketAddress local) {
    serve(
        loop(NioIoHandler.newFactory(provider)),
        new ServerBootstrap().channelFactory(() -> new NioServerSocketChannel(provider)),
        local);
  }

  private static void serve(EventLoopGroup loop, ServerBootstrap bootstrap, SocketAddress local) {
    ChannelHandler back =
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            channel.pipeline().addLast(new Back());
          }
        };
    bootstrap.group(loop).childHandler(back).bind(local).syncUninterruptibly();
  }

  private static EventLoopGroup loop(IoHandlerFactory factory) {
    return new MultiThreadIoEventLoopGroup(1, factory);
  }

  /** Sends everything back. */
  private static final class Back extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var unused = context.writeAndFlush(message, context.voidPromise());
    }
  }

  /** Sends a message as soon as the last one is back. Used in the event loop. */
  private static final class Echoes extends SimpleChannelInboundHandler<ByteBuf> {
    private final ByteBuf message =
        Unpooled.unreleasableBuffer(Unpooled.directBuffer(BYTES).writeZero(BYTES));

    private CompletableFuture<EchoTimes> finished = new CompletableFuture<>();
    private EchoTimes times = new EchoTimes();
    private long end;
    private int missing;

    void begin(Channel channel, Duration time, CompletableFuture<EchoTimes> whenFinished) {
      finished = whenFinished;
      times = new EchoTimes();
      end = System.nanoTime() + time.toNanos();
      send(channel);
    }

    private void send(Channel channel) {
      missing = BYTES;
      var unused = channel.writeAndFlush(message.duplicate(), channel.voidPromise());
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
      missing -= bytes.readableBytes();
      if (missing > 0) {
        return;
      }
      times.isBack();
      if (System.nanoTime() - end < 0) {
        send(context.channel());
      } else {
        finished.complete(times);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      finished.completeExceptionally(new IllegalStateException("the peer has closed the channel"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, @Nullable Throwable cause) {
      finished.completeExceptionally(new IllegalStateException(cause));
    }
  }

  /** Echoes for some time. */
  EchoTimes run(Duration time) throws Exception {
    CompletableFuture<EchoTimes> finished = new CompletableFuture<>();
    channel.eventLoop().execute(() -> echoes.begin(channel, time, finished));
    return finished.get(time.plus(PATIENCE).toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
    loop.shutdownGracefully(0, PATIENCE.toSeconds(), TimeUnit.SECONDS).syncUninterruptibly();
  }
}
