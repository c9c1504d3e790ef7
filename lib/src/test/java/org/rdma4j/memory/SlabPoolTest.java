package org.rdma4j.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.platform.PageMemory;
import org.rdma4j.platform.TimeText;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.Loopback;
import org.rdma4j.verbs.Messages;

@Tag("device")
final class SlabPoolTest {
  private static final int SLABS = 8;
  private static final int SLAB_BYTES = 1000;

  private Loopback loopback;
  private SlabPool pool;

  @BeforeEach
  void connect() {
    loopback = Loopback.connected();
    pool = SlabPool.register(loopback.domain, SLABS, SLAB_BYTES, AccessFlag.LOCAL_WRITE);
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  @Test
  void slabsCarryMessagesAndAreFoundByTheIdsOfTheirRequests() {
    Slab source = pool.acquire();
    Slab target = pool.acquire();
    byte[] sent = Messages.random(SLAB_BYTES);
    source.segment().copyFrom(MemorySegment.ofArray(sent));
    loopback.b.receives.add(target.ticket()).into(target.slice());
    loopback.b.receives.post();
    loopback.a.sends.add(source.ticket()).from(source.slice()).signaled();
    loopback.a.sends.post();

    Slab done = pool.slab(loopback.a.await(1).getFirst().id());
    Slab received = pool.slab(loopback.b.await(1).getFirst().id());
    assertThat(done).isSameAs(source);
    assertThat(received).isSameAs(target);
    assertThat(received.segment().toArray(JAVA_BYTE)).isEqualTo(sent);
    assertThat(received.byteBuffer().clear().get(17)).isEqualTo(sent[17]);
    done.release();
    received.release();
    assertThat(pool.inUse()).isZero();
  }

  @Test
  void slabsLieInOneRegionAndDoNotOverlap() {
    assertThat(pool.size()).isEqualTo(SLABS);
    assertThat(pool.slabBytes()).isEqualTo(SLAB_BYTES);
    Set<Long> begins = new HashSet<>();
    for (int i = 0; i < SLABS; i++) {
      Slab slab = pool.acquire();
      assertThat(pool.inUse()).isEqualTo(i + 1);
      assertThat(slab.pool()).isSameAs(pool);
      assertThat(slab.slice().region()).isSameAs(pool.region());
      assertThat(slab.segment().byteSize()).isEqualTo(SLAB_BYTES);
      assertThat(slab.segment().address() % 64).isZero();
      assertThat(slab.slice().remoteAddress()).isEqualTo(slab.segment().address());
      begins.add(slab.slice().offset() / SLAB_BYTES);
      assertThat(slab.slice().offset()).isEqualTo(slab.index() * 1024L);
    }
    assertThat(begins).hasSize(SLABS);
  }

  @Test
  void ifAllAreInUseTryAcquireReturnsNullAndAcquireThrows() {
    for (int i = 0; i < SLABS; i++) {
      assertThat(pool.tryAcquire()).isNotNull();
    }
    assertThat(pool.tryAcquire()).isNull();
    assertThatThrownBy(pool::acquire)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("all 8 slabs are in use");
  }

  @Test
  void aSecondReleaseAndEveryUseAfterwardsAreRefused() {
    Slab slab = pool.acquire();
    slab.release();
    for (Runnable use :
        new Runnable[] {
          slab::release, slab::segment, slab::byteBuffer, slab::slice, slab::ticket
        }) {
      assertThatThrownBy(use::run)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("slab " + slab.index())
          .hasMessageContaining("not in use");
    }
    assertThat(pool.inUse()).isZero();
  }

  @Test
  void aTicketOfAnEarlierUseIsRefusedEvenIfTheSlabIsInUseAgain() {
    Slab first = pool.acquire();
    long ticket = first.ticket();
    pool.release(ticket);
    Slab second = pool.acquire();
    assertThat(second).isSameAs(first);
    assertThat(second.ticket()).isNotEqualTo(ticket);
    assertThatThrownBy(() -> pool.release(ticket)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> pool.slab(ticket)).isInstanceOf(IllegalStateException.class);
    assertThat(pool.slab(second.ticket())).isSameAs(second);
  }

  @Test
  void numbersThatAreNotTicketsAreRefused() {
    pool.acquire();
    for (long ticket : new long[] {0, -1, 1L << 32 | SLABS, 1L << 32 | 1, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> pool.slab(ticket)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> pool.release(ticket)).isInstanceOf(IllegalStateException.class);
    }
    assertThat(pool.inUse()).isEqualTo(1);
  }

  @Test
  void theAllocatorTakesWholeSlabsAndTheirMemoryReleasesThem() {
    SegmentAllocator allocator = pool.allocator();
    MemorySegment text = allocator.allocateFrom("in registered memory");
    MemorySegment number = allocator.allocate(JAVA_LONG);
    assertThat(text.getString(0)).isEqualTo("in registered memory");
    assertThat(number.byteSize()).isEqualTo(8);
    assertThat(pool.inUse()).isEqualTo(2);
    assertThat(pool.slabOf(text)).isNotSameAs(pool.slabOf(number));
    pool.release(text.asSlice(3, 4));
    pool.release(number);
    assertThat(pool.inUse()).isZero();
    assertThatThrownBy(() -> pool.release(number)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theAllocatorRefusesWhatDoesNotFitIntoASlab() {
    SegmentAllocator allocator = pool.allocator();
    for (long bytes : new long[] {-1, SLAB_BYTES + 1, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> allocator.allocate(bytes, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("byteSize is " + bytes + ", must be from 0 to 1000");
    }
    for (long alignment : new long[] {-8, 0, 3, 2048}) {
      assertThatThrownBy(() -> allocator.allocate(8, alignment))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("byteAlignment is " + alignment);
    }
    assertThat(allocator.allocate(SLAB_BYTES, 1024).address() % 1024).isZero();
    assertThat(pool.inUse()).isEqualTo(1);
  }

  @Test
  void memoryOutsideThePoolIsNotReleased() {
    MemorySegment pools = pool.acquire().segment();
    try (Arena arena = Arena.ofConfined()) {
      for (MemorySegment other :
          new MemorySegment[] {
            arena.allocate(8),
            MemorySegment.ofArray(new byte[8]),
            MemorySegment.NULL,
            loopback.a.region.segment(),
            pool.region().segment(),
            pool.region().segment().asSlice(SLAB_BYTES, 8),
            pools.reinterpret(SLAB_BYTES + 1)
          }) {
        assertThatThrownBy(() -> pool.release(other))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("does not lie within a slab");
      }
    }
    assertThat(pool.inUse()).isEqualTo(1);
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    for (int slabs : new int[] {0, -1, SlabPool.MAX_SLABS + 1}) {
      assertThatThrownBy(() -> SlabPool.register(loopback.domain, slabs, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("slabs is " + slabs + ", must be from 1 to");
    }
    for (long bytes : new long[] {0, -1, 1L << 31, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> SlabPool.register(loopback.domain, 1, bytes))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("slabBytes is " + bytes + ", must be from 1 to");
    }
  }

  @Test
  void slabsOfWholePagesStartAtPages() {
    long page = PageMemory.pageSize();
    SlabPool pages = SlabPool.register(loopback.domain, 3, page);
    for (int i = 0; i < 3; i++) {
      assertThat(pages.allocator().allocate(1, page).address() % page).isZero();
    }
  }

  @Test
  void useAfterCloseIsRefusedButASlabMayStillBeReleased() {
    Slab slab = pool.acquire();
    long ticket = slab.ticket();
    SegmentAllocator allocator = pool.allocator();
    pool.close();
    pool.close();
    for (Runnable use :
        new Runnable[] {
          pool::acquire,
          pool::tryAcquire,
          slab::segment,
          slab::byteBuffer,
          () -> slab.slice().segment(),
          () -> loopback.a.sends.add(1).from(slab.slice()),
          () -> allocator.allocate(8)
        }) {
      assertThatThrownBy(use::run)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
    pool.release(ticket);
    assertThat(pool.inUse()).isZero();
  }

  @Test
  void threadsShareTheSlabsWithoutSharingOne() throws Exception {
    List<FutureTask<Void>> tasks = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      long mark = i;
      FutureTask<Void> task =
          new FutureTask<>(
              () -> {
                for (int round = 0; round < 20_000; round++) {
                  Slab slab = pool.acquire();
                  slab.segment().set(JAVA_LONG, 0, mark);
                  slab.segment().set(JAVA_LONG, 992, mark);
                  assertThat(slab.segment().get(JAVA_LONG, 0)).isEqualTo(mark);
                  assertThat(slab.segment().get(JAVA_LONG, 992)).isEqualTo(mark);
                  pool.release(slab.ticket());
                }
                return null;
              });
      tasks.add(task);
      Thread.ofPlatform().daemon().start(task);
    }
    for (FutureTask<Void> task : tasks) {
      task.get(100, TimeUnit.SECONDS);
    }
    assertThat(pool.inUse()).isZero();
  }

  @Test
  void aWaitEndsWithAReleaseOfAnyKind() throws Exception {
    List<MemorySegment> held = new ArrayList<>();
    for (int i = 0; i < SLABS; i++) {
      held.add(pool.allocator().allocate(8));
    }
    long ticket = pool.slabOf(held.get(0)).ticket();
    for (Runnable release :
        new Runnable[] {
          () -> pool.release(ticket),
          () -> pool.slabOf(held.get(1)).release(),
          () -> pool.release(held.get(2))
        }) {
      FutureTask<Slab> waiting = waitForASlab();
      release.run();
      assertThat(waiting.get(100, TimeUnit.SECONDS).ticket()).isNotEqualTo(ticket);
      assertThat(pool.inUse()).isEqualTo(SLABS);
    }
  }

  /** Starts a virtual thread, and returns when it waits. */
  private FutureTask<Slab> waitForASlab() throws InterruptedException {
    FutureTask<Slab> task = new FutureTask<>(() -> pool.acquire(Duration.ofSeconds(100)));
    Thread thread = Thread.ofVirtual().start(task);
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      assertThat(task).isNotDone();
      Thread.sleep(1);
    }
    return task;
  }

  @Test
  void aFreeSlabIsAcquiredWithoutAWait() throws Exception {
    Slab slab = pool.acquire(Duration.ZERO);
    assertThat(pool.inUse()).isEqualTo(1);
    slab.release();
    assertThat(pool.acquire(Duration.ofSeconds(Long.MAX_VALUE))).isSameAs(slab);
  }

  @Test
  void aWaitForASlabTimesOut() {
    for (int i = 0; i < SLABS; i++) {
      pool.acquire();
    }
    for (Duration timeout : List.of(Duration.ZERO, Duration.ofMillis(20))) {
      assertThatThrownBy(() -> pool.acquire(timeout))
          .isInstanceOf(TimeoutException.class)
          .hasMessageContaining("all 8 slabs were in use for " + TimeText.of(timeout));
    }
    assertThatThrownBy(() -> pool.acquire(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("timeout is -1 ms");
    assertThat(pool.inUse()).isEqualTo(SLABS);
  }

  @Test
  void anInterruptedThreadAcquiresNoSlab() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> pool.acquire(Duration.ofSeconds(100)))
        .isInstanceOf(InterruptedException.class);
    assertThat(pool.inUse()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"pool", "region", "domain", "device"})
  void aCloseOfThePoolOrOfWhatItDependsOnEndsAllWaits(String closed) throws Exception {
    for (int i = 0; i < SLABS; i++) {
      pool.acquire();
    }
    List<FutureTask<Slab>> waiting = List.of(waitForASlab(), waitForASlab());
    switch (closed) {
      case "pool" -> pool.close();
      case "region" -> pool.region().close();
      case "domain" -> loopback.domain.close();
      default -> loopback.device.close();
    }
    for (FutureTask<Slab> each : waiting) {
      assertThatThrownBy(() -> each.get(100, TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
    assertThatThrownBy(() -> pool.acquire(Duration.ofSeconds(100)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void acquiringAndReleasingAllocateNothing() {
    assertThat(Allocation.least(this::use)).isZero();
  }

  private long use() {
    long sum = 0;
    for (int i = 0; i < 10_000; i++) {
      Slab slab = pool.acquire();
      long ticket = slab.ticket();
      sum += slab.slice().length() + slab.segment().byteSize() + pool.inUse();
      pool.slab(ticket).release();
      Slab other = pool.tryAcquire();
      if (other != null) {
        pool.release(other.ticket());
      }
    }
    return sum;
  }
}
