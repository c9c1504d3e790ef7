package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.AddedDevice;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;

/**
 * Removes a soft-RoCE device over which channels have gone. Runs alone, after all other tests, for
 * the reasons of DeviceRemovalTest.
 */
@Tag("device")
@Tag("alone")
@Tag("kernel")
@Tag("needs-soft-roce")
@Order(Integer.MAX_VALUE)
final class ChannelRemovalTest {
  private static final Duration PROMPT = Duration.ofSeconds(20);
  private static final String INTERFACE = "rdma4j2";
  private static final String ADDRESS = "198.51.100.2";

  private static final byte[] GREETING = new byte[64];

  private AddedDevice added;
  private RdmaSelectorProvider provider;
  private ServerSocketChannel listener;

  @BeforeEach
  void listen() throws Exception {
    added = AddedDevice.withInterface(INTERFACE, ADDRESS);
    provider = UpgradeTest.provider("", InetAddress.ofLiteral(ADDRESS));
    listener = UpgradeTest.listen(provider);
  }

  @AfterEach
  void close() throws Exception {
    try {
      listener.close();
      provider.rendezvous().close();
    } finally {
      added.awaitRemoval();
    }
  }

  @Test
  void channelsOverItGoOnOverTcpAndNewOnesStayThere() throws Exception {
    try (SocketChannel client = provider.openSocketChannel()) {
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        UpgradeTest.greet(client, server);
        UpgradeTest.await(() -> UpgradeTest.isMoved(client) && UpgradeTest.isMoved(server));
        var read = waiting(() -> UpgradeTest.readOne(server));
        assertThat(added.remove(PROMPT)).isTrue();
        client.write(ByteBuffer.wrap(new byte[] {7}));
        assertThat(read.get()).isEqualTo(1);
        server.write(ByteBuffer.wrap(new byte[] {8}));
        assertThat(UpgradeTest.readOne(client)).isEqualTo(1);
        assertThat(provider.statistics().resumed()).as("both ends").isEqualTo(2);
      }
    }
    try (SocketChannel client = provider.openSocketChannel()) {
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        UpgradeTest.greet(client, server);
        UpgradeTest.await(() -> provider.statistics().stayed() == 1);
        UpgradeTest.greet(client, server);
      }
    }
    assertThat(provider.statistics().upgraded()).as("both ends of the first").isEqualTo(2);
  }

  /** Is upgraded, and reads one byte. */
  static final class Client {
    private Client() {}

    public static void main(String[] arguments) throws Exception {
      System.setProperty("org.rdma4j.nio.addressMap", "127.0.0.1=" + ADDRESS);
      System.setProperty("org.rdma4j.nio.upgradeAfterBytes", "32");
      System.setProperty("org.rdma4j.nio.devices", "all");
      System.setProperty("org.rdma4j.nio.timeoutSeconds", "60");
      SocketChannel channel = new RdmaSelectorProvider().openSocketChannel();
      channel.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0])));
      channel.write(ByteBuffer.wrap(GREETING));
      UpgradeTest.read(channel, GREETING.length);
      System.out.println("read " + UpgradeTest.readOne(channel));
    }
  }

  @Test
  void aClientInAnotherProcessDoesNotHoldIt() throws Exception {
    String port = "" + ((InetSocketAddress) listener.getLocalAddress()).getPort();
    try (ChildProcess client = ChildProcess.start(JavaCommand.of(Client.class, port));
        SocketChannel server = listener.accept()) {
      UpgradeTest.read(server, GREETING.length);
      server.write(ByteBuffer.wrap(GREETING));
      UpgradeTest.await(() -> UpgradeTest.isMoved(server));
      assertThat(added.remove(PROMPT)).isTrue();
      server.write(ByteBuffer.wrap(new byte[] {1}));
      client.awaitLine("read 1");
      assertThat(client.await().status()).isZero();
    }
  }
}
