package org.rdma4j.connection;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;
import org.rdma4j.recording.OperationEvent;
import org.rdma4j.verbs.MemorySlice;

/**
 * A request of a connection, from when it is asked for until it is done: what is to be posted, and
 * who wants to know of the end. Used again and again; the lock of the connection guards it.
 */
final class Outgoing {
  /** What is posted. */
  enum Operation {
    SEND,
    READ,
    WRITE,
    COMPARE_AND_SWAP,
    FETCH_AND_ADD,
    /** A write of nothing, which the peer's device acknowledges. */
    PING
  }

  Operation operation = Operation.SEND;

  // Of a SEND: the header, and the buffer with the bytes.
  MessageKind kind = MessageKind.MESSAGE;
  int flags;
  long number;
  @Nullable Slot buffer;

  /** The write that goes before this notice, until both are added. */
  @Nullable Outgoing write;

  // Of the others: the local and the remote memory, and the operands of an atomic operation.
  @Nullable MemorySlice local;
  long remoteAddress;
  int remoteKey;
  long first;
  long second;

  /** What an offer offers, until the peer has fetched it. */
  @Nullable Slot offered;

  /** The message that a read fetches a piece of. */
  @Nullable Incoming incoming;

  /** Wakes the thread that waits; null if none does. */
  @Nullable Condition awaited;

  @Nullable OperationHandler handler;
  long token;
  @Nullable CompletableFuture<Void> future;

  /** Whether the peer has fetched what this offers. */
  boolean fetched;

  /** What a recording is told of this; null if there is none. */
  @Nullable OperationEvent event;

  boolean done;
  @Nullable RuntimeException failure;

  /** Forgets everything, for the next use. */
  void clear() {
    operation = Operation.SEND;
    kind = MessageKind.MESSAGE;
    flags = 0;
    number = 0;
    buffer = null;
    write = null;
    local = null;
    offered = null;
    incoming = null;
    awaited = null;
    handler = null;
    future = null;
    fetched = false;
    event = null;
    done = false;
    failure = null;
  }

  /** Returns the length of what is transferred. */
  long bytes() {
    if (local != null) {
      return local.length();
    }
    Slot content = offered == null ? buffer : offered;
    return content == null ? 0 : content.length();
  }

  boolean isOffer() {
    return operation == Operation.SEND && (flags & MessageHeader.OFFER) != 0;
  }

  boolean takesCredit() {
    return operation == Operation.SEND && kind.takesCredit();
  }
}
