package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.ErrorNumber;

/** Requests that are built once do the same each time, with what was changed between posts. */
@Tag("device")
@Tag("data-path")
final class PreparedRequestsTest {
  private Loopback loopback;

  @BeforeEach
  void connect() {
    loopback = connected(false);
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private static Loopback connected(boolean extended) {
    return Loopback.connected(
        config -> extended ? config.extended(Loopback.operations()) : config,
        path -> path.access(Loopback.ALL));
  }

  private MemoryRegion remote() {
    MemoryRegion remote = loopback.domain.register(4096, Loopback.ALL);
    for (int i = 0; i < remote.byteSize(); i++) {
      remote.segment().set(JAVA_BYTE, i, (byte) (i / 64));
    }
    return remote;
  }

  private void fill(MemoryRegion region) {
    for (int i = 0; i < 4096; i++) {
      region.segment().set(JAVA_BYTE, i, (byte) (i / 64));
    }
  }

  private List<Loopback.Done> sent(int count) {
    List<Loopback.Done> done = loopback.a.await(count);
    assertThat(done).allMatch(each -> each.status() == CompletionStatus.SUCCESS);
    return done;
  }

  @Test
  void eachPostSendsThePartAndTheIdThatWereSetLast() {
    eachPostSendsThePartAndTheIdThatWereSetLast(false);
  }

  @Tag("needs-extended-queue-pairs")
  @Test
  void eachPostSendsThePartAndTheIdThatWereSetLastOfExtendedQueuePairs() {
    eachPostSendsThePartAndTheIdThatWereSetLast(true);
  }

  private void eachPostSendsThePartAndTheIdThatWereSetLast(boolean extended) {
    loopback.close();
    loopback = connected(extended);
    fill(loopback.a.region);
    PreparedSends send =
        loopback.a.sends.add(0).from(loopback.a.region, 0, 64).signaled().prepare();
    for (int i = 1; i <= 3 * Loopback.DEPTH; i++) {
      int part = i % 64;
      loopback.b.receive(i, 0, 4096);
      assertThat(send.id(0, 1000 + i).offset(0, 64L * part).length(0, 1 + part).post())
          .isEqualTo(1);
      assertThat(sent(1).getFirst().id()).isEqualTo(1000 + i);
      assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(1 + part);
      assertThat(loopback.b.region.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) part);
    }
  }

  @Tag("needs-immediate-data")
  @Test
  void aPostWithoutChangesRepeatsTheChain() {
    for (int i = 0; i < 3; i++) {
      loopback.a.sends.add(i).sendWithImmediate(10 * i).from(loopback.a.region, 0, 8 + i);
    }
    PreparedSends chain = loopback.a.sends.signaled().prepare();
    assertThat(chain.size()).isEqualTo(3);
    assertThat(loopback.a.sends.size()).as("requests left in the batch").isZero();
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 3; i++) {
        loopback.b.receive(i, 0, 64);
      }
      assertThat(chain.post()).isEqualTo(3);
      assertThat(sent(1)).extracting(Loopback.Done::id).containsExactly(2L);
      assertThat(loopback.b.await(3))
          .extracting(Loopback.Done::length, Loopback.Done::immediate)
          .containsExactly(tuple(8L, 0), tuple(9L, 10), tuple(10L, 20));
    }
  }

  @Test
  void aPartOfAChainIsPostedAndTheRestIsNot() throws InterruptedException {
    for (int i = 0; i < 4; i++) {
      loopback.a.sends.add(i).from(loopback.a.region, 0, 8).signaled();
      loopback.b.receive(i, 0, 64);
      loopback.b.receive(i, 0, 64);
    }
    PreparedSends chain = loopback.a.sends.prepare();
    assertThat(chain.post(1, 2)).isEqualTo(2);
    assertThat(sent(2)).extracting(Loopback.Done::id).containsExactly(1L, 2L);
    Thread.sleep(20);
    assertThat(loopback.a.completions.poll()).isZero();
    assertThat(chain.post(0, 0)).isZero();
    chain.post();
    assertThat(sent(4)).extracting(Loopback.Done::id).containsExactly(0L, 1L, 2L, 3L);
    assertThatThrownBy(() -> chain.post(3, 2))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("first is 3 and count is 2, but there are 4 requests");
  }

  @Test
  void signalingCanChange() throws InterruptedException {
    PreparedSends send = loopback.a.sends.add(1).from(loopback.a.region, 0, 8).prepare();
    loopback.b.receive(1, 0, 64);
    loopback.b.receive(2, 0, 64);
    send.post();
    loopback.b.await(1);
    Thread.sleep(20);
    assertThat(loopback.a.completions.poll()).isZero();
    send.signaled(0, true).post();
    sent(1);
    send.signaled(0, false);
    loopback.b.receive(3, 0, 64);
    send.post();
    loopback.b.await(2);
    Thread.sleep(20);
    assertThat(loopback.a.completions.poll()).isZero();
  }

  @Tag("needs-immediate-data")
  @Test
  void immediateDataCanChange() {
    PreparedSends send =
        loopback.a.sends.add(1).sendWithImmediate(5).from(loopback.a.region, 0, 8).prepare();
    for (int immediate : new int[] {7, 0x8122_3344}) {
      loopback.b.receive(1, 0, 64);
      send.immediate(0, immediate).post();
      assertThat(loopback.b.await(1).getFirst().immediate()).isEqualTo(immediate);
    }
    PreparedSends invalidating =
        loopback.a.sends.add(1).sendWithInvalidate(5).from(loopback.a.region, 0, 8).prepare();
    assertThatThrownBy(() -> invalidating.immediate(0, 6))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("request 0 was not built with sendWithImmediate");
  }

  @Test
  void readsAndWritesMoveInTheMemoryOfThePeer() {
    readsAndWritesMoveInTheMemoryOfThePeer(false);
  }

  @Tag("needs-extended-queue-pairs")
  @Test
  void readsAndWritesMoveInTheMemoryOfThePeerOfExtendedQueuePairs() {
    readsAndWritesMoveInTheMemoryOfThePeer(true);
  }

  private void readsAndWritesMoveInTheMemoryOfThePeer(boolean extended) {
    loopback.close();
    loopback = connected(extended);
    MemoryRegion remote = remote();
    MemorySegment local = loopback.a.region.segment();
    PreparedSends read =
        loopback
            .a
            .sends
            .add(1)
            .read(remote.remoteAddress(), remote.remoteKey())
            .into(loopback.a.region, 0, 64)
            .signaled()
            .prepare();
    read.remoteBytes(0, 4096);
    for (int i = 0; i < 64; i++) {
      read.remoteOffset(0, 64L * i).offset(0, 128).post();
      sent(1);
      assertThat(local.get(JAVA_BYTE, 128)).isEqualTo((byte) i);
    }
    PreparedSends write =
        loopback
            .a
            .sends
            .add(1)
            .write(remote.remoteAddress(), remote.remoteKey())
            .from(loopback.a.region, 0, 8)
            .signaled()
            .prepare();
    local.set(JAVA_LONG, 1024, 77);
    write.remoteBytes(0, 4096).remoteOffset(0, 4088).offset(0, 1024).post();
    sent(1);
    assertThat(remote.segment().get(JAVA_LONG, 4088)).isEqualTo(77);
  }

  @Test
  void aRequestStaysInTheBoundsOfThePeersMemory() {
    MemoryRegion remote = remote();
    PreparedSends read =
        loopback
            .a
            .sends
            .add(1)
            .read(remote.remoteAddress(), remote.remoteKey())
            .into(loopback.a.region, 0, 64)
            .signaled()
            .prepare();
    assertThatThrownBy(() -> read.remoteOffset(0, 1))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("remoteOffset of request 0 is 1, must be from 0 to 0; remoteBytes");
    assertThatThrownBy(() -> read.remoteBytes(0, 63))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be at least the 64 bytes");
    read.remoteBytes(0, 4096).remoteOffset(0, 4032);
    for (long offset : new long[] {-1, 4033, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> read.remoteOffset(0, offset))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining("is " + offset + ", must be from 0 to 4032");
    }
    // What was refused changed nothing.
    read.post();
    sent(1);
    assertThat(loopback.a.region.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 63);
    PreparedSends send = loopback.a.sends.add(1).from(loopback.a.region, 0, 8).prepare();
    assertThatThrownBy(() -> send.remoteOffset(0, 0)).hasMessageContaining("no memory of the peer");
    assertThatThrownBy(() -> send.remoteBytes(0, 8)).hasMessageContaining("no memory of the peer");
  }

  @Test
  void aPreparedRequestKeepsTheBoundsOfTheMemoryThatThePeerHasNamed() {
    RemoteMemory named = RemoteMemory.of(remote()).slice(0, 1024);
    MemoryRegion local = loopback.a.region;
    List<PreparedSends> of64Bytes =
        List.of(
            loopback.a.sends.add(1).read(named, 512, 64).into(local, 0, 64).prepare(),
            loopback.a.sends.add(1).write(named, 512, 64).from(local, 0, 64).prepare(),
            loopback.a.sends.add(1).write(named, 512, 64).inline(local, 0, 64).prepare());
    for (PreparedSends request : of64Bytes) {
      for (long beyond : new long[] {513, 1 << 20, Long.MAX_VALUE}) {
        assertThatThrownBy(() -> request.remoteBytes(0, beyond))
            .isInstanceOf(IndexOutOfBoundsException.class)
            .hasMessageContaining("is " + beyond + ", must be at most the 512 bytes");
      }
      assertThatThrownBy(() -> request.remoteOffset(0, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
      request.remoteBytes(0, 512).remoteOffset(0, 448);
      assertThatThrownBy(() -> request.remoteOffset(0, 449))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    // The same place in the batch may have held a request with bounds.
    MemoryRegion other = remote();
    loopback
        .a
        .sends
        .add(1)
        .read(other.remoteAddress(), other.remoteKey())
        .into(local, 0, 64)
        .prepare()
        .remoteBytes(0, 4096);
  }

  @Tag("needs-atomics")
  @Test
  void aPreparedAtomicKeepsTheBoundsOfTheMemoryThatThePeerHasNamed() {
    RemoteMemory named = RemoteMemory.of(remote()).slice(0, 64);
    MemoryRegion local = loopback.a.region;
    List<PreparedSends> atomics =
        List.of(
            loopback.a.sends.add(1).fetchAndAdd(named, 8, 1).into(local, 0, 8).prepare(),
            loopback.a.sends.add(1).compareAndSwap(named, 8, 0, 1).into(local, 0, 8).prepare());
    for (PreparedSends atomic : atomics) {
      assertThatThrownBy(() -> atomic.remoteBytes(0, 57))
          .isInstanceOf(IndexOutOfBoundsException.class);
      atomic.remoteBytes(0, 56).remoteOffset(0, 48);
    }
  }

  @Test
  void aPieceStaysInItsRegion() {
    PreparedSends send =
        loopback.a.sends.add(1).from(loopback.a.region, 64, 1024).signaled().prepare();
    long limit = Loopback.REGION_BYTES - 1024;
    send.offset(0, limit);
    for (long offset : new long[] {-1, limit + 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> send.offset(0, offset))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining(
              "offset of request 0 is " + offset + ", must be from 0 to " + limit);
    }
    for (long length : new long[] {0, -1, 1025, 1L << 32, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> send.length(0, length))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("length of request 0 is " + length + ", must be from 1 to 1024");
    }
    for (int index : new int[] {-1, 1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
      assertThatThrownBy(() -> send.id(index, 1))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining("index is " + index + ", must be from 0 to 0");
    }
  }

  @Test
  void aRequestOfSeveralPiecesDoesNotMove() {
    PreparedSends send =
        loopback
            .a
            .sends
            .add(1)
            .from(loopback.a.region, 0, 8)
            .from(loopback.a.region, 64, 8)
            .prepare();
    assertThatThrownBy(() -> send.offset(0, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("does not have exactly one piece");
    assertThatThrownBy(() -> send.length(0, 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("does not have exactly one piece");
    loopback.b.receive(1, 0, 64);
    send.post();
    assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(16);
  }

  @Tag("needs-atomics")
  @Test
  void atomicsTakeOtherNumbersAndPlaces() {
    MemoryRegion remote = loopback.domain.register(4096, Loopback.ALL);
    PreparedSends add =
        loopback
            .a
            .sends
            .add(1)
            .fetchAndAdd(remote.remoteAddress(), remote.remoteKey(), 1)
            .into(loopback.a.region, 0, 8)
            .signaled()
            .prepare();
    add.remoteBytes(0, 64).post();
    sent(1);
    add.fetchAndAdd(0, 41).post();
    sent(1);
    add.remoteOffset(0, 8).post();
    sent(1);
    assertThat(remote.segment().get(JAVA_LONG, 0)).isEqualTo(42);
    assertThat(remote.segment().get(JAVA_LONG, 8)).isEqualTo(41);
    assertThatThrownBy(() -> add.remoteOffset(0, 9))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is 9, must be divisible by 8");
    assertThatThrownBy(() -> add.length(0, 4)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> add.compareAndSwap(0, 1, 2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("was not built with compareAndSwap");
    PreparedSends swap =
        loopback
            .a
            .sends
            .add(1)
            .compareAndSwap(remote.remoteAddress(), remote.remoteKey(), 0, 0)
            .into(loopback.a.region, 0, 8)
            .signaled()
            .prepare();
    swap.compareAndSwap(0, 42, 99).post();
    sent(1);
    assertThat(remote.segment().get(JAVA_LONG, 0)).isEqualTo(99);
    assertThatThrownBy(() -> swap.fetchAndAdd(0, 1)).hasMessageContaining("fetchAndAdd");
  }

  @Test
  void inlineBytesCanBeChangedInPlace() {
    byte[] bytes = {1, 2, 3};
    PreparedSends send =
        loopback.a.sends.add(1).inline(MemorySegment.ofArray(bytes), 0, 3).prepare();
    MemorySegment inline = send.inlineBytes(0);
    assertThat(inline.toArray(JAVA_BYTE)).containsExactly(1, 2, 3);
    for (byte first = 5; first < 8; first++) {
      loopback.b.receive(1, 0, 64);
      inline.set(JAVA_BYTE, 0, first);
      send.post();
      assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(3);
      assertThat(loopback.b.region.segment().asSlice(0, 3).toArray(JAVA_BYTE))
          .containsExactly(first, 2, 3);
    }
    assertThatThrownBy(() -> send.offset(0, 0)).isInstanceOf(IllegalStateException.class);
    PreparedSends other = loopback.a.sends.add(1).from(loopback.a.region, 0, 3).prepare();
    assertThatThrownBy(() -> other.inlineBytes(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("request 0 has no inline bytes");
  }

  @Test
  void bytesOfARegionAreSentInlineFromWhereTheyAre() {
    bytesOfARegionAreSentInlineFromWhereTheyAre(false);
  }

  @Tag("needs-extended-queue-pairs")
  @Test
  void bytesOfARegionAreSentInlineFromWhereTheyAreOfExtendedQueuePairs() {
    bytesOfARegionAreSentInlineFromWhereTheyAre(true);
  }

  private void bytesOfARegionAreSentInlineFromWhereTheyAre(boolean extended) {
    loopback.close();
    loopback = connected(extended);
    fill(loopback.a.region);
    loopback.b.receive(1, 0, 64);
    loopback.a.sends.add(1).inline(loopback.a.region, 130, 5).signaled().post();
    // The provider has copied them by now.
    loopback.a.region.segment().set(JAVA_BYTE, 130, (byte) 99);
    assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(5);
    sent(1);
    assertThat(loopback.b.region.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 2);
    PreparedSends send =
        loopback.a.sends.add(1).inline(loopback.a.region, 0, 16).signaled().prepare();
    loopback.b.receive(1, 0, 64);
    send.offset(0, 640).length(0, 7).post();
    assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(7);
    sent(1);
    assertThat(loopback.b.region.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 10);
  }

  @Test
  void inlineBytesOfAClosedRegionAreNotPosted() {
    MemoryRegion closing = loopback.domain.register(4096, AccessFlag.LOCAL_WRITE);
    loopback.b.receive(1, 0, 64);
    loopback.a.sends.add(1).inline(closing, 0, 8).signaled();
    closing.close();
    assertThatThrownBy(loopback.a.sends::post)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("inline bytes is closed");
    assertThat(loopback.a.sends.size()).as("requests kept").isEqualTo(1);
    loopback.a.sends.clear();
    loopback.a.sends.add(2).inline(loopback.a.region, 0, 8).signaled().post();
    assertThat(sent(1)).extracting(Loopback.Done::id).containsExactly(2L);
  }

  @Test
  void inlineBytesOfARegionHaveTheLimitsOfTheQueuePair() {
    int max = loopback.a.queuePair.capabilities().inlineBytes();
    loopback.a.sends.add(1);
    assertThatThrownBy(() -> loopback.a.sends.inline(loopback.a.region, 0, max + 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most " + max);
    assertThatThrownBy(
            () -> loopback.a.sends.inline(loopback.a.region, Loopback.REGION_BYTES - 1, 2))
        .isInstanceOf(IndexOutOfBoundsException.class);
    loopback.a.sends.inline(loopback.a.region, 0, 2);
    assertThatThrownBy(() -> loopback.a.sends.inline(loopback.a.region, 0, 2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("both inline bytes and pieces");
  }

  @Test
  void receivesArePostedAgainInTheirOrder() {
    for (int i = 0; i < 5; i++) {
      loopback.b.receives.add(i).into(loopback.b.region, 64L * i, 64);
    }
    PreparedReceives receives = loopback.b.receives.prepare();
    receives.post();
    PreparedSends send = loopback.a.sends.add(0).from(loopback.a.region, 0, 8).signaled().prepare();
    long expected = 0;
    // 1, 2, 3, 4, 5 of five: at every place, also around the end.
    for (int round = 0; round < 15; round++) {
      int count = 1 + round % 5;
      for (int i = 0; i < count; i++) {
        loopback.a.region.segment().set(JAVA_LONG, 0, expected + i);
        send.post();
        sent(1);
      }
      for (Loopback.Done done : loopback.b.await(count)) {
        assertThat(done.id()).isEqualTo(expected % 5);
        assertThat(loopback.b.region.segment().get(JAVA_LONG, 64 * (expected % 5)))
            .isEqualTo(expected);
        expected++;
      }
      receives.repost(count);
    }
    receives.repost(0);
    assertThatThrownBy(() -> receives.repost(6))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("count is 6, must be from 0 to 5");
    assertThatThrownBy(() -> receives.repost(-1)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void receivesMove() {
    PreparedReceives receive = loopback.b.receives.add(1).into(loopback.b.region, 0, 64).prepare();
    receive.id(0, 5).offset(0, 4096).length(0, 8).post();
    loopback.a.region.segment().set(JAVA_LONG, 0, 1234);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 8).signaled().post();
    assertThat(loopback.b.await(1).getFirst().id()).isEqualTo(5);
    assertThat(loopback.b.region.segment().get(JAVA_LONG, 4096)).isEqualTo(1234);
    sent(1);
  }

  @Test
  void aFullQueueNamesTheFirstRequestThatWasNotPosted() {
    int depth = loopback.b.queuePair.capabilities().receiveDepth();
    ReceiveRequests all = loopback.b.queuePair.receiveRequests(depth);
    for (int i = 0; i < depth; i++) {
      all.add(i).into(loopback.b.region, 64L * i, 64);
    }
    PreparedReceives receives = all.prepare();
    // Soft-RoCE has more places than it was asked for, but not twice as many.
    PostException full =
        catchThrowableOfType(
            PostException.class,
            () -> {
              receives.post();
              receives.post();
            });
    assertThat(full.index()).isBetween(0, depth - 1);
    assertThat(full.errno()).isEqualTo(ErrorNumber.ENOMEM.value());
    PostException first = catchThrowableOfType(PostException.class, () -> receives.repost(3));
    assertThat(first.index()).isZero();
    assertThat(first).hasMessageContaining("ibv_post_recv of request 0");
  }

  @Test
  void afterItsRegionIsClosedARequestIsNotPosted() {
    MemoryRegion closing = loopback.domain.register(4096, AccessFlag.LOCAL_WRITE);
    PreparedSends send = loopback.a.sends.add(1).from(closing, 0, 8).signaled().prepare();
    PreparedReceives receive = loopback.b.receives.add(1).into(closing, 0, 8).prepare();
    receive.post();
    send.post();
    sent(1);
    closing.close();
    assertThatThrownBy(send::post)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("memory region of 4096 bytes")
        .hasMessageContaining("is closed");
    assertThatThrownBy(receive::post)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is closed");
    loopback.a.sends.add(1).from(loopback.a.region, 0, 8);
    assertThat(loopback.a.sends.size()).isEqualTo(1);
  }

  @Test
  void aRequestWhoseRegionIsClosedCannotBePrepared() {
    MemoryRegion closing = loopback.domain.register(4096, AccessFlag.LOCAL_WRITE);
    loopback.a.sends.add(1).from(closing, 0, 8);
    closing.close();
    assertThatThrownBy(loopback.a.sends::prepare)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("memory region of a request is closed");
    assertThat(loopback.a.sends.size()).as("requests kept").isEqualTo(1);
  }

  @Tag("needs-connecting-by-address")
  @Test
  void requestsFollowTheStateOfTheQueuePair() {
    try (Loopback fresh = Loopback.unconnected()) {
      PreparedSends send = fresh.a.sends.add(1).from(fresh.a.region, 0, 8).signaled().prepare();
      PreparedReceives receive = fresh.b.receives.add(1).into(fresh.b.region, 0, 64).prepare();
      assertThatThrownBy(send::post)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is in state RESET; call connect");
      assertThatThrownBy(receive::post)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is in state RESET");
      fresh.a.queuePair.connect(fresh.path(fresh.b.address()));
      fresh.b.queuePair.connect(fresh.path(fresh.a.address()));
      receive.post();
      send.post();
      assertThat(fresh.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
      fresh.a.queuePair.reset();
      assertThatThrownBy(send::post).hasMessageContaining("is in state RESET; call connect");
      fresh.a.queuePair.close();
      assertThatThrownBy(send::post).hasMessageContaining("is closed");
      assertThatThrownBy(() -> send.id(0, 1)).hasMessageContaining("is closed");
    }
  }

  @Test
  void aBatchFollowsTheStateOfTheQueuePair() {
    loopback.b.receive(1, 0, 64);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 8).signaled().post();
    sent(1);
    loopback.a.queuePair.reset();
    loopback.a.sends.add(1).from(loopback.a.region, 0, 8).signaled();
    assertThatThrownBy(loopback.a.sends::post)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is in state RESET; call connect");
  }

  @Tag("needs-memory-windows")
  @Test
  void whatCannotBeRepeatedIsNotPrepared() {
    assertThatThrownBy(loopback.a.sends::prepare)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no request to prepare");
    assertThatThrownBy(loopback.b.receives::prepare).hasMessageContaining("no request to prepare");
    MemoryRegion bindable =
        loopback.domain.register(
            4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.MEMORY_WINDOW_BIND);
    MemoryWindow window = loopback.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
    loopback.a.sends.add(1).bind(window, bindable.slice(0, 64), AccessFlag.REMOTE_WRITE);
    assertThatThrownBy(loopback.a.sends::prepare)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("needs a new key each time");
    loopback.a.sends.clear();
  }

  @Test
  void anotherThreadIsRefused() throws Exception {
    PreparedSends send = loopback.a.sends.add(1).from(loopback.a.region, 0, 8).prepare();
    send.id(0, 1);
    FutureTask<Integer> stranger = new FutureTask<>(send::post);
    Thread.ofPlatform().start(stranger);
    assertThatThrownBy(() -> stranger.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("PreparedSends belongs to thread");
    send.release();
    loopback.b.receive(1, 0, 64);
    FutureTask<Integer> next = new FutureTask<>(send::post);
    Thread.ofPlatform().start(next);
    assertThat(next.get(30, TimeUnit.SECONDS)).isEqualTo(1);
  }

  @Tag("needs-connecting-by-address")
  @Test
  void closingARegionWhileAnotherThreadPostsItMakesThePostThrow() throws Exception {
    for (int round = 0; round < 20; round++) {
      MemoryRegion closing = loopback.domain.register(4096, AccessFlag.LOCAL_WRITE);
      PreparedSends send =
          loopback.a.queuePair.sendRequests(1).add(1).inline(closing, 0, 32).signaled().prepare();
      for (int i = 0; i < 4; i++) {
        loopback.b.receive(i, 0, 64);
      }
      AtomicBoolean isClosed = new AtomicBoolean();
      FutureTask<Integer> poster =
          new FutureTask<>(
              () -> {
                int posted = 0;
                while (true) {
                  try {
                    if (posted < 4 || isClosed.get()) {
                      send.post();
                      posted++;
                    }
                  } catch (IllegalStateException closed) {
                    return posted;
                  }
                }
              });
      Thread.ofPlatform().start(poster);
      Thread.sleep(round % 4);
      closing.close();
      isClosed.set(true);
      int posted = poster.get(30, TimeUnit.SECONDS);
      sent(posted);
      loopback.b.await(posted);
      loopback.b.queuePair.reset();
      loopback.a.queuePair.reset();
      loopback.a.queuePair.connect(loopback.path(loopback.b.address()));
      loopback.b.queuePair.connect(loopback.path(loopback.a.address()));
    }
  }
}
