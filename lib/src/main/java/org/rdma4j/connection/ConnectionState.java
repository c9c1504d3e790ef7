package org.rdma4j.connection;

import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.SharedPolling;
import org.rdma4j.platform.SharedPolling.Waiters;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * Whether a connection is open, ended by the peer, broken or closed, and the waits that end when
 * this changes. Its lock guards all parts of the connection: except for {@link #lock} and {@link
 * #close}, every method requires it.
 */
final class ConnectionState {
  private final ConnectionQueues queues;
  private final PeerWatch watch;
  private final ReentrantLock lock = new ReentrantLock();
  private final SharedPolling<Integer> polling;
  private final Waiters closer;
  private final Condition ready = lock.newCondition();

  private boolean ended;
  private boolean closing;
  private boolean readyToClose;
  private @Nullable RdmaException failure;

  /**
   * Creates the state of an open connection.
   *
   * @param delivery the source of what all waits wait for
   */
  ConnectionState(
      ConnectionQueues queues, PeerWatch watch, SharedPolling.Source<Integer> delivery) {
    this.queues = queues;
    this.watch = watch;
    this.polling = new SharedPolling<>(lock, delivery);
    this.closer = polling.newWaiters();
  }

  void lock() {
    lock.lock();
  }

  void unlock() {
    lock.unlock();
  }

  /** Returns an empty set of threads, for {@link #await} or {@link #awaitUsable}. */
  Waiters newWaiters() {
    return polling.newWaiters();
  }

  /** Returns whether the connection is neither broken nor closed; the peer may have ended it. */
  boolean isUsable() {
    return !closing && failure == null && queues.lifetime().isOpen();
  }

  /** Returns whether the peer has closed the connection. */
  boolean isEnded() {
    return ended;
  }

  /** Returns whether a close of this side has begun. */
  boolean isClosing() {
    return closing;
  }

  /**
   * Checks that no close of this side has begun.
   *
   * @throws IllegalStateException if one has
   */
  void checkOpen() {
    if (closing) {
      throw queues.lifetime().closed();
    }
  }

  private void checkUsable() {
    checkOpen();
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Waits until a condition holds, even if the peer ends the connection.
   *
   * @param missing what did not happen if time runs out, for the message
   * @throws TimeoutException if the condition does not hold in time
   * @throws IllegalStateException if the connection is closed, also while waiting
   * @throws RdmaException if the connection is broken and the condition does not hold
   */
  void await(Waiters waiters, BooleanSupplier condition, Deadline deadline, String missing)
      throws InterruptedException, TimeoutException {
    checkOpen();
    awaitAnyState(
        waiters, () -> condition.getAsBoolean() || failure != null || closing, deadline, missing);
    if (!condition.getAsBoolean()) {
      checkUsable();
    }
  }

  /**
   * Waits until a condition holds that only a connection in good order can meet.
   *
   * @throws TimeoutException if the condition does not hold in time
   * @throws IllegalStateException if the connection is closed, also while waiting
   * @throws RdmaException if the connection is broken, or the peer has closed it: ECONNRESET
   */
  void awaitUsable(Waiters waiters, BooleanSupplier condition, Deadline deadline, String missing)
      throws InterruptedException, TimeoutException {
    checkUsable();
    await(waiters, () -> condition.getAsBoolean() || ended, deadline, missing);
    checkUsable();
    if (ended) {
      throw new RdmaException(
          queues.lifetime().toString(),
          ErrorNumber.ECONNRESET.value(),
          "The peer has closed the connection");
    }
  }

  /**
   * Waits, in the thread that closes the connection, until a condition holds or no longer can.
   *
   * @throws TimeoutException if the condition does not hold in time
   */
  void awaitWhileClosing(BooleanSupplier condition, Deadline deadline, String missing)
      throws InterruptedException, TimeoutException {
    awaitAnyState(
        closer, () -> condition.getAsBoolean() || failure != null || ended, deadline, missing);
  }

  private void awaitAnyState(
      Waiters waiters, BooleanSupplier done, Deadline deadline, String missing)
      throws InterruptedException, TimeoutException {
    if (!polling.await(waiters, done, deadline)) {
      throw new TimeoutException(
          "%s: %s within %s".formatted(queues.lifetime(), missing, deadline.timeout()));
    }
  }

  /** Notes that the peer has closed the connection. */
  void endedByPeer() {
    ended = true;
    polling.wakeAll();
  }

  /**
   * Breaks the connection because a request failed. Only the first failure counts: the others are
   * its consequences. After the peer has closed the connection, failures are expected.
   */
  void requestFailed(WorkCompletionException cause) {
    if (failure == null && !ended) {
      RdmaException lost = watch.loss();
      failure =
          lost != null
              ? lost
              : new RdmaException(
                  queues.lifetime().toString(), 0, "A request failed: " + cause.getMessage());
      failure.initCause(cause);
      polling.wakeAll();
    }
  }

  /** Breaks the connection from this side, for the given reason. */
  void breakUp(String reason) {
    if (failure == null) {
      failure =
          new RdmaException(
              queues.lifetime().toString(), 0, "The connection is broken because " + reason);
      polling.wakeAll();
      if (queues.lifetime().isOpen()) {
        queues.toError();
      }
    }
  }

  /**
   * Closes the connection. Ends the waits of all other threads, then says goodbye to the peer if
   * the connection still works, then closes the native objects. If another thread closes the
   * connection, waits until that thread is done.
   *
   * @param goodbye tells the peer that nothing more comes, with the lock
   */
  void close(Runnable goodbye) {
    lock.lock();
    try {
      if (!closing) {
        boolean reachesPeer = isUsable() && !ended;
        closing = true;
        polling.wakeAll();
        try {
          if (reachesPeer) {
            goodbye.run();
          }
        } finally {
          readyToClose = true;
          ready.signalAll();
        }
      }
      while (!readyToClose) {
        ready.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
    queues.lifetime().close();
  }
}
