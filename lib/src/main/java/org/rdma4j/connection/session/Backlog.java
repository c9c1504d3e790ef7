package org.rdma4j.connection.session;

/**
 * The memory that messages of the user hold until they have arrived, and whether that is so much
 * that the user should send no more. The lock of the connection guards it.
 */
final class Backlog {
  private static final long LOW = 512 << 10;
  private static final long HIGH = 1 << 20;

  private long low = LOW;
  private long high = HIGH;
  private long bytes;

  /** Whether the user should go on. Also read without the lock. */
  private volatile boolean writable = true;

  /**
   * Whether that has changed and the user does not know it. Also if it has changed back: the user
   * may have asked in between, and waits.
   */
  private boolean news;

  /** Sets below which number of bytes the user goes on, and above which it should not. */
  void watermarks(long from, long to) {
    low = from;
    high = to;
    changed();
  }

  void add(long more) {
    bytes += more;
    changed();
  }

  void remove(long less) {
    bytes -= less;
    changed();
  }

  private void changed() {
    if (writable ? bytes > high : bytes <= low) {
      writable = !writable;
      news = true;
    }
  }

  long bytes() {
    return bytes;
  }

  boolean isWritable() {
    return writable;
  }

  /** Returns whether the user does not know of a change. */
  boolean hasNews() {
    return news;
  }

  /** Returns the present state, which the user gets to know now. */
  boolean tell() {
    news = false;
    return writable;
  }
}
