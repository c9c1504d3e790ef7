package org.rdma4j.connection;

/**
 * How long the handlers of one connection run until the others that a thread serves get their turn.
 * The clock is read only after some of them, because one handler may be as short as a look at it.
 */
final class HandlerTime {
  private static final long MOST_NANOS = 50_000;

  /** How many handlers run at most between two looks at the clock. */
  private static final int MOST_HANDLERS = 8;

  private int left;
  private int step;
  private long end;
  private boolean over;

  /** Begins anew. */
  void begin() {
    left = 2;
    step = 1;
    over = false;
  }

  /** Records that a handler has run; returns whether others get their turn now. */
  boolean isOver() {
    left--;
    if (left > 0 || over) {
      return over;
    }
    long now = System.nanoTime();
    if (step == 1) {
      end = now + MOST_NANOS;
    }
    step = Math.min(2 * step, MOST_HANDLERS);
    left = step;
    over = now - end >= 0;
    return over;
  }
}
