package org.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;

/** The messages of one queue pair in a bandwidth test: how many were posted, and are complete. */
final class Outflow {
  private final TestSends outbox;
  private final @Nullable Peak peak;
  private final long iterations;
  private final int depth;
  private final int list;
  private final int moderation;
  private int unsignaled;
  private long posted;
  private long completed;

  Outflow(TestLink link, Resources resources, Settings settings, @Nullable Peak peak) {
    outbox = new TestSends(link, resources, settings, settings.postList());
    iterations = settings.iterations();
    depth = settings.sendDepth();
    list = settings.postList();
    moderation = settings.moderation();
    this.peak = peak;
  }

  /**
   * Posts messages until as many are outstanding as may be.
   *
   * @param before the number of messages that all queue pairs have posted
   * @return the number of messages that this queue pair has posted now
   */
  long fill(long before) {
    TestSends box = outbox;
    long begin = posted;
    long end = Math.min(iterations, completed + depth);
    int silent = unsignaled;
    long next = begin;
    while (next + list <= end) {
      if (peak != null) {
        peak.post(before + next - begin);
      }
      for (int i = 0; i < list; i++) {
        next++;
        boolean signaled = ++silent == moderation || next == iterations;
        box.add(signaled);
        if (signaled) {
          silent = 0;
        }
      }
      box.post();
    }
    unsignaled = silent;
    posted = next;
    return next - begin;
  }

  /** Notes a completion, and returns the number of messages that it stands for. */
  int complete() {
    int messages = (int) Math.min(moderation, iterations - completed);
    completed += messages;
    return messages;
  }
}
