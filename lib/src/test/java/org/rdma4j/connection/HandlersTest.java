package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Where user code runs: in the executor of {@link NodeConfig#handlers}. */
@Tag("device")
@Tag("protocol")
final class HandlersTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String NAME = "handler-of-the-test";

  private final Set<String> seen = ConcurrentHashMap.newKeySet();
  private ExecutorService threads;

  @BeforeEach
  void start() {
    threads = Executors.newFixedThreadPool(4, Thread.ofPlatform().name(NAME).factory());
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private void note() {
    seen.add(Thread.currentThread().getName());
  }

  @Test
  void handlersAndAcceptsRunInTheExecutorInTheirOrder() throws Exception {
    try (RdmaNode node = RdmaNode.open(NodeConfig.DEFAULT.handlers(threads));
        RdmaServer server = node.bind(RdmaConnectionTest.local())) {
      List<Integer> received = Collections.synchronizedList(new ArrayList<>());
      CountDownLatch all = new CountDownLatch(1000);
      server.onAccept(
          peer -> {
            note();
            peer.onMessageBytes(
                bytes -> {
                  note();
                  received.add(bytes.getInt());
                  all.countDown();
                });
          });
      RdmaConnection client =
          node.connectAsync(server.localAddress(), PATIENCE).get(60, TimeUnit.SECONDS);
      CountDownLatch noted = new CountDownLatch(1000);
      for (int i = 0; i < 1000; i++) {
        ByteBuffer message = ByteBuffer.allocate(Integer.BYTES).putInt(0, i);
        client.sendAsync(
            message,
            i,
            (token, failure) -> {
              note();
              noted.countDown();
            });
      }
      assertThat(all.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(noted.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(received).isSorted().hasSize(1000);
      assertThat(seen).containsExactly(NAME);
    }
  }

  @Test
  void aHandlerInAnExecutorMayWaitWithoutDelayingOthers() throws Exception {
    try (RdmaNode node = RdmaNode.open(NodeConfig.DEFAULT.pollers(1).handlers(threads));
        RdmaServer server = node.bind(RdmaConnectionTest.local());
        RdmaConnection client = node.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE);
        RdmaConnection other = node.connect(server.localAddress(), PATIENCE);
        RdmaConnection otherPeer = server.accept(PATIENCE)) {
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      CountDownLatch answered = new CountDownLatch(1);
      peer.onMessageBytes(
          bytes -> {
            try {
              // The message for which it waits is sent only when this handler has begun.
              peer.send(ByteBuffer.allocate(8), PATIENCE);
              otherPeer.receive(PATIENCE).orElseThrow().close();
            } catch (Throwable failed) {
              thrown.set(failed);
            } finally {
              answered.countDown();
            }
          });
      client.send(ByteBuffer.allocate(8), PATIENCE);
      client.receive(PATIENCE).orElseThrow().close();
      other.send(ByteBuffer.allocate(8), PATIENCE);
      assertThat(answered.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(thrown.get()).isNull();
    }
  }

  @Test
  void aCloseReturnsWhenUsersWereTold() throws Exception {
    try (RdmaNode node = RdmaNode.open(NodeConfig.DEFAULT.handlers(threads));
        RdmaServer server = node.bind(RdmaConnectionTest.local())) {
      AtomicBoolean told = new AtomicBoolean();
      try (RdmaConnection client = node.connect(server.localAddress(), PATIENCE)) {
        var unused =
            client
                .ended()
                .whenComplete(
                    (nothing, failure) -> {
                      LockSupport.parkNanos(200_000_000);
                      told.set(true);
                    });
      }
      assertThat(told).isTrue();
    }
  }

  @Test
  void whatTheExecutorRefusesRunsAllTheSame() throws Exception {
    Executor refusing =
        userCode -> {
          throw new RejectedExecutionException("refused by the test");
        };
    try (RdmaNode node = RdmaNode.open(NodeConfig.DEFAULT.handlers(refusing));
        RdmaServer server = node.bind(RdmaConnectionTest.local());
        RdmaConnection client = node.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE)) {
      CountDownLatch arrived = new CountDownLatch(1);
      peer.onMessageBytes(bytes -> arrived.countDown());
      client.send(ByteBuffer.allocate(8), PATIENCE);
      assertThat(arrived.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aConnectionGoesOnAfterTheExecutorHasDroppedWhatItWasGiven() throws Exception {
    AtomicBoolean drops = new AtomicBoolean();
    Executor dropping =
        userCode -> {
          if (!drops.getAndSet(false)) {
            userCode.run();
          }
        };
    try (RdmaNode node = RdmaNode.open(NodeConfig.DEFAULT.handlers(dropping));
        RdmaServer server = node.bind(RdmaConnectionTest.local());
        RdmaConnection client = node.connect(server.localAddress(), PATIENCE);
        RdmaConnection peer = server.accept(PATIENCE)) {
      CountDownLatch arrived = new CountDownLatch(2);
      peer.onMessageBytes(bytes -> arrived.countDown());
      drops.set(true);
      client.send(ByteBuffer.allocate(8), PATIENCE);
      client.send(ByteBuffer.allocate(8), PATIENCE);
      assertThat(arrived.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }
}
