package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_gid;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.verbs.address.Gid;

/**
 * The multicast groups that a queue pair is attached to. It must be detached from all of them
 * before it can be destroyed.
 */
final class MulticastGroups {
  private record Group(Gid gid, int lid) {}

  private final DeviceInfo device;
  private final MemorySegment queuePair;
  private final Set<Group> attached = new LinkedHashSet<>();

  MulticastGroups(DeviceInfo device, MemorySegment queuePair) {
    this.device = device;
    this.queuePair = queuePair;
  }

  synchronized void attach(Gid gid, int lid) {
    checkNoOtherLid(gid, lid);
    try (Arena arena = Arena.ofConfined()) {
      NativeFailures.check(
          device.name(),
          "ibv_attach_mcast(" + gid + ")",
          rdma_h.ibv_attach_mcast(queuePair, write(gid, arena), (short) lid));
    }
    attached.add(new Group(gid, lid));
  }

  /**
   * A driver that ignores local identifiers would have one entry where the kernel counts two. The
   * second could not be detached, so that the kernel could never destroy the queue pair.
   */
  private void checkNoOtherLid(Gid gid, int lid) {
    for (Group group : attached) {
      if (group.gid.equals(gid) && group.lid != lid) {
        throw new IllegalArgumentException(
            "the queue pair is attached to group %s with LID %d: detach it before it is attached with LID %d"
                .formatted(gid, group.lid, lid));
      }
    }
  }

  synchronized void detach(Gid gid, int lid) {
    Group group = new Group(gid, lid);
    if (!attached.contains(group)) {
      throw new IllegalArgumentException(
          "the queue pair is not attached to group " + gid + " with LID " + lid);
    }
    try (Arena arena = Arena.ofConfined()) {
      NativeFailures.check(
          device.name(),
          "ibv_detach_mcast(" + gid + ")",
          rdma_h.ibv_detach_mcast(queuePair, write(gid, arena), (short) lid));
    }
    attached.remove(group);
  }

  synchronized void detachAll() {
    for (Group group : List.copyOf(attached)) {
      detach(group.gid, group.lid);
    }
  }

  private static MemorySegment write(Gid gid, Arena arena) {
    MemorySegment raw = arena.allocate(ibv_gid.layout());
    gid.write(raw);
    return raw;
  }
}
