package org.rdma4j.memory;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class FreeSlabsTest {
  private static final int THREADS = 4;
  private static final int ROUNDS = 200_000;
  private static final int SLABS = 6;

  @Property
  void itHandsOutEachSlabOnceAndThenNone(@ForAll @IntRange(min = 1, max = 300) int count) {
    FreeSlabs slabs = new FreeSlabs(count);
    Set<Integer> taken = new HashSet<>();
    for (int i = 0; i < count; i++) {
      assertThat(slabs.free()).isEqualTo(count - i);
      taken.add(slabs.tryAcquire());
    }
    assertThat(taken).hasSize(count).allMatch(index -> index >= 0 && index < count);
    assertThat(slabs.tryAcquire()).isEqualTo(FreeSlabs.NONE);
    assertThat(slabs.free()).isZero();
  }

  /**
   * Each number is a step: an even one acquires a slab, an odd one releases a slab that is in use.
   */
  @Property
  void itAgreesWithAModelWhateverTheOrder(
      @ForAll @IntRange(min = 1, max = 8) int count,
      @ForAll @Size(max = 200) List<@IntRange(min = 0, max = 1000) Integer> steps) {
    FreeSlabs slabs = new FreeSlabs(count);
    Map<Integer, Integer> inUse = new HashMap<>();
    for (int step : steps) {
      if (step % 2 == 0) {
        int index = slabs.tryAcquire();
        assertThat(index == FreeSlabs.NONE).isEqualTo(inUse.size() == count);
        if (index != FreeSlabs.NONE) {
          assertThat(inUse.put(index, slabs.turn(index))).isNull();
        }
      } else if (!inUse.isEmpty()) {
        int index = new ArrayList<>(inUse.keySet()).get(step % inUse.size());
        int turn = requireNonNull(inUse.remove(index));
        assertThat(slabs.isInUse(index, turn)).isTrue();
        assertThat(release(slabs, index, turn)).isTrue();
        assertThat(slabs.isInUse(index, turn)).isFalse();
        assertThat(release(slabs, index, turn)).as("a second release").isFalse();
      }
      assertThat(slabs.free()).isEqualTo(count - inUse.size());
    }
  }

  @Property
  void aReleaseForAnEarlierUseIsRefused(@ForAll @IntRange(min = 1, max = 50) int uses) {
    FreeSlabs slabs = new FreeSlabs(1);
    List<Integer> turns = new ArrayList<>();
    for (int i = 0; i < uses; i++) {
      slabs.tryAcquire();
      turns.add(slabs.turn(0));
      release(slabs, 0, slabs.turn(0));
    }
    assertThat(turns).doesNotHaveDuplicates();
    slabs.tryAcquire();
    for (int turn : turns) {
      assertThat(release(slabs, 0, turn)).isFalse();
      assertThat(slabs.isInUse(0, turn)).isFalse();
    }
    assertThat(slabs.free()).isZero();
  }

  private static boolean release(FreeSlabs slabs, int index, int turn) {
    boolean ended = slabs.end(index, turn);
    if (ended) {
      slabs.giveBack(index);
    }
    return ended;
  }

  @Test
  void aSlabThatIsFreeIsNotInUseAndCannotBeReleased() {
    FreeSlabs slabs = new FreeSlabs(1);
    assertThat(slabs.isInUse(0, slabs.turn(0))).isFalse();
    assertThat(release(slabs, 0, slabs.turn(0))).isFalse();
    slabs.tryAcquire();
    release(slabs, 0, slabs.turn(0));
    assertThat(slabs.isInUse(0, slabs.turn(0))).isFalse();
    assertThat(release(slabs, 0, slabs.turn(0))).isFalse();
    assertThat(slabs.free()).isEqualTo(1);
  }

  @Test
  void theSlabReleasedLastIsAcquiredFirst() {
    FreeSlabs slabs = new FreeSlabs(3);
    slabs.tryAcquire();
    int second = slabs.tryAcquire();
    release(slabs, second, slabs.turn(second));
    assertThat(slabs.tryAcquire()).isEqualTo(second);
  }

  @Test
  void aTopThatCameBackIsNotTheSame() {
    FreeSlabs slabs = new FreeSlabs(1);
    long before = slabs.changes();
    slabs.tryAcquire();
    assertThat(slabs.changes()).as("changes after an acquisition").isEqualTo(before + 1);
    release(slabs, 0, slabs.turn(0));
    assertThat(slabs.changes()).as("changes when it is on top again").isEqualTo(before + 2);
  }

  @Test
  @Timeout(120)
  void manyThreadsNeverShareASlabAndLoseNone() throws Exception {
    FreeSlabs slabs = new FreeSlabs(SLABS);
    AtomicIntegerArray holders = new AtomicIntegerArray(SLABS);
    CyclicBarrier start = new CyclicBarrier(THREADS);
    List<FutureTask<long[]>> tasks = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int seed = i;
      FutureTask<long[]> task =
          new FutureTask<>(
              () -> {
                start.await(30, TimeUnit.SECONDS);
                return acquireAndRelease(slabs, holders, new Random(seed));
              });
      tasks.add(task);
      Thread.ofPlatform().daemon().start(task);
    }
    long acquired = 0;
    long turns = 0;
    for (FutureTask<long[]> task : tasks) {
      long[] counts = task.get(100, TimeUnit.SECONDS);
      assertThat(counts[1]).as("times that a slab had two holders").isZero();
      acquired += counts[0];
    }
    for (int index = 0; index < SLABS; index++) {
      turns += slabs.turn(index);
    }
    assertThat(turns).as("each use is two turns").isEqualTo(2 * acquired);
    assertThat(slabs.free()).isEqualTo(SLABS);
    Set<Integer> left = new HashSet<>();
    for (int i = 0; i < SLABS; i++) {
      left.add(slabs.tryAcquire());
    }
    assertThat(left).hasSize(SLABS).doesNotContain(FreeSlabs.NONE);
  }

  /**
   * Returns the number of acquired slabs, and how often another thread held a slab at the same
   * time.
   */
  private static long[] acquireAndRelease(
      FreeSlabs slabs, AtomicIntegerArray holders, Random random) {
    long acquired = 0;
    long shared = 0;
    int[] held = new int[2];
    for (int round = 0; round < ROUNDS; round++) {
      int holding = 0;
      for (int i = 0; i <= (random.nextInt() & 1); i++) {
        int index = slabs.tryAcquire();
        if (index != FreeSlabs.NONE) {
          acquired++;
          shared += holders.incrementAndGet(index) == 1 ? 0 : 1;
          held[holding++] = index;
        }
      }
      while (holding > 0) {
        int index = held[--holding];
        holders.decrementAndGet(index);
        shared += release(slabs, index, slabs.turn(index)) ? 0 : 1;
      }
      shared += slabs.free() < 0 || slabs.free() > SLABS ? 1 : 0;
    }
    return new long[] {acquired, shared};
  }

  @Test
  @Timeout(120)
  void onlyOneReleaseOfAUseSucceeds() throws Exception {
    FreeSlabs slabs = new FreeSlabs(2);
    for (int round = 0; round < 2000; round++) {
      int index = slabs.tryAcquire();
      int turn = slabs.turn(index);
      FutureTask<Boolean> other = new FutureTask<>(() -> release(slabs, index, turn));
      Thread thread = Thread.ofVirtual().start(other);
      boolean mine = release(slabs, index, turn);
      assertThat(other.get(30, TimeUnit.SECONDS)).isNotEqualTo(mine);
      thread.join();
      assertThat(slabs.free()).isEqualTo(2);
    }
  }

  @Test
  void nothingIsAllocated() {
    FreeSlabs slabs = new FreeSlabs(SLABS);
    assertThat(Allocation.least(() -> acquireAndReleaseAll(slabs))).isZero();
  }

  private static long acquireAndReleaseAll(FreeSlabs slabs) {
    long sum = 0;
    for (int i = 0; i < 10_000; i++) {
      int index = slabs.tryAcquire();
      sum += 1 + slabs.free();
      release(slabs, index, slabs.turn(index));
    }
    return sum;
  }
}
