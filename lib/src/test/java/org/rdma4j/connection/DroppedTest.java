package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.Warnings;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.RemoteMemory;

/** What becomes of things that a program drops without closing them. */
@Tag("device")
@Tag("protocol")
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
      RemoteMemory ofNode =
          RemoteMemory.of(node.register(12_288, AccessFlag.REMOTE_READ).region(client));
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
        server.memory().read(ofNode.slice(0, 100), copy.slice(0, 100), PATIENCE);
        server.memory().read(ofConnection.slice(0, 100), copy.slice(0, 100), PATIENCE);
        server.memory().read(exposed, copy.slice(0, 100), PATIENCE);
      }
    }
  }

  /** More than one connection has places for, so that they become free again. */
  private static final int MANY = 300;

  @Test
  void theMemoryAndThePlaceOfADroppedMessageAreUsedAgain() throws Exception {
    try (Warnings warnings = new Warnings()) {
      FutureTask<Boolean> sending =
          new FutureTask<>(
              () -> {
                for (int i = 0; i < MANY; i++) {
                  client.send(ByteBuffer.allocate(100), PATIENCE);
                }
                return true;
              });
      Thread.ofVirtual().start(sending);
      for (int i = 0; i < MANY; i++) {
        receiveAndDrop();
      }
      assertThat(sending.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      collectUntil(() -> node.statistics().buffersInUse() == node.statistics().postedReceives());
      assertThat(warnings.containing("with a message of 100 bytes")).isNotEmpty();
    }
  }

  private void receiveAndDrop() throws Exception {
    Optional<MessageBuffer> message = Optional.empty();
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (message.isEmpty() && System.nanoTime() < end) {
      try {
        message = server.receive(Duration.ofMillis(100));
      } catch (TimeoutException noPlace) {
        System.gc();
      }
    }
    assertThat(message).isPresent();
  }

  private static void collectUntil(BooleanSupplier done) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!done.getAsBoolean()) {
      assertThat(System.nanoTime()).isLessThan(end);
      System.gc();
      Thread.sleep(50);
    }
  }

  @Test
  void aMessageWhoseByteBufferIsInUseIsNotDropped() throws Exception {
    client.send(ByteBuffer.allocate(8).putLong(0, 42), PATIENCE);
    ByteBuffer view = server.receive(PATIENCE).orElseThrow().byteBuffer().slice();
    for (int i = 0; i < 200; i++) {
      client.send(ByteBuffer.allocate(8), PATIENCE);
      server.receive(PATIENCE).orElseThrow().close();
      if (i % 20 == 0) {
        // Longer than two looks take.
        System.gc();
        Thread.sleep(60);
      }
    }
    assertThat(view.getLong(0)).isEqualTo(42);
  }

  @Test
  void theMemoryOfADroppedMessageWhoseSegmentIsInUseIsNotUsedAgain() throws Exception {
    client.send(ByteBuffer.allocate(8).putLong(0, 42), PATIENCE);
    MemorySegment segment = server.receive(PATIENCE).orElseThrow().segment();
    try (Warnings warnings = new Warnings()) {
      collectUntil(() -> !warnings.containing("with a message of 8 bytes").isEmpty());
    }
    for (int i = 0; i < 200; i++) {
      client.send(ByteBuffer.allocate(8), PATIENCE);
      server.receive(PATIENCE).orElseThrow().close();
    }
    assertThat(segment.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0))
        .isEqualTo(42);
  }

  @Test
  void aLongMessageThatIsDroppedGivesItsMemoryBack() throws Exception {
    int length = 1 << 20;
    client.send(ByteBuffer.allocate(length), PATIENCE);
    assertThat(server.receive(PATIENCE)).isPresent();
    try (Warnings warnings = new Warnings()) {
      collectUntil(() -> !warnings.containing("with a message of " + length + " bytes").isEmpty());
    }
    client.send(ByteBuffer.allocate(length), PATIENCE);
    server.receive(PATIENCE).orElseThrow().close();
    // What the client sends from, and what the server receives into.
    assertThat(node.statistics().largeBytes()).isLessThanOrEqualTo(2L * length);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRequestThatIsDroppedIsRefused(boolean closesItsMessage) throws Exception {
    server.onRequest(
        request -> {
          if (closesItsMessage) {
            request.message().close();
          }
        });
    CompletableFuture<MessageBuffer> answer = client.request(ByteBuffer.allocate(8));
    try (Warnings warnings = new Warnings()) {
      collectUntil(answer::isDone);
      assertThat(warnings.containing("dropped without an answer")).hasSize(1);
    }
    assertThat(answer)
        .failsWithin(PATIENCE)
        .withThrowableThat()
        .withMessageContaining("the program has dropped it");
  }

  @Test
  void aRequestOfAPeerThatHasClosedIsDroppedWithoutAWarning() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    server.onRequest(
        request -> {
          request.message().close();
          arrived.countDown();
        });
    var unused = client.request(ByteBuffer.allocate(8));
    assertThat(arrived.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    client.close();
    server.ended().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    try (Warnings warnings = new Warnings()) {
      // Longer than several looks take.
      for (int i = 0; i < 10; i++) {
        System.gc();
        Thread.sleep(100);
      }
      assertThat(warnings.containing("dropped")).isEmpty();
    }
  }

  @Test
  void aViewOfAMessageThatIsTooLongNamesItsLength() {
    long length = (1L << 31) + 5;
    try (var region = client.register(4096)) {
      Buffer buffer = new Buffer(freed -> {}, 0, new BufferRegion(region), 0, 3L << 30);
      buffer.become(MessageKind.MESSAGE, 0, length);
      assertThat(
              org.assertj.core.api.Assertions.catchThrowable(new MessageBuffer(buffer)::byteBuffer))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("the message has " + length + " bytes");
    }
  }
}
