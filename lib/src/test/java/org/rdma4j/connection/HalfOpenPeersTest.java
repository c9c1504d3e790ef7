package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.Warnings;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.connection.wire.Hello;

/**
 * Peers that begin a handshake and do not finish it, by raw verbs, against a node with defaults.
 */
@Tag("device")
@Tag("protocol")
final class HalfOpenPeersTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int RECEIVES = 8;

  private RdmaNode node;
  private RdmaServer server;
  private SynchronousCmId peer;
  private SimpleMessages queues;

  @BeforeEach
  void resolve() throws Exception {
    node = RdmaNode.open();
    server = node.bind(RdmaConnectionTest.local());
    peer = SynchronousCmId.open(PortSpace.TCP);
    peer.resolveAddress(server.localAddress(), PATIENCE);
    peer.resolveRoute(PATIENCE);
    queues = SimpleMessages.create(peer.id(), 1, 1);
  }

  @AfterEach
  void close() {
    queues.close();
    peer.close();
    node.close();
  }

  private static ConnectionConfig hello(int credits) {
    Hello hello = new Hello(Hello.MIN_BUFFER_BYTES, credits, RECEIVES, 1 << 20);
    return ConnectionConfig.DEFAULT.privateData(hello.write());
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean() && end - System.nanoTime() > 0) {
      Thread.sleep(10);
    }
    assertThat(condition.getAsBoolean()).isTrue();
  }

  /** Over iWARP, the kernel of the peer finishes the handshake. */
  @Tag("needs-infiniband-connection-manager")
  @Test
  void aConnectionThatThePeerNeverConfirmsEndsAfterTheStatedTime() throws Exception {
    assertThat(NodeConfig.DEFAULT.handshakeTimeout()).isEqualTo(Duration.ofSeconds(5));
    try (Warnings warnings = new Warnings()) {
      // The request alone: the answer is never read, so it is never confirmed.
      peer.id().connect(hello(2));
      await(() -> node.statistics().connections() == 1);
      await(() -> node.statistics().connections() == 0);
      await(() -> !warnings.containing("longer than NodeConfig.handshakeTimeout, 5 s").isEmpty());
    }
  }

  @Test
  void aConnectionWhosePeerSendsNothingAlthoughItMustBeTheFirstEndsToo() throws Exception {
    peer.connect(hello(0), PATIENCE);
    RdmaConnection accepted = server.accept(PATIENCE);
    await(() -> !accepted.isOpen());
    assertThat(accepted.ended())
        .failsWithin(PATIENCE)
        .withThrowableThat()
        .withMessageContaining("it had to send the first message");
  }
}
