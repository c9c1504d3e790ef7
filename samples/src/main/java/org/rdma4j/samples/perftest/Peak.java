package org.rdma4j.samples.perftest;

/**
 * Finds the peak of a bandwidth test: the consecutive messages that took the shortest time on
 * average, from the post of the first to the completion of the last.
 */
final class Peak {
  private final long[] posted;
  private final long[] completed;
  private int lists;
  private int completions;
  private final int[] firstOfList;
  private final int[] lastOfCompletion;

  /**
   * Makes room.
   *
   * @param messages the number of messages, 0 to measure nothing
   */
  Peak(int messages) {
    posted = new long[messages];
    completed = new long[messages];
    firstOfList = new int[messages];
    lastOfCompletion = new int[messages];
  }

  /** Notes that messages are about to be posted; the first has this number. */
  void post(long first) {
    if (lists < posted.length) {
      firstOfList[lists] = (int) first;
      posted[lists++] = System.nanoTime();
    }
  }

  /** Notes that so many messages are complete. */
  void complete(long count) {
    if (completions < completed.length) {
      lastOfCompletion[completions] = (int) count;
      completed[completions++] = System.nanoTime();
    }
  }

  /** Returns the shortest time of a message in nanoseconds, or 0 if nothing was measured. */
  double nanos() {
    double best = Double.POSITIVE_INFINITY;
    for (int last = 0; last < completions; last++) {
      for (int first = 0; first < lists && firstOfList[first] < lastOfCompletion[last]; first++) {
        double time =
            (double) (completed[last] - posted[first])
                / (lastOfCompletion[last] - firstOfList[first]);
        best = Math.min(best, time);
      }
    }
    return Double.isInfinite(best) ? 0 : best;
  }
}
