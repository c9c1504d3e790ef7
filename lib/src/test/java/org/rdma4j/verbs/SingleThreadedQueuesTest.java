package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.StandIn;

/** Queues of a thread domain, for which the provider takes no locks. */
@Tag(StandIn.TAG)
final class SingleThreadedQueuesTest {
  private static final CompletionQueueConfig QUEUE =
      CompletionQueueConfig.of(100).extended(CompletionField.BYTE_LENGTH);

  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final ProtectionDomain parent =
      domain.allocateParentDomain(device.allocateThreadDomain());
  private final CompletionQueue confined = device.createCompletionQueue(QUEUE.parentDomain(parent));

  @AfterEach
  void close() {
    device.close();
  }

  private static <T> T elsewhere(Callable<T> body) throws Exception {
    FutureTask<T> task = new FutureTask<>(body);
    Thread.ofPlatform().name("elsewhere").start(task);
    try {
      return task.get(30, TimeUnit.SECONDS);
    } catch (ExecutionException thrown) {
      throw (Exception) thrown.getCause();
    }
  }

  private static void refused(Callable<?> use) {
    assertThatThrownBy(() -> elsewhere(use))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("takes no locks");
  }

  @Test
  void oneThreadOwnsAllQueuesOfAThreadDomain() throws Exception {
    QueuePair queuePair =
        parent.createQueuePair(QueuePairConfig.reliable(confined).sendDepth(4).receiveDepth(4));
    Completions completions = confined.completions(1);
    SendRequests sends = queuePair.sendRequests(1);
    ReceiveRequests receives = queuePair.receiveRequests(1);
    completions.poll();
    refused(() -> sends.add(1));
    refused(() -> receives.add(1));
    refused(() -> confined.completions(1).poll());
    refused(() -> queuePair.sendRequests(1).add(1));
    completions.release();
    elsewhere(() -> sends.add(1));
    assertThatThrownBy(completions::poll)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("belongs to thread \"elsewhere\"");
    queuePair.close();
    completions.poll();
  }

  @Test
  void aWorkQueueOfAThreadDomainBelongsToTheSameThread() {
    ReceiveRequests receives =
        parent.createWorkQueue(WorkQueueConfig.of(confined, 4)).receiveRequests(1);
    confined.completions(1).poll();
    Completions held = confined.completions(1);
    held.poll();
    refused(() -> receives.add(1));
  }

  @Test
  void aSingleThreadedQueueIsPolledByOneThreadAtATime() throws Exception {
    CompletionQueue queue = device.createCompletionQueue(QUEUE.singleThreaded(true));
    Completions mine = queue.completions(1);
    Completions other = queue.completions(1);
    mine.poll();
    refused(other::poll);
    mine.release();
    elsewhere(other::poll);
    // Any domain may use it, because posts do not need its lock.
    domain.createQueuePair(QueuePairConfig.reliable(queue)).close();
  }

  @Test
  void aQueueOfAThreadDomainServesOnlyQueuesOfThatDomain() {
    for (ProtectionDomain other :
        new ProtectionDomain[] {
          domain, domain.allocateParentDomain(device.allocateThreadDomain())
        }) {
      assertThatThrownBy(() -> other.createQueuePair(QueuePairConfig.reliable(confined)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("is in a thread domain");
      assertThatThrownBy(() -> other.createWorkQueue(WorkQueueConfig.of(confined, 4)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("is in a thread domain");
    }
    assertThatThrownBy(
            () ->
                domain.createSharedReceiveQueue(
                    SharedReceiveQueueConfig.of(4).tagMatching(confined, 4, 4)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is in a thread domain");
  }

  @Test
  void aPlainQueueCannotBeSingleThreaded() {
    assertThatThrownBy(
            () -> device.createCompletionQueue(CompletionQueueConfig.of(8).singleThreaded(true)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("singleThreaded is set");
  }
}
