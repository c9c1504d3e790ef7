package org.rdma4j.connection;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;

/**
 * Waits, in a virtual thread, until the connection manager reports that the peer is gone or the
 * device is being removed. Neither raises a completion, so it then flushes the queue pair: that
 * wakes the thread that waits for completions.
 *
 * <p>It has no reference to the {@link RdmaConnection}. Otherwise its thread would keep a
 * connection reachable that was dropped without a close, and that could not be reported.
 */
final class PeerWatch {
  private static final Duration FOREVER = Duration.ofDays(36_500);

  private final ConnectionQueues queues;
  private volatile @Nullable RdmaException loss;

  private PeerWatch(ConnectionQueues queues) {
    this.queues = queues;
  }

  /** Starts to watch a connection that is established, until it is closed. */
  static PeerWatch start(ConnectionQueues queues) {
    PeerWatch watch = new PeerWatch(queues);
    Thread.ofVirtual().name("rdma4j-connection").start(watch::run);
    return watch;
  }

  private void run() {
    try {
      while (!queues.synchronousId().awaitDisconnected(FOREVER)) {}
      loss =
          new RdmaException(
              queues.lifetime().toString(),
              ErrorNumber.ECONNRESET.value(),
              "The peer ended without closing the connection");
    } catch (RdmaException reported) {
      loss = reported;
    } catch (IllegalStateException | InterruptedException closed) {
      return;
    }
    try {
      queues.toError();
    } catch (IllegalStateException | RdmaException closedOrRemoved) {
      // The queue pair of a removed device has no requests that could be flushed.
    }
  }

  /** Returns how the connection was lost; null if the connection manager has not reported that. */
  @Nullable RdmaException loss() {
    RdmaException reported = loss;
    return reported == null ? null : removalOr(reported);
  }

  /**
   * Returns ENODEV instead of the reported loss if the device has been removed. The kernel ends the
   * connections of such a device one after the other, so a peer on the same device may seem to have
   * gone away first.
   */
  private RdmaException removalOr(RdmaException reported) {
    DeviceInfo device = queues.domain().device().info();
    try {
      return RdmaDevice.list().contains(device)
          ? reported
          : new RdmaException(queues.lifetime().toString(), ErrorNumber.ENODEV.value());
    } catch (RdmaException unknown) {
      reported.addSuppressed(unknown);
      return reported;
    }
  }
}
