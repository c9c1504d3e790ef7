package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.Resources;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;

/**
 * What many connections cost. {@code -Dorg.rdma4j.connection.many=1000} sets how many there are,
 * both ends of each in this process.
 */
@Tag("device")
@Tag("protocol")
@Tag("slow")
@Timeout(1200)
final class CrowdTest {
  private static final int MANY = Integer.getInteger("org.rdma4j.connection.many", 250);
  private static final int OF_1_KIB = Math.min(MANY, 300);
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final long MAX_PINNED_KIB = 64 << 10;
  private static final int MAX_FURTHER_DESCRIPTORS = 64;

  private final List<RdmaConnection> clients = Collections.synchronizedList(new ArrayList<>());
  private long pinnedBefore;
  private long queuesBefore;
  private RdmaDevice device;
  private ProtectionDomain domain;
  private RdmaNode node;
  private RdmaServer listener;
  private ExecutorService threads;

  @BeforeEach
  void serve() throws Exception {
    device = RdmaDevice.open(RdmaDevice.list().getFirst().name());
    domain = device.allocateProtectionDomain(); // Resources requires one.
    pinnedBefore = Resources.pinnedKib();
    queuesBefore = queues(Resources.now());
    node = RdmaNode.open(NodeConfig.DEFAULT.handshakeTimeout(PATIENCE));
    listener = node.bind(RdmaConnectionTest.local(), 1024);
    threads = Executors.newVirtualThreadPerTaskExecutor();
    threads.execute(this::echoAll);
  }

  private void echoAll() {
    try {
      while (true) {
        RdmaConnection peer = listener.accept();
        peer.onMessage(message -> peer.sendAsync(message, 0, (token, failure) -> {}));
        var unused = peer.ended().whenComplete((closed, broken) -> peer.close());
      }
    } catch (IllegalStateException | InterruptedException closed) {
      // The test is over.
    }
  }

  @AfterEach
  void end() throws Exception {
    node.close();
    threads.close();
    // The close of so many connections may go on for a while after it has returned.
    long began = System.nanoTime();
    while (queues(Resources.now()) > queuesBefore) {
      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(PATIENCE);
      Thread.sleep(100);
    }
    domain.close();
    device.close();
  }

  @Test
  void aThousandConnectionsShareMemoryQueuesAndDescriptors() throws Exception {
    connect(1);
    echo(100, 64);
    int descriptors = Resources.now().descriptors().size();
    long began = System.nanoTime();
    connect(MANY - 1);
    long connected = System.nanoTime();
    report("connected in %d ms".formatted((connected - began) / 1_000_000));
    echo(50, 64);
    long took = System.nanoTime() - connected;
    report("echoed 50 messages of 64 B each, %d/s".formatted(50_000_000_000L * MANY / took));
    assertThatLittleIsHeld(descriptors);
  }

  @Test
  void messagesOfOneKibOfManyConnectionsNeedNoMoreThanTheSharedBuffers() throws Exception {
    connect(1);
    echo(100, 1024);
    int descriptors = Resources.now().descriptors().size();
    connect(OF_1_KIB - 1);
    echo(100, 1024);
    report("echoed 100 messages of 1 KiB each");
    assertThatLittleIsHeld(descriptors);
  }

  private void assertThatLittleIsHeld(int descriptors) throws Exception {
    Resources held = Resources.now();
    long queues = queues(held) - queuesBefore;
    long pinned = Resources.pinnedKib() - pinnedBefore;
    report(
        "pinned %d KiB, %d completion queues, %d descriptors, %d with one connection"
            .formatted(pinned, queues, held.descriptors().size(), descriptors));
    assertThat(pinned).isPositive().isLessThanOrEqualTo(MAX_PINNED_KIB);
    assertThat(queues).isLessThanOrEqualTo(Runtime.getRuntime().availableProcessors());
    assertThat(held.descriptors()).hasSizeLessThanOrEqualTo(descriptors + MAX_FURTHER_DESCRIPTORS);
  }

  private static long queues(Resources held) {
    return held.objects().stream().filter("cq"::equals).count();
  }

  private void report(String what) {
    System.out.printf("%d connections: %s; %s%n", clients.size(), what, node.statistics());
  }

  /** Connects so many more clients, a few at a time. */
  private void connect(int count) throws Exception {
    Semaphore atOnce = new Semaphore(32);
    List<Future<Boolean>> connecting = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      connecting.add(
          threads.submit(
              () -> {
                atOnce.acquire();
                try {
                  return clients.add(node.connect(listener.localAddress(), PATIENCE));
                } finally {
                  atOnce.release();
                }
              }));
    }
    for (Future<Boolean> each : connecting) {
      assertThat(each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  /** Has each connection send so many messages and receive them again, all at the same time. */
  private void echo(int messages, int bytes) throws Exception {
    List<Future<Boolean>> echoes = new ArrayList<>();
    for (RdmaConnection client : clients) {
      echoes.add(threads.submit(() -> echo(client, messages, bytes)));
    }
    for (Future<Boolean> each : echoes) {
      assertThat(each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  private static boolean echo(RdmaConnection client, int messages, int bytes) throws Exception {
    for (int i = 0; i < messages; i++) {
      client.send(ByteBuffer.allocate(bytes).putInt(0, i), PATIENCE);
      try (MessageBuffer back = client.receive(PATIENCE).orElseThrow()) {
        assertThat(back.byteBuffer().getInt(0)).isEqualTo(i);
        assertThat(back.length()).isEqualTo(bytes);
      }
    }
    return true;
  }
}
