package org.rdma4j.connection;

import java.util.ArrayDeque;
import java.util.Deque;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.ProtectionDomain;

/**
 * The registered memory of a connection, divided into slots of one message each: first the slots to
 * receive into, then those to send from.
 *
 * <p>Not safe for use by several threads: the lock of the connection guards it.
 */
final class Buffers {
  private final MemoryRegion region;
  private final int receiveSlots;
  private final int slotBytes;
  private final Deque<Integer> free = new ArrayDeque<>();

  private Buffers(MemoryRegion region, int receiveSlots, int sendSlots, int slotBytes) {
    this.region = region;
    this.receiveSlots = receiveSlots;
    this.slotBytes = slotBytes;
    for (int i = 0; i < sendSlots; i++) {
      free.add(receiveSlots + i);
    }
  }

  /** Allocates and registers the memory. */
  static Buffers register(ProtectionDomain domain, int receiveSlots, int sendSlots, int slotBytes) {
    long bytes = (long) (receiveSlots + sendSlots) * slotBytes;
    return new Buffers(
        domain.register(bytes, AccessFlag.LOCAL_WRITE), receiveSlots, sendSlots, slotBytes);
  }

  /** Returns the number of slots to receive into, which are those from 0 on. */
  int receiveSlots() {
    return receiveSlots;
  }

  /** Returns whether a slot is one to receive into. */
  boolean isReceiveSlot(int slot) {
    return slot < receiveSlots;
  }

  /** Returns the number of bytes in a slot. */
  int slotBytes() {
    return slotBytes;
  }

  /** Returns the memory of a slot. */
  MemorySlice memory(int slot) {
    return region.slice((long) slot * slotBytes, slotBytes);
  }

  /** Returns whether a slot to send from is free. */
  boolean hasFree() {
    return !free.isEmpty();
  }

  /** Takes a free slot to send from. */
  int take() {
    return free.removeFirst();
  }

  /** Makes a slot to send from free again. */
  void free(int slot) {
    free.add(slot);
  }
}
