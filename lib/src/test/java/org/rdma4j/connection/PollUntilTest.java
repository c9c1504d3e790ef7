package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A loop of a program that waits for what handlers tell it. */
@Tag("device")
@Tag("protocol")
final class PollUntilTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void aLoopRunsHandlersOfAllItsConnectionsAndIsWokenIfItSleeps() throws Exception {
    Thread loop = Thread.currentThread();
    AtomicInteger received = new AtomicInteger();
    AtomicInteger inLoop = new AtomicInteger();
    AtomicReference<Throwable> refused = new AtomicReference<>();
    try (RdmaNode node = RdmaNode.open(NodeConfig.DEFAULT.pollers(2));
        RdmaNode far = RdmaNode.open();
        RdmaServer server = far.bind(RdmaConnectionTest.local())) {
      RdmaConnection[] near = new RdmaConnection[2];
      for (int i = 0; i < near.length; i++) {
        near[i] = node.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE);
        peer.onMessageBytes(
            bytes -> peer.sendAsync(ByteBuffer.allocate(8), 0, (token, failure) -> {}));
        near[i].onMessageBytes(
            bytes -> {
              if (Thread.currentThread() == loop) {
                inLoop.incrementAndGet();
              }
              try {
                node.pollUntil(() -> true, () -> {});
              } catch (IllegalStateException inAHandler) {
                refused.set(inAHandler);
              }
              received.incrementAndGet();
              LockSupport.unpark(loop);
            });
      }
      long end = System.nanoTime() + PATIENCE.toNanos();
      int sent = 0;
      while (sent < 200 || inLoop.get() < 10) {
        assertThat(System.nanoTime() - end).as("found in the loop: " + inLoop).isNegative();
        near[sent % near.length].sendAsync(ByteBuffer.allocate(8), 0, (token, failure) -> {});
        int expected = ++sent;
        while (received.get() < expected) {
          node.pollUntil(() -> received.get() == expected, LockSupport::park);
        }
      }
      for (RdmaConnection each : near) {
        each.close();
      }
    }
    assertThat(refused.get()).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aDrivenNodeIsPolledByItsOwnMethod() {
    try (DrivenNode driven = DrivenNode.open()) {
      assertThatThrownBy(() -> driven.node().pollUntil(() -> true, () -> {}))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("DrivenNode.poll");
    }
  }
}
