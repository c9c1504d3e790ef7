package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A program that opens many channels to one server concurrently. */
@Tag("device")
@Tag("protocol")
final class ManyChannelsTest {
  private static final int MANY = 200;

  @Test
  void allGoOver() throws Exception {
    RdmaSelectorProvider clients = UpgradeTest.provider("");
    RdmaSelectorProvider servers = UpgradeTest.provider("");
    List<SocketChannel> ends = new ArrayList<>();
    try (ServerSocketChannel listener = UpgradeTest.listen(servers)) {
      for (int i = 0; i < MANY; i++) {
        SocketChannel client = clients.openSocketChannel();
        ends.add(client);
        client.connect(listener.getLocalAddress());
        SocketChannel server = listener.accept();
        ends.add(server);
        UpgradeTest.greet(client, server);
      }
      UpgradeTest.await(
          () -> clients.statistics().upgraded() + clients.statistics().stayed() == MANY);
      assertThat(clients.statistics().upgraded()).isEqualTo(MANY);
    } finally {
      for (SocketChannel each : ends) {
        each.close();
      }
      clients.rendezvous().close();
      servers.rendezvous().close();
    }
  }
}
