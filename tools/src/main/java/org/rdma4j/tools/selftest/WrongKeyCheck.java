package org.rdma4j.tools.selftest;

import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;

/** Writes with the key of closed memory: the request fails, and changes nothing. */
final class WrongKeyCheck implements SelfCheck {
  @Override
  public String name() {
    return "protection";
  }

  @Override
  public String run(TestedDevice tested) {
    try (LoopedPair pair = LoopedPair.connect(tested)) {
      MemoryRegion source = pair.expose(8);
      MemoryRegion target = pair.expose(8);
      MemoryRegion other = pair.expose(8);
      int key = other.remoteKey();
      other.close();
      source.segment().fill((byte) 1);
      pair.from
          .sendRequests(1)
          .add(1)
          .signaled()
          .write(target.remoteAddress(), key)
          .from(source, 0, 8)
          .post();
      Completions failed = pair.pollSent("a write with a wrong key");
      Expected.equal(
          "a write with a wrong key",
          "status",
          failed.status(0),
          CompletionStatus.REMOTE_ACCESS_ERROR);
      Expected.equal("memory", Expected.get(target, 0, 8), new byte[8]);
      return "a write with a wrong key failed, and wrote nothing";
    }
  }
}
