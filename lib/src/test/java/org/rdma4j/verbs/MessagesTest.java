package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages arrive unchanged, in every form that a send request can have. */
@Tag("device")
@Tag("data-path")
@Tag("in-place")
final class MessagesTest {
  private Loopback loopback;

  @BeforeEach
  void connect() {
    loopback = Loopback.connected();
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 64, 1023, 1024, 1025, 4096, 65_536, 1 << 20})
  void aMessageArrivesCompleteAndAtItsOffset(long length) {
    byte[] message = random(length);
    MemorySegment.copy(message, 0, loopback.a.region.segment(), JAVA_BYTE, 128, message.length);
    loopback.b.receive(7, 4096, 1 << 20);

    loopback.a.sends.add(8).send().from(loopback.a.region, 128, length).signaled();
    assertThat(loopback.a.sends.post()).isEqualTo(1);

    Loopback.Done received = loopback.b.await(1).getFirst();
    assertThat(received.id()).isEqualTo(7);
    assertThat(received.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(received.opcode()).isEqualTo(CompletionOpcode.RECEIVE);
    assertThat(received.length()).isEqualTo(length);
    assertThat(received.hasImmediate()).isFalse();
    assertThat(received.queuePair()).isEqualTo(loopback.b.queuePair.number());
    assertThat(bytes(loopback.b.region, 4096, length)).isEqualTo(message);
    assertThat(bytes(loopback.b.region, 4096 + length, 16)).containsOnly(0);
    Loopback.Done sent = loopback.a.await(1).getFirst();
    assertThat(sent.id()).isEqualTo(8);
    assertThat(sent.opcode()).isEqualTo(CompletionOpcode.SEND);
  }

  @Tag("needs-immediate-data")
  @Test
  void immediateDataArrivesAsTheSameNumber() {
    loopback.b.receive(1, 0, 64);
    loopback.a.sends.add(2).sendWithImmediate(0x8122_3344).from(loopback.a.region, 0, 3);
    loopback.a.sends.post();

    Loopback.Done received = loopback.b.await(1).getFirst();
    assertThat(received.hasImmediate()).isTrue();
    assertThat(received.immediate()).isEqualTo(0x8122_3344);
    assertThat(received.length()).isEqualTo(3);
  }

  @Test
  void anUnsignalledSendRaisesNoCompletion() throws InterruptedException {
    loopback.b.receive(1, 0, 64);
    loopback.b.receive(2, 0, 64);
    loopback.a.sends.add(3).from(loopback.a.region, 0, 8);
    loopback.a.sends.add(4).from(loopback.a.region, 0, 8).signaled();
    loopback.a.sends.post();

    loopback.b.await(2);
    assertThat(loopback.a.await(1)).extracting(Loopback.Done::id).containsExactly(4L);
    Thread.sleep(20);
    assertThat(loopback.a.completions.poll()).isZero();
  }

  @Test
  void signalAllSignalsUnsignaledSends() {
    try (Loopback all = Loopback.connected(config -> config.signalAll(true))) {
      all.b.receive(1, 0, 64);
      all.a.sends.add(3).from(all.a.region, 0, 8);
      all.a.sends.post();
      assertThat(all.a.await(1)).extracting(Loopback.Done::id).containsExactly(3L);
    }
  }

  @Test
  void inlineBytesMayChangeAsSoonAsTheyWereAdded() {
    byte[] source = "0123456789".getBytes(StandardCharsets.US_ASCII);
    MemorySegment heap = MemorySegment.ofArray(source);
    loopback.b.receive(1, 0, 64);
    loopback.a.sends.add(2).inline(heap, 2, 5).inline(heap, 0, 1);
    heap.fill((byte) 'x');
    loopback.a.sends.post();

    assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(6);
    assertThat(new String(bytes(loopback.b.region, 0, 6), StandardCharsets.US_ASCII))
        .isEqualTo("234560");
  }

  @Test
  void inlineRequestsOfAChainKeepTheirOwnBytes() {
    for (int i = 0; i < Loopback.DEPTH; i++) {
      loopback.b.receives.add(i).into(loopback.b.region, i * 64L, 64);
      loopback.a.sends.add(i).inline(MemorySegment.ofArray(new byte[] {(byte) (i + 1)}), 0, 1);
    }
    loopback.b.receives.post();
    loopback.a.sends.post();

    loopback.b.await(Loopback.DEPTH);
    for (int i = 0; i < Loopback.DEPTH; i++) {
      assertThat(bytes(loopback.b.region, i * 64L, 1)).containsExactly(i + 1);
    }
  }

  @Test
  void piecesAreGatheredAndScatteredInTheirOrder() {
    MemorySegment segment = loopback.a.region.segment();
    MemorySegment.copy("abcdefgh".getBytes(StandardCharsets.US_ASCII), 0, segment, JAVA_BYTE, 0, 8);
    loopback
        .b
        .receives
        .add(1)
        .into(loopback.b.region, 100, 3)
        .into(loopback.b.region.slice(200, 4))
        .into(loopback.b.region, 300, 10);
    loopback.b.receives.post();
    loopback
        .a
        .sends
        .add(2)
        .from(loopback.a.region, 4, 4)
        .from(loopback.a.region, 0, 0)
        .from(loopback.a.region.slice(2, 1))
        .from(loopback.a.region, 0, 4);
    loopback.a.sends.post();

    assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(9);
    assertThat(text(100, 3) + text(200, 4) + text(300, 2)).isEqualTo("efghcabcd");
  }

  private String text(long offset, long length) {
    return new String(bytes(loopback.b.region, offset, length), StandardCharsets.US_ASCII);
  }

  @Test
  void aChainIsPostedInOneCallAndCompletesInItsOrder() {
    for (int i = 0; i < Loopback.DEPTH; i++) {
      loopback.b.receives.add(100 + i).into(loopback.b.region, i * 64L, 64);
      loopback.a.sends.add(200 + i).from(loopback.a.region, 0, i).signaled();
    }
    assertThat(loopback.b.receives.size()).isEqualTo(Loopback.DEPTH);
    assertThat(loopback.b.receives.post()).isEqualTo(Loopback.DEPTH);
    assertThat(loopback.a.sends.post()).isEqualTo(Loopback.DEPTH);
    assertThat(loopback.a.sends.size()).isZero();

    List<Loopback.Done> received = loopback.b.await(Loopback.DEPTH);
    assertThat(received)
        .extracting(Loopback.Done::id)
        .containsExactlyElementsOf(LongStream.range(100, 116).boxed().toList());
    assertThat(received)
        .extracting(Loopback.Done::length)
        .containsExactlyElementsOf(LongStream.range(0, 16).boxed().toList());
    assertThat(loopback.a.await(Loopback.DEPTH))
        .extracting(Loopback.Done::id)
        .containsExactlyElementsOf(LongStream.range(200, 216).boxed().toList());
  }

  @Test
  void postingNothingIsNoCall() {
    assertThat(loopback.a.sends.post()).isZero();
    assertThat(loopback.a.receives.post()).isZero();
  }

  @Test
  void clearedRequestsAreNotPosted() {
    loopback.b.receive(1, 0, 64);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 5);
    loopback.a.sends.clear();
    assertThat(loopback.a.sends.size()).isZero();
    loopback.a.sends.add(2).from(loopback.a.region, 0, 6).signaled();
    loopback.a.sends.post();

    assertThat(loopback.b.await(1).getFirst().length()).isEqualTo(6);
    assertThat(loopback.a.await(1)).extracting(Loopback.Done::id).containsExactly(2L);
  }

  @Test
  void aRefusedRequestIsReportedByItsIndexAndKept() {
    int chain = 7;
    ReceiveRequests requests = loopback.b.queuePair.receiveRequests(chain);
    List<PostException> refusals = new ArrayList<>();
    int posted = 0;
    // A queue may hold more requests than its granted depth.
    while (requests.size() == 0 && posted < 1000) {
      for (int i = 0; i < chain; i++) {
        requests.add(posted + i).into(loopback.b.region, 0, 64);
      }
      refusals.add(catchThrowableOfType(PostException.class, requests::post));
      posted += chain - requests.size();
    }
    PostException refused = refusals.getLast();
    assertThat(refused.errnoName()).isEqualTo("ENOMEM");
    assertThat(refused.index()).isEqualTo(chain - requests.size());
    assertThat(refused).hasMessageContaining("ibv_post_recv of request " + refused.index());

    int kept = requests.size();
    assertThatThrownBy(requests::post)
        .isInstanceOfSatisfying(PostException.class, again -> assertThat(again.index()).isZero());
    assertThat(requests.size()).isEqualTo(kept);
    // The kept requests are posted when the queue has room, and each one is received once, in
    // order.
    send(kept);
    // On adapters, only a completion that was polled makes room.
    List<Loopback.Done> received = new ArrayList<>(loopback.b.await(kept));
    assertThat(requests.post()).isEqualTo(kept);
    for (int left = posted; left > 0; left -= Math.min(left, chain)) {
      send(Math.min(left, chain));
      received.addAll(loopback.b.await(Math.min(left, chain)));
    }
    assertThat(received)
        .extracting(Loopback.Done::id)
        .containsExactlyElementsOf(LongStream.range(0, posted + kept).boxed().toList());
  }

  private void send(int messages) {
    for (int i = 0; i < messages; i++) {
      loopback.a.sends.add(i).from(loopback.a.region, 0, 1).signaled();
    }
    loopback.a.sends.post();
    loopback.a.await(messages);
  }

  @Tag("needs-solicited-events")
  @Test
  void aSolicitedMessageRaisesAnEventOnAQueueForSolicitedOnly() throws InterruptedException {
    loopback.b.receive(1, 0, 64);
    loopback.b.receive(2, 0, 64);
    loopback.b.queue.requestNotification(true);
    loopback.a.sends.add(1).from(loopback.a.region, 0, 1);
    loopback.a.sends.post();
    loopback.b.await(1);
    assertThat(loopback.b.channel.awaitEvent(Duration.ofMillis(100))).isEmpty();

    loopback.a.sends.add(2).from(loopback.a.region, 0, 1).solicited();
    loopback.a.sends.post();
    assertThat(loopback.b.channel.awaitEvent(Loopback.PATIENCE)).contains(loopback.b.queue);
  }

  @Test
  void aFullBatchIsReported() {
    for (int i = 0; i < Loopback.DEPTH; i++) {
      loopback.a.sends.add(i);
    }
    assertThatThrownBy(() -> loopback.a.sends.add(99))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("all 16 requests")
        .hasMessageContaining("post()");
    assertThat(loopback.a.sends.size()).isEqualTo(Loopback.DEPTH);
  }

  @Test
  void morePiecesThanTheQueuePairAllowsAreRefused() {
    int max = loopback.a.queuePair.capabilities().sendSges();
    loopback.a.sends.add(1);
    for (int i = 0; i < max; i++) {
      loopback.a.sends.from(loopback.a.region, 0, 1);
    }
    assertThatThrownBy(() -> loopback.a.sends.from(loopback.a.region, 0, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most " + max + " pieces");
  }

  @Test
  void morePiecesThanAReceiveAllowsAreRefused() {
    int max = loopback.a.queuePair.capabilities().receiveSges();
    loopback.a.receives.add(1);
    for (int i = 0; i < max; i++) {
      loopback.a.receives.into(loopback.a.region, 0, 1);
    }
    assertThatThrownBy(() -> loopback.a.receives.into(loopback.a.region, 0, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most " + max + " pieces");
  }

  @Test
  void asManyPiecesAsTheDeviceAllowsAreGatheredAndScattered() {
    int max = loopback.device.attributes().maxSges();
    try (Loopback wide =
        Loopback.connected(config -> config.sendSges(max).receiveSges(max).inlineBytes(0))) {
      byte[] message = random(max);
      wide.a.region.segment().copyFrom(MemorySegment.ofArray(message));
      wide.a.sends.add(1);
      wide.b.receives.add(2);
      for (int i = 0; i < max; i++) {
        wide.a.sends.from(wide.a.region, max - 1 - i, 1);
        wide.b.receives.into(wide.b.region, max - 1 - i, 1);
      }
      wide.b.receives.post();
      wide.a.sends.post();

      assertThat(wide.b.await(1).getFirst().length()).isEqualTo(max);
      assertThat(bytes(wide.b.region, 0, max)).isEqualTo(message);
    }
  }

  @Test
  void aMessageArrivesInARegionOfRelaxedOrdering() {
    AccessFlag[] relaxed = {AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING};
    Messages.cross(
        loopback, loopback.domain.register(8192, relaxed), loopback.domain.register(8192, relaxed));
  }

  @Test
  void moreInlineBytesThanTheQueuePairAllowsAreRefused() {
    int max = loopback.a.queuePair.capabilities().inlineBytes();
    MemorySegment source = MemorySegment.ofArray(new byte[max + 1]);
    loopback.a.sends.add(1).inline(source, 0, max);
    assertThatThrownBy(() -> loopback.a.sends.inline(source, 0, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most " + max);
    assertThatThrownBy(() -> loopback.a.sends.inline(source, 0, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aRequestCannotBeBothInlineAndFromRegions() {
    MemorySegment source = MemorySegment.ofArray(new byte[8]);
    loopback.a.sends.add(1).inline(source, 0, 1);
    assertThatThrownBy(() -> loopback.a.sends.from(loopback.a.region, 0, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot have both");
    loopback.a.sends.add(2).from(loopback.a.region, 0, 1);
    assertThatThrownBy(() -> loopback.a.sends.inline(source, 0, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot have both");
  }

  @Test
  void changingARequestBeforeAddIsRefused() {
    List<Runnable> attempts =
        List.of(
            () -> loopback.a.sends.send(),
            () -> loopback.a.sends.sendWithImmediate(1),
            () -> loopback.a.sends.signaled(),
            () -> loopback.a.sends.solicited(),
            () -> loopback.a.sends.from(loopback.a.region, 0, 1),
            () -> loopback.a.sends.inline(MemorySegment.ofArray(new byte[1]), 0, 1),
            () -> loopback.a.receives.into(loopback.a.region, 0, 1));
    for (Runnable attempt : attempts) {
      assertThatThrownBy(attempt::run)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("add(id)");
    }
  }

  @Test
  void completionsThatWereNotPolledCannotBeRead() {
    assertThat(loopback.a.completions.size()).isZero();
    assertThatThrownBy(() -> loopback.a.completions.workRequestId(0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> loopback.a.completions.status(-1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  private static byte[] random(long length) {
    byte[] bytes = new byte[(int) length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private static byte[] bytes(MemoryRegion region, long offset, long length) {
    return region.segment().asSlice(offset, length).toArray(JAVA_BYTE);
  }
}
