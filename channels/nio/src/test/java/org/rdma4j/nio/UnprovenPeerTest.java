package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.testing.DeviceAddress;

/** A peer that connects over RDMA to a listener, and has proven nothing. */
@Tag("device")
@Timeout(100)
final class UnprovenPeerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private RdmaSelectorProvider servers;
  private ServerSocketChannel listener;
  private RdmaNode node;
  private RdmaConnection link;

  @BeforeEach
  void connect() throws Exception {
    servers = UpgradeTest.provider("");
    listener = UpgradeTest.listen(servers);
    node = RdmaNode.open();
    int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
    link = node.connect(new InetSocketAddress(DeviceAddress.ipv4(), port), PATIENCE);
    link.receive(PATIENCE).orElseThrow().close();
  }

  @AfterEach
  void close() throws Exception {
    node.close();
    listener.close();
    servers.rendezvous().close();
  }

  /** One message that fits into a posted buffer, and two that are offered. */
  @ParameterizedTest
  @ValueSource(ints = {4097, 64 << 10, 1 << 20})
  void aMessageOfMoreThanAFewKibibytesEndsItsConnectionAndTakesNoMemory(int bytes)
      throws Exception {
    var unused = link.sendAsync(ByteBuffer.allocate(bytes));
    assertThat(link.ended())
        .failsWithin(PATIENCE)
        .withThrowableThat()
        .withMessageContaining(
            "it sent a message of %d bytes, more than the 4096".formatted(bytes));
    assertThat(servers.rendezvous().node().statistics().largeBytes()).isZero();
  }
}
