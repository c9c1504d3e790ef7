package org.rdma4j.tools.selftest;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;

/** Registers memory, which reads as zeros after its close. */
final class RegionCheck implements SelfCheck {
  private static final int[] LENGTHS = {1, 4096, 4097, 1 << 20, 4 << 20};

  @Override
  public String name() {
    return "memory regions";
  }

  @Override
  public String run(TestedDevice tested) {
    List<MemorySegment> closed = new ArrayList<>();
    try (RdmaDevice device = tested.open();
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      for (int length : LENGTHS) {
        try (MemoryRegion region =
            domain.register(length, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ)) {
          region.segment().fill((byte) 1);
          closed.add(region.segment());
        }
      }
    }
    for (MemorySegment segment : closed) {
      byte stale = segment.get(ValueLayout.JAVA_BYTE, 0);
      Expected.equal(
          "closed memory of %d bytes".formatted(segment.byteSize()), "byte", stale, (byte) 0);
    }
    return "%d regions of up to %d bytes".formatted(LENGTHS.length, LENGTHS[LENGTHS.length - 1]);
  }
}
