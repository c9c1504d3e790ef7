package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the kernel lists of TCP connections, in sockets of both versions of IP. */
final class TcpTableTest {
  private final TcpTable table = new TcpTable();

  private interface Use {
    void of(SocketChannel client, SocketChannel server) throws Exception;
  }

  /** With an IPv4 address in both cases: that of a socket of IPv6 is mapped. */
  private static void connected(StandardProtocolFamily family, Use use) throws Exception {
    try (ServerSocketChannel listener = listener(family)) {
      listener.bind(ChannelPair.anyPort());
      try (SocketChannel client =
              family == StandardProtocolFamily.INET
                  ? SocketChannel.open(family)
                  : SocketChannel.open();
          SocketChannel server = accepted(client, listener)) {
        use.of(client, server);
      }
    }
  }

  private static ServerSocketChannel listener(StandardProtocolFamily family) throws IOException {
    return family == StandardProtocolFamily.INET
        ? ServerSocketChannel.open(family)
        : ServerSocketChannel.open();
  }

  private static SocketChannel accepted(SocketChannel client, ServerSocketChannel listener)
      throws IOException {
    client.connect(listener.getLocalAddress());
    return listener.accept();
  }

  private TcpTable.State state(SocketChannel channel) throws IOException {
    return table.state(
        (InetSocketAddress) channel.getLocalAddress(),
        (InetSocketAddress) channel.getRemoteAddress());
  }

  @ParameterizedTest
  @EnumSource(names = {"INET", "INET6"})
  void anEndIsToldFromAReset(StandardProtocolFamily family) throws Exception {
    connected(
        family,
        (client, server) -> {
          assertThat(state(server)).isEqualTo(TcpTable.State.OPEN);
          server.shutdownOutput();
          UpgradeTest.await(() -> state(client) == TcpTable.State.ENDED);
          assertThat(state(server)).isEqualTo(TcpTable.State.OPEN);
          client.close();
          UpgradeTest.await(() -> state(server) == TcpTable.State.ENDED);
        });
    connected(
        family,
        (client, server) -> {
          client.setOption(StandardSocketOptions.SO_LINGER, 0);
          client.close();
          UpgradeTest.await(() -> state(server) == TcpTable.State.RESET);
        });
  }
}
