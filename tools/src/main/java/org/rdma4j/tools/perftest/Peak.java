package org.rdma4j.tools.perftest;

/**
 * Finds the peak of a bandwidth test: the consecutive messages that took the shortest time on
 * average, from the post of the first to the completion of the last.
 *
 * <p>With the number of messages as x and the time as y, posts and completions are points, and the
 * time that we look for is the least slope from a post to a completion further right. For each
 * completion, the best post lies on the upper hull of all posts before it, where a binary search
 * finds it. Comparing each completion with each post, as perftest does, takes seconds.
 */
final class Peak {
  private final long[] posted;
  private final int[] firstOfPost;
  private final long[] completed;
  private final int[] lastOfCompletion;
  private int posts;
  private int completions;

  /**
   * Makes room.
   *
   * @param messages the number of messages, 0 to measure nothing
   */
  Peak(int messages) {
    posted = new long[messages];
    firstOfPost = new int[messages];
    completed = new long[messages];
    lastOfCompletion = new int[messages];
  }

  /** Records that messages are about to be posted; so many were posted before. */
  void post(long before) {
    if (posts < posted.length) {
      post(before, System.nanoTime());
    }
  }

  void post(long before, long time) {
    firstOfPost[posts] = (int) before;
    posted[posts++] = time;
  }

  /** Records that so many messages are complete. */
  void complete(long count) {
    if (completions < completed.length) {
      complete(count, System.nanoTime());
    }
  }

  void complete(long count, long time) {
    lastOfCompletion[completions] = (int) count;
    completed[completions++] = time;
  }

  /** Returns the shortest time of a message in nanoseconds, or 0 if nothing was measured. */
  double nanos() {
    double best = Double.POSITIVE_INFINITY;
    int[] hull = new int[posts];
    int corners = 0;
    int next = 0;
    for (int completion = 0; completion < completions; completion++) {
      while (next < posts && firstOfPost[next] < lastOfCompletion[completion]) {
        while (corners > 1 && !isAbove(hull[corners - 2], hull[corners - 1], next)) {
          corners--;
        }
        hull[corners++] = next++;
      }
      if (corners > 0) {
        best = Math.min(best, least(hull, corners, completion));
      }
    }
    return Double.isInfinite(best) ? 0 : best;
  }

  /** Returns whether the middle one of three posts lies above the line through the others. */
  private boolean isAbove(int left, int middle, int right) {
    return (double) (posted[middle] - posted[left]) * (firstOfPost[right] - firstOfPost[left])
        > (double) (posted[right] - posted[left]) * (firstOfPost[middle] - firstOfPost[left]);
  }

  /** Along the hull, the slope to a completion falls, then rises. */
  private double least(int[] hull, int corners, int completion) {
    int low = 0;
    int high = corners - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (slope(hull[middle + 1], completion) < slope(hull[middle], completion)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return slope(hull[low], completion);
  }

  private double slope(int post, int completion) {
    return (double) (completed[completion] - posted[post])
        / (lastOfCompletion[completion] - firstOfPost[post]);
  }
}
