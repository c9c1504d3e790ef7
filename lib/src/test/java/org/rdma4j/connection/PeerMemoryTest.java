package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.WorkCompletionException;
import org.rdma4j.verbs.attribute.AtomicCapability;

/** Reads, writes, notices and atomic operations on the memory of the peer of a connection. */
@Tag("device")
final class PeerMemoryTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BYTES = 4096;

  private RdmaNode node;
  private RdmaServer listener;
  private RdmaConnection client;
  private RdmaConnection server;
  private MemoryRegion local;
  private MemoryRegion exposed;

  @BeforeEach
  void connect() throws Exception {
    node = RdmaNode.open(NodeConfig.DEFAULT);
    listener = node.bind(RdmaConnectionTest.local());
    client = node.connect(listener.localAddress(), PATIENCE);
    server = listener.accept(PATIENCE);
    local = client.register(BYTES, AccessFlag.LOCAL_WRITE);
    exposed =
        server.register(
            BYTES,
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC);
  }

  @AfterEach
  void close() {
    node.close();
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private RemoteMemory remote(long offset, long length) {
    return RemoteMemory.of(exposed).slice(offset, length);
  }

  /** A handler whose outcome a test can wait for. */
  private static final class Outcome implements OperationHandler {
    private final CompletableFuture<Long> token = new CompletableFuture<>();

    @Override
    public void completed(long given, @Nullable RuntimeException failure) {
      if (failure == null) {
        token.complete(given);
      } else {
        token.completeExceptionally(failure);
      }
    }
  }

  @Test
  void aWriteWithANoticeIsThereBeforeTheNotice() throws Exception {
    for (int i = 1; i <= 50; i++) {
      local.byteBuffer().putInt(0, i);
      long value = Long.MIN_VALUE + i;
      CompletableFuture<Void> written =
          client.memory().writeAndNotifyAsync(local.slice(0, 4), remote(0, 4), value);
      try (MessageBuffer notice = server.receive(PATIENCE).orElseThrow()) {
        assertThat(notice.notice()).hasValue(value);
        assertThat(notice.length()).isZero();
        assertThat(exposed.byteBuffer().getInt(0)).isEqualTo(i);
      }
      get(written);
    }
  }

  @Test
  void aNoticeIsAwaitedOrToldToAHandler() throws Exception {
    client.memory().writeAndNotify(local.slice(0, 8), remote(0, 8), -1, PATIENCE);
    Outcome outcome = new Outcome();
    client.memory().writeAndNotifyAsync(local.slice(0, 8), remote(8, 8), 1L << 40, 7, outcome);
    assertThat(get(outcome.token)).isEqualTo(7);
    for (long expected : new long[] {-1, 1L << 40}) {
      try (MessageBuffer notice = server.receive(PATIENCE).orElseThrow()) {
        assertThat(notice.notice()).hasValue(expected);
      }
    }
  }

  @Test
  void aNoticeForWhichThePeerHasNoRoomWritesNothing() throws Exception {
    assertThatThrownBy(
            () -> {
              while (true) {
                client.send(ByteBuffer.allocate(1), Duration.ofMillis(500));
              }
            })
        .isInstanceOf(TimeoutException.class);
    local.byteBuffer().put(0, (byte) 1);
    assertThatThrownBy(
            () ->
                client
                    .memory()
                    .writeAndNotify(local.slice(0, 1), remote(0, 1), 1, Duration.ofMillis(10)))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("no free buffer");
    client.memory().read(remote(8, 1), local.slice(8, 1), PATIENCE);
    assertThat(exposed.byteBuffer().get(0)).isZero();
  }

  @Test
  void handlersOfBytesGetMessagesAndNoticesInTheirOrder() throws Exception {
    BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    server.onMessageBytes(bytes -> received.add(bytes.get()), received::add);
    for (int i = 0; i < 100; i++) {
      client.send(ByteBuffer.wrap(new byte[] {(byte) i}), PATIENCE);
      client.memory().writeAndNotify(local.slice(0, 8), remote(0, 8), i + (1L << 40), PATIENCE);
    }
    for (int i = 0; i < 100; i++) {
      assertThat(received.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo((byte) i);
      assertThat(received.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(i + (1L << 40));
    }
  }

  @Test
  void aNoticeWithoutAHandlerOfNoticesBreaksTheConnection() throws Exception {
    server.onMessageBytes(bytes -> {});
    var unused = client.memory().writeAndNotifyAsync(local.slice(0, 8), remote(0, 8), 42);
    assertThatThrownBy(() -> get(client.ended()))
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("the notice 42 has arrived");
  }

  @Test
  void aNoticeIsNotReceivedAsBytes() throws Exception {
    client.memory().writeAndNotify(local.slice(0, 8), remote(0, 8), 42, PATIENCE);
    assertThatThrownBy(() -> server.receive(ByteBuffer.allocate(8), PATIENCE))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the notice 42");
    try (MessageBuffer notice = server.receive(PATIENCE).orElseThrow()) {
      assertThat(notice.notice()).hasValue(42);
    }
  }

  @Test
  void readsAndWritesCompleteTheirFutures() throws Exception {
    ByteBuffer here = local.byteBuffer().order(ByteOrder.nativeOrder());
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      here.putLong(1024 + 8 * i, i);
      all.add(client.memory().writeAsync(local.slice(1024 + 8 * i, 8), remote(1024 + 8 * i, 8)));
    }
    for (CompletableFuture<Void> each : all) {
      get(each);
    }
    get(client.memory().readAsync(remote(1024, 800), local.slice(2048, 800)));
    for (int i = 0; i < 100; i++) {
      assertThat(here.getLong(2048 + 8 * i)).isEqualTo(i);
    }
  }

  @Test
  void atomicOperationsCompleteTheirFuturesOrAreRefusedAtOnce() throws Exception {
    RemoteMemory counter = remote(0, 8);
    if (client.domain().device().attributes().atomicCapability() == AtomicCapability.NONE) {
      assertThatThrownBy(() -> client.memory().fetchAndAddAsync(counter, 5, local.slice(0, 8)))
          .isInstanceOf(UnsupportedByDeviceException.class)
          .hasMessageContaining("with a request");
      assertThatThrownBy(
              () -> client.memory().compareAndSwapAsync(counter, 0, 7, local.slice(0, 8)))
          .isInstanceOf(UnsupportedByDeviceException.class);
      return;
    }
    ByteBuffer here = local.byteBuffer().order(ByteOrder.nativeOrder());
    for (int i = 0; i < 10; i++) {
      get(client.memory().fetchAndAddAsync(counter, 5, local.slice(0, 8)));
      assertThat(here.getLong(0)).isEqualTo(5L * i);
    }
    get(client.memory().compareAndSwapAsync(counter, 50, 7, local.slice(8, 8)));
    assertThat(here.getLong(8)).isEqualTo(50);
    get(client.memory().fetchAndAddAsync(counter, 0, local.slice(0, 8)));
    assertThat(here.getLong(0)).isEqualTo(7);
  }

  @Test
  void atomicOperationsAreAwaitedOrToldToAHandler() throws Exception {
    RemoteMemory counter = remote(16, 8);
    MemorySlice result = local.slice(24, 8);
    if (client.domain().device().attributes().atomicCapability() == AtomicCapability.NONE) {
      assertThatThrownBy(() -> client.memory().fetchAndAdd(counter, 5, result, PATIENCE))
          .isInstanceOf(UnsupportedByDeviceException.class);
      return;
    }
    assertThat(client.memory().fetchAndAdd(counter, 5, result, PATIENCE)).isZero();
    assertThat(client.memory().compareAndSwap(counter, 4, 9, result, PATIENCE)).isEqualTo(5);
    assertThat(client.memory().compareAndSwap(counter, 5, 9, result, PATIENCE)).isEqualTo(5);
    Outcome added = new Outcome();
    client.memory().fetchAndAddAsync(counter, 1, result, 3, added);
    assertThat(get(added.token)).isEqualTo(3);
    Outcome swapped = new Outcome();
    client.memory().compareAndSwapAsync(counter, 10, Long.MIN_VALUE, result, 4, swapped);
    assertThat(get(swapped.token)).isEqualTo(4);
    assertThat(client.memory().fetchAndAdd(counter, 0, result, PATIENCE)).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  void operationsAreCountedWithTheirBytesAlsoAfterTheEnd() throws Exception {
    client.memory().read(remote(0, 100), local.slice(0, 100), PATIENCE);
    client.memory().read(remote(0, 28), local.slice(0, 28), PATIENCE);
    client.memory().write(local.slice(0, 1000), remote(0, 1000), PATIENCE);
    long atomics = 0;
    if (client.domain().device().attributes().atomicCapability() != AtomicCapability.NONE) {
      client.memory().fetchAndAdd(remote(0, 8), 5, local.slice(0, 8), PATIENCE);
      atomics = 1;
    }
    client.send(ByteBuffer.allocate(1 << 20), PATIENCE);
    server.receive(PATIENCE).orElseThrow().close();
    Traffic expected = new Traffic(1, 0, 0, 0, 2, 128, 1, 1000, atomics);
    assertThat(client.statistics().traffic()).isEqualTo(expected);
    Traffic ofServer = new Traffic(0, 0, 1, 1 << 20, 0, 0, 0, 0, 0);
    assertThat(server.statistics().traffic()).isEqualTo(ofServer);
    client.close();
    server.close();
    assertThat(node.statistics().traffic()).isEqualTo(expected.plus(ofServer));
  }

  @Test
  void wrongArgumentsOfOperationsAreRefusedAndCostNothing() throws Exception {
    MemoryRegion readOnly = client.register(64, AccessFlag.REMOTE_READ);
    RemoteMemory name = new RemoteMemory(4096, 1, 32);
    assertThatThrownBy(() -> client.memory().readAsync(name, readOnly.slice(0, 32)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("LOCAL_WRITE");
    assertThatThrownBy(() -> client.memory().readAsync(name, local.slice(0, 33)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("33");
    assertThatThrownBy(() -> client.memory().fetchAndAddAsync(name, 1, local.slice(0, 8)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("8");
    try (RdmaNode other = RdmaNode.open();
        RdmaConnection foreigner = other.connect(listener.localAddress(), PATIENCE)) {
      MemoryRegion foreign = foreigner.register(64, AccessFlag.LOCAL_WRITE);
      assertThatThrownBy(() -> client.memory().readAsync(name, foreign.slice(0, 32)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("another domain");
    }
    assertThat(client.isOpen()).isTrue();
  }

  @Tag("needs-remote-errors")
  @Test
  void exposedMemoryGrantsWhatItNamesAndNoMore() throws Exception {
    MemoryRegion region = server.register(12288, AccessFlag.LOCAL_WRITE);
    region.byteBuffer().put(4096, (byte) 42);
    ExposedMemory part =
        server.expose(region.slice(4096, 16), AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    RemoteMemory name = part.name();
    client.memory().read(name, local.slice(0, 16), PATIENCE);
    assertThat(local.byteBuffer().get(0)).isEqualTo((byte) 42);
    RemoteMemory beyond = new RemoteMemory(name.address() - 8, name.key(), 16);
    assertThatThrownBy(() -> client.memory().read(beyond, local.slice(0, 16), PATIENCE))
        .isInstanceOf(WorkCompletionException.class);
    try (RdmaConnection other = node.connect(listener.localAddress(), PATIENCE)) {
      part.close();
      assertThatThrownBy(() -> other.memory().read(name, local.slice(0, 16), PATIENCE))
          .isInstanceOf(WorkCompletionException.class);
    }
  }
}
