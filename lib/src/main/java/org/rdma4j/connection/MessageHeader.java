package org.rdma4j.connection;

/**
 * What the immediate value of each SEND tells: four bits for the kind of the message, the other 28
 * for the credits that come with it.
 *
 * @param kind {@link #MESSAGE}, {@link #CREDITS} or {@link #END}; another one, up to 15, only if
 *     the peer does not keep to the protocol
 * @param credits the number of credits that the sender returns, from 0 to 2^28 - 1
 */
record MessageHeader(int kind, int credits) {
  /** A message of the user. */
  static final int MESSAGE = 0;

  /** Credits alone. */
  static final int CREDITS = 1;

  /** The last message of its side. */
  static final int END = 2;

  private static final int KIND_SHIFT = 28;
  private static final int CREDITS_MASK = (1 << KIND_SHIFT) - 1;

  static MessageHeader decode(int immediate) {
    return new MessageHeader(immediate >>> KIND_SHIFT, immediate & CREDITS_MASK);
  }

  int encode() {
    return kind << KIND_SHIFT | credits;
  }
}
