package org.rdma4j.bench;

import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CallStyle;
import org.rdma4j.verbs.CompletionField;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendOperation;
import org.rdma4j.verbs.SlabPool;

/** A stand-in device, opened, with a queue pair that is ready to send. */
final class StandIn implements AutoCloseable {
  /** Does at once what it is asked for. */
  static final String FAST = "standin0";

  /** Stays in each call for a while. */
  static final String DAWDLING = "standin1";

  static final int DEPTH = 64;
  static final int MESSAGE = 64;

  private final RdmaDevice device;
  private final ProtectionDomain domain;
  private final MemoryRegion region;
  private final CompletionQueue completionQueue;
  private final QueuePair queuePair;

  private StandIn(RdmaDevice device, Queues queues) {
    this.device = device;
    this.domain = device.allocateProtectionDomain();
    this.region =
        domain.register(
            MESSAGE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    CompletionQueueConfig completions = CompletionQueueConfig.of(2 * DEPTH);
    this.completionQueue =
        device.createCompletionQueue(
            queues.extendsPolls()
                ? completions.extended(CompletionField.BYTE_LENGTH)
                : completions);
    QueuePairConfig config =
        QueuePairConfig.reliable(completionQueue)
            .sendDepth(DEPTH)
            .receiveDepth(DEPTH)
            .inlineBytes(MESSAGE);
    this.queuePair =
        domain.createQueuePair(
            queues.extendsPosts() ? config.extended(SendOperation.SEND) : config);
    queuePair.connect(PathConfig.to(queuePair.address(1, 0, 0)).gidIndex(0));
  }

  static StandIn open(String name, CallStyle style) {
    return open(name, style, Queues.PLAIN);
  }

  static StandIn open(String name, CallStyle style, Queues queues) {
    return new StandIn(RdmaDevice.open(name, style), queues);
  }

  MemoryRegion region() {
    return region;
  }

  CompletionQueue completionQueue() {
    return completionQueue;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  SlabPool pool(int slabs, long slabBytes) {
    return domain.createSlabPool(slabs, slabBytes);
  }

  @Override
  public void close() {
    device.close();
  }
}
