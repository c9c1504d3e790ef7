package org.rdma4j.connection;

/**
 * An action that a {@link DrivenNode} runs at a time. {@link DrivenNode#schedule} creates it.
 *
 * <p>All methods may be called from any thread.
 */
public final class LoopTimer {
  private final Timers timers;
  private final Runnable action;
  private final long due;
  private final long number;

  LoopTimer(Timers timers, Runnable action, long due, long number) {
    this.timers = timers;
    this.action = action;
    this.due = due;
    this.number = number;
  }

  /**
   * Makes the action not run. Does nothing if it has begun, or was cancelled before.
   *
   * @return whether this has prevented it
   */
  public boolean cancel() {
    return timers.remove(this);
  }

  /** Returns when it is due, on the scale of {@link System#nanoTime}. */
  long due() {
    return due;
  }

  /** Returns how many were set before it. */
  long number() {
    return number;
  }

  void run() {
    action.run();
  }

  /** Orders timers by their times, and those of one time as they were set. */
  static int compare(LoopTimer one, LoopTimer other) {
    // Times may overflow, so only their difference has a meaning.
    int byTime = Long.signum(one.due - other.due);
    return byTime == 0 ? Long.compare(one.number, other.number) : byTime;
  }
}
