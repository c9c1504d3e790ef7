package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;

/** Messages that are offered although they would fit into a buffer of the receiver. */
@Tag("device")
@Tag("protocol")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class OfferedMessagesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  void shortMessagesFromRegisteredMemoryArriveForEver() throws Exception {
    try (RdmaNode servers = RdmaNode.open();
        RdmaNode clients = RdmaNode.open();
        RdmaServer server = servers.bind(RdmaConnectionTest.local());
        RdmaConnection client = clients.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE)) {
      MemoryRegion memory = client.register(100, AccessFlag.REMOTE_READ);
      for (int i = 0; i < 1000; i++) {
        CompletableFuture<Void> sent = client.sendAsync(memory.slice(0, 100));
        try (MessageBuffer message = peer.receive(PATIENCE).orElseThrow()) {
          assertThat(message.length()).isEqualTo(100);
        }
        sent.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      assertThat(servers.statistics().largeBytes()).isZero();
    }
  }

  /** Its memory is registered in steps, because it is longer than eight times its first piece. */
  @Test
  void aMessageInManyPiecesArrivesAndIsSentBack() throws Exception {
    byte[] bytes = new byte[20 << 20];
    new Random(1).nextBytes(bytes);
    try (RdmaNode servers = RdmaNode.open();
        RdmaNode clients = RdmaNode.open();
        RdmaServer server = servers.bind(RdmaConnectionTest.local());
        RdmaConnection client = clients.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE)) {
      // The second one gets the memory of the first, all of which is registered then.
      for (int i = 0; i < 2; i++) {
        client.send(ByteBuffer.wrap(bytes), PATIENCE);
        MessageBuffer message = peer.receive(PATIENCE).orElseThrow();
        assertThat(message.byteBuffer()).isEqualTo(ByteBuffer.wrap(bytes));
        peer.send(message, PATIENCE);
        try (MessageBuffer back = client.receive(PATIENCE).orElseThrow()) {
          assertThat(back.byteBuffer()).isEqualTo(ByteBuffer.wrap(bytes));
        }
        assertThat(servers.statistics().largeBytes()).isBetween(20L << 20, 24L << 20);
      }
    }
  }

  @Test
  void theBuffersOfThePeersMayHaveDifferentLengths() throws Exception {
    try (RdmaNode servers = RdmaNode.open(NodeConfig.DEFAULT.bufferBytes(4096));
        RdmaNode clients = RdmaNode.open(NodeConfig.DEFAULT.bufferBytes(1024));
        RdmaServer server = servers.bind(RdmaConnectionTest.local());
        RdmaConnection client = clients.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE)) {
      ByteBuffer message = ByteBuffer.allocate(2000);
      for (int i = 0; i < 200; i++) {
        client.send(message.clear().putInt(0, i), PATIENCE);
        assertThat(peer.receive(message.clear(), PATIENCE)).isTrue();
        assertThat(message.flip().getInt(0)).isEqualTo(i);
        peer.send(message, PATIENCE);
        assertThat(client.receive(message.clear(), PATIENCE)).isTrue();
      }
    }
  }

  @Test
  void aReceiverThatReadsNothingGetsNoMoreOffersThanMessages() throws Exception {
    NodeConfig config = NodeConfig.DEFAULT.receives(8);
    try (RdmaNode servers = RdmaNode.open(config);
        RdmaNode clients = RdmaNode.open();
        RdmaServer server = servers.bind(RdmaConnectionTest.local());
        RdmaConnection client = clients.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE)) {
      MemoryRegion memory = client.register(1, AccessFlag.REMOTE_READ);
      int before = servers.statistics().postedReceives();
      for (int i = 0; i < 4000; i++) {
        var unused = client.sendAsync(memory.slice(0, 1));
      }
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (client.statistics().credits() > 0 || peer.statistics().grantedCredits() > 0) {
        assertThat(end - System.nanoTime()).isPositive();
        Thread.sleep(10);
      }
      assertThat(peer.statistics().traffic().receivedMessages()).isEqualTo(8);
      assertThat(servers.statistics().postedReceives()).isLessThanOrEqualTo(before + 32);
      for (int i = 0; i < 4000; i++) {
        peer.receive(PATIENCE).orElseThrow().close();
      }
    }
  }
}
