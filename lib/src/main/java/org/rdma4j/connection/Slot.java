package org.rdma4j.connection;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;

/**
 * Registered memory for one message and its header. It is used again and again, while a {@link
 * MessageBuffer} is what a user holds during one use.
 */
final class Slot {
  /** Where a slot goes that is no longer in use. */
  interface Home {
    void giveBack(Slot slot);
  }

  private final Home home;
  private final int index;
  private final MemoryRegion region;
  private final MemorySegment memory;
  private final long start;
  private final long capacity;

  private long position;
  private long length;
  private @Nullable Link sender;
  private MessageKind kind = MessageKind.MESSAGE;
  private long number;
  private boolean complete;
  private final Holder holder = new Holder();

  /** The bytes after the header, as many as a ByteBuffer can have; made at the first use. */
  private @Nullable ByteBuffer view;

  private @Nullable ByteBuffer readOnlyView;

  /**
   * Creates a slot that is not in use.
   *
   * @param home where it goes after use
   * @param index its index there
   * @param region the region of its memory
   * @param header where its memory begins in the region, with the header
   * @param capacity the number of bytes after the header
   */
  Slot(Home home, int index, MemoryRegion region, long header, long capacity) {
    this.home = home;
    this.index = index;
    this.region = region;
    this.memory = region.segment();
    this.start = header + MessageHeader.BYTES;
    this.capacity = capacity;
  }

  /**
   * Sets what is in this slot.
   *
   * @param length the number of its bytes, from the first one on
   * @param sender the end of the connection where it occupies a place; null if it does not
   */
  void become(MessageKind kind, long number, long length, @Nullable Link sender) {
    this.kind = kind;
    this.number = number;
    this.position = 0;
    this.length = length;
    this.sender = sender;
    this.complete = true;
  }

  /** Fills the slot with a message: copies the bytes, and does not change the buffer. */
  void fill(MessageKind kind, ByteBuffer bytes) {
    become(kind, 0, bytes.remaining(), null);
    view().put(0, bytes, bytes.position(), bytes.remaining());
  }

  /** Copies the message to the buffer, which has room for it, and moves its position. */
  void copyTo(ByteBuffer target) {
    int end = target.position() + (int) length;
    target.put(target.position(), view(), (int) position, (int) length).position(end);
  }

  private ByteBuffer view() {
    ByteBuffer made = view;
    if (made == null) {
      made = bytes(Integer.MAX_VALUE).asByteBuffer();
      view = made;
    }
    return made;
  }

  /**
   * Returns the message, which is not longer than a ByteBuffer can be, to be read before the slot
   * is used again: each call returns the same object, so that this allocates nothing.
   */
  ByteBuffer readOnlyMessage() {
    ByteBuffer made = readOnlyView;
    if (made == null) {
      made = view().asReadOnlyBuffer();
      readOnlyView = made;
    }
    return made.order(ByteOrder.BIG_ENDIAN).clear().limit((int) length);
  }

  /** Sets which of the bytes are the message. */
  void select(long position, long length) {
    this.position = position;
    this.length = length;
  }

  /** Sets whether the whole message has arrived. */
  void complete(boolean complete) {
    this.complete = complete;
  }

  boolean isComplete() {
    return complete;
  }

  /** Ends the occupation of a place, if this has arrived, and returns at which connection. */
  @Nullable Link leavePlace() {
    Link left = sender;
    sender = null;
    return left;
  }

  Holder holder() {
    return holder;
  }

  int index() {
    return index;
  }

  MessageKind kind() {
    return kind;
  }

  long number() {
    return number;
  }

  /** Returns the number of bytes after the header. */
  long capacity() {
    return capacity;
  }

  /** Returns the length of the message. */
  long length() {
    return length;
  }

  MemoryRegion region() {
    return region;
  }

  /** Returns the memory of the whole region. */
  MemorySegment regionMemory() {
    return memory;
  }

  /** Returns where the message begins in the region, after its header. */
  long payload() {
    return start + position;
  }

  /** Returns where the memory of this slot begins in the region: the header of what arrives. */
  long header() {
    return start - MessageHeader.BYTES;
  }

  /** Returns all bytes after the header, of which the message is the first. */
  MemorySegment bytes() {
    return memory.asSlice(start, capacity);
  }

  /** Returns the first bytes after the header, at most so many. */
  MemorySegment bytes(long max) {
    return memory.asSlice(start, Math.min(capacity, max));
  }

  /** Returns a part of the bytes after the header, for requests. */
  MemorySlice part(long offset, long bytes) {
    return region.slice(start + offset, bytes);
  }

  /** Returns the memory of the message, for peers. */
  MemorySlice messageMemory() {
    return region.slice(payload(), length);
  }

  /** Returns the message, which is not longer than a ByteBuffer can be. */
  ByteBuffer message() {
    return memory.asSlice(payload(), length).asByteBuffer();
  }

  /** Ends the use of this slot, and of the place that it occupies. */
  void free() {
    free(true);
  }

  /** Ends the use of a slot that its user has dropped. Its memory may still be in use. */
  void freeDropped() {
    free(!holder.isLent());
  }

  private void free(boolean reusable) {
    Link left = leavePlace();
    if (reusable) {
      home.giveBack(this);
    }
    if (left != null) {
      left.placeFreed(this);
    }
  }
}
