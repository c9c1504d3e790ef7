package org.rdma4j.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.ResourceLeakDetector;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.NodeStatistics;
import org.rdma4j.testing.DeviceAddress;

/** A server and clients, each with an event loop of its own. */
final class ChannelLab implements AutoCloseable {
  static final long PATIENCE = 10;

  final MultiThreadIoEventLoopGroup servers;
  final MultiThreadIoEventLoopGroup clients;
  final BlockingQueue<RdmaSocketChannel> accepted = new LinkedBlockingQueue<>();

  @SuppressWarnings("NullAway.Init") // Set when the loop of the clients is created.
  private volatile RdmaIoHandler clientHandler;

  @SuppressWarnings("NullAway.Init") // Set by listen().
  RdmaServerSocketChannel server;

  /** Notes a channel once its connection is set up. */
  private final class Active extends ChannelInboundHandlerAdapter {
    @Override
    public void channelActive(ChannelHandlerContext context) {
      accepted.add((RdmaSocketChannel) context.channel());
      context.fireChannelActive();
    }
  }

  ChannelLab() {
    this(NodeConfig.DEFAULT.bufferBytes((16 << 10) - 16));
  }

  ChannelLab(NodeConfig config) {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    servers = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory(config));
    IoHandlerFactory factory = RdmaIoHandler.newFactory(config);
    clients =
        new MultiThreadIoEventLoopGroup(
            1,
            executor -> {
              RdmaIoHandler handler = (RdmaIoHandler) factory.newHandler(executor);
              clientHandler = handler;
              return handler;
            });
  }

  /** Returns what the node of the clients has. */
  NodeStatistics clientStatistics() {
    return clientHandler.node().node().statistics();
  }

  EventLoop serverLoop() {
    return servers.next();
  }

  ServerBootstrap serverBootstrap(Supplier<ChannelHandler> handler) {
    return serverBootstrap(servers, handler);
  }

  ServerBootstrap serverBootstrap(EventLoopGroup children, Supplier<ChannelHandler> handler) {
    return new ServerBootstrap()
        .group(servers, children)
        .channel(RdmaServerSocketChannel.class)
        .childHandler(
            new ChannelInitializer<RdmaSocketChannel>() {
              @Override
              protected void initChannel(RdmaSocketChannel channel) {
                channel.pipeline().addLast(new Active(), handler.get());
              }
            });
  }

  ChannelLab listen(Supplier<ChannelHandler> handler) throws Exception {
    return listen(serverBootstrap(handler));
  }

  ChannelLab listen(ServerBootstrap bootstrap) throws Exception {
    server =
        (RdmaServerSocketChannel)
            bootstrap.bind(new InetSocketAddress(DeviceAddress.ipv4(), 0)).sync().channel();
    return this;
  }

  Bootstrap client(ChannelHandler handler) {
    return new Bootstrap().group(clients).channel(RdmaSocketChannel.class).handler(handler);
  }

  RdmaSocketChannel connect(ChannelHandler handler) throws Exception {
    return connect(client(handler));
  }

  RdmaSocketChannel connect(Bootstrap bootstrap) throws Exception {
    Channel channel = bootstrap.connect(server.localAddress()).sync().channel();
    return (RdmaSocketChannel) channel;
  }

  RdmaSocketChannel accepted() throws InterruptedException {
    RdmaSocketChannel next = accepted.poll(PATIENCE, TimeUnit.SECONDS);
    if (next == null) {
      throw new AssertionError("no client was accepted");
    }
    return next;
  }

  @Override
  public void close() {
    clients.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(15, TimeUnit.SECONDS);
    servers.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(15, TimeUnit.SECONDS);
  }
}
