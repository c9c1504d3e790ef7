package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that wait for handlers, and run them themselves. */
@Tag("device")
final class PollingWaitTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration MOMENT = Duration.ofMillis(10);

  /** The thread in which the last message was handled; null if there was none. */
  private final AtomicReference<Thread> handled = new AtomicReference<>();

  @Test
  void theThreadThatWaitsRunsTheHandler() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaNode far = RdmaNode.open();
        RdmaServer server = node.bind(RdmaConnectionTest.local());
        RdmaConnection client = far.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE)) {
      peer.onMessageBytes(bytes -> handled.set(Thread.currentThread()));
      PollingWait wait = node.pollingWait();
      long end = System.nanoTime() + PATIENCE.toNanos();
      do {
        // A thread of the node may be faster, and if polls find nothing, some are left out.
        handled.set(null);
        client.send(ByteBuffer.allocate(8), PATIENCE);
        while (!wait.await(MOMENT, () -> handled.get() != null)) {
          assertThat(System.nanoTime() - end).as("no message, or none here").isNegative();
        }
      } while (handled.get() != Thread.currentThread());
    }
  }

  @Test
  void theThreadsOfTheNodeGoOnAfterwards() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer server = node.bind(RdmaConnectionTest.local());
        RdmaConnection client = node.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE)) {
      CompletableFuture<Thread> first = new CompletableFuture<>();
      peer.onMessageBytes(bytes -> first.complete(Thread.currentThread()));
      PollingWait wait = node.pollingWait();
      assertThat(wait.await(MOMENT, () -> false)).isFalse();
      client.send(ByteBuffer.allocate(8), PATIENCE);
      wait.beginSleep();
      assertThat(first.get(60, TimeUnit.SECONDS)).isNotSameAs(Thread.currentThread());
      wait.endSleep();
    }
  }

  @Test
  void aHandlerMustNotWait() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer server = node.bind(RdmaConnectionTest.local());
        RdmaConnection client = node.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE)) {
      CompletableFuture<Boolean> waited = new CompletableFuture<>();
      peer.onMessageBytes(
          bytes -> {
            try {
              waited.complete(node.pollingWait().await(MOMENT, () -> false));
            } catch (IllegalStateException refused) {
              waited.completeExceptionally(refused);
            }
          });
      client.send(ByteBuffer.allocate(8), PATIENCE);
      assertThatThrownBy(() -> waited.get(60, TimeUnit.SECONDS))
          .hasCauseInstanceOf(IllegalStateException.class)
          .hasMessageContaining("a handler must not wait");
    }
  }

  @Test
  void aDrivenNodeIsPolledByWhoDrivesIt() {
    try (DrivenNode driven = DrivenNode.open()) {
      PollingWait wait = driven.node().pollingWait();
      assertThat(wait.await(MOMENT, () -> true)).isTrue();
      assertThat(wait.await(MOMENT, () -> false)).isFalse();
      assertThatThrownBy(() -> wait.await(Duration.ofMillis(-1), () -> true))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
