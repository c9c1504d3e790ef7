package org.rdma4j.tools.perftest;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.CompletionChannel;

/** What a loop does while it has no completions: it polls again, or sleeps until an event. */
final class Idle {
  private static final int POLLS_PER_CLOCK_READ = 1024;

  /** How often a sleeping loop looks whether the test is over. */
  private static final Duration SLICE = Duration.ofMillis(100);

  private final Clock clock;
  private final @Nullable CompletionChannel events;
  private final Duration timeout;
  private final String program;

  /** Whether there is an event on the channel, and the loop has polled since. */
  private boolean ready;

  private int polls;
  private long doneBefore = -1;
  private long silentSince;

  /**
   * Waits for completions.
   *
   * @param clock the clock of the test
   * @param events the channel of the completion queues, or null to poll
   * @param timeout how long the peer may be silent
   * @param program the program in C that the peer should be, for messages
   */
  Idle(Clock clock, @Nullable CompletionChannel events, Duration timeout, String program) {
    this.clock = clock;
    this.events = events;
    this.timeout = timeout;
    this.program = program;
  }

  /** Returns whether to poll again, which is so unless the test is over. */
  boolean goOn() {
    if (events != null) {
      return sleep(events);
    }
    return ++polls % POLLS_PER_CLOCK_READ != 0 || look();
  }

  /**
   * Sleeps until there is an event, then leaves it there until the loop has nothing left to do, so
   * that a message is answered first.
   */
  private boolean sleep(CompletionChannel channel) {
    try {
      if (ready) {
        // Before the next poll: a request that completes after it would otherwise raise no event.
        channel.awaitEvent(Duration.ZERO).ifPresent(queue -> queue.requestNotification(false));
      }
      ready = !ready && channel.awaitReady(SLICE);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted while waiting for the peer", interrupted);
    }
    return look();
  }

  private boolean look() {
    long done = clock.done();
    long now = System.nanoTime();
    if (done != doneBefore) {
      doneBefore = done;
      silentSince = now;
    } else if (now - silentSince > timeout.toNanos()) {
      throw new Failure(
          "nothing arrived from the peer for %d s after %d messages; check that it runs %s, with the same -n, -s, -q and -c, or wait longer with --timeout"
              .formatted(timeout.toSeconds(), done, program));
    }
    return !clock.isOver();
  }
}
