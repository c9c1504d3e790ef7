package org.rdma4j.connection.session;

import org.jspecify.annotations.Nullable;

/** An operation of a user on the memory of the peer, or a message that it sends from its memory. */
final class Operation implements Waiter {
  enum Kind {
    READ,
    WRITE,
    WRITE_AND_NOTIFY,
    ADD,
    SWAP,
    SEND_MEMORY
  }

  final Kind kind;

  /** Among those of its kind, or for a write its value. */
  final int number;

  final UserRegion local;

  /** The last write that was done when this was called, which a read finds at least. */
  final int writtenBefore;

  /** The request whose end is that of the operation. */
  final Request request;

  /** The first request: the write that goes before a notice, otherwise the only one. */
  Request first;

  /** The number of its message; -1 if it has none. */
  int message = -1;

  /** Its memory for the peer; null if the peer does not access it. */
  @Nullable Range range;

  boolean ended;
  boolean woken;
  @Nullable RuntimeException failure;

  Operation(Kind kind, int number, UserRegion local, int writtenBefore, Request request) {
    this.kind = kind;
    this.number = number;
    this.local = local;
    this.writtenBefore = writtenBefore;
    this.request = request;
    this.first = request;
  }

  boolean isWrite() {
    return kind == Kind.WRITE || kind == Kind.WRITE_AND_NOTIFY;
  }

  @Override
  public void wake() {
    woken = true;
  }
}
