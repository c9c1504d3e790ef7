package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ConnectionException;

/** How long the messages of a peer may be before and after a server knows who it is. */
@Tag("device")
final class AllowedMessagesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int INITIAL = 1000;
  private static final int LATER = 1 << 16;

  private RdmaNode node;
  private RdmaConnection client;
  private RdmaConnection accepted;

  @BeforeEach
  void connect() throws Exception {
    node = RdmaNode.open(NodeConfig.DEFAULT.initialMessageBytes(INITIAL));
    RdmaServer server = node.bind(RdmaConnectionTest.local());
    client = node.connect(server.localAddress(), PATIENCE);
    accepted = server.accept(PATIENCE);
  }

  @AfterEach
  void close() {
    node.close();
  }

  private static void pass(RdmaConnection from, RdmaConnection to, int bytes) throws Exception {
    from.send(ByteBuffer.allocate(bytes), PATIENCE);
    try (MessageBuffer message = to.receive(PATIENCE).orElseThrow()) {
      assertThat(message.length()).isEqualTo(bytes);
    }
  }

  private void assertThatItBreaks(int bytes, String reason) throws Exception {
    long before = node.statistics().largeBytes();
    var unused = client.sendAsync(ByteBuffer.allocate(bytes));
    assertThatThrownBy(() -> accepted.receive(PATIENCE))
        .isInstanceOf(ConnectionException.class)
        .hasMessageContaining("to " + accepted.peerAddress())
        .hasMessageContaining("it sent a message of %d bytes, more than the ".formatted(bytes))
        .hasMessageContaining(reason);
    // The sender has a buffer of its own.
    assertThat(node.statistics().largeBytes() - before).isLessThan(2L * bytes);
  }

  /** A message that fits into a posted buffer, and a message that is offered. */
  @ParameterizedTest
  @ValueSource(ints = {INITIAL + 1, LATER})
  void aLongerMessageThanTheFirstMayBeBreaksTheConnection(int bytes) throws Exception {
    pass(client, accepted, INITIAL);
    // The server has connected to no peer, so it may send what it wants.
    pass(accepted, client, LATER);
    assertThatItBreaks(bytes, INITIAL + " of NodeConfig.initialMessageBytes");
  }

  @ParameterizedTest
  @ValueSource(ints = {LATER + 1, 2 * LATER})
  void aServerAllowsLongerMessages(int bytes) throws Exception {
    accepted.allowMessages(LATER);
    pass(client, accepted, INITIAL + 1);
    pass(client, accepted, LATER);
    assertThatItBreaks(bytes, LATER + " of RdmaConnection.allowMessages");
  }
}
