package org.rdma4j.tools.selftest;

import java.util.Arrays;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryWindow;
import org.rdma4j.verbs.MemoryWindowType;
import org.rdma4j.verbs.SendRequests;

/** Writes through a memory window, and finds it closed after it was unbound. */
final class WindowCheck implements SelfCheck {
  private static final int BYTES = 64;

  @Override
  public String name() {
    return "memory window";
  }

  @Override
  public String run(TestedDevice tested) {
    try (LoopedPair pair = LoopedPair.connect(tested)) {
      if (pair.device.attributes().maxMemoryWindows() == 0) {
        throw new NotSupported("the device has no memory windows");
      }
      MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
      MemoryRegion source = pair.expose(BYTES);
      MemoryRegion target =
          pair.domain.register(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.MEMORY_WINDOW_BIND);
      byte[] ones = new byte[BYTES];
      Arrays.fill(ones, (byte) 1);
      Expected.put(source, ones);
      int key = window.bind(pair.to, 1, target.slice(0, BYTES), true, AccessFlag.REMOTE_WRITE);
      pair.awaitReceived("the bind", 1);
      SendRequests sends = pair.from.sendRequests(1);
      sends.add(2).signaled().write(target.remoteAddress(), key).from(source, 0, BYTES).post();
      pair.awaitSent("a write", 2);
      Expected.equal("a write", Expected.get(target, 0, BYTES), ones);
      window.unbind(pair.to, 3, true);
      pair.awaitReceived("the unbind", 3);
      sends.add(4).signaled().write(target.remoteAddress(), key).from(source, 0, BYTES).post();
      Expected.equal(
          "a write after the unbind",
          "status",
          pair.pollSent("a write after the unbind").status(0),
          CompletionStatus.REMOTE_ACCESS_ERROR);
      return "a write arrived, and one after the unbind failed";
    }
  }
}
