package org.rdma4j.connection.buffers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class LargeBuffersTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long MIB = 1 << 20;

  /** As many of 1 MiB as are kept. */
  private static final int MANY = 64;

  private final LargeBuffers buffers = new LargeBuffers(PlainMemory::of, 256 * MIB);

  private void useAtOnce(int count, long bytes) {
    List<Buffer> used = Stream.generate(() -> buffers.take(bytes)).limit(count).toList();
    used.forEach(Buffer::free);
  }

  @Test
  void aBufferIsUsedAgainAlsoAfterManyOfAnotherLength() {
    useAtOnce(MANY, MIB);
    Buffer first = buffers.take(64 << 10);
    first.free();
    assertThat(buffers.take(64 << 10)).isSameAs(first);
  }

  @Property
  void aBufferIsAtMostAnEighthLongerThanWhatWasAskedFor(
      @ForAll @LongRange(min = 16, max = 1 << 22) long bytes) {
    LargeBuffers fresh = new LargeBuffers(PlainMemory::of, MIB);
    Buffer buffer = fresh.take(bytes);
    assertThat(buffer.capacity()).isBetween(bytes, bytes + bytes / 8);
    assertThat(fresh.inUse()).isEqualTo(buffer.capacity());
    buffer.free();
    assertThat(fresh.take(bytes)).isSameAs(buffer);
  }

  @Test
  void aBufferThatIsKeptServesForShorterMessagesDownToHalf() {
    Buffer kept = buffers.take(MIB);
    kept.free();
    Arrivals arrivals = new Arrivals(MIB);
    assertThat(buffers.tryTake(arrivals, MIB / 2)).isNull();
    assertThat(buffers.tryTake(arrivals, MIB / 2 + 1)).isSameAs(kept);
    assertThat(buffers.inUse()).isEqualTo(MIB);
  }

  @Test
  void aThreadThatWaitsDoesNotTakeAKeptBufferBeyondTheMaximum() throws Exception {
    LargeBuffers few = new LargeBuffers(PlainMemory::of, 2 * MIB);
    Buffer kept = few.take(2 * MIB);
    few.take(MIB / 2);
    kept.free();
    assertThat(few.take(MIB + MIB / 4, 0)).isNotNull().isNotSameAs(kept);
  }

  @Test
  void noMoreMemoryIsKeptThanSixtyFourMebibytes() {
    useAtOnce(MANY, MIB);
    useAtOnce(2 * MANY, MIB / 2);
    useAtOnce(1, 65 * MIB);
    assertThat(buffers.registeredBytes()).isEqualTo(64 * MIB);
    useAtOnce(1, 3 * MIB);
    assertThat(buffers.registeredBytes()).isLessThanOrEqualTo(64 * MIB).isGreaterThan(60 * MIB);
  }

  @Test
  void whatIsKeptAndNotNeededIsGivenBackWithinSomeIntervals() {
    useAtOnce(MANY, MIB);
    buffers.shrink();
    assertThat(buffers.registeredBytes()).as("it was needed a moment ago").isEqualTo(MANY * MIB);
    useAtOnce(16, MIB);
    buffers.shrink();
    assertThat(buffers.registeredBytes()).as("16 were needed").isEqualTo(MANY * MIB - 24 * MIB);
    for (int i = 0; i < 10; i++) {
      buffers.shrink();
    }
    assertThat(buffers.registeredBytes()).isZero();
    assertThat(buffers.inUse()).isZero();
  }

  @Test
  void aThreadWaitsWhileThoseInUseAreTooManyForAnotherOne() throws Exception {
    LargeBuffers few = new LargeBuffers(PlainMemory::of, 4 * MIB);
    Buffer first = few.take(4 * MIB - 1); // counts as 4 MiB
    assertThat(few.take(MIB, 1_000_000)).isNull();
    FutureTask<@Nullable Buffer> waiting =
        new FutureTask<>(() -> few.take(MIB, PATIENCE.toNanos()));
    Thread.ofVirtual().start(waiting);
    first.free();
    Buffer second = waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(second).isNotNull();
    assertThat(few.take(3 * MIB + 1, 0)).as("3.25 MiB with 1 MiB in use").isNull();
    assertThat(few.take(3 * MIB, 0)).as("3 MiB with 1 MiB in use").isNotNull();
  }

  @Test
  void aBufferThatDoesNotWaitCountsAllTheSame() throws Exception {
    LargeBuffers few = new LargeBuffers(PlainMemory::of, 2 * MIB);
    Buffer beyond = few.take(8 * MIB);
    assertThat(few.take(MIB, 0)).isNull();
    beyond.free();
    assertThat(few.take(MIB, 0)).isNotNull();
    assertThat(few.take(8 * MIB)).as("kept").isSameAs(beyond);
    assertThat(few.take(MIB, 0)).isNull();
  }

  /** Asks for a buffer for what arrives; returns whether it was granted, and is later. */
  private static boolean[] ask(LargeBuffers from, Arrivals arrivals, long bytes) {
    boolean[] granted = new boolean[1];
    from.grant(arrivals, bytes, () -> granted[0] = true);
    return granted;
  }

  private static Buffer takeAsked(LargeBuffers from, Arrivals arrivals, long bytes) {
    assertThat(ask(from, arrivals, bytes)[0]).as("granted").isTrue();
    return from.takeGranted(arrivals, bytes, bytes);
  }

  @Test
  void aConnectionGetsNoMoreThanHalfOfWhatIsLeftForArrivals() throws Exception {
    LargeBuffers few = new LargeBuffers(PlainMemory::of, 12 * MIB);
    Buffer first = takeAsked(few, new Arrivals(3 * MIB), 3 * MIB);
    takeAsked(few, new Arrivals(3 * MIB), 3 * MIB);
    takeAsked(few, new Arrivals(3 * MIB), 3 * MIB);
    boolean[] fourth = ask(few, new Arrivals(3 * MIB), 3 * MIB);
    assertThat(fourth[0]).as("3 MiB, with 3 left").isFalse();
    takeAsked(few, new Arrivals(3 * MIB), MIB).free();
    assertThat(few.take(12 * MIB, 0)).as("what is sent has its own budget").isNotNull();
    first.free();
    assertThat(fourth[0]).as("3 MiB, with 6 left").isTrue();
  }

  @Test
  void answersThatAreNotFetchedKeepFurtherMessagesWaiting() {
    LargeBuffers few = new LargeBuffers(PlainMemory::of, 16 * MIB);
    Arrivals arrivals = new Arrivals(4 * MIB);
    Buffer answer = takeAsked(few, arrivals, 4 * MIB);
    boolean[] next = ask(few, arrivals, MIB);
    assertThat(next[0]).as("while the user holds 4 MiB").isFalse();
    few.countAnswer(arrivals, answer);
    assertThat(next[0]).as("once they are sent on").isTrue();
    assertThat(few.isFull(arrivals)).as("4 MiB of answers, with 11 left").isTrue();
    few.countAnswer(arrivals, few.takeGranted(arrivals, MIB, MIB));
    boolean[] last = ask(few, arrivals, MIB);
    assertThat(last[0]).as("5 MiB of answers, with 11 left").isFalse();
    answer.free();
    assertThat(last[0]).as("1 MiB of answers, with 15 left").isTrue();
    assertThat(few.isFull(arrivals)).isFalse();
  }

  @Test
  void arrivalsThatWaitGetTheirMemoryInTheirOrderOnceOthersAreClosed() {
    LargeBuffers few = new LargeBuffers(PlainMemory::of, 8 * MIB);
    Buffer first = takeAsked(few, new Arrivals(8 * MIB), 8 * MIB);
    Arrivals second = new Arrivals(MIB);
    boolean[] granted = ask(few, second, 4 * MIB);
    boolean[] third = ask(few, new Arrivals(MIB), 4 * MIB);
    assertThat(granted[0]).isFalse();
    first.free();
    assertThat(granted[0]).isTrue();
    assertThat(third[0]).isFalse();
    few.takeGranted(second, 4 * MIB, 4 * MIB).free();
    assertThat(third[0]).isTrue();
  }

  @Test
  void aConnectionThatEndsGivesBackWhatWasGranted() {
    LargeBuffers few = new LargeBuffers(PlainMemory::of, 8 * MIB);
    Arrivals ended = new Arrivals(8 * MIB);
    assertThat(ask(few, ended, 8 * MIB)[0]).isTrue();
    boolean[] next = ask(few, new Arrivals(MIB), 8 * MIB);
    assertThat(next[0]).isFalse();
    few.withdraw(ended);
    assertThat(next[0]).isTrue();
  }

  @Test
  void whatWasNotUsedForLongestIsGivenUpFirst() {
    Buffer old = buffers.take(MIB);
    Buffer young = buffers.take(2 * MIB);
    old.free();
    young.free();
    useAtOnce(60, MIB / 2);
    useAtOnce(1, 32 * MIB);
    assertThat(buffers.take(2 * MIB)).isSameAs(young);
    assertThat(buffers.take(MIB)).isNotSameAs(old);
  }
}
