package org.rdma4j.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelOutputShutdownEvent;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.RdmaNode;

/** Channels of this transport, as programs see them. */
@Tag("device")
@Timeout(30)
final class RdmaSocketChannelTest {
  private ChannelLab lab = new ChannelLab();

  @AfterEach
  void close() {
    lab.close();
  }

  /** Writes back what it reads. */
  private static final class Echo extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var unused = context.write(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }
  }

  private static byte[] random(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  @Test
  void randomBytesComeBackUnchanged() throws Exception {
    lab.listen(Echo::new);
    Collector collector = new Collector();
    RdmaSocketChannel client = lab.connect(collector);
    Random random = new Random(1);
    int checksum = 0;
    long total = 0;
    for (int i = 0; i < 500; i++) {
      byte[] bytes = random(random, random.nextInt(1 << random.nextInt(1, 18)));
      checksum = Collector.checksum(bytes, checksum);
      total += bytes.length;
      ByteBuf message;
      if (i % 3 == 0 && bytes.length > 0) {
        message = client.registeredBuffer(bytes.length).writeBytes(bytes);
      } else {
        message =
            i % 3 == 1 ? Unpooled.wrappedBuffer(bytes) : Unpooled.directBuffer().writeBytes(bytes);
      }
      ChannelFuture written = i % 4 == 0 ? client.writeAndFlush(message) : client.write(message);
      if (i % 4 == 0) {
        written.sync();
      }
    }
    client.flush();
    collector.await(total);
    assertThat(collector.received).isEqualTo(total);
    assertThat(collector.checksum).isEqualTo(checksum);
  }

  /** Small writes to a peer that does not read are sent as few messages once it reads. */
  @Test
  void smallWritesHoldNoMoreMemoryThanTheSendBuffer() throws Exception {
    Collector collector = new Collector();
    lab.listen(() -> collector);
    RdmaSocketChannel client = lab.connect(new Collector());
    RdmaSocketChannel peer = lab.accepted();
    peer.config().setAutoRead(false);
    Random random = new Random(5);
    int count = 20_000;
    int checksum = 0;
    for (int i = 0; i < count; i++) {
      byte[] bytes = random(random, 10);
      checksum = Collector.checksum(bytes, checksum);
      var unused = client.writeAndFlush(Unpooled.wrappedBuffer(bytes));
    }
    client.eventLoop().submit(() -> {}).get(10, TimeUnit.SECONDS);
    int buffers = lab.clientStatistics().buffersInUse();
    assertThat(buffers * (16L << 10)).isLessThan(4L << 20);
    peer.config().setAutoRead(true);
    collector.await(10L * count);
    assertThat(collector.checksum).isEqualTo(checksum);
  }

  @Test
  void addressesAreThoseOfBothEnds() throws Exception {
    lab.listen(Collector::new);
    RdmaSocketChannel client = lab.connect(new Collector());
    RdmaSocketChannel peer = lab.accepted();
    assertThat(client.remoteAddress()).isEqualTo(lab.server.localAddress());
    assertThat(peer.remoteAddress()).isEqualTo(client.localAddress());
    assertThat(peer.parent()).isSameAs(lab.server);
    assertThat(client.isActive()).isTrue();
  }

  @Test
  void aFileRegionIsSent(@TempDir Path directory) throws Exception {
    Collector collector = new Collector();
    lab.listen(() -> collector);
    byte[] bytes = random(new Random(2), 300_000);
    Path file = Files.write(directory.resolve("file"), bytes);
    RdmaSocketChannel client = lab.connect(new Collector());
    client.writeAndFlush(new DefaultFileRegion(file.toFile(), 0, bytes.length)).sync();
    collector.await(bytes.length);
    assertThat(collector.checksum).isEqualTo(Collector.checksum(bytes, 0));
  }

  @Test
  void whatWasFlushedArrivesBeforeTheEnd() throws Exception {
    Collector collector = new Collector();
    lab.listen(() -> collector);
    RdmaSocketChannel client = lab.connect(new Collector());
    var unused = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[100_000]));
    client.close().sync();
    assertThat(collector.next()).isEqualTo("inactive");
    assertThat(collector.received).isEqualTo(100_000);
    assertThat(client.isOpen()).isFalse();
    assertThat(client.writeAndFlush(Unpooled.EMPTY_BUFFER).await().cause())
        .isInstanceOf(java.nio.channels.ClosedChannelException.class);
  }

  @Test
  void oneDirectionCanEndBeforeTheOther() throws Exception {
    Collector atServer = new Collector();
    lab.listen(
        lab.serverBootstrap(() -> atServer).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
    Collector atClient = new Collector();
    RdmaSocketChannel client = lab.connect(atClient);
    var unused = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[10]));
    client.shutdownOutput().sync();
    assertThat(client.isOutputShutdown()).isTrue();
    assertThat(atClient.next()).isSameAs(ChannelOutputShutdownEvent.INSTANCE);
    assertThat(atServer.next()).isSameAs(ChannelInputShutdownEvent.INSTANCE);
    assertThat(atServer.received).isEqualTo(10);
    RdmaSocketChannel peer = lab.accepted();
    peer.writeAndFlush(Unpooled.wrappedBuffer(new byte[50_000])).sync();
    atClient.await(50_000);
    assertThat(client.isActive()).isTrue();
    peer.close().sync();
    assertThat(atClient.next()).isEqualTo("inactive");
  }

  @Test
  void aChannelThatLingersForNoTimeResetsItsPeer() throws Exception {
    Collector atServer = new Collector();
    lab.listen(() -> atServer);
    RdmaSocketChannel client =
        lab.connect(lab.client(new Collector()).option(ChannelOption.SO_LINGER, 0));
    lab.accepted();
    client.close().sync();
    assertThat(atServer.next())
        .isInstanceOf(IOException.class)
        .hasToString("java.net.SocketException: Connection reset");
    assertThat(atServer.next()).isEqualTo("inactive");
  }

  @Test
  void nobodyListens() throws Exception {
    lab.listen(Collector::new);
    InetSocketAddress address = lab.server.localAddress();
    lab.server.close().sync();
    ChannelFuture connected = lab.client(new Collector()).connect(address).await();
    assertThat(connected.cause()).isInstanceOf(ConnectException.class);
    assertThat(connected.channel().closeFuture().await(ChannelLab.PATIENCE, TimeUnit.SECONDS))
        .isTrue();
  }

  @Test
  void aConnectThatTakesTooLongFails() throws Exception {
    // The loop of the server answers, which is kept busy.
    lab.listen(Collector::new);
    lab.serverLoop().execute(() -> sleep(2000));
    ChannelFuture connected =
        lab.client(new Collector())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 200)
            .connect(lab.server.localAddress())
            .await();
    assertThat(connected.cause()).isInstanceOf(io.netty.channel.ConnectTimeoutException.class);
    assertThat(connected.channel().closeFuture().await(ChannelLab.PATIENCE, TimeUnit.SECONDS))
        .isTrue();
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  @Test
  void aPeerThatDoesNotReadStopsTheWriter() throws Exception {
    Collector atServer = new Collector();
    lab.listen(lab.serverBootstrap(() -> atServer).childOption(ChannelOption.AUTO_READ, false));
    RdmaSocketChannel client =
        lab.connect(
            lab.client(new Collector())
                .option(
                    ChannelOption.WRITE_BUFFER_WATER_MARK,
                    new WriteBufferWaterMark(1000, 100_000)));
    long written = 0;
    ChannelFuture last = client.newSucceededFuture();
    // For a moment it is not writable while the device sends, either.
    while (becomesWritable(client) && written < 64 << 20) {
      last = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[50_000]));
      written += 50_000;
      // The loop has to write it first.
      client.eventLoop().submit(() -> {}).sync();
    }
    assertThat(client.isWritable()).isFalse();
    assertThat(written).isLessThan(16 << 20);
    assertThat(last.isDone()).isFalse();
    sleep(100);
    assertThat(atServer.received).isZero();
    lab.accepted().config().setAutoRead(true);
    atServer.await(written);
    assertThat(last.await(ChannelLab.PATIENCE, TimeUnit.SECONDS)).isTrue();
    assertThat(last.isSuccess()).isTrue();
    assertThat(client.isWritable()).isTrue();
  }

  private static boolean becomesWritable(RdmaSocketChannel channel) {
    for (int i = 0; i < 100 && !channel.isWritable(); i++) {
      sleep(10);
    }
    return channel.isWritable();
  }

  /** Keeps what it reads. */
  @ChannelHandler.Sharable
  private static final class Keeper extends ChannelInboundHandlerAdapter {
    final BlockingQueue<ByteBuf> kept = new LinkedBlockingQueue<>();

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      kept.add((ByteBuf) message);
    }
  }

  @Test
  void aUserWhoKeepsWhatArrivesDoesNotStopThePeer() throws Exception {
    Keeper keeper = new Keeper();
    lab.listen(() -> keeper);
    RdmaSocketChannel client = lab.connect(new Collector());
    Random random = new Random(3);
    byte[] sent = random(random, 300 * 4000);
    for (int i = 0; i < 300; i++) {
      client.writeAndFlush(Unpooled.wrappedBuffer(sent, i * 4000, 4000)).sync();
    }
    List<ByteBuf> all = new ArrayList<>();
    ByteBuf received = Unpooled.buffer();
    while (received.readableBytes() < sent.length) {
      ByteBuf next = keeper.kept.poll(ChannelLab.PATIENCE, TimeUnit.SECONDS);
      assertThat(next).isNotNull();
      all.add(next);
      received.writeBytes(next, next.readerIndex(), next.readableBytes());
    }
    assertThat(received).isEqualTo(Unpooled.wrappedBuffer(sent));
    int uncopied = NodeConfig.DEFAULT.receives() / 2;
    assertThat(all.stream().filter(MessageByteBuf.class::isInstance)).hasSize(uncopied);
    all.forEach(ByteBuf::release);
    client.writeAndFlush(Unpooled.wrappedBuffer(new byte[4000])).sync();
    ByteBuf later = keeper.kept.poll(ChannelLab.PATIENCE, TimeUnit.SECONDS);
    assertThat(later).isInstanceOf(MessageByteBuf.class);
    later.release();
  }

  @Test
  void theUsersOfALoopTogetherKeepNoMoreThanAPartOfItsBuffers() throws Exception {
    lab.close();
    lab = new ChannelLab(NodeConfig.DEFAULT.bufferBytes((16 << 10) - 16).maxBuffers(200));
    Keeper keeper = new Keeper();
    lab.listen(() -> keeper);
    int channels = 2;
    int each = 60;
    for (int i = 0; i < channels; i++) {
      RdmaSocketChannel client = lab.connect(new Collector());
      for (int k = 0; k < each; k++) {
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[4000])).sync();
      }
    }
    List<ByteBuf> all = new ArrayList<>();
    for (int bytes = 0; bytes < channels * each * 4000; ) {
      ByteBuf next = keeper.kept.poll(ChannelLab.PATIENCE, TimeUnit.SECONDS);
      assertThat(next).isNotNull();
      all.add(next);
      bytes += next.readableBytes();
    }
    // A quarter of the buffers of the loop, although each channel could keep 32.
    assertThat(all.stream().filter(MessageByteBuf.class::isInstance)).hasSize(50);
    all.forEach(ByteBuf::release);
  }

  @Test
  void whatIsKeptCanBeReadAndReleasedAfterTheEventLoopHasEnded() throws Exception {
    Keeper keeper = new Keeper();
    lab.listen(() -> keeper);
    lab.connect(new Collector()).writeAndFlush(Unpooled.wrappedBuffer(new byte[4000])).sync();
    ByteBuf kept = keeper.kept.poll(ChannelLab.PATIENCE, TimeUnit.SECONDS);
    assertThat(kept).isInstanceOf(MessageByteBuf.class);
    lab.close();
    assertThat(kept).isEqualTo(Unpooled.wrappedBuffer(new byte[4000]));
    kept.release();
    assertThat(kept.refCnt()).isZero();
  }

  @Test
  void aHandlerThatThrowsIsToldAndTheChannelLives() throws Exception {
    lab.listen(Echo::new);
    LinkedBlockingQueue<Throwable> thrown = new LinkedBlockingQueue<>();
    RdmaSocketChannel client =
        lab.connect(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void channelRead(ChannelHandlerContext context, Object message) {
                ((ByteBuf) message).release();
                throw new IllegalStateException("of the test");
              }

              @Override
              public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                thrown.add(cause);
              }
            });
    for (int i = 0; i < 2; i++) {
      var unused = client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1}));
      assertThat(thrown.poll(ChannelLab.PATIENCE, TimeUnit.SECONDS)).hasMessage("of the test");
    }
    assertThat(client.isActive()).isTrue();
  }

  @Test
  void manyChannelsShareALoop() throws Exception {
    lab.listen(Echo::new);
    List<Collector> collectors = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      collectors.add(new Collector());
      var unused =
          lab.connect(collectors.get(i))
              .writeAndFlush(Unpooled.wrappedBuffer(random(new Random(i), 40_000)));
    }
    for (int i = 0; i < 50; i++) {
      collectors.get(i).await(40_000);
      assertThat(collectors.get(i).checksum)
          .isEqualTo(Collector.checksum(random(new Random(i), 40_000), 0));
    }
  }

  @Test
  void theEndOfALoopClosesItsChannelsInOrder() throws Exception {
    Collector atServer = new Collector();
    lab.listen(() -> atServer);
    RdmaSocketChannel client = lab.connect(new Collector());
    client.writeAndFlush(Unpooled.wrappedBuffer(new byte[200_000])).sync();
    lab.clients.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
    assertThat(client.isOpen()).isFalse();
    assertThat(atServer.next()).isEqualTo("inactive");
    assertThat(atServer.received).isEqualTo(200_000);
  }

  @Test
  void aServerThatDoesNotAcceptRefusesPeersBeyondItsBacklog() throws Exception {
    lab.listen(
        lab.serverBootstrap(Collector::new)
            .option(ChannelOption.AUTO_READ, false)
            .option(ChannelOption.SO_BACKLOG, 2));
    List<ChannelFuture> connecting = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      connecting.add(lab.client(new Collector()).connect(lab.server.localAddress()));
    }
    // Their requests may overtake each other.
    BlockingQueue<ChannelFuture> done = new LinkedBlockingQueue<>();
    connecting.forEach(each -> each.addListener((ChannelFuture ended) -> done.add(ended)));
    ChannelFuture refused = done.poll(ChannelLab.PATIENCE, TimeUnit.SECONDS);
    assertThat(refused.cause())
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("as many peers wait to be accepted as the backlog allows, 2");
    assertThat(done).isEmpty();
    assertThat(lab.accepted).isEmpty();
    lab.server.config().setAutoRead(true);
    lab.accepted();
    lab.accepted();
    connecting.remove(refused);
    assertThat(connecting).allMatch(each -> each.syncUninterruptibly().channel().isActive());
  }

  @Test
  void theChannelsOfOneServerHaveTheLoopsOfTheirGroup() throws Exception {
    List<RdmaNode> nodes = new CopyOnWriteArrayList<>();
    MultiThreadIoEventLoopGroup children =
        new MultiThreadIoEventLoopGroup(
            3, RdmaIoHandler.newFactory(NodeConfig.DEFAULT, nodes::add));
    try {
      lab.listen(lab.serverBootstrap(children, Echo::new));
      Set<EventLoop> loops = new HashSet<>();
      for (int i = 0; i < 6; i++) {
        Collector collector = new Collector();
        RdmaSocketChannel client = lab.connect(collector);
        loops.add(lab.accepted().eventLoop());
        byte[] bytes = random(new Random(i), 100_000);
        client.writeAndFlush(Unpooled.wrappedBuffer(bytes)).sync();
        collector.await(bytes.length);
        assertThat(collector.checksum).isEqualTo(Collector.checksum(bytes, 0));
      }
      assertThat(loops).hasSize(3);
      assertThat(nodes)
          .extracting(node -> node.statistics().connections())
          .containsExactly(2, 2, 2);
    } finally {
      children
          .shutdownGracefully(0, 5, TimeUnit.SECONDS)
          .awaitUninterruptibly(15, TimeUnit.SECONDS);
    }
  }

  @Test
  void aPeerWhoseChannelTheServerClosesAtOnceIsRejected() throws Exception {
    ServerBootstrap bootstrap = lab.serverBootstrap(Collector::new);
    bootstrap.handler(
        new ChannelInboundHandlerAdapter() {
          @Override
          public void channelRead(ChannelHandlerContext context, Object child) {
            ((RdmaSocketChannel) child).unsafe().closeForcibly();
          }
        });
    lab.listen(bootstrap);
    assertThatThrownBy(() -> lab.connect(new Collector()))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("the server has closed the channel");
    assertThat(lab.accepted).isEmpty();
  }

  @Test
  void optionsThatMeanNothingAreRefused() throws Exception {
    RdmaSocketChannelConfig config = new RdmaSocketChannel().config();
    assertThat(config.setOption(ChannelOption.IP_TOS, 1)).isFalse();
    assertThat(config.setOption(ChannelOption.SO_LINGER, 5)).isFalse();
    assertThat(config.setOption(ChannelOption.TCP_NODELAY, false)).isFalse();
    assertThat(config.setOption(ChannelOption.TCP_NODELAY, true)).isTrue();
    assertThat(config.setOption(ChannelOption.SO_LINGER, 0)).isTrue();
    assertThat(config.getOptions()).containsEntry(ChannelOption.SO_LINGER, 0);
    assertThatThrownBy(() -> config.setSendBufferSize(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void handlersOfTheProgramAreRefused() {
    assertThatThrownBy(
            () -> RdmaIoHandler.newFactory(NodeConfig.DEFAULT.handlers(Thread::startVirtualThread)))
        .hasMessageContaining("NodeConfig.handlers");
  }
}
