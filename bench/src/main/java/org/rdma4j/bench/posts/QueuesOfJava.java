package org.rdma4j.bench.posts;

/** The queues that the loops in Java use. */
enum QueuesOfJava {
  /** Those of the loops in C: {@code ibv_post_send} and {@code ibv_poll_cq}. */
  PLAIN(false, false, false),
  /** Those of the loops in C: {@code ibv_wr_*} and {@code ibv_start_poll}. */
  EXTENDED(true, false, false),
  /** Queues of their own, which are used in place; the loops in C use plain ones. */
  IN_PLACE(false, true, false),
  /** The same, in a thread domain, where no lock is taken. */
  IN_PLACE_ONE_THREAD(false, true, true);

  private final boolean extended;
  private final boolean inPlace;
  private final boolean oneThread;

  QueuesOfJava(boolean extended, boolean inPlace, boolean oneThread) {
    this.extended = extended;
    this.inPlace = inPlace;
    this.oneThread = oneThread;
  }

  boolean areExtended() {
    return extended;
  }

  boolean areInPlace() {
    return inPlace;
  }

  boolean areOfOneThread() {
    return oneThread;
  }
}
