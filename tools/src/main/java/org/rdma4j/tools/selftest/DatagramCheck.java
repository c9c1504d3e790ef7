package org.rdma4j.tools.selftest;

import java.util.Random;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.Port;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GlobalRoutingHeader;
import org.rdma4j.verbs.attribute.LinkLayer;

/** Sends datagrams between two queue pairs of the type UD. */
final class DatagramCheck implements SelfCheck {
  private static final int QUEUE_KEY = 0x1234_5678;
  private static final int BYTES = 256;
  private static final int COUNT = 100;

  @Override
  public String name() {
    return "datagrams";
  }

  @Override
  public String run(TestedDevice tested) {
    try (LoopedPair pair = LoopedPair.connect(tested)) {
      CompletionQueue queueOfSends = pair.device.createCompletionQueue(4);
      CompletionQueue queueOfReceives = pair.device.createCompletionQueue(4);
      QueuePair from = create(pair, tested, queueOfSends);
      QueuePair to = create(pair, tested, queueOfReceives);
      AddressHandle handle =
          pair.domain.createAddressHandle(vector(pair.device.port(tested.port())));
      MemoryRegion source = pair.expose(BYTES);
      MemoryRegion target = pair.expose(GlobalRoutingHeader.BYTES + BYTES);
      SendRequests sends = from.sendRequests(1);
      ReceiveRequests receives = to.receiveRequests(1);
      Completions sent = queueOfSends.completions(1);
      Completions received = queueOfReceives.completions(1);
      Random random = new Random(COUNT);
      for (int i = 0; i < COUNT; i++) {
        String what = "datagram " + i;
        byte[] datagram = Expected.random(random, 1 + random.nextInt(BYTES));
        Expected.put(source, datagram);
        receives.add(i).into(target, 0, target.byteSize()).post();
        sends.add(i).to(handle, to.number(), QUEUE_KEY).signaled();
        sends.from(source, 0, datagram.length).post();
        LoopedPair.poll(sent, what);
        sent.requireSuccess(0);
        LoopedPair.poll(received, what);
        received.requireSuccess(0);
        Expected.equal(what, "sender", received.sourceQueuePairNumber(0), from.number());
        Expected.equal(
            what, Expected.get(target, GlobalRoutingHeader.BYTES, datagram.length), datagram);
      }
      return "%d of up to %d bytes".formatted(COUNT, BYTES);
    }
  }

  private static QueuePair create(LoopedPair pair, TestedDevice tested, CompletionQueue queue) {
    QueuePair created =
        pair.domain.createQueuePair(QueuePairConfig.datagram(queue).sendDepth(1).receiveDepth(1));
    created.startDatagrams(tested.port(), 0, QUEUE_KEY);
    return created;
  }

  private static AddressVector vector(Port port) {
    if (port.attributes().linkLayer() != LinkLayer.ETHERNET) {
      return AddressVector.to(port.attributes().lid(), port.number());
    }
    GidEntry gid = port.preferredGid();
    return AddressVector.to(gid.gid(), port.number(), gid.index());
  }
}
