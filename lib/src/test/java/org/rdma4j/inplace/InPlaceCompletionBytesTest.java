package org.rdma4j.inplace;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.CompletionLayout;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.SendLayout;
import org.rdma4j.inplace.TwoQueuePairs.End;
import org.rdma4j.platform.Libc;
import org.rdma4j.verbs.QueuePairType;

/**
 * What a poll in place makes of a completion of the adapter is, byte for byte, what libmlx5 makes
 * of it. The test writes random completions into the queues, as the adapter would.
 */
@Tag("mlx5")
final class InPlaceCompletionBytesTest {
  private static final int TRIES = 10_000;
  private static final int USER_INDEX = 32;
  private static final int ORIGIN = 56;
  private static final int POSITION = 60;
  private static final int OWNER = 63;

  /** What is in the memory of a poll where it writes nothing. */
  private static final byte UNTOUCHED = 0x5a;

  @SuppressWarnings("NullAway.Init") // before the first test
  private static TwoQueuePairs pairs;

  /** How many completions the queues have had: the adapter's at first. */
  private static int produced;

  /** How many receives have completed. */
  private static int receives;

  /** By this number libmlx5 finds the queue pair of a completion. */
  private static int userIndexByLibrary;

  private static int userIndexInPlace;

  @BeforeContainer
  static void fillTheQueues() {
    // Otherwise libmlx5 prints each failed completion.
    Libc.setEnvironment("MLX5_DEBUG_FILE", "/dev/null");
    pairs = new TwoQueuePairs(QueuePairType.RELIABLE_CONNECTION);
    Random random = new Random(1);
    // Each place of both queues has had a request, whose id a completion names.
    while (produced < 64 * TwoQueuePairs.DEPTH) {
      RandomRequests requests = new RandomRequests(random.nextLong());
      requests.sends(SendLayout.SEND, 0);
      pairs.compareSends(requests);
      produced += requests.count();
      requests.receives();
      pairs.compareReceives(requests);
      produced += requests.count();
      receives += requests.count();
      pairs.drain();
    }
    userIndexByLibrary = RawMemory.getInt(entry(pairs.byLibrary, produced - 1) + USER_INDEX);
    userIndexInPlace = RawMemory.getInt(entry(pairs.inPlace, produced - 1) + USER_INDEX);
  }

  @AfterContainer
  static void closePairs() {
    pairs.close();
  }

  private static long entry(End end, int index) {
    int count = end.completions.count();
    return end.completions.entries() + (long) (index & count - 1) * CompletionEntry.SIZE;
  }

  /** Writes a completion into both queues, polls both, and compares the results. */
  private static void compare(byte[] completion, int kind) {
    write(pairs.byLibrary, completion, kind, userIndexByLibrary);
    write(pairs.inPlace, completion, kind, userIndexInPlace);
    produced++;
    byte[] expected = polledByLibrary();
    byte[] polled = polledInPlace();
    assertThat(polled).isEqualTo(expected);
    assertThat(RawMemory.getInt(pairs.inPlace.completions.record()))
        .isEqualTo(RawMemory.getInt(pairs.byLibrary.completions.record()));
  }

  private static void write(End end, byte[] completion, int kind, int userIndex) {
    long at = entry(end, produced);
    for (int i = 0; i < OWNER; i++) {
      RawMemory.putByte(at + i, completion[i]);
    }
    RawMemory.putInt(at + USER_INDEX, userIndex);
    int number = end.queuePair.number();
    RawMemory.putInt(
        at + ORIGIN, Integer.reverseBytes(Byte.toUnsignedInt(completion[ORIGIN]) << 24 | number));
    boolean isOdd = (produced & end.completions.count()) != 0;
    RawMemory.putByte(at + OWNER, (byte) (kind << 4 | (isOdd ? 1 : 0)));
  }

  private static byte[] polledByLibrary() {
    End end = pairs.byLibrary;
    end.entries.fill(UNTOUCHED);
    int polled =
        DataPath.ibv_poll_cq(
            DataPath.ibv_poll_cq$op(pairs.device.handle()),
            end.queue.handle().address(),
            2,
            end.entries.address());
    return entryOf(end, polled);
  }

  private static byte[] polledInPlace() {
    End end = pairs.inPlace;
    end.entries.fill(UNTOUCHED);
    return entryOf(end, pairs.polls.poll(2, end.entries.address(), 0));
  }

  /** Returns the completion, and the number of the queue pair as that of the other end. */
  private static byte[] entryOf(End end, int polled) {
    assertThat(polled).isEqualTo(1);
    long number = end.entries.address() + CompletionLayout.QP_NUM;
    assertThat(RawMemory.getInt(number)).isEqualTo(end.queuePair.number());
    RawMemory.putInt(number, 0);
    return end.entries.asSlice(0, CompletionLayout.SIZE).toArray(JAVA_BYTE);
  }

  private static byte[] random(long seed) {
    byte[] completion = new byte[CompletionEntry.SIZE];
    new Random(seed).nextBytes(completion);
    return completion;
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void completionsOfSendsAreThoseOfLibmlx5(
      @ForAll long seed, @ForAll @IntRange(max = 7) int operation) {
    byte[] completion = random(seed);
    int[] opcodes = {
      RequestSegments.SEND,
      RequestSegments.SEND_IMMEDIATE,
      RequestSegments.SEND_INVALIDATE,
      RequestSegments.RDMA_WRITE,
      RequestSegments.RDMA_WRITE_IMMEDIATE,
      RequestSegments.RDMA_READ,
      RequestSegments.COMPARE_AND_SWAP,
      RequestSegments.FETCH_AND_ADD
    };
    completion[ORIGIN] = (byte) opcodes[operation];
    compare(completion, CompletionEntry.REQUESTER);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void completionsOfReceivesAreThoseOfLibmlx5(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 4) int kind) {
    byte[] completion = random(seed);
    // Libmlx5 of rdma-core 44 takes the oldest receive without a look at this.
    completion[POSITION] = (byte) (receives >> 8);
    completion[POSITION + 1] = (byte) receives;
    receives++;
    compare(completion, kind);
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void failedCompletionsAreThoseOfLibmlx5(@ForAll long seed, @ForAll boolean isSend) {
    byte[] completion = random(seed);
    if (!isSend) {
      completion[POSITION] = (byte) (receives >> 8);
      completion[POSITION + 1] = (byte) receives;
      receives++;
    }
    compare(completion, isSend ? CompletionEntry.REQUESTER_ERROR : CompletionEntry.RESPONDER_ERROR);
  }
}
