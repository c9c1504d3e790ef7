package org.rdma4j.connection.session;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;

/**
 * An offer that waits for memory, unless it has a buffer that it fits into, or a message that has
 * arrived behind one. It is used again and again, so that a message allocates nothing.
 */
final class Unfetched {
  private final Offer offer = new Offer();
  private boolean isOffer;
  private MessageKind kind = MessageKind.MESSAGE;
  private long number;
  private @Nullable Buffer buffer;

  /** Reads an offer; returns whether an honest peer may have sent it. */
  boolean read(MemorySegment memory, long at) {
    return offer.read(memory, at);
  }

  /** Makes this what was read, of a message that is fetched into a buffer, if there is one. */
  void offer(MessageKind ofKind, long withNumber, @Nullable Buffer target) {
    isOffer = true;
    kind = ofKind;
    number = withNumber;
    buffer = target;
  }

  /** Makes this a message that has arrived. */
  void arrived(Buffer message) {
    isOffer = false;
    buffer = message;
  }

  /** Forgets the buffer. */
  void clear() {
    buffer = null;
  }

  boolean isOffer() {
    return isOffer;
  }

  Offer offer() {
    return offer;
  }

  MessageKind kind() {
    return kind;
  }

  long number() {
    return number;
  }

  @Nullable Buffer buffer() {
    return buffer;
  }
}
