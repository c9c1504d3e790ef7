package org.rdma4j.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.nio.ChannelPair.bytes;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.nio.handover.Messages;
import org.rdma4j.nio.handover.Proof;
import org.rdma4j.testing.DeviceAddress;

/** Channels that are upgraded to RDMA, and channels that must not. */
@Tag("device")
final class UpgradeTest {
  /** The first connection in an emulated guest takes long. */
  private static final long PATIENCE = 80_000;

  private static final int GREETING = 64;

  private final List<RdmaSelectorProvider> others = new ArrayList<>();
  private RdmaSelectorProvider clients;
  private RdmaSelectorProvider servers;
  private ServerSocketChannel listener;
  private SocketChannel client;
  private SocketChannel server;

  @BeforeEach
  void connect() throws Exception {
    clients = provider("");
    servers = provider("");
    listener = listen(servers);
    client = clients.openSocketChannel();
    client.connect(listener.getLocalAddress());
    server = listener.accept();
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    server.close();
    listener.close();
    clients.rendezvous().close();
    servers.rendezvous().close();
    others.forEach(each -> each.rendezvous().close());
  }

  /** Creates a provider that finds the device of this machine for its loopback address. */
  static RdmaSelectorProvider provider(String secret) {
    return provider(secret, DeviceAddress.ipv4());
  }

  /** Creates a provider that finds the device of an address for its loopback address. */
  static RdmaSelectorProvider provider(String secret, InetAddress device) {
    return provider(secret, device, Long.MAX_VALUE);
  }

  /** Creates a provider that upgrades so many channels at a time. */
  static RdmaSelectorProvider provider(String secret, InetAddress device, long maxUpgraded) {
    return new RdmaSelectorProvider(
        new ChannelSettings(
            true,
            true,
            new Proof(secret.getBytes(StandardCharsets.UTF_8), 32),
            Duration.ofSeconds(60),
            60,
            maxUpgraded,
            1L << 30,
            List.of(),
            Map.of(InetAddress.getLoopbackAddress(), device)));
  }

  /** Creates a provider with a property, which also finds the device. */
  private RdmaSelectorProvider with(String name, String value) throws IOException {
    Map<String, String> properties =
        new HashMap<>(
            Map.of(
                "org.rdma4j.nio.devices",
                "all",
                "org.rdma4j.nio.addressMap",
                "127.0.0.1=" + DeviceAddress.ipv4().getHostAddress(),
                "org.rdma4j.nio.timeoutSeconds",
                "60",
                "org.rdma4j.nio.upgradeAfterBytes",
                "32"));
    properties.put("org.rdma4j.nio." + name, value);
    RdmaSelectorProvider provider = new RdmaSelectorProvider(ChannelSettings.read(properties::get));
    others.add(provider);
    return provider;
  }

  /** Replaces the two ends. */
  private void reconnect(RdmaSelectorProvider from, ServerSocketChannel to) throws IOException {
    client.close();
    server.close();
    client = from.openSocketChannel();
    client.connect(to.getLocalAddress());
    server = to.accept();
  }

  /** Returns a server whose channels can be upgraded from now on. */
  static ServerSocketChannel listen(RdmaSelectorProvider provider) throws Exception {
    ServerSocketChannel channel = ChannelPair.listen(provider);
    awaitListener(channel);
    return channel;
  }

  static void awaitListener(ServerSocketChannel channel) throws Exception {
    await(() -> ((ListenerChannel) channel).isRdmaListening());
  }

  interface Condition {
    boolean holds() throws Exception;
  }

  static void await(Condition condition) throws Exception {
    long end = System.nanoTime() + PATIENCE * 1_000_000;
    while (!condition.holds()) {
      assertThat(System.nanoTime() - end).as("it takes too long").isNegative();
      Thread.sleep(1);
    }
  }

  /** Lets both sides exchange what they prove themselves with, and upgrades them. */
  private void upgrade() throws Exception {
    greet();
    await(() -> isMoved(client) && isMoved(server));
  }

  private void greet() throws IOException {
    greet(client, server);
  }

  static void greet(SocketChannel client, SocketChannel server) throws IOException {
    byte[] greeting = random(GREETING);
    client.write(ByteBuffer.wrap(greeting));
    assertThat(read(server, GREETING)).isEqualTo(greeting);
    server.write(ByteBuffer.wrap(greeting));
    assertThat(read(client, GREETING)).isEqualTo(greeting);
  }

  static boolean isMoved(SocketChannel channel) {
    StreamChannel ours = (StreamChannel) channel;
    Upgrade way = ours.upgrade().get();
    return way != null && way.isOffsetSeen() && ours.tcpOperations() == SelectionKey.OP_CONNECT;
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random().nextBytes(bytes);
    return bytes;
  }

  static byte[] read(SocketChannel channel, int length) throws IOException {
    ByteBuffer target = ByteBuffer.allocate(length);
    while (target.hasRemaining() && channel.read(target) >= 0) {}
    assertThat(target.hasRemaining()).isFalse();
    return target.array();
  }

  /** Returns how the stream of a channel has ended of which all was read. */
  static String endOf(SocketChannel channel) {
    try {
      return readOne(channel) < 0 ? "an end" : "more bytes";
    } catch (IOException failure) {
      return String.valueOf(failure.getMessage());
    }
  }

  static int readOne(SocketChannel channel) throws IOException {
    return channel.read(ByteBuffer.allocate(1));
  }

  @Test
  void bothDirectionsGoOverToRdma() throws Exception {
    upgrade();
    byte[] much = random(3 << 20);
    for (SocketChannel from : new SocketChannel[] {client, server}) {
      SocketChannel to = from == client ? server : client;
      var writer = waiting(() -> from.write(ByteBuffer.wrap(much)));
      assertThat(read(to, much.length)).isEqualTo(much);
      assertThat(writer.get()).isEqualTo(much.length);
    }
    assertThat(clients.statistics().upgraded()).isEqualTo(1);
    assertThat(servers.statistics().upgraded()).isEqualTo(1);
    assertThat(clients.statistics().sentBytes()).isEqualTo(much.length);
    assertThat(clients.statistics().receivedBytes()).isEqualTo(much.length);
  }

  @Test
  void aBufferOfAClosedArenaIsRejectedAndTheConnectionGoesOn() throws Exception {
    upgrade();
    ByteBuffer closed;
    try (Arena arena = Arena.ofShared()) {
      closed = arena.allocate(100).asByteBuffer();
    }
    assertThatThrownBy(() -> client.write(closed)).isInstanceOf(IllegalStateException.class);
    ByteBuffer before = ByteBuffer.allocate(10);
    assertThatThrownBy(() -> client.write(new ByteBuffer[] {before, closed}))
        .isInstanceOf(IllegalStateException.class);
    assertThat(before.position()).isZero();
    greet();
  }

  @Test
  void streamsGoOverWhileTheyRun() throws Exception {
    greet();
    byte[] much = random(8 << 20);
    var fromClient = waiting(() -> client.write(ByteBuffer.wrap(much)));
    var fromServer = waiting(() -> server.write(ByteBuffer.wrap(much)));
    var atClient = waiting(() -> read(client, much.length));
    assertThat(read(server, much.length)).isEqualTo(much);
    assertThat(atClient.get()).isEqualTo(much);
    fromClient.get();
    fromServer.get();
    await(() -> isMoved(client) && isMoved(server));
  }

  @Test
  void aReaderThatWaitsForTcpGoesOnOverRdma() throws Exception {
    client.write(ByteBuffer.wrap(random(GREETING)));
    read(server, GREETING);
    server.write(ByteBuffer.wrap(random(GREETING)));
    var waits = waiting(() -> read(server, 5));
    read(client, GREETING);
    await(() -> isMoved(client) && isMoved(server));
    client.write(bytes("hello"));
    assertThat(waits.get()).isEqualTo("hello".getBytes(StandardCharsets.UTF_8));
  }

  /** To be woken by a thread of the node takes several times as long as an answer. */
  @Test
  void aThreadThatWaitsOverRdmaPollsItself() throws Exception {
    upgrade();
    var echoing =
        waiting(
            () -> {
              while (readOne(server) > 0) {
                server.write(bytes("x"));
              }
              return true;
            });
    await(
        () -> {
          client.write(bytes("x"));
          assertThat(readOne(client)).isEqualTo(1);
          return polls(echoing.thread());
        });
    client.close();
    assertThat(echoing.get()).isTrue();
  }

  private static boolean polls(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals("org.rdma4j.platform.PollingTurn"));
  }

  @Test
  void aSocketThatTakesUrgentDataAmongTheOthersStaysWithTcp() throws Exception {
    server.socket().setOOBInline(true);
    // Not after an urgent byte, because the proof fails then, and it stays on TCP in any case.
    greet();
    await(() -> clients.statistics().stayed() + clients.statistics().upgraded() == 1);
    assertThat(clients.statistics().stayed()).isEqualTo(1);
    client.socket().sendUrgentData('u');
    assertThat(ChannelPair.read(server, 1)).isEqualTo("u");
  }

  @Test
  void urgentDataIsDroppedOnceTheChannelHasGoneOver() throws Exception {
    upgrade();
    server.socket().setOOBInline(true);
    assertThat(server.socket().getOOBInline()).isTrue();
    client.socket().sendUrgentData('u');
    client.write(bytes("hello"));
    assertThat(ChannelPair.read(server, 5)).isEqualTo("hello");
  }

  @Test
  void selectorsSeeWhatComesOverRdma() throws Exception {
    try (Selector selector = servers.openSelector()) {
      greet();
      server.configureBlocking(false);
      SelectionKey key = server.register(selector, OP_READ);
      // The selector must not be needed for the handover.
      await(() -> isMoved(client) && isMoved(server));
      assertThat(selector.selectNow()).isZero();
      client.write(bytes("one"));
      assertThat(selector.select(PATIENCE)).isEqualTo(1);
      assertThat(key.readyOps()).isEqualTo(OP_READ);
      ByteBuffer target = ByteBuffer.allocate(2);
      assertThat(server.read(target)).isEqualTo(2);
      selector.selectedKeys().clear();
      assertThat(selector.select(PATIENCE)).as("what was not read is ready again").isEqualTo(1);
      assertThat(server.read(target.clear())).isEqualTo(1);
      assertThat(server.read(target.clear())).isZero();
      selector.selectedKeys().clear();
      assertThat(selector.selectNow()).isZero();
      key.interestOps(OP_WRITE);
      assertThat(selector.select(PATIENCE)).isEqualTo(1);
      long written = fill(server);
      selector.selectedKeys().clear();
      assertThat(selector.selectNow()).as("there is no room").isZero();
      drain(client, written);
      assertThat(selector.select(PATIENCE)).as("there is room again").isEqualTo(1);
      key.interestOps(OP_READ);
      selector.selectedKeys().clear();
      client.close();
      assertThat(selector.select(PATIENCE)).isEqualTo(1);
      assertThat(server.read(target.clear())).isEqualTo(-1);
    }
  }

  /**
   * Writes until there is no room for a while, since what has arrived makes room. Returns how many
   * bytes.
   */
  static long fill(SocketChannel channel) throws IOException {
    long written = 0;
    ByteBuffer much = ByteBuffer.allocate(1 << 20);
    long end = System.nanoTime() + 100_000_000;
    while (System.nanoTime() - end < 0) {
      int count = channel.write(much.clear());
      if (count > 0) {
        written += count;
        end = System.nanoTime() + 100_000_000;
      }
    }
    return written;
  }

  /** Reads so many bytes: a close with bytes that were not read resets. */
  private static void drain(SocketChannel channel, long bytes) throws IOException {
    channel.configureBlocking(true);
    ByteBuffer target = ByteBuffer.allocate(1 << 16);
    long left = bytes;
    while (left > 0) {
      left -= channel.read(target.clear());
    }
  }

  @Test
  void oneSideEndsAndTheOtherGoesOn() throws Exception {
    upgrade();
    client.write(bytes("last"));
    client.shutdownOutput();
    assertThatThrownBy(() -> client.write(bytes("more")))
        .isInstanceOf(ClosedChannelException.class);
    assertThat(ChannelPair.read(server, 100)).isEqualTo("last");
    assertThat(readOne(server)).isEqualTo(-1);
    assertThat(readOne(server)).isEqualTo(-1);
    server.write(bytes("still there"));
    assertThat(ChannelPair.read(client, 11)).isEqualTo("still there");
  }

  @Test
  void whatWasWrittenBeforeACloseArrives() throws Exception {
    upgrade();
    byte[] much = random(100_000);
    client.write(ByteBuffer.wrap(much));
    client.close();
    assertThat(read(server, much.length)).isEqualTo(much);
    assertThat(readOne(server)).isEqualTo(-1);
    await(() -> !canWrite(server));
    assertThatThrownBy(() -> server.write(bytes("x")))
        .isInstanceOf(IOException.class)
        .hasMessage("Broken pipe");
  }

  private static boolean canWrite(SocketChannel channel) {
    try {
      channel.write(bytes("x"));
      return true;
    } catch (IOException ended) {
      return false;
    }
  }

  @Test
  void aPeerThatLingersForNoTimeResets() throws Exception {
    upgrade();
    client.setOption(StandardSocketOptions.SO_LINGER, 0);
    client.write(bytes("data"));
    client.close();
    assertThat(ChannelPair.read(server, 4)).isEqualTo("data");
    assertThatThrownBy(() -> readOne(server))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  @Test
  void aNodeThatIsClosedLeavesItsChannelsOnTcp() throws Exception {
    upgrade();
    clients.rendezvous().close();
    await(() -> servers.statistics().resumed() == 1);
    client.write(bytes("x"));
    assertThat(readOne(server)).isEqualTo(1);
  }

  @Test
  void aCloseAndAnInterruptEndWaitsOverRdma() throws Exception {
    upgrade();
    var reader = waiting(() -> readOne(client));
    client.close();
    assertThatThrownBy(reader::get).hasCauseInstanceOf(AsynchronousCloseException.class);
    assertThat(readOne(server)).isEqualTo(-1);
  }

  @Test
  void anInterruptClosesTheChannel() throws Exception {
    upgrade();
    var reader = waiting(() -> readOne(client));
    reader.thread().interrupt();
    assertThatThrownBy(reader::get).hasCauseInstanceOf(ClosedByInterruptException.class);
    assertThat(client.isOpen()).isFalse();
  }

  @Test
  void aWriterWaitsForRoomAndEndsWithTheClose() throws Exception {
    upgrade();
    var writer =
        waiting(
            () -> {
              ByteBuffer much = ByteBuffer.allocate(1 << 20);
              while (true) {
                client.write(much.clear());
              }
            });
    client.close();
    // It may have found room just then, and be between two writes: then that is no asynchronous
    // one.
    assertThatThrownBy(writer::get).hasCauseInstanceOf(ClosedChannelException.class);
  }

  @Test
  void socketsReadOverRdmaWithinTheirTimeout() throws Exception {
    upgrade();
    client.socket().setSoTimeout(20);
    var input = client.socket().getInputStream();
    assertThatThrownBy(input::read).isInstanceOf(SocketTimeoutException.class);
    server.socket().getOutputStream().write(new byte[] {7, 8});
    client.socket().setSoTimeout(10_000);
    assertThat(input.read()).isEqualTo(7);
    assertThat(input.available()).isEqualTo(1);
    assertThat(client.socket().isInputShutdown()).isFalse();
    client.socket().shutdownInput();
    assertThat(input.read()).isEqualTo(-1);
  }

  @Test
  void aPeerWithoutTheProviderStaysWithTcp() throws Exception {
    RdmaSelectorProvider impatient = with("timeoutSeconds", "3");
    try (ServerSocketChannel plain = ChannelPair.listen(JdkProvider.find())) {
      reconnect(impatient, plain);
      greet();
      // It is remembered that no process listens there.
      await(() -> !impatient.rendezvous().mayUpgrade((InetSocketAddress) plain.getLocalAddress()));
      greet();
      assertThat(impatient.statistics().upgraded()).isZero();
    }
  }

  @Test
  void aClientTriesOnlyInItsNetworks() throws Exception {
    InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
    assertThat(with("allowedNetworks", "10.0.0.0/8").rendezvous().mayUpgrade(address)).isFalse();
    reconnect(with("allowedNetworks", "10.0.0.0/8, 127.0.0.0/8"), listener);
    upgrade();
  }

  @Test
  void aServerLetsOnlyPeersInItsNetworksGoOver() throws Exception {
    try (ServerSocketChannel strict = listen(with("allowedNetworks", "10.0.0.0/8"))) {
      reconnect(clients, strict);
      greet();
      await(() -> clients.statistics().stayed() == 1);
      greet();
      assertThat(clients.statistics().upgraded()).isZero();
    }
  }

  private static void checkThatAnotherOneStays(RdmaSelectorProvider from, ServerSocketChannel to)
      throws Exception {
    try (SocketChannel second = from.openSocketChannel()) {
      second.connect(to.getLocalAddress());
      try (SocketChannel peer = to.accept()) {
        greet(second, peer);
        await(() -> from.statistics().stayed() == 1);
        greet(second, peer);
      }
    }
  }

  @Test
  void aClientStaysWithTcpIfItHasEnoughChannelsOverRdma() throws Exception {
    RdmaSelectorProvider few = with("maxUpgradedChannels", "1");
    reconnect(few, listener);
    upgrade();
    checkThatAnotherOneStays(few, listener);
    // The first one makes room.
    reconnect(few, listener);
    upgrade();
    assertThat(few.statistics().upgraded()).isEqualTo(2);
  }

  @Test
  void aServerRefusesClientsIfItHasEnoughChannelsOverRdma() throws Exception {
    RdmaSelectorProvider few = with("maxUpgradedChannels", "1");
    try (ServerSocketChannel busy = listen(few)) {
      reconnect(clients, busy);
      upgrade();
      checkThatAnotherOneStays(clients, busy);
      assertThat(few.statistics().upgraded()).isEqualTo(1);
    }
  }

  @Test
  void aClientThatIsThereBeforeTheServerListensOverRdmaGoesOver() throws Exception {
    client.close();
    server.close();
    listener.close();
    // Without this lock, a server does not get its node.
    synchronized (servers.rendezvous()) {
      listener = ChannelPair.listen(servers);
      client = clients.openSocketChannel();
      client.connect(listener.getLocalAddress());
      server = listener.accept();
      greet();
      // Meanwhile, the client tries to connect over RDMA and is refused. A server that starts on a
      // busy machine may take as long.
      Thread.sleep(4000);
    }
    await(() -> isMoved(client) && isMoved(server));
    greet();
    assertThat(clients.statistics().upgraded()).isEqualTo(1);
    assertThat(clients.statistics().stayed()).isZero();
  }

  @Test
  void channelsThatEndBeforeTheyGoOverDoNotKeepOthersFromIt() throws Exception {
    for (int i = 0; i < 10; i++) {
      try (SocketChannel one = clients.openSocketChannel()) {
        one.connect(listener.getLocalAddress());
        try (SocketChannel other = listener.accept()) {
          greet(one, other);
        }
      }
    }
    // Until the server has refused what came too late.
    Thread.sleep(1000);
    try (SocketChannel one = clients.openSocketChannel()) {
      one.connect(listener.getLocalAddress());
      try (SocketChannel other = listener.accept()) {
        greet(one, other);
        await(() -> isMoved(one) && isMoved(other));
      }
    }
  }

  @Test
  void channelsThatTheServerEndsBeforeTheyGoOverDoNotKeepOthersFromIt() throws Exception {
    List<SocketChannel> ended = new ArrayList<>();
    int count = 12;
    for (int i = 0; i < count; i++) {
      SocketChannel one = clients.openSocketChannel();
      one.connect(listener.getLocalAddress());
      SocketChannel other = listener.accept();
      greet(one, other);
      if (i % 2 == 0) {
        other.close();
      } else {
        other.shutdownOutput();
      }
      ended.add(one);
      ended.add(other);
    }
    // No client has read the end, so that none knows of it when the server refuses.
    await(() -> clients.statistics().upgraded() + clients.statistics().stayed() == count);
    assertThat(clients.statistics().stayed()).isPositive();
    greet();
    await(() -> isMoved(client) && isMoved(server));
    for (SocketChannel each : ended) {
      each.close();
    }
  }

  @Test
  void aServerThatDoesNotAnswerDelaysNoChannelsToOthers() throws Exception {
    List<SocketChannel> unanswered = new ArrayList<>();
    try (RdmaNode node = RdmaNode.open();
        ServerSocketChannel silent = ChannelPair.listen(JdkProvider.find())) {
      int port = ((InetSocketAddress) silent.getLocalAddress()).getPort();
      try (RdmaServer rdma = node.bind(new InetSocketAddress(DeviceAddress.ipv4(), port))) {
        for (int i = 0; i < 20; i++) {
          SocketChannel one = clients.openSocketChannel();
          unanswered.add(one);
          one.connect(silent.getLocalAddress());
          SocketChannel other = silent.accept();
          unanswered.add(other);
          greet(one, other);
        }
        // As many as claim at the same time, which are not told what to prove.
        for (int i = 0; i < 16; i++) {
          var unused = rdma.accept(Duration.ofMillis(PATIENCE));
        }
        upgrade();
        assertThat(clients.statistics().stayed()).as("claims that have ended").isZero();
      }
    } finally {
      for (SocketChannel each : unanswered) {
        each.close();
      }
    }
  }

  @Test
  void aPeerWithAnotherSecretStaysWithTcp() throws Exception {
    RdmaSelectorProvider strangers = provider("another secret, of 32 characters");
    try (SocketChannel stranger = strangers.openSocketChannel()) {
      client.close();
      server.close();
      client = stranger;
      stranger.connect(listener.getLocalAddress());
      server = listener.accept();
      greet();
      await(
          () -> !strangers.rendezvous().mayUpgrade((InetSocketAddress) listener.getLocalAddress()));
      greet();
      assertThat(servers.statistics().upgraded()).isZero();
    } finally {
      strangers.rendezvous().close();
    }
  }

  /** Returns a claim with everything but the proof. */
  private static ByteBuffer forgedClaim(String name) {
    return ByteBuffer.allocate(300)
        .put(Proof.random())
        .put(Proof.random())
        .putLong(GREETING)
        .putLong(GREETING)
        .put(name.getBytes(StandardCharsets.UTF_8))
        .flip();
  }

  @Test
  void aProcessThatKnowsOnlyTheAddressesGetsNothing() throws Exception {
    InetSocketAddress from = (InetSocketAddress) client.getLocalAddress();
    InetSocketAddress to = (InetSocketAddress) client.getRemoteAddress();
    String name = "127.0.0.1 " + from.getPort() + " 127.0.0.1 " + to.getPort();
    try (RdmaNode node = RdmaNode.open();
        RdmaConnection thief =
            node.connect(
                new InetSocketAddress(DeviceAddress.ipv4(), to.getPort()),
                Duration.ofSeconds(20))) {
      try (MessageBuffer challenge = thief.receive(Duration.ofSeconds(20)).orElseThrow()) {
        assertThat(Messages.readChallenge(challenge.byteBuffer())).hasSize(32);
      }
      thief.send(forgedClaim(name), Duration.ofSeconds(20));
      greet();
      assertThat(thief.receive(Duration.ofSeconds(20))).as("the server has closed it").isEmpty();
    }
    greet();
    await(() -> isMoved(client) && isMoved(server));
    greet();
  }
}
