package org.rdma4j.nio;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.PollingWait;

/**
 * The wait of one direction of a channel for what the RDMA connection brings. One thread at a time
 * waits: the one that has the lock of the direction. It first polls for a moment itself.
 */
final class Awaiting {
  /** Longer than a thread polls. */
  private static final Duration POLLING = Duration.ofMillis(10);

  private final StreamChannel channel;
  private final Predicate<Upgrade> mustWait;

  /** Made once, so that a wait allocates nothing. */
  private final BooleanSupplier goesOn = this::goesOn;

  private final BooleanSupplier ends = this::ends;
  private @Nullable PollingWait polling;

  /** Whether this wait has not polled yet. */
  private boolean polls;

  private volatile @Nullable Upgrade way;
  private volatile @Nullable Thread thread;

  /**
   * Creates it.
   *
   * @param mustWait returns whether a thread still has to wait
   */
  Awaiting(StreamChannel channel, Predicate<Upgrade> mustWait) {
    this.channel = channel;
    this.mustWait = mustWait;
  }

  /** Lets a thread that waits look again. */
  void wake() {
    LockSupport.unpark(thread);
  }

  /**
   * Waits as long as it must, and while the channel is open.
   *
   * @param timeout the time in milliseconds; 0 waits without a limit
   */
  void await(Upgrade upgrade, int timeout) throws IOException {
    if (polling == null) {
      polling = upgrade.pollingWait();
    }
    polls = true;
    way = upgrade;
    thread = Thread.currentThread();
    try {
      channel.await(goesOn, timeout);
    } finally {
      if (polling != null) {
        polling.endSleep();
      }
      thread = null;
      way = null;
    }
  }

  private boolean goesOn() {
    PollingWait known = polling;
    if (polls && known != null && mustGoOn() && !known.await(POLLING, ends)) {
      known.beginSleep();
    }
    polls = false;
    return mustGoOn();
  }

  private boolean ends() {
    return !mustGoOn();
  }

  private boolean mustGoOn() {
    Upgrade upgrade = way;
    return channel.isOpen() && upgrade != null && mustWait.test(upgrade);
  }
}
