package org.rdma4j.docs.guide;

import java.time.Duration;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;

/** What the code of the guide begins with: two connected queue pairs, both of this process. */
final class Peers implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int DEPTH = 16;

  final RdmaDevice device = RdmaDevice.open(RdmaDevice.list().getFirst().name());
  final ProtectionDomain domain = device.allocateProtectionDomain();
  final CompletionChannel channel = device.createCompletionChannel();
  final CompletionQueue queue = device.createCompletionQueue(2 * DEPTH, channel);
  final CompletionQueue peerQueue =
      device.createCompletionQueue(2 * DEPTH, device.createCompletionChannel());
  final QueuePair queuePair = createQueuePair(queue);
  final QueuePair peer = createQueuePair(peerQueue);
  final MemoryRegion memory = domain.register(1 << 16, AccessFlag.LOCAL_WRITE);
  final MemoryRegion peerMemory =
      domain.register(
          1 << 16,
          AccessFlag.LOCAL_WRITE,
          AccessFlag.REMOTE_READ,
          AccessFlag.REMOTE_WRITE,
          AccessFlag.REMOTE_ATOMIC);

  Peers() {
    connect(queuePair, peer);
    connect(peer, queuePair);
  }

  private QueuePair createQueuePair(CompletionQueue completions) {
    return domain.createQueuePair(
        QueuePairConfig.reliable(completions).sendDepth(DEPTH).receiveDepth(DEPTH).inlineBytes(64));
  }

  private void connect(QueuePair from, QueuePair to) {
    from.connect(
        PathConfig.to(to.address())
            .access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC));
  }

  /** Returns an IPv4 address of this machine over which RDMA works. */
  static String host() {
    return DeviceAddress.ipv4().getHostAddress();
  }

  @Override
  public void close() {
    device.close();
  }
}
