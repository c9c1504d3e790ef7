package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.Warnings;
import org.rdma4j.verbs.AccessFlag;

/** What becomes of things that a program drops without closing them. */
@Tag("device")
final class DroppedTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private RdmaNode node;
  private RdmaConnection client;
  private RdmaConnection server;

  @BeforeEach
  void connect() throws Exception {
    node = RdmaNode.open();
    try (RdmaServer listener = node.bind(RdmaConnectionTest.local())) {
      client = node.connect(listener.localAddress(), PATIENCE);
      server = listener.accept(PATIENCE);
    }
  }

  @AfterEach
  void close() {
    node.close();
  }

  @Test
  void memoryThatTheNodeClosesMayBeDropped() throws Exception {
    try (Warnings warnings = new Warnings()) {
      RemoteMemory ofNode = RemoteMemory.of(node.register(12_288, AccessFlag.REMOTE_READ));
      RemoteMemory ofConnection = RemoteMemory.of(client.register(4096, AccessFlag.REMOTE_READ));
      RemoteMemory exposed =
          client
              .expose(
                  client.register(8192, AccessFlag.LOCAL_WRITE).slice(0, 100),
                  AccessFlag.REMOTE_READ)
              .name();
      for (int i = 0; i < 5; i++) {
        System.gc();
        Thread.sleep(50);
      }
      assertThat(warnings.containing("never closed")).isEmpty();
      // The peer can still use it.
      try (var copy = server.register(100, AccessFlag.LOCAL_WRITE)) {
        server.read(ofNode.slice(0, 100), copy.slice(0, 100), PATIENCE);
        server.read(ofConnection.slice(0, 100), copy.slice(0, 100), PATIENCE);
        server.read(exposed, copy.slice(0, 100), PATIENCE);
      }
    }
  }

  @Test
  void aViewOfAMessageThatIsTooLongNamesItsLength() {
    long length = (1L << 31) + 5;
    try (var region = client.register(4096)) {
      Slot slot = new Slot(freed -> {}, 0, region, 0, 3L << 30);
      slot.become(MessageKind.MESSAGE, 0, length, null);
      assertThat(
              org.assertj.core.api.Assertions.catchThrowable(new MessageBuffer(slot)::byteBuffer))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("the message has " + length + " bytes");
    }
  }
}
