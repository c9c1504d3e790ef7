package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.RdmaException;

/** Whatever one peer takes, its share of a node is bounded, and others are served. */
@Tag("device")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class SharesOfPeersTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static void echo(RdmaConnection peer) {
    peer.onMessage(
        message -> {
          var unused = peer.sendAsync(message);
        });
    var unused = peer.ended().whenComplete((ended, why) -> peer.close());
  }

  private static void assertServed(RdmaNode clients, RdmaServer server) throws Exception {
    try (RdmaConnection client = clients.connect(server.localAddress(), PATIENCE)) {
      ByteBuffer message = ByteBuffer.allocate(8).putLong(0, 42);
      client.send(message, PATIENCE);
      assertThat(client.receive(message.clear(), PATIENCE)).isTrue();
      assertThat(message.getLong(0)).isEqualTo(42);
    }
  }

  @Test
  void clientsThatReceiveNoAnswersLeaveBuffersForOthers() throws Exception {
    NodeConfig config = NodeConfig.DEFAULT.maxBuffers(1024);
    try (RdmaNode servers = RdmaNode.open(config);
        RdmaNode clients = RdmaNode.open();
        RdmaServer server = servers.bind(RdmaConnectionTest.local())) {
      server.onAccept(SharesOfPeersTest::echo);
      List<RdmaConnection> hogs = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        RdmaConnection hog = clients.connect(server.localAddress(), PATIENCE);
        hogs.add(hog);
        for (int j = 0; j < 2000; j++) {
          var unused = hog.sendAsync(ByteBuffer.allocate(8));
        }
      }
      long end = System.nanoTime() + PATIENCE.toNanos();
      long sent = -1;
      while (sent != servers.statistics().traffic().receivedMessages()) {
        sent = servers.statistics().traffic().receivedMessages();
        assertThat(end - System.nanoTime()).isPositive();
        Thread.sleep(500);
      }
      assertThat(servers.statistics().buffersInUse()).isLessThan(config.maxBuffers());
      for (int i = 0; i < 20; i++) {
        assertServed(clients, server);
      }
      for (RdmaConnection hog : hogs) {
        assertThat(hog.isOpen()).isTrue();
        for (int j = 0; j < 2000; j++) {
          hog.receive(PATIENCE).orElseThrow().close();
        }
      }
    }
  }

  @Test
  void longAnswersThatAreNotFetchedStayWithinTheBudgetOfTheConnection() throws Exception {
    int bytes = 1 << 20;
    // As many messages as receives may cause answers after the budget is used up.
    NodeConfig config =
        NodeConfig.DEFAULT.maxMessageBytes(4L * bytes).maxLargeBytes(64L * bytes).receives(4);
    // The client holds the first answer, and has no budget for a second one.
    NodeConfig ofClient = NodeConfig.DEFAULT.maxMessageBytes(bytes);
    try (RdmaNode servers = RdmaNode.open(config);
        RdmaNode clients = RdmaNode.open(ofClient);
        RdmaNode others = RdmaNode.open();
        RdmaServer server = servers.bind(RdmaConnectionTest.local());
        RdmaServer echo = servers.bind(RdmaConnectionTest.local())) {
      echo.onAccept(SharesOfPeersTest::echo);
      server.onAccept(peer -> peer.onMessage(message -> answerWith(bytes, peer, message)));
      RdmaConnection hog = clients.connect(server.localAddress(), PATIENCE);
      for (int i = 0; i < 64; i++) {
        var unused = hog.sendAsync(ByteBuffer.allocate(1));
      }
      long end = System.nanoTime() + PATIENCE.toNanos();
      long received = -1;
      while (received != servers.statistics().traffic().receivedMessages()) {
        received = servers.statistics().traffic().receivedMessages();
        assertThat(end - System.nanoTime()).isPositive();
        Thread.sleep(500);
      }
      assertThat(servers.statistics().largeBytes()).isLessThanOrEqualTo(64 * bytes / 3);
      assertServed(others, echo);
      for (int i = 0; i < 64; i++) {
        try (MessageBuffer answer = hog.receive(PATIENCE).orElseThrow()) {
          assertThat(answer.length()).isEqualTo(bytes);
        }
      }
    }
  }

  private static void answerWith(int bytes, RdmaConnection peer, MessageBuffer message) {
    message.close();
    peer.sendAsync(ByteBuffer.allocate(bytes), 0, (token, failure) -> {});
  }

  @Test
  void anAddressHasNoMoreConnectionsThanTheNodeAllows() throws Exception {
    NodeConfig config = NodeConfig.DEFAULT.maxConnectionsPerAddress(3);
    try (RdmaNode servers = RdmaNode.open(config);
        RdmaNode clients = RdmaNode.open();
        RdmaServer server = servers.bind(RdmaConnectionTest.local())) {
      server.onAccept(SharesOfPeersTest::echo);
      RdmaConnection first = clients.connect(server.localAddress(), PATIENCE);
      for (int i = 0; i < 2; i++) {
        clients.connect(server.localAddress(), PATIENCE);
      }
      assertThatThrownBy(() -> clients.connect(server.localAddress(), PATIENCE))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("its address has 3 connections with this node")
          .hasMessageContaining("maxConnectionsPerAddress");
      first.close();
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (servers.statistics().connections() == 3) {
        assertThat(end - System.nanoTime()).isPositive();
        Thread.sleep(10);
      }
      assertServed(clients, server);
    }
  }
}
