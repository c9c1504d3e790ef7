package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Extended completion queues, and what can be changed of any. */
@Tag("device")
@Tag("data-path")
@Timeout(120)
final class ExtendedCompletionsTest {
  private Loopback loopback;
  private CompletionQueue extended;
  private QueuePair receiver;

  /** Side a sends to a queue pair on the extended queue. */
  @BeforeEach
  void connect() {
    loopback = Loopback.unconnected();
    extended =
        loopback.device.createCompletionQueue(
            CompletionQueueConfig.of(64)
                .extended(
                    CompletionField.BYTE_LENGTH,
                    CompletionField.IMMEDIATE,
                    CompletionField.QUEUE_PAIR_NUMBER));
    receiver = loopback.domain.createQueuePair(QueuePairConfig.reliable(extended).receiveDepth(16));
    receiver.connect(loopback.path(loopback.a.address()));
    loopback.a.queuePair.connect(
        loopback.path(receiver.address(1, Loopback.gidIndex(loopback.device), 0x123456)));
    ReceiveRequests receives = receiver.receiveRequests(4);
    for (int i = 0; i < 4; i++) {
      receives.add(10 + i).into(loopback.b.region, 64L * i, 64);
    }
    receives.post();
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private void send(int count) {
    for (int i = 0; i < count; i++) {
      loopback.a.sends.add(i).sendWithImmediate(1000 + i).from(loopback.a.region, 0, 5 + i);
      loopback.a.sends.signaled();
    }
    loopback.a.sends.post();
    loopback.a.await(count);
  }

  @Test
  void itTellsWhatItWasAskedFor() {
    send(2);
    Completions completions = extended.completions(8);
    assertThat(completions.poll()).isEqualTo(2);
    for (int i = 0; i < 2; i++) {
      assertThat(completions.workRequestId(i)).isEqualTo(10 + i);
      assertThat(completions.status(i)).isEqualTo(CompletionStatus.SUCCESS);
      assertThat(completions.opcode(i)).isEqualTo(CompletionOpcode.RECEIVE);
      assertThat(completions.byteLength(i)).isEqualTo(5 + i);
      assertThat(completions.immediate(i)).isEqualTo(1000 + i);
      assertThat(completions.queuePairNumber(i)).isEqualTo(receiver.number());
    }
    assertThat(completions.poll()).isZero();
    assertThat(completions.size()).isZero();
  }

  @Test
  void aPollLeavesWhatItHasNoRoomFor() {
    send(3);
    Completions completions = extended.completions(2);
    assertThat(completions.poll()).isEqualTo(2);
    assertThat(completions.workRequestId(1)).isEqualTo(11);
    assertThat(completions.poll()).isEqualTo(1);
    assertThat(completions.workRequestId(0)).isEqualTo(12);
  }

  @Test
  void aFlushedReceiveTellsItsStatusAndQueuePair() {
    receiver.toError();
    Completions completions = extended.completions(8);
    assertThat(completions.poll()).isEqualTo(4);
    assertThat(completions.status(0)).isEqualTo(CompletionStatus.FLUSHED);
    assertThat(completions.queuePairNumber(0)).isEqualTo(receiver.number());
  }

  @Test
  void whatAPlainQueueHasNotIsRefused() {
    assertThatThrownBy(() -> loopback.a.completions.timestamp(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("extended");
    assertThatThrownBy(() -> loopback.a.completions.wallClock(0))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> loopback.a.completions.vlan(0))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> loopback.a.completions.flowTag(0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aQueueCanBeResizedWithWhatItHolds() {
    CompletionQueue queue = loopback.b.queue;
    int before = queue.capacity();
    queue.resize(2 * before);
    assertThat(queue.capacity()).isGreaterThanOrEqualTo(2 * before);
    assertThatThrownBy(() -> queue.resize(1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("promised to queue pairs");
    assertThatThrownBy(() -> queue.resize(0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void moderationIsCheckedBeforeTheDeviceIsAsked() {
    assertThatThrownBy(() -> loopback.b.queue.moderate(-1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("count is -1");
    assertThatThrownBy(() -> loopback.b.queue.moderate(0, 65_536))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("period is 65536");
  }

  @Test
  void aVectorThatTheDeviceHasNotIsRefused() {
    int vectors = loopback.device.completionVectors();
    assertThatThrownBy(
            () ->
                loopback.device.createCompletionQueue(CompletionQueueConfig.of(1).vector(vectors)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("vector is " + vectors);
    CompletionQueueConfig last = CompletionQueueConfig.of(1).vector(vectors - 1);
    loopback.device.createCompletionQueue(last).close();
  }
}
