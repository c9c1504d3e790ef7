package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.StandIn.assertAsInC;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ErrorNumber;
import org.rdma4j.StandIn;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;

/** Requests reach the provider byte by byte as C posts them. */
@Tag(StandIn.TAG)
final class RequestBytesTest {
  private static final long REMOTE = 0xf1f2f3f4f5f6f7f8L;
  private static final int KEY = 0x81828384;
  private static final int IMMEDIATE = 0x91929394;
  private static final Gid PEER = Gid.ofHex("fe800102030405060708090a0b0c0d0e");

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment text = arena.allocateFrom("twelve bytes");
  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue completions =
      device.createCompletionQueue(CompletionQueueConfig.of(1000));
  private final MemoryRegion region =
      domain.register(
          8192, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.MEMORY_WINDOW_BIND);

  @AfterEach
  void close() {
    device.close();
    arena.close();
  }

  private QueuePair connected(QueuePairConfig config, boolean isExtended) {
    QueuePair queuePair =
        domain.createQueuePair(
            (isExtended ? config.extended(SendOperation.values()) : config)
                .sendDepth(16)
                .sendSges(2)
                .inlineBytes(64));
    queuePair.connect(PathConfig.to(new QueuePairAddress(1, 2, 3, PEER)).gidIndex(0));
    return queuePair;
  }

  private SendRequests toAConnection(SendRequests requests) {
    return requests
        .add(0xfedcba9876543210L)
        .from(region, 16, 32)
        .from(region, 100, 0xfff)
        .signaled()
        .solicited()
        .add(2)
        .sendWithImmediate(IMMEDIATE)
        .from(region, 8, 8)
        .add(3)
        .sendWithInvalidate(KEY)
        .add(4)
        .write(REMOTE, KEY)
        .from(region, 8, 8)
        .fenced()
        .add(5)
        .writeWithImmediate(REMOTE, KEY, IMMEDIATE)
        .from(region, 16, 32)
        .from(region, 100, 0xfff)
        .add(6)
        .read(REMOTE, KEY)
        .into(region, 8, 8)
        .fenced()
        .signaled()
        .add(7)
        .compareAndSwap(REMOTE, KEY, 0x8182838485868788L, 0x9192939495969798L)
        .into(region, 8, 8)
        .add(8)
        .fetchAndAdd(REMOTE, KEY, 0xa1a2a3a4a5a6a7a8L)
        .into(region, 8, 8)
        .add(9)
        .invalidate(KEY)
        .add(10)
        .inline(text, 0, 5)
        .inline(text, 5, 7);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void sendsOverAConnection(boolean isExtended) {
    SendRequests requests =
        connected(QueuePairConfig.reliable(completions), isExtended).sendRequests(10);
    String inC = isExtended ? "wr_to_a_connection" : "post_to_a_connection";
    assertAsInC(inC, () -> toAConnection(requests).post());
    // Again: nothing of the requests before is left.
    for (int i = 0; i < 10; i++) {
      requests.add(i).writeWithImmediate(REMOTE, KEY, IMMEDIATE).inline(text, 0, 12);
      requests.signaled().solicited().fenced();
    }
    requests.post();
    assertAsInC(inC, () -> toAConnection(requests).post());
    PreparedSends prepared = toAConnection(requests).prepare();
    assertAsInC(inC, prepared::post);
    assertAsInC(inC, prepared::post);
  }

  @Test
  void sendsFromAnyMemory() throws Exception {
    SendRequests requests = connected(QueuePairConfig.reliable(completions), false).sendRequests(1);
    ImplicitRegion all = domain.registerImplicit();
    assertAsInC(
        "post_from_any_memory",
        () ->
            requests
                .add(7)
                .from(all, MemorySegment.ofAddress(0x12340).reinterpret(0x56))
                .from(all, MemorySegment.NULL)
                .from(all, MemorySegment.ofAddress(0x78900).reinterpret(1))
                .post());
    requests.add(8);
    assertThatThrownBy(() -> requests.from(all, MemorySegment.ofArray(new byte[1])))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be native memory");
    Arena shared = Arena.ofShared();
    MemorySegment closed = shared.allocate(8);
    shared.close();
    assertThatThrownBy(() -> requests.from(all, closed))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    FutureTask<MemorySegment> confined = new FutureTask<>(() -> Arena.ofConfined().allocate(8));
    Thread.ofPlatform().start(confined);
    MemorySegment foreign = confined.get(30, TimeUnit.SECONDS);
    assertThatThrownBy(() -> requests.from(all, foreign)).isInstanceOf(WrongThreadException.class);
    requests.inline(text, 0, 5);
    assertThatThrownBy(() -> requests.from(all, text))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("both inline bytes and pieces");
    requests.clear();
    all.close();
    assertThatThrownBy(() -> requests.add(9).from(all, text))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is closed");
  }

  @Test
  void rawPacketsAreNotSentFromAnyMemory() {
    QueuePair raw = domain.createQueuePair(QueuePairConfig.rawPackets(completions));
    SendRequests requests = raw.sendRequests(1).add(1);
    assertThatThrownBy(() -> requests.from(domain.registerImplicit(), text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("raw packets");
  }

  /** Each value that can be changed is another one at first. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void changesOfPreparedSends(boolean isExtended) {
    SendRequests requests =
        connected(QueuePairConfig.reliable(completions), isExtended).sendRequests(10);
    long before = REMOTE - 64;
    requests.add(1).from(region, 16, 32).from(region, 100, 0xfff).solicited();
    requests.add(1).sendWithImmediate(1).from(region, 0, 8).signaled();
    requests.add(1).sendWithInvalidate(KEY);
    requests.add(1).write(before, KEY).from(region, 0, 8).fenced();
    requests.add(1).writeWithImmediate(before, KEY, 1);
    requests.from(region, 16, 32).from(region, 100, 0xfff);
    requests.add(1).read(before, KEY).into(region, 0, 8).fenced();
    requests.add(1).compareAndSwap(before, KEY, 1, 1).into(region, 0, 8);
    requests.add(1).fetchAndAdd(before, KEY, 1).into(region, 0, 8);
    requests.add(1).invalidate(KEY).add(1).inline(text, 4, 8).inline(text, 0, 4);
    PreparedSends prepared = requests.prepare();
    prepared.id(0, 0xfedcba9876543210L).signaled(0, true).signaled(1, false).signaled(5, true);
    for (int i = 1; i < 10; i++) {
      prepared.id(i, i + 1);
    }
    for (int i : new int[] {1, 3, 5, 6, 7}) {
      prepared.offset(i, 8);
    }
    for (int i = 3; i < 8; i++) {
      prepared.remoteBytes(i, 1 << 16).remoteOffset(i, 64);
    }
    prepared.immediate(1, IMMEDIATE).immediate(4, IMMEDIATE);
    prepared.compareAndSwap(6, 0x8182838485868788L, 0x9192939495969798L);
    prepared.fetchAndAdd(7, 0xa1a2a3a4a5a6a7a8L);
    prepared.inlineBytes(9).copyFrom(text.asSlice(0, 12));
    assertAsInC(isExtended ? "wr_to_a_connection" : "post_to_a_connection", prepared::post);
  }

  @Test
  void piecesOfLengthZeroAreLeftOut() {
    SendRequests requests =
        connected(QueuePairConfig.reliable(completions), false).sendRequests(10);
    assertAsInC(
        "post_without_empty_pieces",
        () ->
            requests
                .add(1)
                .from(region, 0, 0)
                .from(region, 8, 8)
                .add(2)
                .from(region, 8, 0)
                .add(3)
                .inline(text, 3, 0)
                .post());
  }

  @Test
  void inlineBytesOfARegion() {
    for (int i = 0; i < 100; i++) {
      region.byteBuffer().put(i, (byte) (0x80 + i));
    }
    SendRequests requests =
        connected(QueuePairConfig.reliable(completions), false).sendRequests(10);
    assertAsInC("post_inline_of_a_region", () -> requests.add(1).inline(region, 4, 20).post());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void bindsOfAWindow(boolean isExtended) {
    SendRequests requests =
        connected(QueuePairConfig.reliable(completions), isExtended).sendRequests(1);
    MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
    assertAsInC(
        isExtended ? "wr_a_bind" : "post_a_bind",
        () ->
            requests
                .add(1)
                .bind(
                    window, region.slice(64, 640), AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ)
                .signaled()
                .post());
    assertThat(window.remoteKey()).isEqualTo(0xa5a500);
  }

  @Test
  void aBindOfAWindowOfType1() {
    QueuePair queuePair = connected(QueuePairConfig.reliable(completions), false);
    MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
    assertAsInC(
        "bind_a_window_of_type_1",
        () ->
            window.bind(
                queuePair,
                0x8182838485868788L,
                region.slice(64, 640),
                true,
                AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ));
  }

  @Test
  void anAtomicWrite() {
    SendRequests requests = connected(QueuePairConfig.reliable(completions), true).sendRequests(1);
    assertAsInC(
        "wr_atomic_write_of_8_bytes",
        () -> requests.add(1).atomicWrite(REMOTE, KEY, 0x8182838485868788L).fenced().post());
  }

  @Test
  void flushes() {
    SendRequests requests = connected(QueuePairConfig.reliable(completions), true).sendRequests(3);
    Runnable add =
        () ->
            requests
                .add(1)
                .flush(REMOTE, KEY, 0xf1f2f3f4L, FlushType.GLOBAL)
                .signaled()
                .add(2)
                .flush(REMOTE, KEY, 1, FlushType.GLOBAL_AND_PERSISTENT)
                // Not memory that a flush uses.
                .from(region, 0, 8)
                .add(3)
                .flushRegion(KEY, FlushType.PERSISTENT)
                .fenced();
    assertAsInC(
        "wr_flushes",
        () -> {
          add.run();
          requests.post();
        });
    add.run();
    assertAsInC("wr_flushes", requests.prepare()::post);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1L << 32})
  void aFlushOfALengthOutOfRangeIsRefused(long length) {
    SendRequests requests = connected(QueuePairConfig.reliable(completions), true).sendRequests(1);
    requests.add(1);
    assertThatThrownBy(() -> requests.flush(REMOTE, KEY, length, FlushType.GLOBAL))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("length is " + length);
  }

  @Test
  void aFlushNeedsAnExtendedQueuePair() {
    SendRequests requests = connected(QueuePairConfig.reliable(completions), false).sendRequests(1);
    requests.add(1);
    assertThatThrownBy(() -> requests.flush(REMOTE, KEY, 1, FlushType.GLOBAL))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RELIABLE_CONNECTION");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void datagrams(boolean isExtended) {
    QueuePairConfig config = QueuePairConfig.datagram(completions).sendDepth(2);
    QueuePair queuePair =
        domain.createQueuePair(isExtended ? config.extended(SendOperation.values()) : config);
    queuePair.startDatagrams(1, 0, 1);
    AddressHandle handle = domain.createAddressHandle(AddressVector.to(PEER, 1, 0));
    SendRequests requests = queuePair.sendRequests(2);
    assertAsInC(
        isExtended ? "wr_datagrams" : "post_datagrams",
        () ->
            requests
                .add(1)
                .from(region, 8, 8)
                .checksummed()
                .to(handle, 0xabcdef, 0x80010000)
                .add(2)
                .sendWithImmediate(IMMEDIATE)
                .to(handle, 0xabcdee, 0x80010001)
                .post());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void sendsOverXrc(boolean isExtended) {
    SendRequests requests =
        connected(QueuePairConfig.xrcSend(completions), isExtended).sendRequests(2);
    assertAsInC(
        isExtended ? "wr_over_xrc" : "post_over_xrc",
        () ->
            requests
                .add(1)
                .from(region, 8, 8)
                .toSharedReceiveQueue(0xfedcba)
                .add(2)
                .invalidate(KEY)
                .post());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void segmentedSends(boolean isExtended) {
    QueuePairConfig config = QueuePairConfig.rawPackets(completions).segmentHeaderBytes(64);
    QueuePair queuePair =
        domain.createQueuePair(isExtended ? config.extended(SendOperation.values()) : config);
    queuePair.startRawPackets(1);
    SendRequests requests = queuePair.sendRequests(1);
    assertAsInC(
        isExtended ? "wr_segmented" : "post_segmented",
        () ->
            requests.add(1).segmented(text, 0, 12, 0xfedc).from(region, 8, 8).checksummed().post());
  }

  private ReceiveRequests receives(ReceiveRequests requests) {
    return requests
        .add(0xfedcba9876543210L)
        .into(region, 16, 32)
        .into(region, 100, 0xfff)
        .add(2)
        .add(3)
        .into(region, 4, 0)
        .into(region, 16, 32);
  }

  private void assertReceives(String inC, ReceiveRequests requests) {
    assertAsInC(inC, () -> receives(requests).post());
    PreparedReceives prepared = receives(requests).prepare();
    assertAsInC(inC, prepared::post);
  }

  @Test
  void receives() {
    QueuePair queuePair =
        domain.createQueuePair(
            QueuePairConfig.reliable(completions).receiveDepth(3).receiveSges(2));
    queuePair.initialize(1, 0);
    assertReceives("post_receives", queuePair.receiveRequests(3));
  }

  @Test
  void receivesOfASharedQueue() {
    SharedReceiveQueue queue = domain.createSharedReceiveQueue(3, 2);
    assertReceives("post_shared_receives", queue.receiveRequests(3));
  }

  @Test
  void receivesOfAWorkQueue() {
    WorkQueue queue = domain.createWorkQueue(WorkQueueConfig.of(completions, 3).sges(2));
    queue.modify(WorkQueueState.READY);
    assertReceives("post_work_queue_receives", queue.receiveRequests(3));
  }

  private SharedReceiveQueue tagMatching() {
    return domain.createSharedReceiveQueue(
        SharedReceiveQueueConfig.of(8).sges(2).tagMatching(completions, 4, 4));
  }

  private TagOperations addTags(TagOperations operations) {
    return operations
        .add(0xfedcba9876543210L)
        .tag(0x8182838485868788L, 0x9192939495969798L, 0xf1f2f3f4f5f6f7f8L)
        .into(region, 16, 32)
        .into(region, 0, 0)
        .into(region, 100, 0xfff)
        .signaled()
        .add(2)
        .synchronize(0xa1a2a3a4);
  }

  @Test
  void operationsOnTags() {
    SharedReceiveQueue queue = tagMatching();
    TagOperations operations = queue.tagOperations(4);
    assertAsInC("add_tags", () -> addTags(operations).post());
    // Again: nothing of the operations before is left.
    for (int i = 0; i < 4; i++) {
      operations.add(i).tag(1, 2, 3).into(region, 16, 32).signaled();
    }
    operations.post();
    assertAsInC("add_tags", () -> addTags(operations).post());
    int handle = operations.handle(0);
    TagOperations others = queue.tagOperations(1);
    assertThat(StandIn.transcriptOf(() -> others.add(3).remove(handle).post()))
        .isEqualTo(StandIn.transcriptOfC("remove_tag", handle));
  }

  @Test
  void aRefusedRequestIsKeptWithThoseAfterIt() {
    SendRequests requests =
        connected(QueuePairConfig.reliable(completions), false).sendRequests(12);
    requests.add(1);
    requests.add(2);
    toAConnection(requests);
    StandIn.call("refuse", 2, ErrorNumber.ENOMEM.value(), 1);
    assertThatThrownBy(requests::post)
        .isInstanceOfSatisfying(
            PostException.class, thrown -> assertThat(thrown.index()).isEqualTo(2));
    assertAsInC("post_to_a_connection", requests::post);
  }
}
