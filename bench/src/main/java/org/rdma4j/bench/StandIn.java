package org.rdma4j.bench;

import org.rdma4j.verbs.CallStyle;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;

/** A stand-in device, opened, with a queue pair that is ready to send. */
final class StandIn implements AutoCloseable {
  /** Does at once what it is asked for. */
  static final String FAST = "standin0";

  /** Stays in each call for a while. */
  static final String DAWDLING = "standin1";

  static final int DEPTH = 64;
  static final int MESSAGE = 64;

  private final RdmaDevice device;
  private final MemoryRegion region;
  private final CompletionQueue completionQueue;
  private final QueuePair queuePair;

  private StandIn(RdmaDevice device) {
    this.device = device;
    ProtectionDomain domain = device.allocateProtectionDomain();
    this.region = domain.register(MESSAGE);
    this.completionQueue = device.createCompletionQueue(2 * DEPTH);
    this.queuePair =
        domain.createQueuePair(
            QueuePairConfig.reliable(completionQueue).sendDepth(DEPTH).receiveDepth(DEPTH));
    queuePair.connect(PathConfig.to(queuePair.address(1, 0, 0)).gidIndex(0));
  }

  static StandIn open(String name, CallStyle style) {
    return new StandIn(RdmaDevice.open(name, style));
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

  @Override
  public void close() {
    device.close();
  }
}
