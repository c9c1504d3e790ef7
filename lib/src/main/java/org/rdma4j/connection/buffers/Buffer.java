package org.rdma4j.connection.buffers;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.lifetime.ReusedMemory;

/**
 * Memory of the device for one message and its header. It is used again and again; a {@link Holder}
 * knows the user of one use.
 *
 * <p>Not safe for use by several threads: it belongs to one connection, or to one user, at a time.
 */
public final class Buffer extends ReusedMemory {
  /** Where a buffer goes that is no longer in use. */
  public interface Home {
    /** Takes a buffer back. Called in any thread. */
    void giveBack(Buffer buffer);
  }

  private final Home home;
  private final int index;
  private final BufferMemory memory;
  private final MemorySegment segment;
  private final long start;
  private final long capacity;
  private final Holder holder = new Holder();

  private long position;
  private long length;
  private @Nullable ReceiveWindow window;
  private MessageKind kind = MessageKind.MESSAGE;
  private long number;
  private boolean complete;

  /** Of several messages that have arrived together: where the others are, and where they end. */
  private long others;

  private long othersEnd;

  /** Whether it has arrived behind another one in this buffer. */
  private boolean follows;

  /** Whether it was taken to receive into. The lock of its pool guards this. */
  private boolean toReceive;

  /** When it was given back the last time, if it is long. The lock of its pool guards this. */
  private long keptSince;

  /** What it counts as if it is long and arrives. The lock of its pool guards this. */
  private @Nullable Arrivals arrivals;

  /** Whether it counts there as an answer. */
  private boolean sentOn;

  /** The bytes after the header, as many as a ByteBuffer can have; made at the first use. */
  private @Nullable ByteBuffer view;

  private @Nullable ByteBuffer readOnlyView;

  /**
   * Creates a buffer that is not in use.
   *
   * @param home where it goes after use
   * @param index its index there
   * @param memory what it is a part of
   * @param header where it begins in the memory, with the header
   * @param capacity the number of bytes after the header
   */
  public Buffer(Home home, int index, BufferMemory memory, long header, long capacity) {
    this.home = home;
    this.index = index;
    this.memory = memory;
    this.segment = memory.segment();
    this.start = header + MessageHeader.BYTES;
    this.capacity = capacity;
  }

  /** Sets what is in this buffer: a whole message of this length, from the first byte on. */
  public void become(MessageKind kind, long number, long length) {
    this.kind = kind;
    this.number = number;
    this.position = 0;
    this.length = length;
    this.complete = true;
    this.others = 0;
    this.othersEnd = 0;
    this.follows = false;
  }

  /**
   * Makes the first of several messages, all of which have arrived, the message. {@link #toNext}
   * goes on.
   *
   * @param bytes the length of all of them, with the lengths between them
   * @return the number of messages; 0 if the lengths do not fit together
   */
  public int becomePacked(long firstLength, long bytes) {
    int messages = 1;
    long end = firstLength;
    while (end < bytes && bytes - end >= MessageHeader.LENGTH_BYTES) {
      long next = Integer.toUnsignedLong(lengthAt(end));
      end += MessageHeader.LENGTH_BYTES + next;
      messages++;
    }
    become(MessageKind.MESSAGE, 0, firstLength);
    others = firstLength;
    othersEnd = bytes;
    return end == bytes && messages > 1 ? messages : 0;
  }

  /** Returns whether other messages that have arrived together with this one follow it. */
  public boolean hasNext() {
    return others < othersEnd;
  }

  /** Makes the next of several messages the message. */
  public void toNext() {
    length = lengthAt(others);
    position = others + MessageHeader.LENGTH_BYTES;
    others = position + length;
    follows = true;
  }

  /** Returns whether the message has arrived behind another one, so that it took no credit. */
  public boolean follows() {
    return follows;
  }

  private int lengthAt(long at) {
    return view().getInt((int) at);
  }

  /** Returns the length of the longest of the messages from this one on. */
  public long longest() {
    long longest = length;
    long at = others;
    while (at < othersEnd) {
      int next = lengthAt(at);
      longest = Math.max(longest, next);
      at += MessageHeader.LENGTH_BYTES + next;
    }
    return longest;
  }

  /** Moves the message to the first byte, where views begin: no code reads bytes before it. */
  public void toFront() {
    if (position > 0) {
      MemorySegment.copy(segment, start + position, segment, start, length);
      position = 0;
    }
  }

  /** Makes this a copy of a message that has arrived in another buffer of the same length. */
  public void copy(Buffer message) {
    become(message.kind, message.number, message.length);
    MemorySegment.copy(message.segment, message.payload(), segment, start, length);
  }

  /**
   * Adds a message, after its length, behind what is in this buffer and begins at the first byte.
   */
  public void append(ByteBuffer bytes) {
    int added = bytes.remaining();
    int at = (int) length;
    view().put(at + MessageHeader.LENGTH_BYTES, bytes, bytes.position(), added);
    view().putInt(at, added);
    length += MessageHeader.LENGTH_BYTES + added;
  }

  /** Sets that a message of this length will be here, of which nothing has arrived yet. */
  public void await(MessageKind kind, long number, long length) {
    become(kind, number, length);
    this.complete = false;
  }

  /** Records that the whole message has arrived. */
  public void completed() {
    complete = true;
  }

  /** Returns whether the whole message is here. */
  public boolean isComplete() {
    return complete;
  }

  /** Fills the buffer with a message: copies the bytes, and does not change their buffer. */
  public void fill(MessageKind kind, ByteBuffer bytes) {
    become(kind, 0, bytes.remaining());
    view().put(0, bytes, bytes.position(), bytes.remaining());
  }

  /** Copies the message to the buffer, which has room for it, and moves its position. */
  public void copyTo(ByteBuffer target) {
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
   * Returns the message, which is not longer than a ByteBuffer can be, to be read before the buffer
   * is used again: each call returns the same object, so that this allocates nothing.
   */
  public ByteBuffer readOnlyMessage() {
    toFront();
    ByteBuffer made = readOnlyView;
    if (made == null) {
      made = view().asReadOnlyBuffer();
      readOnlyView = made;
    }
    return made.order(ByteOrder.BIG_ENDIAN).clear().limit((int) length);
  }

  /** Sets which of the bytes are the message. */
  public void select(long position, long length) {
    this.position = position;
    this.length = length;
  }

  /** Counts the message against a receive window from now on. */
  public void enter(ReceiveWindow entered) {
    window = entered;
  }

  /**
   * Counts the message against no receive window any more, without telling that window.
   *
   * @return the window that it counted against; null if it did not
   */
  public @Nullable ReceiveWindow leaveWindow() {
    ReceiveWindow left = window;
    window = null;
    return left;
  }

  void sentOn(boolean isAnswer) {
    sentOn = isAnswer;
  }

  boolean isSentOn() {
    return sentOn;
  }

  void keptSince(long turn) {
    keptSince = turn;
  }

  long keptSince() {
    return keptSince;
  }

  void arrivals(@Nullable Arrivals counted) {
    arrivals = counted;
  }

  @Nullable Arrivals arrivals() {
    return arrivals;
  }

  /** Returns whether it was taken for a message of a peer; its user may send that on. */
  public boolean hasArrived() {
    return toReceive || arrivals != null;
  }

  /** Sets whether it was taken to receive into. */
  void toReceive(boolean taken) {
    toReceive = taken;
  }

  boolean isToReceive() {
    return toReceive;
  }

  /** Returns who holds this buffer. */
  public Holder holder() {
    return holder;
  }

  /** Returns its index where it goes after use. */
  public int index() {
    return index;
  }

  /** Returns the kind of the message. */
  public MessageKind kind() {
    return kind;
  }

  /** Returns the number in the header of the message. */
  public long number() {
    return number;
  }

  /** Returns the number of bytes after the header. */
  public long capacity() {
    return capacity;
  }

  /** Returns how many of the bytes after the header the device can access: the first ones. */
  public long registeredBytes() {
    return Math.min(capacity, memory.registeredBytes() - start);
  }

  /** Returns whether it is one of {@link LargeBuffers}, whatever the length of its message is. */
  public boolean isLong() {
    return home instanceof LargeBuffers;
  }

  /** Returns the length of the message. */
  public long length() {
    return length;
  }

  /** Returns what it is a part of. */
  public BufferMemory memory() {
    return memory;
  }

  /** Returns the memory in which {@link #header} and {@link #payload} are offsets. */
  public MemorySegment segment() {
    return segment;
  }

  /** Returns where the message begins in the memory, after its header. */
  public long payload() {
    return start + position;
  }

  /** Returns where the buffer begins in the memory: the header of what arrives. */
  public long header() {
    return start - MessageHeader.BYTES;
  }

  /** Returns where the bytes after the header of what arrives begin in the memory. */
  public long start() {
    return start;
  }

  /** Returns all bytes after the header, of which the message is the first. */
  public MemorySegment bytes() {
    return segment.asSlice(start, capacity);
  }

  /** Returns the first bytes after the header, at most so many. */
  public MemorySegment bytes(long max) {
    return segment.asSlice(start, Math.min(capacity, max));
  }

  /** Returns the message, which is not longer than a ByteBuffer can be. */
  public ByteBuffer message() {
    return segment.asSlice(payload(), length).asByteBuffer();
  }

  /**
   * Ends the use of this buffer, whose memory goes back at the end of the last operation of a user
   * on it. The message no longer counts against a window.
   */
  public void free() {
    free(true);
  }

  /** Ends the use of a buffer that its user has dropped. Its memory may still be in use. */
  public void freeDropped() {
    free(!holder.isLent());
  }

  private void free(boolean reusable) {
    ReceiveWindow left = leaveWindow();
    if (reusable) {
      release();
    }
    if (left != null) {
      left.left(this);
    }
  }

  @Override
  protected boolean isHeld() {
    return holder.isHeld();
  }

  @Override
  protected void giveBack() {
    home.giveBack(this);
  }
}
