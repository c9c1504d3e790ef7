package org.rdma4j.docs.guide;

import static org.rdma4j.docs.guide.Peers.TIMEOUT;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;

/** A number that clients increment: connected by librdmacm, posted and polled as in libibverbs. */
final class Counter {
  private Counter() {}

  // snippet: server
  static long serve(SynchronousCmId listener) throws InterruptedException, TimeoutException {
    try (SynchronousCmId peer = listener.awaitRequest(TIMEOUT).orElseThrow()) {
      RdmaDevice device = peer.id().device();
      ProtectionDomain domain = device.allocateProtectionDomain();
      CompletionQueue queue = device.createCompletionQueue(16);
      MemoryRegion counter = domain.register(8, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
      peer.id().createQueuePair(domain, QueuePairConfig.reliable(queue));
      ByteBuffer name = ByteBuffer.allocate(12);
      name.putLong(counter.remoteAddress()).putInt(counter.remoteKey()).flip();
      peer.accept(ConnectionConfig.DEFAULT.privateData(name), TIMEOUT);
      peer.awaitDisconnected(TIMEOUT);
      long count = counter.segment().get(ValueLayout.JAVA_LONG, 0);
      domain.close();
      queue.close();
      return count;
    }
  }

  // end

  // snippet: client
  static long count(InetSocketAddress server) throws InterruptedException, TimeoutException {
    try (SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP)) {
      id.resolveAddress(server, TIMEOUT);
      id.resolveRoute(TIMEOUT);
      RdmaDevice device = id.id().device();
      try (ProtectionDomain domain = device.allocateProtectionDomain();
          CompletionChannel channel = device.createCompletionChannel();
          CompletionQueue queue = device.createCompletionQueue(16, channel)) {
        MemoryRegion old = domain.register(8, AccessFlag.LOCAL_WRITE);
        QueuePair queuePair = id.id().createQueuePair(domain, QueuePairConfig.reliable(queue));
        CmEvent.Established established = id.connect(ConnectionConfig.DEFAULT, TIMEOUT);
        ByteBuffer name = established.config().privateData();
        long address = name.getLong();
        int key = name.getInt();
        queuePair
            .sendRequests(1)
            .add(1)
            .fetchAndAdd(address, key, 1)
            .into(old, 0, 8)
            .signaled()
            .post();
        Completions completions = queue.completions(1);
        completions.await(TIMEOUT);
        completions.requireSuccess(0);
        id.disconnect(TIMEOUT);
        return old.segment().get(ValueLayout.JAVA_LONG, 0);
      }
    }
  }

  // end
}
