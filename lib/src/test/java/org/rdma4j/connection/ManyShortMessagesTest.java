package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.SimulatedAdapter;

/**
 * Many short messages: messages that wait for a slow adapter share a request, arrive in their
 * order, and hold up no other connection.
 */
@Tag("device")
@Tag("protocol")
@Tag("mlx5")
final class ManyShortMessagesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BYTES = 64;
  private static final int MESSAGES = 20_000;
  private static final double MOST_REQUESTS = 0.15;

  private RdmaNode node;
  private RdmaServer listener;
  private RdmaConnection client;
  private RdmaConnection server;

  @BeforeEach
  void connect() throws Exception {
    // With few requests, the device has as many as it can before the peer's credits are used up.
    node = RdmaNode.open(NodeConfig.DEFAULT.pollers(1).sends(8));
    listener = node.bind(RdmaConnectionTest.local());
    client = node.connect(listener.localAddress(), PATIENCE);
    server = listener.accept(PATIENCE);
    // So that the result does not depend on how fast the processors are.
    SimulatedAdapter.slow(Duration.ofMillis(1));
  }

  @AfterEach
  void close() {
    SimulatedAdapter.slow(Duration.ZERO);
    node.close();
  }

  private static ByteBuffer message(int number) {
    return ByteBuffer.allocate(BYTES).putInt(0, number);
  }

  /** The next message of each receiver has the next number. */
  private static void check(ByteBuffer message, AtomicInteger next) {
    assertThat(message.getInt(0)).isEqualTo(next.getAndIncrement());
    assertThat(message.remaining()).isEqualTo(BYTES);
  }

  private void assertFewRequests(long before) {
    double each = (double) (SimulatedAdapter.requests() - before) / MESSAGES;
    System.out.printf("%.3f requests for a message of %d bytes%n", each, BYTES);
    assertThat(each).as("requests for a message").isLessThanOrEqualTo(MOST_REQUESTS);
  }

  @Test
  void blockingSendsShareRequests() throws Exception {
    AtomicInteger next = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(MESSAGES);
    server.onMessageBytes(
        message -> {
          check(message, next);
          all.countDown();
        });
    long before = SimulatedAdapter.requests();
    for (int i = 0; i < MESSAGES; i++) {
      client.send(message(i), PATIENCE);
    }
    assertThat(all.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertFewRequests(before);
    assertThat(client.statistics().traffic().sentMessages()).isEqualTo(MESSAGES);
    assertThat(server.statistics().traffic().receivedBytes()).isEqualTo((long) MESSAGES * BYTES);
  }

  @Test
  void messagesOfAThreadThatDoesNotWaitShareRequestsAndEndInTheirOrder() throws Exception {
    AtomicInteger next = new AtomicInteger();
    AtomicInteger nextEnded = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(2 * MESSAGES);
    server.onMessage(
        message -> {
          try (message) {
            check(message.byteBuffer(), next);
          }
          all.countDown();
        });
    long before = SimulatedAdapter.requests();
    for (int i = 0; i < MESSAGES; i++) {
      client.sendAsync(
          message(i),
          i,
          (number, failure) -> {
            assertThat(failure).isNull();
            assertThat(number).isEqualTo(nextEnded.getAndIncrement());
            all.countDown();
          });
    }
    assertThat(all.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertFewRequests(before);
    assertThat(node.statistics().buffersInUse()).isLessThan(1000);
  }

  @Test
  void aThreadTakesThemOneByOneInBothWays() throws Exception {
    List<CompletableFuture<Void>> sent = new ArrayList<>();
    for (int i = 0; i < MESSAGES; i++) {
      sent.add(client.sendAsync(message(i)));
    }
    AtomicInteger next = new AtomicInteger();
    ByteBuffer target = ByteBuffer.allocate(2 * BYTES);
    while (next.get() < MESSAGES) {
      if (next.get() % 3 == 0) {
        try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
          check(message.byteBuffer(), next);
        }
      } else {
        assertThat(server.receive(target.clear(), PATIENCE)).isTrue();
        check(target.flip(), next);
      }
    }
    for (CompletableFuture<Void> each : sent) {
      each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  @Test
  void handlersOfOneConnectionLetOthersHaveTheirTurn() throws Exception {
    RdmaConnection other = node.connect(listener.localAddress(), PATIENCE);
    RdmaConnection otherServer = listener.accept(PATIENCE);
    AtomicInteger handled = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch sent = new CountDownLatch(1);
    CompletableFuture<Integer> before = new CompletableFuture<>();
    otherServer.onMessageBytes(message -> before.complete(handled.get()));
    server.onMessageBytes(
        message -> {
          begun.countDown();
          if (handled.getAndIncrement() > 0) {
            await(sent);
            burn(1_000_000);
          }
        });
    for (int i = 0; i < 1000; i++) {
      client.sendAsync(message(i), 0, (number, failure) -> {});
    }
    assertThat(begun.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    other.sendAsync(message(0), 0, (number, failure) -> {});
    Thread.sleep(200); // until it has arrived, and the first messages of the others have, too
    sent.countDown();
    assertThat(before.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .as("messages of another connection that were handled before")
        .isLessThan(300);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void burn(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }
}
