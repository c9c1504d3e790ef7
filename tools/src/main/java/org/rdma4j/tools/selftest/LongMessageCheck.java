package org.rdma4j.tools.selftest;

import java.util.Random;
import org.rdma4j.verbs.MemoryRegion;

/** Sends one message of many packets. */
final class LongMessageCheck implements SelfCheck {
  private static final int BYTES = 8 << 20;

  @Override
  public String name() {
    return "long message";
  }

  @Override
  public String run(TestedDevice tested) {
    try (LoopedPair pair = LoopedPair.connect(tested)) {
      long max = pair.device.port(tested.port()).attributes().maxMessageSize();
      byte[] message = Expected.random(new Random(BYTES), (int) Math.min(BYTES, max));
      MemoryRegion source = pair.expose(message.length);
      MemoryRegion target = pair.expose(message.length);
      Expected.put(source, message);
      pair.to.receiveRequests(1).add(1).into(target, 0, message.length).post();
      pair.from.sendRequests(1).add(2).signaled().from(source, 0, message.length).post();
      pair.awaitSent(name(), 2);
      pair.awaitReceived(name(), 1);
      Expected.equal(name(), Expected.get(target, 0, message.length), message);
      return message.length + " bytes";
    }
  }
}
