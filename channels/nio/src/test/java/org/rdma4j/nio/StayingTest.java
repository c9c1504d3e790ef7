package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.testing.DeviceAddress;

/**
 * Channels that stay on TCP: what they cost, what they say, and which others they do not affect.
 */
@Tag("device")
@Timeout(120)
final class StayingTest {
  private final List<RdmaSelectorProvider> providers = new ArrayList<>();

  @AfterEach
  void close() {
    providers.forEach(each -> each.rendezvous().close());
  }

  private RdmaSelectorProvider provider(String... more) {
    Map<String, String> properties = new HashMap<>();
    properties.put("devices", "all");
    properties.put("addressMap", "127.0.0.1=" + DeviceAddress.ipv4().getHostAddress());
    properties.put("timeoutSeconds", "60");
    properties.put("upgradeAfterBytes", "32");
    for (int i = 0; i < more.length; i += 2) {
      properties.put(more[i], more[i + 1]);
    }
    RdmaSelectorProvider provider =
        new RdmaSelectorProvider(
            ChannelSettings.read(name -> properties.get(name.replace("org.rdma4j.nio.", ""))));
    providers.add(provider);
    return provider;
  }

  private static ChannelPair connect(SelectorProvider provider, ServerSocketChannel listener)
      throws Exception {
    SocketChannel client = provider.openSocketChannel();
    client.connect(listener.getLocalAddress());
    return new ChannelPair(client, listener.accept());
  }

  private static void upgrade(ChannelPair pair) throws Exception {
    UpgradeTest.greet(pair.client(), pair.server());
    UpgradeTest.await(
        () -> UpgradeTest.isMoved(pair.client()) && UpgradeTest.isMoved(pair.server()));
  }

  @Test
  void aServerLetsGoOfClientsThatDoNotUpgrade() throws Exception {
    RdmaSelectorProvider servers = provider("timeoutSeconds", "1");
    try (ServerSocketChannel listener = UpgradeTest.listen(servers);
        ChannelPair pair = connect(JdkProvider.find(), listener)) {
      UpgradeTest.greet(pair.client(), pair.server());
      assertThat(((StreamChannel) pair.server()).hasUpgrade()).isTrue();
      UpgradeTest.await(() -> !((StreamChannel) pair.server()).hasUpgrade());
      UpgradeTest.greet(pair.client(), pair.server());
    }
  }

  @Test
  void aConnectionWithOneDirectionForLongStaysAndOneLineSaysWhy() throws Exception {
    try (LogLines log = new LogLines();
        ServerSocketChannel listener = UpgradeTest.listen(provider())) {
      RdmaSelectorProvider clients = provider();
      for (int i = 0; i < 2; i++) {
        try (ChannelPair pair = connect(clients, listener)) {
          write(pair, 2 << 20);
          assertThat(((StreamChannel) pair.server()).hasUpgrade()).isTrue();
          Thread.sleep(2100); // The peer may only be late.
          write(pair, 1);
          assertThat(((StreamChannel) pair.client()).hasUpgrade()).isFalse();
          assertThat(((StreamChannel) pair.server()).hasUpgrade()).isFalse();
        }
      }
      // One of each process, and these are two.
      assertThat(log.that("lower org.rdma4j.nio.upgradeAfterBytes")).hasSize(2);
    }
  }

  private static void write(ChannelPair pair, int bytes) throws Exception {
    var writer = waiting(() -> pair.client().write(ByteBuffer.allocate(bytes)));
    UpgradeTest.read(pair.server(), bytes);
    assertThat(writer.get()).isEqualTo(bytes);
  }

  @Test
  void shortConnectionsDoNotBeginToMoveToRdma() throws Exception {
    RdmaSelectorProvider clients = provider();
    try (ServerSocketChannel listener = UpgradeTest.listen(provider())) {
      for (int i = 0; i < 20; i++) {
        try (ChannelPair pair = connect(clients, listener)) {
          UpgradeTest.greet(pair.client(), pair.server());
        }
      }
      try (ChannelPair pair = connect(clients, listener)) {
        upgrade(pair);
      }
    }
    assertThat(clients.statistics().stayed()).isZero();
    assertThat(clients.statistics().upgraded()).isEqualTo(1);
  }

  @Test
  void aChannelWithAnotherSourceAddressDoesNotKeepOthersOnTcp() throws Exception {
    RdmaSelectorProvider clients = provider();
    try (ServerSocketChannel listener = UpgradeTest.listen(provider());
        SocketChannel elsewhere = clients.openSocketChannel()) {
      elsewhere.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 0));
      elsewhere.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        UpgradeTest.greet(elsewhere, server);
        UpgradeTest.await(() -> clients.statistics().stayed() == 1);
        // Until the client has drawn its conclusions.
        Thread.sleep(300);
        UpgradeTest.greet(elsewhere, server);
        try (ChannelPair pair = connect(clients, listener)) {
          upgrade(pair);
        }
      }
    }
  }

  @Test
  void anotherProcessAtTheSamePortDoesNotKeepOthersOnTcp() throws Exception {
    RdmaSelectorProvider clients = provider();
    try (ServerSocketChannel first = provider().openServerSocketChannel();
        ServerSocketChannel second = provider("timeoutSeconds", "1").openServerSocketChannel()) {
      first.setOption(StandardSocketOptions.SO_REUSEPORT, true).bind(ChannelPair.anyPort());
      UpgradeTest.awaitListener(first);
      second.setOption(StandardSocketOptions.SO_REUSEPORT, true).bind(first.getLocalAddress());
      first.configureBlocking(false);
      second.configureBlocking(false);
      int toFirst = 0;
      int toSecond = 0;
      // The kernel chooses by the port of the client.
      while (toFirst == 0 || toSecond == 0) {
        try (SocketChannel client = clients.openSocketChannel()) {
          client.connect(first.getLocalAddress());
          SocketChannel accepted = null;
          boolean atSecond = false;
          while (accepted == null) {
            accepted = atSecond ? second.accept() : first.accept();
            atSecond = accepted == null ? !atSecond : atSecond;
          }
          try (SocketChannel server = accepted) {
            if (atSecond) {
              long before = clients.statistics().stayed();
              UpgradeTest.greet(client, server);
              UpgradeTest.await(() -> clients.statistics().stayed() > before);
              toSecond++;
            } else if (toSecond > 0) {
              upgrade(new ChannelPair(client, server));
              toFirst++;
            }
          }
        }
      }
    }
  }

  @Test
  void aListenerThatIsOpenedAgainOnItsPortListensOverRdma() throws Exception {
    RdmaSelectorProvider servers = provider();
    ServerSocketChannel listener = UpgradeTest.listen(servers);
    for (int i = 0; i < 20; i++) {
      InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
      listener.close();
      listener = servers.openServerSocketChannel().bind(address);
      UpgradeTest.awaitListener(listener);
    }
    try (ChannelPair pair = connect(provider(), listener)) {
      upgrade(pair);
    }
    listener.close();
  }
}
