package org.rdma4j.connection;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.memory.Slab;
import org.rdma4j.memory.SlabPool;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.RemoteMemory;

/** Memory that a program gives back while an operation on it goes on. */
@Tag("device")
@Tag("protocol")
final class MemoryInUseTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** So long that an operation of this length takes milliseconds. */
  private static final int LONG = 32 << 20;

  private static final int SHORT = 1024;
  private static final byte OLD = 7;
  private static final byte NEW = 1;

  private RdmaNode node;
  private RdmaNode peers;
  private RdmaConnection client;
  private RdmaConnection server;

  /** Memory of the server, filled with the old value. */
  private MemoryRegion remote;

  /** Memory of the client for operations that take long, so that later ones wait. */
  private MemoryRegion local;

  @BeforeEach
  void connect() throws Exception {
    NodeConfig config = NodeConfig.DEFAULT.maxMessageBytes(LONG);
    node = RdmaNode.open(config);
    peers = RdmaNode.open(config);
    try (RdmaServer listener = peers.bind(RdmaConnectionTest.local())) {
      client = node.connect(listener.localAddress(), PATIENCE);
      server = listener.accept(PATIENCE);
    }
    remote =
        server.register(
            LONG, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    remote.segment().fill(OLD);
    local = client.register(LONG, AccessFlag.LOCAL_WRITE);
    local.segment().fill(OLD);
  }

  @AfterEach
  void close() {
    node.close();
    peers.close();
  }

  private RemoteMemory remote(long bytes) {
    return RemoteMemory.of(remote).slice(0, bytes);
  }

  /** Begins operations that take milliseconds, after which the later ones begin. */
  private void keepBusy() {
    for (int i = 0; i < 4; i++) {
      var unused = client.memory().readAsync(remote(LONG), local.slice(0, LONG));
    }
  }

  private static void await(CompletableFuture<Void> operation) throws Exception {
    operation.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private static long count(MemorySegment segment, byte value) {
    long count = 0;
    for (long i = 0; i < segment.byteSize(); i++) {
      count += segment.get(JAVA_BYTE, i) == value ? 1 : 0;
    }
    return count;
  }

  @Test
  void aReadThatTimedOutChangesNoLaterBuffer() throws Exception {
    int late = 0;
    for (int i = 0; i < 10; i++) {
      try (MessageBuffer target = client.allocateBuffer(LONG)) {
        client.memory().read(remote(LONG), target.memory(), Duration.ofMillis(1));
      } catch (TimeoutException goesOn) {
        late++;
      }
      try (MessageBuffer next = client.allocateBuffer(LONG)) {
        next.segment().fill(NEW);
        client.memory().read(remote(LONG), local.slice(0, LONG), PATIENCE);
        assertThat(count(next.segment(), NEW)).isEqualTo(LONG);
      }
    }
    assertThat(late).as("reads that took longer than 1 ms").isPositive();
  }

  @Test
  void aShortBufferIsUsedAgainOnlyAfterTheReadIntoIt() throws Exception {
    keepBusy();
    MessageBuffer target = client.allocateBuffer(SHORT);
    CompletableFuture<Void> read = client.memory().readAsync(remote(SHORT), target.memory());
    target.close();
    try (MessageBuffer next = client.allocateBuffer(SHORT)) {
      next.segment().fill(NEW);
      await(read);
      assertThat(count(next.segment(), NEW)).isEqualTo(SHORT);
    }
  }

  @Test
  void aWriteSendsTheBytesOfItsBufferAlsoIfThatWasClosed() throws Exception {
    keepBusy();
    MessageBuffer source = client.allocateBuffer(LONG);
    source.segment().fill(OLD);
    CompletableFuture<Void> written = client.memory().writeAsync(source.memory(), remote(LONG));
    source.close();
    try (MessageBuffer next = client.allocateBuffer(LONG)) {
      next.segment().fill(NEW);
      await(written);
    }
    assertThat(count(remote.segment(), OLD)).isEqualTo(LONG);
  }

  @Test
  void aBufferThatWasSentIsUsedAgainOnlyAfterTheReadIntoIt() throws Exception {
    try (RdmaServer listener = peers.bind(RdmaConnectionTest.local());
        RdmaConnection other = node.connect(listener.localAddress(), PATIENCE);
        RdmaConnection otherServer = listener.accept(PATIENCE)) {
      keepBusy();
      MessageBuffer target = client.allocateBuffer(SHORT);
      CompletableFuture<Void> read = client.memory().readAsync(remote(SHORT), target.memory());
      // Over the same connection, it would not leave before the end of the read.
      await(other.sendAsync(target));
      otherServer.receive(PATIENCE).orElseThrow().close();
      try (MessageBuffer next = client.allocateBuffer(SHORT)) {
        next.segment().fill(NEW);
        await(read);
        assertThat(count(next.segment(), NEW)).isEqualTo(SHORT);
      }
    }
    awaitBuffers();
  }

  /** Waits until no buffers are in use but buffers that are posted to receive into. */
  private void awaitBuffers() throws Exception {
    for (int i = 0; i < 1000 && !onlyReceivesAreInUse(); i++) {
      Thread.sleep(10);
    }
    assertThat(onlyReceivesAreInUse()).isTrue();
  }

  private boolean onlyReceivesAreInUse() {
    NodeStatistics statistics = node.statistics();
    return statistics.buffersInUse() == statistics.postedReceives();
  }

  @Test
  void theBufferOfAnOperationGoesBackAtItsEnd() throws Exception {
    for (int i = 0; i < 100; i++) {
      if (i % 20 == 0) {
        keepBusy();
      }
      MessageBuffer target = client.allocateBuffer(SHORT);
      CompletableFuture<Void> read = client.memory().readAsync(remote(SHORT), target.memory());
      if (i % 2 == 0) {
        target.close();
        await(read);
      } else {
        await(read);
        target.close();
      }
    }
    awaitBuffers();
    assertThat(node.statistics().buffers()).isLessThanOrEqualTo(128);
  }

  @Test
  void theEndOfAConnectionEndsTheUseOfItsBuffers() throws Exception {
    keepBusy();
    MessageBuffer large = client.allocateBuffer(LONG);
    MessageBuffer small = client.allocateBuffer(SHORT);
    var unused = client.memory().readAsync(remote(LONG), large.memory());
    var unusedToo = client.memory().readAsync(remote(SHORT), small.memory());
    large.close();
    small.close();
    client.abort();
    awaitBuffers();
  }

  @Test
  void anOperationBeginsOnNoBufferThatWasClosed() {
    MessageBuffer closed = client.allocateBuffer(SHORT);
    MemorySlice memory = closed.memory();
    closed.close();
    assertThatThrownBy(() -> client.memory().readAsync(remote(SHORT), memory))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed or sent");
    assertThatThrownBy(() -> client.memory().writeAndNotifyAsync(memory, remote(SHORT), 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed or sent");
    assertThat(client.isOpen()).isTrue();
  }

  @Test
  void aSlabIsAcquiredAgainOnlyAfterTheReadIntoIt() throws Exception {
    try (SlabPool pool = SlabPool.register(client.domain(), 4, SHORT, AccessFlag.LOCAL_WRITE)) {
      keepBusy();
      Slab slab = pool.acquire();
      CompletableFuture<Void> read = client.memory().readAsync(remote(SHORT), slab.slice());
      MemorySlice before = slab.slice();
      slab.release();
      assertThatThrownBy(slab::release).isInstanceOf(IllegalStateException.class);
      Slab next = pool.acquire();
      next.segment().fill(NEW);
      assertThatThrownBy(() -> client.memory().readAsync(remote(SHORT), before))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("not in use");
      await(read);
      assertThat(count(next.segment(), NEW)).isEqualTo(SHORT);
      next.release();
      assertThat(pool.inUse()).isZero();
    }
  }

  @Test
  void aSlabThatIsSentIsAcquiredAgainOnlyAfterThePeerHasFetchedIt() throws Exception {
    int bytes = LONG / 2;
    try (SlabPool pool =
        SlabPool.register(
            client.domain(), 1, bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ)) {
      Slab slab = pool.acquire();
      slab.segment().fill(OLD);
      // The server fetches nothing more until it has received this one.
      var unused = client.sendAsync(ByteBuffer.allocate(LONG));
      CompletableFuture<Void> sent = client.sendAsync(slab.slice());
      slab.release();
      assertThat(pool.tryAcquire()).isNull();
      server.receive(PATIENCE).orElseThrow().close();
      try (MessageBuffer received = server.receive(PATIENCE).orElseThrow()) {
        assertThat(count(received.segment(), OLD)).isEqualTo(bytes);
      }
      await(sent);
      pool.acquire(PATIENCE).release();
    }
  }

  @Test
  void theDeviceChangesNothingOfARegionThatWasClosed() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment mine = arena.allocate(LONG, MemoryRegion.pageSize());
      NodeMemory registered = node.register(arena, mine, AccessFlag.LOCAL_WRITE);
      MemorySlice memory = registered.region(client).slice(0, LONG);
      CompletableFuture<?>[] reads = new CompletableFuture<?>[64];
      for (int i = 0; i < reads.length; i++) {
        reads[i] = client.memory().readAsync(remote(LONG), memory);
      }
      registered.close();
      mine.fill(NEW);
      assertThat(CompletableFuture.allOf(reads))
          .as("a read from memory that was closed before its end")
          .failsWithin(PATIENCE);
      assertThat(count(mine, NEW)).isEqualTo(LONG);
    }
  }
}
