package org.rdma4j.nio;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The wait of one direction of a connection for what the RDMA connection brings. One thread at a
 * time waits: the one that has the lock of the direction.
 */
final class Awaiting {
  private final TcpEnd tcp;
  private final Predicate<Upgrade> mustWait;

  /** Made once, so that a wait allocates nothing. */
  private final BooleanSupplier goesOn = this::goesOn;

  private volatile @Nullable Upgrade way;
  private volatile @Nullable Thread thread;

  /**
   * Creates it.
   *
   * @param mustWait returns whether a thread still has to wait
   */
  Awaiting(TcpEnd tcp, Predicate<Upgrade> mustWait) {
    this.tcp = tcp;
    this.mustWait = mustWait;
  }

  /** Lets a thread that waits look again. */
  void wake() {
    LockSupport.unpark(thread);
  }

  /**
   * Waits as long as it must, and while the channel or socket is open.
   *
   * @param nanos the time in nanoseconds; 0 waits without a limit
   */
  void await(Upgrade upgrade, long nanos) throws IOException {
    way = upgrade;
    thread = Thread.currentThread();
    try {
      tcp.await(goesOn, nanos);
    } finally {
      thread = null;
      way = null;
    }
  }

  /**
   * Parks the calling thread once, as one step of a wait.
   *
   * @param blocker what the thread waits in
   * @param nanos the time of the whole wait in nanoseconds; 0 is without a limit
   * @param end when that time is up, on the scale of {@link System#nanoTime}
   * @throws SocketTimeoutException if it is up
   */
  static void park(Object blocker, long nanos, long end) throws SocketTimeoutException {
    if (nanos == 0) {
      LockSupport.park(blocker);
      return;
    }
    long left = end - System.nanoTime();
    if (left <= 0) {
      throw new SocketTimeoutException("Read timed out");
    }
    LockSupport.parkNanos(blocker, left);
  }

  private boolean goesOn() {
    Upgrade upgrade = way;
    return tcp.isOpen() && upgrade != null && mustWait.test(upgrade);
  }
}
