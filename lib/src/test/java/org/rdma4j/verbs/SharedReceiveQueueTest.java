package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Shared receive queues: several queue pairs use the same receives. */
@Tag("device")
@Tag("needs-connecting-by-address")
@Tag("data-path")
final class SharedReceiveQueueTest {
  private static final int DEPTH = 10;

  private Loopback loopback;
  private SharedReceiveQueue shared;
  private CompletionQueue queue;
  private final List<QueuePair> receivers = new ArrayList<>();

  /** Both sides of the loopback send, each to a queue pair that uses the shared receive queue. */
  @BeforeEach
  void connect() {
    loopback = Loopback.unconnected();
    shared = loopback.domain.createSharedReceiveQueue(DEPTH, 2);
    queue = loopback.device.createCompletionQueue(4 * shared.depth());
    for (Loopback.End end : List.of(loopback.a, loopback.b)) {
      QueuePair receiver =
          loopback.domain.createQueuePair(
              QueuePairConfig.reliable(queue).sharedReceiveQueue(shared));
      receivers.add(receiver);
      receiver.connect(loopback.path(end.address()));
      end.queuePair.connect(loopback.path(loopback.address(receiver)));
    }
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private void postReceives(int count) {
    ReceiveRequests receives = shared.receiveRequests(count);
    for (int i = 0; i < count; i++) {
      receives.add(100 + i).into(loopback.a.region, 64L * i, 64);
    }
    assertThat(receives.post()).isEqualTo(count);
  }

  @Test
  void anyOfTheQueuePairsTakesTheNextReceive() {
    postReceives(DEPTH);
    for (Loopback.End end : List.of(loopback.a, loopback.b)) {
      end.sends.add(1).from(end.region, 0, 8).signaled();
      end.sends.post();
      assertThat(end.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    Completions completions = queue.completions(4);
    assertThat(completions.poll()).isEqualTo(2);
    assertThat(List.of(completions.queuePairNumber(0), completions.queuePairNumber(1)))
        .containsExactly(receivers.get(0).number(), receivers.get(1).number());
    assertThat(List.of(completions.workRequestId(0), completions.workRequestId(1)))
        .containsExactlyInAnyOrder(100L, 101L);
  }

  @Test
  void theLimitIsResetWhenFewerReceivesAreLeft() {
    postReceives(DEPTH);
    shared.limit(7);
    assertThat(shared.query().limit()).isEqualTo(7);
    for (int i = 0; i < 4; i++) {
      loopback.a.sends.add(i).from(loopback.a.region, 0, 8).signaled();
    }
    loopback.a.sends.post();
    loopback.a.await(4);
    assertThat(shared.query().limit()).isZero();
  }

  @Test
  void fewerReceivesThanTheLimitRaiseAnEventThatNamesTheQueue() throws InterruptedException {
    postReceives(DEPTH);
    shared.limit(7);
    for (int i = 0; i < 4; i++) {
      loopback.a.sends.add(i).from(loopback.a.region, 0, 8).signaled();
    }
    loopback.a.sends.post();
    loopback.a.await(4);
    assertThat(loopback.device.awaitAsyncEvent(Loopback.PATIENCE))
        .contains(
            new AsyncEvent.OfSharedReceiveQueue(
                AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, Optional.of(shared)));
  }

  @Test
  void theQueryReturnsTheGrantedCapacities() {
    SharedReceiveQueueAttributes attributes = shared.query();
    assertThat(attributes.depth()).isEqualTo(shared.depth()).isGreaterThanOrEqualTo(DEPTH);
    assertThat(attributes.sges()).isGreaterThanOrEqualTo(2);
  }

  @Tag("needs-resizing-shared-receive-queues")
  @Test
  void itCanBeMadeDeeper() {
    int before = shared.depth();
    shared.resize(2 * before);
    assertThat(shared.depth()).isGreaterThanOrEqualTo(2 * before);
    postReceives(2 * before);
  }

  @Test
  void aCompletionQueueMustHoldAllItsReceives() {
    CompletionQueue small = loopback.device.createCompletionQueue(1);
    QueuePairConfig config = QueuePairConfig.reliable(small).sharedReceiveQueue(shared);
    int tooDeep = small.capacity() + 1;
    try (SharedReceiveQueue deep = loopback.domain.createSharedReceiveQueue(tooDeep, 1)) {
      assertThatThrownBy(() -> loopback.domain.createQueuePair(config.sharedReceiveQueue(deep)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("completion queue of");
    }
  }

  @Test
  void aQueuePairOnItHasNoReceivesOfItsOwn() {
    assertThatThrownBy(() -> receivers.getFirst().receiveRequests(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("shared receive queue");
  }

  @Test
  void closingItClosesItsQueuePairs() {
    shared.close();
    assertThatThrownBy(() -> receivers.getFirst().query())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(() -> shared.query()).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> shared.limit(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> shared.receiveRequests(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> shared.handle()).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void badNumbersAreRefusedWithTheirRange() {
    assertThatThrownBy(() -> loopback.domain.createSharedReceiveQueue(0, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("depth is 0, must be from 1 to");
    assertThatThrownBy(() -> loopback.domain.createSharedReceiveQueue(1, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sges is -1");
    assertThatThrownBy(() -> shared.limit(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("limit is -1");
    assertThatThrownBy(() -> shared.receiveRequests(1 << 20))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("max is");
  }

  @Test
  void aSharedReceiveQueueOfAnotherDomainIsRefused() {
    try (ProtectionDomain other = loopback.device.allocateProtectionDomain()) {
      assertThatThrownBy(
              () ->
                  other.createQueuePair(QueuePairConfig.reliable(queue).sharedReceiveQueue(shared)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("another protection domain");
    }
  }
}
