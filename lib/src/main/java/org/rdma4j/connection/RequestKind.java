package org.rdma4j.connection;

/**
 * What a work request of a connection is for. The upper half of its id holds the kind, the lower
 * half a number: the slot of its buffer, or the number of a remote operation.
 */
enum RequestKind {
  /** A receive into a slot. */
  RECEIVE(0),
  /** A message sent from a slot. */
  SEND(1),
  /** A message of the protocol itself, without a buffer. */
  CONTROL(2),
  /** A read or write of the peer's memory. */
  OPERATION(3);

  private static final RequestKind[] BY_CODE = {RECEIVE, SEND, CONTROL, OPERATION};

  private final int code;

  RequestKind(int code) {
    this.code = code;
  }

  /** Returns the kind of the request with the given id. */
  static RequestKind of(long id) {
    return BY_CODE[(int) (id >>> Integer.SIZE)];
  }

  /** Returns the number in the id of a request. */
  static int number(long id) {
    return (int) id;
  }

  /** Returns the id of a request of this kind with the given number. */
  long id(int number) {
    return (long) code << Integer.SIZE | Integer.toUnsignedLong(number);
  }
}
