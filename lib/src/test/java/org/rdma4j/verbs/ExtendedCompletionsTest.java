package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/** Extended completion queues, and the changes that any completion queue allows. */
@Tag("device")
@Tag("data-path")
@Tag("needs-extended-completion-queues")
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
    loopback.a.queuePair.connect(loopback.path(loopback.address(receiver)));
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

  @Tag("needs-immediate-data")
  @Test
  void theRequestedFieldsAreRead() {
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
  void aPollTakesAtMostTheMaximumOfItsBatch() {
    send(3);
    Completions completions = extended.completions(2);
    assertThat(completions.poll()).isEqualTo(2);
    assertThat(completions.workRequestId(1)).isEqualTo(11);
    assertThat(completions.poll()).isEqualTo(1);
    assertThat(completions.workRequestId(0)).isEqualTo(12);
  }

  /** Soft-RoCE of newer kernels flushes the receives one after the other, in a thread. */
  @Test
  void aFlushedReceiveHasItsStatusAndQueuePair() {
    receiver.toError();
    Completions completions = extended.completions(8);
    Deadline deadline = Deadline.after(Loopback.PATIENCE);
    int flushed = 0;
    while (flushed < 4 && !deadline.isOver()) {
      int polled = completions.poll();
      for (int i = 0; i < polled; i++) {
        assertThat(completions.status(i)).isEqualTo(CompletionStatus.FLUSHED);
        assertThat(completions.queuePairNumber(i)).isEqualTo(receiver.number());
      }
      flushed += polled;
    }
    assertThat(flushed).isEqualTo(4);
  }

  @Test
  void aSingleThreadedQueueIsPolledWhileQueuePairsComeAndGo() throws Exception {
    CompletionQueue queue =
        loopback.device.createCompletionQueue(
            CompletionQueueConfig.of(64)
                .extended(CompletionField.BYTE_LENGTH)
                .singleThreaded(true));
    AtomicBoolean done = new AtomicBoolean();
    FutureTask<Integer> poller =
        new FutureTask<>(
            () -> {
              Completions completions = queue.completions(8);
              int polled = 0;
              while (!done.get()) {
                polled += completions.poll();
                Thread.onSpinWait();
              }
              return polled;
            });
    Thread.ofPlatform().start(poller);
    for (int i = 0; i < 20; i++) {
      QueuePair queuePair =
          loopback.domain.createQueuePair(QueuePairConfig.reliable(queue).receiveDepth(1));
      queuePair.initialize(1, 0);
      queuePair.receiveRequests(1).add(i).into(loopback.b.region, 0, 64).post();
      queuePair.toError();
      Thread.sleep(10);
      queuePair.close();
    }
    done.set(true);
    assertThat(poller.get(30, TimeUnit.SECONDS)).isPositive();
    queue.close();
  }

  @Tag("needs-immediate-data")
  @Tag("needs-datagrams")
  @Tag("needs-extended-queue-pairs")
  @Test
  void flagsThatWereNotRequestedAreRefused() {
    CompletionQueue queue =
        loopback.device.createCompletionQueue(
            CompletionQueueConfig.of(64).extended(CompletionField.BYTE_LENGTH));
    QueuePair datagrams = datagrams(queue);
    datagrams.receiveRequests(1).add(5).into(loopback.b.region, 0, 64).post();
    datagrams.toError();
    Completions completions = queue.completions(1);
    assertThat(completions.poll()).isEqualTo(1);
    assertThatThrownBy(() -> completions.hasImmediate(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("create it with CompletionField.FLAGS");
  }

  @Tag("needs-datagrams")
  @Tag("needs-extended-queue-pairs")
  @Test
  void aDatagramHasItsSenderAndItsHeader() {
    CompletionQueue queue =
        loopback.device.createCompletionQueue(
            CompletionQueueConfig.of(64)
                .extended(
                    CompletionField.BYTE_LENGTH,
                    CompletionField.SOURCE_QUEUE_PAIR_NUMBER,
                    CompletionField.FLAGS));
    QueuePair sender = datagrams(loopback.a.queue);
    QueuePair datagrams = datagrams(queue);
    int gid = Loopback.gidIndex(loopback.device);
    AddressHandle handle =
        loopback.domain.createAddressHandle(
            AddressVector.to(loopback.device.port(1).gid(gid), 1, gid));
    datagrams.receiveRequests(1).add(5).into(loopback.b.region, 0, 64).post();
    SendRequests sends = sender.sendRequests(1);
    sends.add(6).from(loopback.a.region, 0, 10).to(handle, datagrams.number(), 1).signaled().post();
    loopback.a.await(1);

    Completions completions = queue.completions(8);
    assertThat(completions.poll()).isEqualTo(1);
    assertThat(completions.workRequestId(0)).isEqualTo(5);
    assertThat(completions.byteLength(0)).isEqualTo(GlobalRoutingHeader.BYTES + 10);
    assertThat(completions.sourceQueuePairNumber(0)).isEqualTo(sender.number());
    assertThat(completions.hasGlobalRoutingHeader(0)).isTrue();
  }

  private QueuePair datagrams(CompletionQueue queue) {
    QueuePair datagrams =
        loopback.domain.createQueuePair(QueuePairConfig.datagram(queue).ignoreOverrun(true));
    datagrams.startDatagrams(1, 0, 1);
    return datagrams;
  }

  @Test
  void fieldsOfExtendedQueuesAreRefusedOnAPlainQueue() {
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

  @Tag("needs-resizing-completion-queues")
  @Test
  void aQueueWithCompletionsCanBeResized() {
    CompletionQueue queue = loopback.b.queue;
    int before = queue.capacity();
    queue.resize(2 * before);
    assertThat(queue.capacity()).isGreaterThanOrEqualTo(2 * before);
    assertThatThrownBy(() -> queue.resize(1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("reserved for queue pairs");
    assertThatThrownBy(() -> queue.resize(0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void moderationIsCheckedBeforeTheCall() {
    assertThatThrownBy(() -> loopback.b.queue.moderate(-1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("count is -1");
    assertThatThrownBy(() -> loopback.b.queue.moderate(0, 65_536))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("period is 65536");
  }
}
