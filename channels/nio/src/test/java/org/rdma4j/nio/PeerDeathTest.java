package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.testing.JavaCommand;

/** What a server sees of clients that are killed before, while and after their upgrade to RDMA. */
@Tag("device")
@Tag("protocol")
final class PeerDeathTest {
  private static final int DEATHS = 6;

  /** The time from the start of a client within which it is upgraded, roughly. */
  private static final int MILLIS_AROUND = 200;

  /** So many bytes over RDMA that some come after all bytes over TCP. */
  private static final long ENOUGH = 1 << 20;

  private RdmaSelectorProvider provider;
  private ServerSocketChannel listener;

  /** Sends and receives checked bytes until it is killed. */
  static final class Client {
    private Client() {}

    public static void main(String[] arguments) throws Exception {
      System.setProperty("org.rdma4j.nio.upgradeAfterBytes", "32");
      System.setProperty("org.rdma4j.nio.devices", "all");
      System.setProperty("org.rdma4j.nio.addressMap", "127.0.0.1=" + arguments[1]);
      SocketChannel channel = new RdmaSelectorProvider().openSocketChannel();
      channel.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0])));
      Thread.ofPlatform().daemon().start(() -> CheckedBytes.write(channel, new Random()));
      System.out.println("read " + CheckedBytes.read(channel));
    }
  }

  @BeforeEach
  void listen() throws Exception {
    provider = UpgradeTest.provider("");
    listener = UpgradeTest.listen(provider);
  }

  @AfterEach
  void close() throws Exception {
    listener.close();
    provider.rendezvous().close();
  }

  /** Starts a process that is a client of a server until it is killed. */
  static ChildProcess client(ServerSocketChannel server) throws Exception {
    String port = "" + ((InetSocketAddress) server.getLocalAddress()).getPort();
    return ChildProcess.start(
        JavaCommand.of(Client.class, port, DeviceAddress.ipv4().getHostAddress()));
  }

  @Test
  void bytesAreRightUpToTheDeathAndTheNextClientGoesOver() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < DEATHS; i++) {
      ChannelStatistics before = provider.statistics();
      try (ChildProcess client = client(listener);
          SocketChannel channel = listener.accept()) {
        var read = waiting(() -> CheckedBytes.read(channel));
        var written = waiting(() -> CheckedBytes.write(channel, random));
        switch (i % 3) {
          case 0 -> Thread.sleep(random.nextInt(MILLIS_AROUND));
          case 1 -> {
            UpgradeTest.await(() -> provider.statistics().upgraded() > before.upgraded());
            Thread.sleep(random.nextInt(10));
          }
          default ->
              UpgradeTest.await(
                  () -> provider.statistics().receivedBytes() > before.receivedBytes() + ENOUGH);
        }
        client.kill();
        assertThatCode(read::get)
            .as("reading, death %d, seed %d", i, seed)
            .doesNotThrowAnyException();
        assertThatCode(written::get)
            .as("writing, death %d, seed %d", i, seed)
            .doesNotThrowAnyException();
      }
    }
  }
}
