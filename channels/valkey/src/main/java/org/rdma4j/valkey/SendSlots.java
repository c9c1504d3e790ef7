package org.rdma4j.valkey;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.SendRequests;

/**
 * The registered memory from which a socket sends, in slots: a slot holds what one request sends,
 * until that request has completed. Requests of a queue pair complete in their order, so a
 * completion also ends those before it, and only some requests need one.
 */
final class SendSlots {
  static final int COUNT = 16;
  private static final int SIGNALED_EACH = 4;

  private final MemoryRegion region;
  private final SendRequests requests;
  private final int slotBytes;
  private long posted;
  private long completed;

  SendSlots(QueuePair queuePair, MemoryRegion region) {
    this.region = region;
    this.requests = queuePair.sendRequests(1);
    this.slotBytes = (int) region.byteSize() / COUNT;
  }

  boolean hasFree() {
    return posted - completed < COUNT;
  }

  boolean areAllFree() {
    return posted == completed;
  }

  /** Records that the request with this id has completed. */
  void completed(long id) {
    completed = id + 1;
  }

  /**
   * Sends bytes to a place in the peer's buffer, as many as a slot holds.
   *
   * @return how many
   */
  int write(byte[] source, int from, int length, RemoteMemory target, long at) {
    int bytes = Math.min(length, slotBytes);
    long slot = slot();
    MemorySegment.copy(source, from, region.segment(), JAVA_BYTE, slot, bytes);
    requests.add(posted).writeWithImmediate(target, at, bytes, bytes).from(region, slot, bytes);
    post(posted % SIGNALED_EACH == SIGNALED_EACH - 1);
    return bytes;
  }

  /** Sends a control message without fields; its completion ends all requests before it. */
  void send(int kind) {
    ControlMessage.write(region.segment().asSlice(slot()), kind);
    sendControl();
  }

  /** Sends the control message that names the buffer of this side. */
  void send(RemoteMemory buffer) {
    ControlMessage.write(region.segment().asSlice(slot()), buffer);
    sendControl();
  }

  private void sendControl() {
    requests.add(posted).send().from(region, slot(), ControlMessage.BYTES);
    post(true);
  }

  private long slot() {
    return posted % COUNT * slotBytes;
  }

  /** A connection whose request was refused ends, so nothing is posted afterwards. */
  private void post(boolean signaled) {
    if (signaled) {
      requests.signaled();
    }
    requests.post();
    requests.release();
    posted++;
  }
}
