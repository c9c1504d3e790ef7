package org.rdma4j.nio;

import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.nio.ChannelPair.bytes;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Selectors over TCP. */
final class ReadySelectorTest {
  private static final long PATIENCE = ChannelPair.PATIENCE_SECONDS * 1000;

  private static int descriptors() {
    String[] open = new File("/proc/self/fd").list();
    return open == null ? 0 : open.length;
  }

  private static List<AbstractSelectableChannel> channelsOfTheJdk(
      SelectorProvider provider, Path socket) throws IOException {
    Pipe pipe = provider.openPipe();
    ServerSocketChannel listener =
        provider
            .openServerSocketChannel(StandardProtocolFamily.UNIX)
            .bind(UnixDomainSocketAddress.of(socket));
    SocketChannel client = provider.openSocketChannel(StandardProtocolFamily.UNIX);
    client.connect(UnixDomainSocketAddress.of(socket));
    return List.of(
        provider.openDatagramChannel().bind(ChannelPair.anyPort()),
        pipe.source(),
        pipe.sink(),
        client,
        listener.accept(),
        listener);
  }

  @BothProviders
  void aClosedChannelOfTheJdkKeepsNoDescriptor(SelectorProvider provider) throws Exception {
    Path directory = Files.createTempDirectory("rdma4j");
    try (Selector selector = provider.openSelector()) {
      selector.selectNow();
      int before = descriptors();
      for (int i = 0; i < 20; i++) {
        List<AbstractSelectableChannel> channels =
            channelsOfTheJdk(provider, directory.resolve("socket" + i));
        for (AbstractSelectableChannel each : channels) {
          each.configureBlocking(false);
          each.register(selector, each.validOps() & ~OP_CONNECT);
        }
        selector.selectNow();
        for (AbstractSelectableChannel each : channels) {
          each.close();
        }
        selector.selectNow();
        Files.delete(directory.resolve("socket" + i));
      }
      assertThat(descriptors() - before).isLessThan(20);
      assertThat(selector.keys()).isEmpty();
    } finally {
      Files.delete(directory);
    }
  }

  @BothProviders
  void thePortOfAClosedDatagramChannelIsFreeAfterTheNextSelection(SelectorProvider provider)
      throws Exception {
    DatagramChannel first = provider.openDatagramChannel().bind(ChannelPair.anyPort());
    try (Selector selector = provider.openSelector()) {
      SocketAddress address = first.getLocalAddress();
      first.configureBlocking(false);
      first.register(selector, OP_READ);
      selector.selectNow();
      first.close();
      selector.selectNow();
      try (DatagramChannel second = provider.openDatagramChannel()) {
        second.bind(address);
        assertThat(second.getLocalAddress()).isEqualTo(address);
      }
    }
  }

  @BothProviders
  void aChannelOfTheJdkCanBlockAgainOnceItsKeyIsCancelled(SelectorProvider provider)
      throws Exception {
    Path directory = Files.createTempDirectory("rdma4j");
    Path socket = directory.resolve("socket");
    List<AbstractSelectableChannel> channels = channelsOfTheJdk(provider, socket);
    try (Selector selector = provider.openSelector()) {
      for (AbstractSelectableChannel each : channels) {
        each.configureBlocking(false);
        each.register(selector, each.validOps() & ~OP_CONNECT).cancel();
        each.configureBlocking(true);
        assertThat(each.isBlocking()).isTrue();
      }
      selector.selectNow();
      for (AbstractSelectableChannel each : channels) {
        assertThat(each.isRegistered()).isFalse();
        each.configureBlocking(false);
        assertThat(each.register(selector, each.validOps() & ~OP_CONNECT).isValid()).isTrue();
      }
    } finally {
      for (AbstractSelectableChannel each : channels) {
        each.close();
      }
      Files.delete(socket);
      Files.delete(directory);
    }
  }

  @BothProviders
  void aConnectionIsMadeBySelecting(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector();
        ServerSocketChannel listener = ChannelPair.listen(provider);
        SocketChannel client = provider.openSocketChannel()) {
      listener.configureBlocking(false);
      SelectionKey listening = listener.register(selector, OP_ACCEPT);
      assertThat(listener.accept()).isNull();
      client.configureBlocking(false);
      SelectionKey connecting = client.register(selector, OP_CONNECT, "client");
      client.connect(listener.getLocalAddress());
      while (!client.isConnected() || !listening.isAcceptable()) {
        assertThat(selector.select(PATIENCE)).isPositive();
        if (connecting.isConnectable()) {
          assertThat(connecting.attachment()).isEqualTo("client");
          assertThat(client.finishConnect()).isTrue();
          connecting.interestOps(OP_READ);
          selector.selectedKeys().remove(connecting);
        }
      }
      selector.selectedKeys().clear();
      try (SocketChannel server = listener.accept()) {
        server.write(bytes("hi"));
        assertThat(selector.select(PATIENCE)).isEqualTo(1);
        assertThat(selector.selectedKeys()).containsExactly(connecting);
        assertThat(ChannelPair.read(client, 2)).isEqualTo("hi");
      }
    }
  }

  @BothProviders
  void aKeyIsCountedWhenItsReadySetChanges(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector();
        ChannelPair pair = ChannelPair.connect(provider)) {
      pair.client().configureBlocking(false);
      SelectionKey key = pair.client().register(selector, OP_READ | OP_WRITE);
      assertThat(selector.selectNow()).isEqualTo(1);
      assertThat(key.readyOps()).isEqualTo(OP_WRITE);
      assertThat(selector.selectNow()).isZero();
      assertThat(selector.select(PATIENCE)).as("nothing has changed").isZero();
      pair.server().write(bytes("x"));
      awaitReady(selector, key, OP_READ | OP_WRITE);
      selector.selectedKeys().clear();
      key.interestOps(OP_READ);
      assertThat(selector.select()).isEqualTo(1);
      assertThat(key.readyOps()).as("of a key that is selected anew").isEqualTo(OP_READ);
      selector.selectedKeys().clear();
      assertThat(selector.select()).as("what was not read is ready again").isEqualTo(1);
      key.interestOps(0);
      selector.selectedKeys().clear();
      assertThat(selector.selectNow()).isZero();
    }
  }

  private static void awaitReady(Selector selector, SelectionKey key, int operations)
      throws Exception {
    long end = System.nanoTime() + PATIENCE * 1_000_000;
    while (key.readyOps() != operations) {
      assertThat(System.nanoTime() - end).isNegative();
      selector.select(1);
    }
  }

  @BothProviders
  void keysThatAreSelectedCanBeRemovedButNotAdded(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector();
        ChannelPair pair = ChannelPair.connect(provider)) {
      pair.client().configureBlocking(false);
      SelectionKey key = pair.client().register(selector, OP_WRITE);
      Set<SelectionKey> selected = selector.selectedKeys();
      selector.select();
      assertThat(selector.selectedKeys()).isSameAs(selected).containsExactly(key);
      assertThatThrownBy(() -> selected.add(key)).isInstanceOf(UnsupportedOperationException.class);
      assertThat(selected.remove(key)).isTrue();
      assertThatThrownBy(() -> selector.keys().remove(key))
          .isInstanceOf(UnsupportedOperationException.class);
      List<SelectionKey> seen = new ArrayList<>();
      assertThat(selector.select(seen::add, PATIENCE)).isEqualTo(1);
      assertThat(seen).containsExactly(key);
    }
  }

  @BothProviders
  void anActionIsCalledForEachKeyThatIsReady(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector();
        ChannelPair pair = ChannelPair.connect(provider)) {
      List<SelectionKey> seen = new ArrayList<>();
      assertThat(selector.selectNow(seen::add)).isZero();
      List<SelectionKey> keys = new ArrayList<>();
      for (SocketChannel each : List.of(pair.client(), pair.server())) {
        each.configureBlocking(false);
        keys.add(each.register(selector, OP_WRITE));
      }
      assertThat(selector.select(seen::add)).isEqualTo(2);
      assertThat(seen).containsExactlyInAnyOrderElementsOf(keys);
      assertThat(selector.selectedKeys()).isEmpty();
      assertThatThrownBy(() -> selector.select(seen::add, -1))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> selector.selectNow(null)).isInstanceOf(NullPointerException.class);
    }
  }

  @BothProviders
  void anActionThatClosesTheSelectorEndsTheSelection(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector();
        ChannelPair pair = ChannelPair.connect(provider)) {
      pair.client().configureBlocking(false);
      pair.client().register(selector, OP_WRITE);
      assertThatThrownBy(() -> selector.select(key -> close(selector)))
          .isInstanceOf(ClosedSelectorException.class);
      assertThat(selector.isOpen()).isFalse();
    }
  }

  private static void close(Selector selector) {
    try {
      selector.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @BothProviders
  void aWakeupEndsThisSelectionOrTheNext(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector()) {
      selector.wakeup().wakeup();
      assertThat(selector.select()).isZero();
      selector.wakeup();
      assertThat(selector.selectNow()).isZero();
      long start = System.nanoTime();
      assertThat(selector.select(30)).as("selectNow takes the wakeup away").isZero();
      assertThat(System.nanoTime() - start).isGreaterThan(20_000_000);
      var waiting = waiting(() -> selector.select());
      selector.wakeup();
      assertThat(waiting.get()).isZero();
    }
  }

  @BothProviders
  void anInterruptEndsASelectionAndStays(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector()) {
      var waiting =
          waiting(
              () -> {
                selector.select();
                return Thread.interrupted();
              });
      waiting.thread().interrupt();
      assertThat(waiting.get()).isTrue();
      assertThat(selector.isOpen()).isTrue();
      Thread.currentThread().interrupt();
      assertThat(selector.select()).isZero();
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @BothProviders
  void aChannelIsRegisteredWhileAnotherThreadSelects(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector();
        ChannelPair pair = ChannelPair.connect(provider)) {
      var waiting = waiting(() -> selector.select());
      pair.client().configureBlocking(false);
      SelectionKey key = pair.client().register(selector, OP_READ);
      assertThat(selector.keys()).containsExactly(key);
      selector.wakeup();
      assertThat(waiting.get()).isZero();
      pair.server().write(bytes("x"));
      assertThat(selector.select(PATIENCE)).isEqualTo(1);
      assertThat(pair.client().keyFor(selector)).isSameAs(key);
      assertThat(pair.client().register(selector, OP_WRITE, "again")).isSameAs(key);
      assertThat(key.attachment()).isEqualTo("again");
      assertThat(key.interestOps()).isEqualTo(OP_WRITE);
      assertThatThrownBy(() -> key.interestOps(OP_ACCEPT))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @BothProviders
  void aCancelledKeyGoesWithTheNextSelection(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector();
        ChannelPair pair = ChannelPair.connect(provider)) {
      pair.client().configureBlocking(false);
      SelectionKey key = pair.client().register(selector, OP_WRITE);
      selector.select();
      key.cancel();
      assertThat(key.isValid()).isFalse();
      assertThatThrownBy(key::readyOps).isInstanceOf(CancelledKeyException.class);
      assertThatThrownBy(() -> pair.client().register(selector, OP_READ))
          .isInstanceOf(CancelledKeyException.class);
      assertThat(pair.client().isRegistered()).isTrue();
      assertThat(selector.selectNow()).isZero();
      assertThat(selector.keys()).isEmpty();
      assertThat(selector.selectedKeys()).isEmpty();
      assertThat(pair.client().isRegistered()).isFalse();
      SelectionKey again = pair.client().register(selector, OP_WRITE);
      assertThat(selector.select(PATIENCE)).isEqualTo(1);
      assertThat(selector.selectedKeys()).containsExactly(again);
    }
  }

  @BothProviders
  void aChannelBlocksAgainOnceItsKeyIsCancelled(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector();
        ChannelPair pair = ChannelPair.connect(provider)) {
      assertThatThrownBy(() -> pair.client().register(selector, OP_READ))
          .isInstanceOf(IllegalBlockingModeException.class);
      pair.client().configureBlocking(false);
      SelectionKey key = pair.client().register(selector, OP_READ);
      assertThat(pair.client().read(ByteBuffer.allocate(1))).isZero();
      assertThatThrownBy(() -> pair.client().configureBlocking(true))
          .isInstanceOf(IllegalBlockingModeException.class);
      key.cancel();
      pair.client().configureBlocking(true);
      pair.server().write(bytes("ab"));
      assertThat(ChannelPair.read(pair.client(), 2)).isEqualTo("ab");
      selector.selectNow();
      pair.client().configureBlocking(false);
      assertThat(pair.client().register(selector, OP_READ).isValid()).isTrue();
    }
  }

  @BothProviders
  void aClosedChannelLeavesItsSelectors(SelectorProvider provider) throws Exception {
    try (Selector selector = provider.openSelector();
        Selector other = provider.openSelector();
        ChannelPair pair = ChannelPair.connect(provider)) {
      pair.client().configureBlocking(false);
      SelectionKey key = pair.client().register(selector, OP_READ);
      SelectionKey second = pair.client().register(other, OP_READ);
      pair.client().close();
      assertThat(key.isValid()).isFalse();
      assertThat(second.isValid()).isFalse();
      selector.selectNow();
      other.selectNow();
      assertThat(selector.keys()).isEmpty();
      assertThat(pair.server().read(ByteBuffer.allocate(1))).as("the end arrives").isEqualTo(-1);
    }
  }

  @BothProviders
  void aClosedSelectorEndsItsSelectionAndLeavesTheChannels(SelectorProvider provider)
      throws Exception {
    Selector selector = provider.openSelector();
    try (ChannelPair pair = ChannelPair.connect(provider)) {
      pair.client().configureBlocking(false);
      SelectionKey key = pair.client().register(selector, OP_READ);
      var waiting = waiting(() -> selector.select());
      selector.close();
      assertThat(waiting.get()).isZero();
      assertThat(key.isValid()).isFalse();
      assertThat(pair.client().isOpen()).isTrue();
      assertThat(pair.client().isRegistered()).isFalse();
      assertThatThrownBy(selector::select).isInstanceOf(ClosedSelectorException.class);
      assertThatThrownBy(selector::keys).isInstanceOf(ClosedSelectorException.class);
      assertThatThrownBy(() -> pair.client().register(selector, OP_READ))
          .isInstanceOf(ClosedSelectorException.class);
      pair.client().configureBlocking(true);
    }
  }

  @BothProviders
  void channelsOfTheJdkAreSelectedToo(SelectorProvider provider) throws Exception {
    Pipe pipe = provider.openPipe();
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (Selector selector = provider.openSelector();
        DatagramChannel datagrams =
            provider.openDatagramChannel(StandardProtocolFamily.INET).bind(any);
        Pipe.SourceChannel source = pipe.source();
        Pipe.SinkChannel sink = pipe.sink()) {
      source.configureBlocking(false);
      datagrams.configureBlocking(false);
      SelectionKey piped = source.register(selector, OP_READ);
      SelectionKey sent = datagrams.register(selector, OP_READ);
      assertThat(piped.selector()).isSameAs(selector);
      assertThat(selector.selectNow()).isZero();
      sink.write(bytes("x"));
      assertThat(selector.select(PATIENCE)).isEqualTo(1);
      assertThat(selector.selectedKeys()).containsExactly(piped);
      selector.selectedKeys().clear();
      source.read(ByteBuffer.allocate(1));
      datagrams.send(bytes("y"), datagrams.getLocalAddress());
      assertThat(selector.select(PATIENCE)).isEqualTo(1);
      assertThat(selector.selectedKeys()).containsExactly(sent);
      piped.channel().close();
      selector.selectNow();
      assertThat(selector.keys()).containsExactly(sent);
    }
  }

  @BothProviders
  void aThousandChannelsAreSelected(SelectorProvider provider) throws Exception {
    int channels = 1000;
    List<SocketChannel> clients = new ArrayList<>();
    List<SocketChannel> servers = new ArrayList<>();
    try (Selector selector = provider.openSelector();
        ServerSocketChannel listener =
            provider.openServerSocketChannel().bind(ChannelPair.anyPort(), channels)) {
      for (int i = 0; i < channels; i++) {
        SocketChannel client = provider.openSocketChannel();
        clients.add(client);
        client.connect(listener.getLocalAddress());
        SocketChannel server = listener.accept();
        servers.add(server);
        server.configureBlocking(false);
        server.register(selector, OP_READ);
      }
      for (SocketChannel client : clients) {
        client.write(bytes("x"));
      }
      int found = 0;
      while (found < channels) {
        found += selector.select(PATIENCE);
        for (SelectionKey key : selector.selectedKeys()) {
          assertThat(((SocketChannel) key.channel()).read(ByteBuffer.allocate(2))).isEqualTo(1);
        }
        selector.selectedKeys().clear();
      }
      assertThat(found).isEqualTo(channels);
    } finally {
      for (SocketChannel each : clients) {
        each.close();
      }
      for (SocketChannel each : servers) {
        each.close();
      }
    }
  }
}
