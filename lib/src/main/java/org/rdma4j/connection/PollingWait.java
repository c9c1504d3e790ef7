package org.rdma4j.connection;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.Spin;

/**
 * The waits of a thread for what handlers of a node do, such as those of an event loop that sleeps
 * in something else. While it waits, the thread polls for the node for a moment and runs the
 * handlers itself, as a thread in a blocking receive does. So what comes soon needs no change of
 * threads; the threads of the node do the rest.
 *
 * <p>One thread at a time may use it.
 */
public final class PollingWait {
  private static final Poller[] NOTHING = {};

  private final NodeState node;
  private final Spin spin = new Spin();
  private final IntSupplier pollOnce = this::poll;
  private BooleanSupplier done = () -> true;
  private Poller[] reliedOn = NOTHING;

  PollingWait(NodeState node) {
    this.node = node;
  }

  /**
   * Polls until a condition holds, or until it no longer pays: for 1 ms at most, and not at all if
   * that has found nothing lately, in a virtual thread, or if too many threads poll. Then the
   * caller has to sleep until a handler wakes it, between {@link #beginSleep} and {@link
   * #endSleep}. If this process has a single processor, or the node is a {@link DrivenNode}, it
   * polls nothing.
   *
   * <p>Handlers of all connections of the node may run meanwhile in the calling thread, which
   * should hold no lock that they need.
   *
   * @param timeout the time to wait at most
   * @param condition whether to return, called after each poll
   * @return whether the condition holds
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if a handler calls this
   */
  public boolean await(Duration timeout, BooleanSupplier condition) {
    long end = Deadline.after(timeout).end();
    if (condition.getAsBoolean()) {
      return true;
    }
    Poller[] pollers = node.pollers();
    for (Poller each : pollers) {
      if (each.isDelivering()) {
        throw NodeState.mustNotWait();
      }
    }
    if (pollers.length == 0) {
      return false;
    }
    done = condition;
    return spin.until(end, pollOnce) != 0;
  }

  /** Makes the threads of the node deliver although other threads poll: the caller is to sleep. */
  public void beginSleep() {
    reliedOn = node.pollers();
    for (Poller each : reliedOn) {
      each.rely();
    }
  }

  /** Notes that the caller sleeps no more. Does nothing if it did not sleep. */
  public void endSleep() {
    for (Poller each : reliedOn) {
      each.relyNoMore();
    }
    reliedOn = NOTHING;
  }

  private int poll() {
    for (Poller each : node.pollers()) {
      each.pollOnce();
    }
    return done.getAsBoolean() ? 1 : 0;
  }
}
