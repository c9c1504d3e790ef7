package org.rdma4j.connection.session;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.recording.OperationEvent;

/**
 * A request of a connection, from when it is asked for until it is done: what is to be posted, and
 * the listener of its end. {@link Session#newRequest} makes it; it is used again and again, so that
 * a message allocates nothing.
 */
public final class Request {
  /** What is posted. */
  public enum Operation {
    /** A message. */
    SEND,
    /** A read for the user. */
    READ,
    /** A write for the user. */
    WRITE,
    /** An atomic comparison and exchange for the user. */
    COMPARE_AND_SWAP,
    /** An atomic addition for the user. */
    FETCH_AND_ADD,
    /** A read of a piece of a message that the peer has offered. */
    FETCH,
    /** A write of nothing, which the peer's device acknowledges. */
    PING,
    /** The begin of an exposure. */
    BIND,
    /** The end of an exposure. */
    INVALIDATE
  }

  /**
   * The most bytes that a request of the device transfers, by the InfiniBand specification 2^31.
   */
  public static final long MAX_TRANSFER = 1L << 30;

  private Operation operation = Operation.SEND;

  // Of a SEND: the header, and the buffer with the bytes.
  private MessageKind kind = MessageKind.MESSAGE;
  private int flags;
  private long number;
  @Nullable Buffer buffer;

  /** Whether an end takes a credit. */
  private boolean creditForEnd;

  /** Whether further messages may be added to the buffer while this waits. */
  private boolean joinable;

  /** The number of messages in the buffer, and the length of the first if there are several. */
  private int messages = 1;

  private int firstBytes;

  /** The requests of further messages whose ends matter, in their order: they end with this one. */
  private @Nullable Request joined;

  private @Nullable Request lastJoined;

  /** The write that goes before this notice. */
  private @Nullable Request write;

  /** Whether the next request is the notice of this write. */
  private boolean notified;

  /** Whether a handler sends it, or it is a message of the peer, which is sent on. */
  private boolean answer;

  // Of the operations of users: the local and the remote memory, and the operands of an atomic one.
  private @Nullable Object local;
  private long remoteAddress;
  private int remoteKey;
  private long first;
  private long second;

  /** What an offer offers until that is not exposed any more; null for memory of the user. */
  @Nullable Buffer offered;

  /** What lets the peer access the memory of an offer, or what a BIND or an INVALIDATE is about. */
  @Nullable Exposure exposure;

  /** Whether the exposure of an offer may have begun. */
  boolean exposed;

  /** The offer of which an INVALIDATE ends the exposure. */
  private @Nullable Request offer;

  // Of a FETCH: the message, where the piece goes, and whether it is the last one of its offer.
  @Nullable Incoming incoming;
  private long targetOffset;

  /** The length of the local memory, or of the piece. */
  private long length;

  boolean lastOfOffer;

  /** The listener of the end, with the token. The session does not look at it. */
  private @Nullable Object listener;

  private long token;
  @Nullable Waiter waiter;

  /** Whether the peer has fetched what this offers. */
  boolean fetched;

  /** The memory that the message holds until it has arrived. */
  long heldBytes;

  /** The number under which it was posted. */
  long postNumber;

  private @Nullable OperationEvent event;
  private boolean done;
  @Nullable RuntimeException failure;

  Request() {}

  /** Forgets everything, for the next use. */
  void clear() {
    operation = Operation.SEND;
    kind = MessageKind.MESSAGE;
    flags = 0;
    number = 0;
    buffer = null;
    creditForEnd = false;
    joinable = false;
    messages = 1;
    joined = null;
    lastJoined = null;
    length = 0;
    write = null;
    notified = false;
    answer = false;
    local = null;
    offered = null;
    exposure = null;
    exposed = false;
    offer = null;
    incoming = null;
    lastOfOffer = false;
    listener = null;
    waiter = null;
    fetched = false;
    heldBytes = 0;
    event = null;
    done = false;
    failure = null;
  }

  /** Makes this a message whose bytes are in a buffer, which is freed at the end. */
  public void send(MessageKind ofKind, int withFlags, long withNumber, Buffer bytes) {
    kind = ofKind;
    flags = withFlags;
    number = withNumber;
    buffer = bytes;
  }

  /** Makes this end wait for a credit. */
  void takeCreditForEnd() {
    creditForEnd = true;
  }

  /**
   * Lets other messages join this one, which is short, while it waits. No other code uses the
   * buffer.
   */
  public void joinable() {
    joinable = firstBytes() <= MessageHeader.MAX_FIRST_BYTES;
  }

  private long firstBytes() {
    return messages == 1 ? buffer().length() : firstBytes;
  }

  /** Returns whether another message may {@link #join}. */
  boolean isJoinable() {
    return joinable;
  }

  /** Adds a message to this one, whose buffer has room for it. */
  void join(ByteBuffer message) {
    int first = (int) firstBytes();
    buffer().append(message);
    firstBytes = first;
    messages++;
    flags |= MessageHeader.PACKED;
  }

  /** Makes another request, of a message that has joined, end with this one. */
  void endsWithThis(Request other, long bytes) {
    other.length = bytes;
    if (lastJoined == null) {
      joined = other;
    } else {
      lastJoined.joined = other;
    }
    lastJoined = other;
  }

  /** Takes the requests that end with this one: the first, which has the next, and so on. */
  @Nullable Request takeJoined() {
    Request first = joined;
    joined = null;
    lastJoined = null;
    return first;
  }

  /** Returns the number of messages in the buffer. */
  int messages() {
    return messages;
  }

  /** Returns the length of all messages in the buffer, without those between them. */
  long messageBytes() {
    return buffer().length() - (messages - 1L) * MessageHeader.LENGTH_BYTES;
  }

  /** Adds what the header of several messages has. */
  void completeHeader(MemorySegment memory, long header) {
    if (messages > 1) {
      MessageHeader.writeFirstLength(memory, header, firstBytes);
    }
  }

  /**
   * Makes this a message that is offered, in a buffer that is freed once it was fetched and is not
   * exposed any more.
   *
   * @param carrier has the offer
   */
  public void offer(
      MessageKind ofKind, long withNumber, Buffer carrier, Buffer message, Exposure ofMessage) {
    send(ofKind, MessageHeader.OFFER, withNumber, carrier);
    offered = message;
    exposure = ofMessage;
  }

  /**
   * Makes this a message that is offered, in memory of the user.
   *
   * @param carrier has the offer
   * @param bytes the length of the message
   */
  public void offer(Buffer carrier, Object message, long bytes, Exposure ofMessage) {
    send(MessageKind.MESSAGE, MessageHeader.OFFER, 0, carrier);
    local = message;
    length = bytes;
    exposure = ofMessage;
  }

  /** Makes this a notice, which follows a write. Its buffer is still to be given. */
  public void notice(long value, Request after) {
    kind = MessageKind.NOTICE;
    number = value;
    write = after;
  }

  /** Gives a notice its buffer, and returns the write that goes before it. */
  public Request takeWrite(Buffer empty) {
    Request before = write;
    if (before == null) {
      throw new AssertionError("a notice without a write");
    }
    buffer = empty;
    write = null;
    before.notified = true;
    return before;
  }

  /**
   * Makes this an operation on the memory of the peer.
   *
   * @param bytes the length of the local memory
   */
  public void operate(Operation what, Object localMemory, long bytes, long address, int key) {
    operation = what;
    local = localMemory;
    length = bytes;
    remoteAddress = address;
    remoteKey = key;
  }

  /** Sets the operands of an atomic operation. */
  public void operands(long firstOperand, long secondOperand) {
    first = firstOperand;
    second = secondOperand;
  }

  /** Makes this a read of a piece of a message. */
  void fetch(Incoming message, long offset, long bytes, long address, int key) {
    operation = Operation.FETCH;
    incoming = message;
    targetOffset = offset;
    length = bytes;
    remoteAddress = address;
    remoteKey = key;
  }

  /** Makes this the begin of an exposure. */
  void bind(Exposure begun) {
    operation = Operation.BIND;
    exposure = begun;
  }

  /** Makes this the end of the exposure of an offer. */
  void invalidate(Request ofOffer) {
    operation = Operation.INVALIDATE;
    exposure = ofOffer.exposure;
    offer = ofOffer;
  }

  void ping() {
    operation = Operation.PING;
    remoteAddress = 0;
    remoteKey = 0;
  }

  /** Sets the listener of the end. */
  public void tell(@Nullable Object whom, long withToken) {
    listener = whom;
    token = withToken;
  }

  /** Sets the thread that waits for the end; null if none does any more. */
  public void awaitedBy(@Nullable Waiter thread) {
    waiter = thread;
  }

  /** Sets whether a handler sends it, or it is a message of the peer, which is sent on. */
  public void isAnswer(boolean sentByHandler) {
    answer = sentByHandler;
  }

  boolean isAnswer() {
    return answer;
  }

  /** Notes for a recording that it begins now. */
  void begin() {
    if (!isRecorded()) {
      return;
    }
    OperationEvent begun = new OperationEvent();
    begun.operation = operation.name();
    begun.bytes = bytes();
    begun.begin();
    event = begun;
  }

  /** Returns whether operations are recorded. */
  static boolean isRecorded() {
    // Before the first recording, the classes of the recorder are not even loaded.
    return FlightRecorder.isInitialized() && OperationEvent.isWanted();
  }

  /** Records that it is done. */
  void end(String connection, @Nullable RuntimeException reason) {
    failure = reason;
    done = true;
    OperationEvent begun = event;
    if (begun != null) {
      begun.connection = connection;
      begun.succeeded = reason == null;
      begun.commit();
    }
  }

  /** Returns what is posted. */
  public Operation operation() {
    return operation;
  }

  MessageKind kind() {
    return kind;
  }

  int flags() {
    return flags;
  }

  long number() {
    return number;
  }

  /** Returns the number under which it is posted. */
  public long postNumber() {
    return postNumber;
  }

  /** Returns the buffer of a message. */
  public Buffer buffer() {
    if (buffer == null) {
      throw new AssertionError(kind + " without a buffer");
    }
    return buffer;
  }

  /** Returns whether it uses memory of the user. */
  boolean usesMemory() {
    return local != null;
  }

  /** Returns the local memory of an operation of the user. */
  public Object local() {
    if (local == null) {
      throw new AssertionError(operation + " without local memory");
    }
    return local;
  }

  /** Returns what lets the peer access memory. */
  public Exposure exposure() {
    if (exposure == null) {
      throw new AssertionError(operation + " without an exposure");
    }
    return exposure;
  }

  /** Returns the offer of which this ends the exposure. */
  Request offer() {
    if (offer == null) {
      throw new AssertionError(operation + " without an offer");
    }
    return offer;
  }

  /** Returns where a fetch goes. */
  public Buffer target() {
    if (incoming == null) {
      throw new AssertionError(operation + " without a message");
    }
    return incoming.target();
  }

  /** Returns the offset in the message of what a fetch reads. */
  public long targetOffset() {
    return targetOffset;
  }

  /** Returns the address of the peer's memory. */
  public long remoteAddress() {
    return remoteAddress;
  }

  /** Returns the key of the peer's memory. */
  public int remoteKey() {
    return remoteKey;
  }

  /** Returns the value that is compared or added. */
  public long first() {
    return first;
  }

  /** Returns the value that replaces another. */
  public long second() {
    return second;
  }

  /** Returns the length of what is transferred, or of a message that has joined another. */
  public long bytes() {
    if (operation == Operation.FETCH || local != null) {
      return length;
    }
    Buffer content = offered == null ? buffer : offered;
    return content == null ? length : content.length();
  }

  /** Returns the memory that a message of the user holds until it has arrived. */
  long memoryBytes() {
    if (operation != Operation.SEND || !kind.isOfUser()) {
      return 0;
    }
    Buffer content = offered == null ? buffer : offered;
    return local != null || content == null ? length : content.registeredBytes();
  }

  /** Returns whether a request has to begin its exposure before it is posted. */
  boolean isToBind() {
    return isOffer() && exposure().isBound();
  }

  boolean isOffer() {
    return operation == Operation.SEND && (flags & MessageHeader.OFFER) != 0;
  }

  /** Returns whether it can be posted only with a credit. */
  public boolean takesCredit() {
    return operation == Operation.SEND && (kind.takesCredit() || creditForEnd);
  }

  /** Returns whether it is a message of the protocol itself, which needs no credit. */
  boolean isControl() {
    return operation == Operation.SEND && !takesCredit();
  }

  /** Returns whether it is the last message, which ends the connection. */
  boolean isLast() {
    return isControl() && kind == MessageKind.END;
  }

  /** Returns whether the user has asked for it, rather than the protocol. */
  boolean isOfUser() {
    return switch (operation) {
      case SEND -> kind.isOfUser();
      case FETCH, PING, BIND, INVALIDATE -> false;
      default -> true;
    };
  }

  /** Returns why the memory of the user cannot be used any more; null if it can. */
  @Nullable RuntimeException closedMemory(UserMemory memory) {
    return local == null ? null : memory.whyClosed(local);
  }

  /** Returns whether the next request is the notice of this write. */
  boolean isNotified() {
    return notified;
  }

  /** Returns whether the end has a listener. */
  boolean hasListener() {
    return listener != null;
  }

  /** Returns the listener of the end; null if there is none. */
  public @Nullable Object listener() {
    return listener;
  }

  /** Returns the number that the listener gets. */
  public long token() {
    return token;
  }

  /** Returns whether it is done. */
  public boolean isDone() {
    return done;
  }

  /** Returns why it failed; null if it did not. */
  public @Nullable RuntimeException failure() {
    return failure;
  }
}
