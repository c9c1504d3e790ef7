package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.platform.Deadline;
import org.rdma4j.testing.SimulatedAdapter;
import org.rdma4j.verbs.Loopback.Done;

/** Queues that are used in place, without libmlx5, through the same API. */
@Tag("mlx5")
final class InPlaceTest {
  private static final QueueAccess IN_PLACE = QueueAccess.IN_PLACE;

  private static Loopback connected() {
    return Loopback.connectedInPlace(config -> config);
  }

  private static List<Long> ids(List<Done> done) {
    return done.stream().map(Done::id).toList();
  }

  @Test
  void queuesAreUsedInPlace() {
    try (Loopback loopback = connected()) {
      assertThat(loopback.a.queue.inPlace()).isNotNull();
      assertThat(loopback.a.queuePair.isInPlace()).isTrue();
    }
  }

  @Test
  void messagesArrive() {
    try (Loopback loopback = connected()) {
      for (int i = 0; i < 1000; i++) {
        loopback.a.region.segment().asSlice(0, 64).fill((byte) i);
        loopback.b.receive(i, 0, 64);
        loopback.a.sends.add(i).sendWithImmediate(i).from(loopback.a.region, 0, 64).signaled();
        loopback.a.sends.post();
        Done received = loopback.b.await(1).getFirst();
        assertThat(loopback.a.await(1).getFirst().id()).isEqualTo(i);
        assertThat(received.id()).isEqualTo(i);
        assertThat(received.length()).isEqualTo(64);
        assertThat(received.immediate()).isEqualTo(i);
        assertThat(
                loopback
                    .b
                    .region
                    .segment()
                    .asSlice(0, 64)
                    .mismatch(loopback.a.region.segment().asSlice(0, 64)))
            .isEqualTo(-1);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aPostKeepsTheOrder(int requests) {
    try (Loopback loopback = connected()) {
      for (int i = 0; i < 4; i++) {
        for (int k = 0; k < requests; k++) {
          loopback.b.receive(k, 0, 64);
          SendRequests request = loopback.a.sends.add(k).signaled();
          if (i % 2 == 0) {
            request.inline(loopback.a.region, 0, 64);
          } else {
            request.from(loopback.a.region, 0, 64);
          }
        }
        if (i < 2) {
          loopback.a.sends.post();
        } else {
          assertThat(SimulatedAdapter.watch(loopback.a.queuePair.number(), loopback.a.sends::post))
              .isZero();
          assertThat(SimulatedAdapter.doorbells()).isEqualTo(1);
        }
        loopback.a.await(requests);
        loopback.b.await(requests);
      }
    }
  }

  @Test
  void aFullQueueRefusesTheRequestsThatAreTooMany() {
    try (Loopback loopback = connected()) {
      int depth = loopback.a.queuePair.capabilities().sendDepth();
      SendRequests sends = loopback.a.queuePair.sendRequests(depth);
      for (int i = 0; i < depth - 1; i++) {
        sends.add(i).write(loopback.b.region.remoteAddress(), loopback.b.region.remoteKey());
        sends.from(loopback.a.region, 0, 8);
      }
      sends.post();
      sends.add(depth - 1).write(loopback.b.region.remoteAddress(), loopback.b.region.remoteKey());
      sends.signaled();
      sends.add(depth).write(loopback.b.region.remoteAddress(), loopback.b.region.remoteKey());
      assertThatThrownBy(sends::post)
          .isInstanceOfSatisfying(
              PostException.class, refused -> assertThat(refused.index()).isEqualTo(1))
          .hasMessageContaining("ENOMEM");
    }
  }

  @Test
  void aWaitEndsWithACompletion() throws InterruptedException {
    try (Loopback loopback = connected()) {
      for (int i = 0; i < 20; i++) {
        loopback.b.receive(i, 0, 64);
        Thread sender =
            Thread.ofPlatform()
                .start(
                    () -> {
                      sleep(5);
                      loopback.a.sends.add(1).from(loopback.a.region, 0, 64).signaled();
                      loopback.a.sends.post();
                      loopback.a.sends.release();
                    });
        assertThat(loopback.b.completions.await(Duration.ofSeconds(30))).isEqualTo(1);
        assertThat(loopback.b.completions.workRequestId(0)).isEqualTo(i);
        sender.join();
        loopback.a.await(1);
      }
    }
  }

  private static void sleep(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aFailedRequestCompletesWithItsError() {
    try (Loopback loopback = connected()) {
      loopback
          .a
          .sends
          .add(7)
          .write(loopback.b.region.remoteAddress(), 1)
          .from(loopback.a.region, 0, 8);
      loopback.a.sends.post();
      loopback.a.sends.add(8).from(loopback.a.region, 0, 8);
      loopback.a.sends.post();
      List<Done> done = loopback.a.await(2);
      assertThat(done.get(0).status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
      assertThat(done.get(1).status()).isEqualTo(CompletionStatus.FLUSHED);
      assertThat(ids(done)).containsExactly(7L, 8L);
    }
  }

  @Test
  void aClosedQueuePairLeavesNoCompletions() {
    try (Loopback loopback = connected()) {
      QueuePair other = loopback.domain.createQueuePair(Loopback.config(loopback.a.queue));
      int gid = Loopback.gidIndex(loopback.device);
      other.connect(PathConfig.to(other.address(1, gid)).gidIndex(gid));
      other.modify(QueuePairChange.none().state(QueuePairState.ERROR));
      SendRequests sends = other.sendRequests(1);
      sends.add(99).from(loopback.a.region, 0, 8).post();
      loopback.b.receive(1, 0, 64);
      sleep(20);
      other.close();
      loopback.a.sends.add(1).from(loopback.a.region, 0, 64).signaled().post();
      assertThat(ids(loopback.a.await(1))).containsExactly(1L);
    }
  }

  @Test
  void aQueuePairThatWasResetBeginsAgain() {
    try (Loopback loopback = connected()) {
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5; i++) {
          loopback.b.receive(i, 0, 64);
          loopback.a.sends.add(i).from(loopback.a.region, 0, 64).signaled().post();
        }
        assertThat(ids(loopback.b.await(5))).containsExactly(0L, 1L, 2L, 3L, 4L);
        for (Loopback.End end : List.of(loopback.a, loopback.b)) {
          end.queuePair.modify(QueuePairChange.none().state(QueuePairState.RESET));
        }
        assertThat(loopback.a.completions.poll()).isZero();
        loopback.a.queuePair.connect(loopback.path(loopback.b.address()));
        loopback.b.queuePair.connect(loopback.path(loopback.a.address()));
      }
    }
  }

  @Test
  void aSharedReceiveQueueServesMoreMessagesThanItHasPlaces() {
    try (RdmaDevice device = Loopback.openDevice();
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      CompletionQueue queue =
          device.createCompletionQueue(CompletionQueueConfig.of(100).access(IN_PLACE));
      SharedReceiveQueue shared =
          domain.createSharedReceiveQueue(SharedReceiveQueueConfig.of(8).access(IN_PLACE));
      QueuePair queuePair =
          domain.createQueuePair(QueuePairConfig.reliable(queue).sharedReceiveQueue(shared));
      int gid = Loopback.gidIndex(device);
      queuePair.connect(PathConfig.to(queuePair.address(1, gid)).gidIndex(gid));
      MemoryRegion region = domain.register(4096, AccessFlag.LOCAL_WRITE);
      ReceiveRequests receives = shared.receiveRequests(1);
      SendRequests sends = queuePair.sendRequests(1);
      for (int i = 0; i < 200; i++) {
        receives.add(i).into(region, 64, 64).post();
        sends.add(1000 + i).from(region, 0, 64).signaled().post();
        assertThat(ids(Loopback.await(queue, 2))).containsExactlyInAnyOrder((long) i, 1000L + i);
      }
    }
  }

  @Test
  void whatAQueueInPlaceDoesNotAllowIsRefusedInOneWay() {
    try (RdmaDevice device = Loopback.openDevice();
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      CompletionQueue queue =
          device.createCompletionQueue(CompletionQueueConfig.of(100).access(IN_PLACE));
      CompletionQueue other =
          device.createCompletionQueue(
              CompletionQueueConfig.of(100).access(QueueAccess.BY_PROVIDER));
      assertRefused(
          () -> domain.createQueuePair(QueuePairConfig.xrcSend(queue)), "it is of type XRC_SEND");
      assertRefused(
          () ->
              domain.createQueuePair(QueuePairConfig.reliable(queue).extended(SendOperation.SEND)),
          "it is extended");
      assertRefused(
          () -> domain.createQueuePair(QueuePairConfig.reliable(queue, other)),
          "is not used in place");
      assertRefused(
          () -> domain.createWorkQueue(WorkQueueConfig.of(queue, 10)), "only queue pairs can be");
      assertRefused(() -> queue.resize(200), "cannot be resized");
      assertRefused(
          () ->
              device.createCompletionQueue(
                  CompletionQueueConfig.of(100)
                      .extended(CompletionField.TIMESTAMP)
                      .access(IN_PLACE)),
          "TIMESTAMP");
    }
  }

  private static void assertRefused(ThrowingCallable call, String reason) {
    assertThatThrownBy(call)
        .isInstanceOf(UnsupportedByDeviceException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void wherePossibleTheFirstQueuePairDecidesAndProgramsCanAskHow() {
    try (RdmaDevice device = Loopback.openDevice();
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      QueueAccess wherePossible = QueueAccess.IN_PLACE_WHERE_POSSIBLE;
      CompletionQueueConfig config = CompletionQueueConfig.of(100).access(wherePossible);
      CompletionQueue first = device.createCompletionQueue(config);
      CompletionQueue second = device.createCompletionQueue(config);
      assertThat(List.of(first.access(), second.access())).containsOnly(wherePossible);
      assertThat(domain.createQueuePair(QueuePairConfig.reliable(first)).access())
          .isEqualTo(IN_PLACE);
      QueuePairConfig extended = QueuePairConfig.reliable(second).extended(SendOperation.SEND);
      assertThat(domain.createQueuePair(extended).access()).isEqualTo(QueueAccess.BY_PROVIDER);
      assertThat(domain.createQueuePair(QueuePairConfig.reliable(second)).access())
          .isEqualTo(QueueAccess.BY_PROVIDER);
      assertThat(first.access()).isEqualTo(IN_PLACE);
      assertThat(second.access()).isEqualTo(QueueAccess.BY_PROVIDER);
      SharedReceiveQueueConfig shared = SharedReceiveQueueConfig.of(10);
      assertThat(domain.createSharedReceiveQueue(shared.access(wherePossible)).access())
          .isEqualTo(IN_PLACE);
      assertThat(domain.createSharedReceiveQueue(shared.access(QueueAccess.BY_PROVIDER)).access())
          .isEqualTo(QueueAccess.BY_PROVIDER);
    }
  }

  @Test
  void windowsAreNotBound() {
    try (Loopback loopback = connected()) {
      loopback.a.sends.add(1);
      assertThatIllegalStateException()
          .isThrownBy(() -> loopback.a.sends.invalidate(17))
          .withMessageContaining("used in place");
    }
  }

  @Test
  void oneThreadAtATimeNeedsNoLock() {
    try (RdmaDevice device = Loopback.openDevice();
        ThreadDomain threads = device.allocateThreadDomain();
        ProtectionDomain domain = device.allocateProtectionDomain().allocateParentDomain(threads)) {
      CompletionQueue queue =
          device.createCompletionQueue(
              CompletionQueueConfig.of(100).extended().parentDomain(domain).access(IN_PLACE));
      QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(queue));
      int gid = Loopback.gidIndex(device);
      queuePair.connect(PathConfig.to(queuePair.address(1, gid)).gidIndex(gid));
      MemoryRegion region = domain.register(4096, AccessFlag.LOCAL_WRITE);
      ReceiveRequests receives = queuePair.receiveRequests(1);
      SendRequests sends = queuePair.sendRequests(1);
      for (int i = 0; i < 200; i++) {
        receives.add(i).into(region, 64, 64).post();
        sends.add(1000 + i).from(region, 0, 64).signaled().post();
        assertThat(Set.copyOf(ids(Loopback.await(queue, 2))))
            .isEqualTo(Set.of((long) i, 1000L + i));
      }
    }
  }

  @Test
  void severalThreadsPostAndPollWhileQueuePairsComeAndGo() throws Exception {
    int each = 20_000;
    AtomicIntegerArray completed = new AtomicIntegerArray(2 * each);
    AtomicInteger left = new AtomicInteger(2 * each);
    try (Loopback loopback = connected()) {
      Semaphore places = new Semaphore(loopback.a.queuePair.capabilities().sendDepth());
      List<FutureTask<Void>> threads = new ArrayList<>();
      for (int thread = 0; thread < 2; thread++) {
        int first = thread * each;
        threads.add(start(() -> send(loopback, first, first + each, places)));
        threads.add(start(() -> poll(loopback.a.queue, completed, left, places)));
      }
      threads.add(start(() -> receive(loopback.b, 2 * each)));
      while (left.get() > 0) {
        assertThat(threads.stream().filter(FutureTask::isDone))
            .allSatisfy(task -> assertThatCode(task::get).doesNotThrowAnyException());
        loopback
            .domain
            .createQueuePair(QueuePairConfig.reliable(loopback.a.queue).ignoreOverrun(true))
            .close();
      }
      for (FutureTask<Void> task : threads) {
        task.get(30, TimeUnit.SECONDS);
      }
    }
    assertThat(IntStream.range(0, 2 * each).filter(id -> completed.get(id) != 1)).isEmpty();
  }

  private static FutureTask<Void> start(Callable<Void> body) {
    FutureTask<Void> task = new FutureTask<>(body);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  @SuppressWarnings("NullAway") // Callable<Void> returns null
  private static Void send(Loopback loopback, int first, int end, Semaphore places)
      throws InterruptedException {
    SendRequests requests = loopback.a.queuePair.sendRequests(1);
    for (int id = first; id < end; id++) {
      assertThat(places.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
      requests.add(id).from(loopback.a.region, 0, 64).signaled().post();
    }
    return null;
  }

  @SuppressWarnings("NullAway") // Callable<Void> returns null
  private static Void receive(Loopback.End end, int messages) {
    int posted = 0;
    int received = 0;
    while (received < messages) {
      for (; posted < messages && posted < received + 16; posted++) {
        end.receive(posted, 0, 64);
      }
      for (Done done : end.await(1)) {
        assertThat(done.id()).isEqualTo(received++);
      }
    }
    return null;
  }

  @SuppressWarnings("NullAway") // Callable<Void> returns null
  private static Void poll(
      CompletionQueue queue, AtomicIntegerArray completed, AtomicInteger left, Semaphore places) {
    Completions completions = queue.completions(4);
    Deadline deadline = Deadline.after(Duration.ofSeconds(60));
    while (left.get() > 0) {
      assertThat(deadline.isOver()).as("completions are missing").isFalse();
      int polled = completions.poll();
      for (int i = 0; i < polled; i++) {
        completions.requireSuccess(i);
        completed.incrementAndGet((int) completions.workRequestId(i));
        places.release();
        left.decrementAndGet();
      }
    }
    return null;
  }
}
