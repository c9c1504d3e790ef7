package org.rdma4j.connection.simulation;

import java.nio.ByteBuffer;
import java.util.TreeSet;

/**
 * The messages of one direction of a connection. Each has a number, and bytes that follow from it,
 * so that a lost, doubled, late or wrong message is noticed.
 */
final class NumberedMessages {
  private static final int LEAST = Long.BYTES + 1;

  private final String name;

  /** The numbers that were not sent, or perhaps not, or that have not arrived yet. */
  private final TreeSet<Long> missing = new TreeSet<>();

  private final TreeSet<Long> excused = new TreeSet<>();
  private long next;
  private long last = -1;

  NumberedMessages(String name) {
    this.name = name;
  }

  /** Returns the number of the next message, which is missing from now on. */
  synchronized long begin() {
    missing.add(next);
    return next++;
  }

  /** Returns the bytes of a message. */
  static ByteBuffer bytes(long number, int length, boolean wantsAnswer) {
    ByteBuffer bytes = ByteBuffer.allocate(Math.max(LEAST, length));
    bytes.putLong(number).put((byte) (wantsAnswer ? 1 : 0));
    while (bytes.hasRemaining()) {
      bytes.put(filling(number, bytes.position()));
    }
    return bytes.flip();
  }

  private static byte filling(long number, int position) {
    return (byte) (31 * number + position);
  }

  /** Allows that a message does not arrive, because it failed at its sender. */
  synchronized void excuse(long number) {
    excused.add(number);
  }

  /**
   * Takes a message that has arrived.
   *
   * @return whether its sender wants an answer
   */
  synchronized boolean arrived(ByteBuffer bytes) {
    check(bytes.remaining() >= LEAST, "a message of " + bytes.remaining() + " bytes");
    long number = bytes.getLong(0);
    check(missing.remove(number), "message " + number + " was not sent, or has arrived before");
    check(number > last, "message " + number + " after " + last);
    last = number;
    for (int i = LEAST; i < bytes.limit(); i++) {
      check(bytes.get(i) == filling(number, i), "byte " + i + " of message " + number);
    }
    return bytes.get(Long.BYTES) == 1;
  }

  private void check(boolean right, String what) {
    if (!right) {
      throw new AssertionError(name + ": " + what);
    }
  }

  /** Returns whether everything has arrived that has to. */
  synchronized boolean isComplete() {
    return excused.containsAll(missing);
  }

  @Override
  public synchronized String toString() {
    return name + ", " + next + " sent, missing " + missing + ", of which may be " + excused;
  }
}
