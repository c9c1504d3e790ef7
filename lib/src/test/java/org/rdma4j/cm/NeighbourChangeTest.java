package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.AddedDevice;
import org.rdma4j.testing.Command;

/**
 * The neighbour that a connection leads to gets another MAC address, and its own again. Since 6.0,
 * Linux reports UNREACHABLE then, and the connection goes on.
 */
@Tag("device")
@Tag("alone")
@Tag("kernel")
@Tag("needs-soft-roce")
@Order(Integer.MAX_VALUE)
final class NeighbourChangeTest {
  private static final String INTERFACE = "rdma4j2";
  private static final String ADDRESS = "198.51.101.1";

  @SuppressWarnings("NullAway.Init") // before each
  private AddedDevice added;

  @BeforeEach
  void add() throws Exception {
    added = AddedDevice.withInterface(INTERFACE, ADDRESS);
  }

  @AfterEach
  void remove() throws Exception {
    added.awaitRemoval();
  }

  @Test
  void aConnectionGoesOnWhoseNeighbourHasMoved() throws Exception {
    try (var pair =
        CmLoopback.connected(
            CmLoopback.listener(PortSpace.TCP, InetAddress.getByName(ADDRESS)),
            PortSpace.TCP,
            ConnectionConfig.DEFAULT,
            ConnectionConfig.DEFAULT)) {
      neighbour("02:00:00:00:00:99");
      neighbour("00:00:00:00:00:00");

      assertThat(pair.client().awaitDisconnected(Duration.ofSeconds(2))).isFalse();
      pair.b().receive(1, 0, 64);
      pair.a().send(2, 0, 64);
      pair.b().await(1);

      // For the disconnect to meet.
      neighbour("02:00:00:00:00:98");
      neighbour("00:00:00:00:00:00");
      FutureTask<Boolean> peer =
          CmLoopback.start(
              () -> {
                boolean disconnected = pair.server().awaitDisconnected(CmLoopback.PATIENCE);
                pair.server().disconnect(CmLoopback.PATIENCE); // the answer
                return disconnected;
              });
      pair.client().disconnect(CmLoopback.PATIENCE);
      assertThat(CmLoopback.get(peer)).isTrue();
    }
  }

  private static void neighbour(String mac) throws Exception {
    Command.output(
        "ip", "neighbour", "replace", ADDRESS, "lladdr", mac, "nud", "permanent", "dev", INTERFACE);
  }
}
