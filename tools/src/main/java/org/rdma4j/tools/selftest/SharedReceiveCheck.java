package org.rdma4j.tools.selftest;

import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SharedReceiveQueue;

/** Sends to two queue pairs that take their receives from one queue. */
final class SharedReceiveCheck implements SelfCheck {
  private static final int COUNT = 100;

  @Override
  public String name() {
    return "shared receive queue";
  }

  @Override
  public String run(TestedDevice tested) {
    try (LoopedPair pair = LoopedPair.connect(tested)) {
      SharedReceiveQueue shared = pair.domain.createSharedReceiveQueue(2, 1);
      CompletionQueue queue = pair.device.createCompletionQueue(8);
      QueuePair[] senders = new QueuePair[2];
      QueuePair[] receivers = new QueuePair[2];
      for (int i = 0; i < 2; i++) {
        senders[i] = pair.domain.createQueuePair(QueuePairConfig.reliable(queue));
        receivers[i] =
            pair.domain.createQueuePair(QueuePairConfig.reliable(queue).sharedReceiveQueue(shared));
        pair.connect(senders[i], receivers[i]);
      }
      MemoryRegion memory = pair.expose(2);
      ReceiveRequests receives = shared.receiveRequests(1);
      Completions completions = queue.completions(1);
      for (int i = 0; i < COUNT; i++) {
        String what = "message " + i;
        memory.byteBuffer().put(0, (byte) i);
        receives.add(i).into(memory, 1, 1).post();
        senders[i % 2].sendRequests(1).add(i).signaled().from(memory, 0, 1).post();
        // That of the send, and that of the receive, in either order.
        for (int done = 0; done < 2; done++) {
          LoopedPair.poll(completions, what);
          completions.requireSuccess(0);
        }
        Expected.equal(what, "byte", memory.byteBuffer().get(1), (byte) i);
      }
      return "%d messages to two queue pairs".formatted(COUNT);
    }
  }
}
