package org.rdma4j.connection;

/**
 * What a work request of a connection is for. The upper half of its id holds the kind, the lower
 * half a number: the slot of its buffer, or that of a remote operation.
 */
enum RequestKind {
  /** A receive into a slot. */
  RECEIVE,
  /** A message sent from a slot. */
  SEND,
  /** A message of the protocol itself, without a buffer. */
  CONTROL,
  /** A read or write of the peer's memory. */
  OPERATION;

  private static final RequestKind[] KINDS = values();

  static RequestKind of(long id) {
    return KINDS[(int) (id >>> Integer.SIZE)];
  }

  static int number(long id) {
    return (int) id;
  }

  long id(int number) {
    return (long) ordinal() << Integer.SIZE | Integer.toUnsignedLong(number);
  }
}
