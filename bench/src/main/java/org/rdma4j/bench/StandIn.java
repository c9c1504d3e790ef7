package org.rdma4j.bench;

import org.rdma4j.memory.SlabPool;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CallStyle;
import org.rdma4j.verbs.CompletionField;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendOperation;

/**
 * A queue pair of a stand-in device that is ready to send, and what it needs: registered memory and
 * a completion queue.
 */
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

  private StandIn(
      RdmaDevice device,
      ProtectionDomain domain,
      MemoryRegion region,
      CompletionQueue completionQueue,
      QueuePair queuePair) {
    this.device = device;
    this.domain = domain;
    this.region = region;
    this.completionQueue = completionQueue;
    this.queuePair = queuePair;
  }

  static StandIn open(String name, CallStyle style) {
    return open(name, style, Queues.PLAIN);
  }

  static StandIn open(String name, CallStyle style, Queues queues) {
    return open(name, style, queues, DEPTH, MESSAGE);
  }

  static StandIn open(String name, CallStyle style, Queues queues, int depth, long bytes) {
    RdmaDevice device = RdmaDevice.open(name, style);
    CompletionQueueConfig completions = CompletionQueueConfig.of(2 * depth);
    CompletionQueue completionQueue =
        device.createCompletionQueue(
            queues.extendsPolls()
                ? completions.extended(CompletionField.BYTE_LENGTH)
                : completions);
    ProtectionDomain domain = device.allocateProtectionDomain();
    MemoryRegion region =
        domain.register(
            bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    QueuePair queuePair = connect(domain, completionQueue, queues, depth);
    return new StandIn(device, domain, region, completionQueue, queuePair);
  }

  private static QueuePair connect(
      ProtectionDomain domain, CompletionQueue completionQueue, Queues queues, int depth) {
    // Several on one completion queue are used in turn.
    QueuePairConfig config =
        QueuePairConfig.reliable(completionQueue)
            .sendDepth(depth)
            .receiveDepth(depth)
            .inlineBytes(MESSAGE)
            .mayOverrun(true);
    QueuePair queuePair =
        domain.createQueuePair(
            queues.extendsPosts() ? config.extended(SendOperation.SEND) : config);
    queuePair.connect(PathConfig.to(queuePair.address(1, 0)).gidIndex(0));
    return queuePair;
  }

  /** Another queue pair on the same completion queue. */
  StandIn withOtherQueuePair(int depth) {
    return new StandIn(
        device,
        domain,
        region,
        completionQueue,
        connect(domain, completionQueue, Queues.PLAIN, depth));
  }

  /** The same queue pair with the same memory, registered once more. */
  StandIn withOtherRegion() {
    return new StandIn(
        device,
        domain,
        domain.register(MemoryRegionConfig.of(region.segment())),
        completionQueue,
        queuePair);
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

  ProtectionDomain domain() {
    return domain;
  }

  SlabPool pool(int slabs, long slabBytes) {
    return SlabPool.register(domain, slabs, slabBytes);
  }

  /** Closes the device. */
  @Override
  public void close() {
    device.close();
  }
}
