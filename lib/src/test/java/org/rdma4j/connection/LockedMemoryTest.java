package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.pair.EchoServer;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;

/** A server whose limit of locked memory is smaller than a message that it may get. */
@Tag("device")
@Tag("kernel")
final class LockedMemoryTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MORE_THAN_THE_LIMIT = 8 << 20;

  private static void assertThatItEchoes(RdmaConnection connection) throws Exception {
    connection.send(ByteBuffer.allocate(8).putLong(0, 42), PATIENCE);
    try (MessageBuffer message = connection.receive(PATIENCE).orElseThrow()) {
      assertThat(message.byteBuffer().getLong()).isEqualTo(42);
    }
  }

  @Test
  void aMessageForWhichThereIsNoMemoryEndsOnlyItsConnection() throws Exception {
    InetSocketAddress local = RdmaConnectionTest.local();
    List<String> limited =
        new ArrayList<>(
            List.of(
                "sh",
                "-c",
                "ulimit -l 4096; exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \"$@\"",
                "sh"));
    limited.addAll(JavaCommand.of(EchoServer.class, local.getAddress().getHostAddress()));
    try (ChildProcess server = ChildProcess.start(limited);
        RdmaNode node = RdmaNode.open()) {
      InetSocketAddress address =
          new InetSocketAddress(
              local.getAddress(), Integer.parseInt(server.awaitLine(EchoServer.LISTENING)));
      RdmaConnection sender = node.connect(address, PATIENCE);
      RdmaConnection other = node.connect(address, PATIENCE);
      assertThatItEchoes(sender);
      assertThatItEchoes(other);
      assertThatThrownBy(() -> sender.send(ByteBuffer.allocate(MORE_THAN_THE_LIMIT), PATIENCE))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("ibv_reg_mr")
          .hasMessageContaining("ulimit -l");
      assertThatItEchoes(other);
      assertThatItEchoes(node.connect(address, PATIENCE));
    }
  }
}
