package org.rdma4j.tools.cm;

import java.util.HashMap;
import java.util.Map;
import org.rdma4j.cm.CmId;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;

/**
 * Creates the queue pairs of cmtime. All queue pairs of a device share a protection domain and a
 * completion queue, as in C: there the first call of {@code rdma_create_qp} stores the queues that
 * it created in the attributes that the next calls get. Only one thread may use it.
 */
final class CmtimeQueuePairs implements AutoCloseable {
  private final Map<RdmaDevice, Shared> shared = new HashMap<>();

  private record Shared(ProtectionDomain domain, CompletionQueue queue, QueuePairConfig config) {
    static Shared of(RdmaDevice device) {
      ProtectionDomain domain = device.allocateProtectionDomain();
      try {
        CompletionQueue queue = device.createCompletionQueue(CompletionQueueConfig.of(1));
        // Cannot happen: nothing is sent.
        return new Shared(domain, queue, QueuePairConfig.reliable(queue).ignoreOverrun(true));
      } catch (RuntimeException failed) {
        domain.close();
        throw failed;
      }
    }
  }

  QueuePair create(CmId id) {
    Shared of = shared.computeIfAbsent(id.device(), Shared::of);
    return id.createQueuePair(of.domain, of.config);
  }

  @Override
  public void close() {
    for (Shared each : shared.values()) {
      each.queue.close();
      each.domain.close();
    }
  }
}
