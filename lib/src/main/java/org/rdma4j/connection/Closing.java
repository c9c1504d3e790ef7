package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.session.Session;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.TimeText;
import org.rdma4j.recording.EndEvent;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Port;
import org.rdma4j.verbs.WorkCompletionException;
import org.rdma4j.verbs.attribute.PortState;

/**
 * How one end of a connection ends: waits until what was sent has arrived, disconnects, and stops
 * the device. What it means for the protocol is in its {@link Session}.
 *
 * <p>The lock of the connection guards this. A method that requires it says so.
 */
final class Closing {
  /** How long a connection that breaks may take to send the peer the reason. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(2);

  /** How long a close waits for the device to give back the requests of a stopped queue pair. */
  private static final Duration FLUSH = Duration.ofSeconds(5);

  private final Link link;
  private final Session session;
  private final ReentrantLock lock;
  private final CompletableFuture<Void> inputEnded = new CompletableFuture<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  /** Completes when users were told of everything, after the connection was destroyed. */
  private final CompletableFuture<Void> allTold = new CompletableFuture<>();

  /** Signaled when the device has no request of the connection any more. */
  private final Condition idle;

  private final Awaited arrived;

  /** Signaled when nothing is waited for any more before the connection is closed. */
  private final Condition goodbye;

  private boolean goodbyeBegun;
  private boolean goodbyeDone;

  /** When a close that no thread waits for is finished at the latest; null if there is none. */
  private @Nullable Deadline departure;

  /** Whether what follows from a failure was begun. */
  private boolean failureSeen;

  /** When a broken connection is disconnected at the latest; null if that is not to be done. */
  private @Nullable Deadline lastWords;

  /** When a close no longer waits for the device; null before it was stopped. */
  private @Nullable Deadline flushed;

  Closing(Link link, Session session, ReentrantLock lock) {
    this.link = link;
    this.session = session;
    this.lock = lock;
    this.idle = lock.newCondition();
    this.goodbye = lock.newCondition();
    this.arrived =
        link.waits()
            .until(
                () ->
                    session.isIdle()
                        || session.lifecycle().failure() != null
                        || session.lifecycle().isPeerClosed()
                        || session.lifecycle().goneWhileClosing() != null);
  }

  /** Closes this end, as {@link RdmaConnection#close} describes: later if a handler calls this. */
  void close() {
    if (link.isHandler()) {
      var unused = closeSoon();
      return;
    }
    try {
      sayGoodbye();
    } finally {
      link.share().node().awaitClose(link.lifetime(), closeAtOnce());
    }
  }

  /**
   * Begins to close this end. No thread waits, because a peer can cause very many closes.
   *
   * @return completes when users were told of everything, after the connection was destroyed
   */
  CompletableFuture<Void> closeSoon() {
    link.lock();
    try {
      if (goodbyeBegun) {
        return allTold;
      }
      goodbyeBegun = true;
      if (beginClose()) {
        departure = Deadline.after(link.share().config().closeTimeout());
        link.flushAndLeave();
      } else {
        depart();
      }
      return allTold;
    } finally {
      link.unlock();
    }
  }

  /**
   * Finishes what {@link #closeSoon} has begun, if all has arrived or time is up. Requires the
   * lock.
   */
  private void departIfDue() {
    Deadline until = departure;
    if (until != null && (arrived.isOver() || until.isOver())) {
      departure = null;
      reportLost(arrived.isOver());
      depart();
    }
  }

  private void depart() {
    goodbyeDone = true;
    goodbye.signalAll();
    link.share().node().logFailure(link.lifetime(), closeAtOnce());
  }

  /**
   * Closes this end without a goodbye, in a thread that may block.
   *
   * @return completes when it is closed and users were told
   */
  CompletableFuture<Void> closeAtOnce() {
    return link.share()
        .node()
        .blocking()
        .run(link.lifetime()::close)
        .thenCompose(closed -> allTold);
  }

  /** Ends everything immediately: the last step of a close, or all of it if the node closes. */
  void destroy() {
    Attempts attempts = new Attempts();
    attempts.attempt(this::stop);
    attempts.attempt(this::awaitStopped);
    attempts.attempt(() -> link.poller().remove(link));
    link.share().forget(link);
    attempts.attempt(() -> link.share().node().events().close(link.id()));
    attempts.attempt(this::discardAll);
    link.later(this::tellTheEnd);
    attempts.finish();
  }

  private void discardAll() {
    link.lock();
    try {
      session.discard(link.lifetime().closed());
    } finally {
      link.unlock();
    }
  }

  private void tellTheEnd() {
    boolean done = false;
    try {
      link.lock();
      try {
        session.closed();
      } finally {
        link.unlock();
      }
      link.telling().tellLast(() -> allTold.complete(null));
      done = true;
    } finally {
      if (!done) {
        allTold.complete(null);
      }
    }
  }

  /** Returns the future that users see. */
  CompletableFuture<Void> future() {
    return ended;
  }

  /** Returns the future of the end of the peer's output. */
  CompletableFuture<Void> inputFuture() {
    return inputEnded;
  }

  /** Completes the future of the end of the peer's output. Runs user code. */
  void tellInputEnd() {
    inputEnded.complete(null);
  }

  /** Completes the futures that users see, with a failure if there is one. Runs user code. */
  void tell(@Nullable RuntimeException reason) {
    if (reason == null) {
      inputEnded.complete(null);
    } else {
      inputEnded.completeExceptionally(reason);
    }
    boolean first = reason == null ? ended.complete(null) : ended.completeExceptionally(reason);
    // The event is for connections that users had, not for attempts to connect.
    if (first && link.isEstablished()) {
      EndEvent event = new EndEvent();
      event.connection = link.toString();
      event.failure = reason == null ? "" : String.valueOf(reason.getMessage());
      event.commit();
    }
  }

  /** Records that a request has completed. Requires the lock. */
  void completed() {
    if (session.outstanding() == 0) {
      idle.signalAll();
    }
    disconnectIfDue();
  }

  /** Goes on with the close, if all that was sent has arrived. Requires the lock. */
  void wakeNext() {
    arrived.wakeNext();
    departIfDue();
  }

  /** Ends what has taken too long. Called at intervals. Requires the lock. */
  void tick() {
    disconnectIfDue();
    departIfDue();
  }

  /** Records that the session has ended in some way. Requires the lock. */
  void changed() {
    idle.signalAll();
    arrived.wakeAll();
    ConnectionException failure = session.lifecycle().failure();
    if (failure != null && !failureSeen) {
      failureSeen = true;
      link.share().node().broken().add(failure.reason());
      reportBreak(failure);
      lastWords = Deadline.after(LAST_WORDS);
      link.poller().attend();
      disconnectIfDue();
    }
    link.later(link.telling()::tell);
  }

  private void reportBreak(ConnectionException failure) {
    if (session.lifecycle().isPeerClosed() || session.lifecycle().hasPeerGone()) {
      link.share().log(Level.DEBUG, "a connection ended: " + failure.getMessage(), null);
    } else {
      link.share()
          .node()
          .peerLog()
          .warn("a connection broke", String.valueOf(failure.getMessage()));
    }
  }

  /**
   * Handles the end of the connection below: the peer's process has gone; or the device, if the
   * peer uses it too and noticed that first.
   */
  void disconnected() {
    broken(
        link.share().isRemoved()
            ? DeviceShare.deviceRemoved(link)
            : session.because(Reason.RESET, "The peer ended without closing the connection"));
  }

  /**
   * Breaks the connection for a reason outside of it, unless the peer has closed it, after what has
   * arrived was delivered. So user code may run in the calling thread, which has no lock.
   */
  void broken(ConnectionException reason) {
    link.poller().drain();
    link.lock();
    try {
      if (session.lifecycle().isPeerClosed()) {
        link.ending(this::disconnectAndTell);
      } else {
        session.fail(reason);
      }
    } finally {
      link.unlock();
    }
    link.telling().tell();
  }

  /** Does what {@link #broken} does, in another thread. */
  void brokenSoon(ConnectionException reason) {
    link.later(() -> broken(reason));
  }

  /**
   * Ends the connection below once the peer has the reason, so that the peer need not notice it. No
   * thread waits for the peer, because very many of them may break their connections. Requires the
   * lock.
   */
  private void disconnectIfDue() {
    Deadline until = lastWords;
    if (until != null
        && ((session.postedCount() == 0 && !couldNotSend())
            || until.isOver()
            || !link.share().isUsable())) {
      lastWords = null;
      link.ending(this::disconnectAndTell);
    }
  }

  /** Soft-RoCE fails so a moment before the state of its port says DOWN, see {@link #isPortUp}. */
  private boolean couldNotSend() {
    ConnectionException failure = session.lifecycle().failure();
    return failure != null
        && failure.getCause() instanceof WorkCompletionException request
        && request.status() == CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
  }

  private void disconnectAndTell() {
    disconnect();
    link.later(link.telling()::tell);
  }

  /** Ends the connection below: the device gives back all requests, and the peer learns of it. */
  private void disconnect() {
    boolean done = false;
    try {
      if (isPortUp()) {
        link.id().disconnect();
        done = true;
      }
    } catch (IllegalStateException | RdmaException notConnected) {
      link.log(Level.DEBUG, "could not disconnect", notConnected);
    }
    if (done) {
      stopped();
    } else {
      stopDevice();
    }
  }

  private void stopped() {
    link.lock();
    try {
      session.stopped();
    } finally {
      link.unlock();
    }
  }

  /**
   * Returns whether a disconnect can leave the device. Soft-RoCE stops the queue pair of the
   * kernel's connection manager when it cannot send, and then nothing connects until the device is
   * removed and added again.
   */
  private boolean isPortUp() {
    Port port = link.share().device().port(link.id().port());
    return port.attributes().state() != PortState.DOWN;
  }

  /** Makes the device give back all requests. */
  private void stopDevice() {
    try {
      link.queuePair().toError();
    } catch (IllegalStateException | RdmaException closedOrRemoved) {
      // A removed device has no requests that could be given back.
    } finally {
      stopped();
    }
  }

  /** Says goodbye to the peer, and waits until all that was sent has arrived. */
  private void sayGoodbye() {
    link.lock();
    try {
      boolean first = !goodbyeBegun;
      goodbyeBegun = true;
      boolean reachesPeer = beginClose();
      if (first) {
        sayGoodbye(reachesPeer);
      }
      awaitUninterruptibly(goodbye, this::isGoodbyeDone);
    } finally {
      link.unlock();
    }
  }

  /** Requires the lock. A handler may have begun the close, and a driven node may not tick now. */
  private boolean isGoodbyeDone() {
    departIfDue();
    return goodbyeDone;
  }

  /**
   * Waits until a condition holds. If the node is driven, the calling thread may be the thread that
   * drives, so it delivers meanwhile. Requires the lock.
   */
  private void awaitUninterruptibly(Condition signaled, BooleanSupplier done) {
    boolean driven = link.poller().loop().isRunByProgram();
    boolean interrupted = Thread.interrupted();
    while (!done.getAsBoolean()) {
      if (driven) {
        drain();
      }
      try {
        // Not for long, because the removal of a device signals nothing.
        var unused = signaled.awaitNanos(1_000_000);
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Requires the lock. Whatever happens, no other thread waits for this one afterwards. */
  private void sayGoodbye(boolean reachesPeer) {
    try {
      link.flush();
      if (reachesPeer) {
        awaitArrival();
      }
    } finally {
      goodbyeDone = true;
      goodbye.signalAll();
    }
  }

  /** Returns whether the peer will learn of the close. If not, it is reset. */
  private boolean beginClose() {
    try {
      return session.beginClose();
    } catch (IllegalStateException | RdmaException noMemory) {
      // There is none either if the node is closed at the same time.
      link.log(Level.WARNING, "could not notify the peer of the close", noMemory);
      return false;
    }
  }

  private void awaitArrival() {
    Duration timeout = link.share().config().closeTimeout();
    try {
      boolean inTime = link.waits().await(arrived, Deadline.after(timeout).end());
      reportLost(inTime);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void reportLost(boolean inTime) {
    if (session.lifecycle().hasLostWhileClosing()) {
      ConnectionException gone = session.lifecycle().goneWhileClosing();
      link.warn(
          "not all that was sent had arrived when a connection was closed",
          (inTime ? "" : ", after " + TimeText.of(link.share().config().closeTimeout()))
              + (gone == null ? "" : ": " + gone.getMessage()));
    }
  }

  /** Begins to close this end immediately: makes the device stop. */
  void stop() {
    link.lock();
    try {
      goodbyeBegun = true;
      goodbyeDone = true;
      departure = null;
      lastWords = null;
      if (flushed == null) {
        flushed = Deadline.after(FLUSH);
      }
      goodbye.signalAll();
      session.stop();
    } finally {
      link.unlock();
    }
    stopDevice();
  }

  /** Waits until the device has no request any more, after it was stopped. */
  private void awaitStopped() {
    Deadline until;
    lock.lock();
    try {
      until = flushed;
    } finally {
      lock.unlock();
    }
    if (until == null) {
      return;
    }
    awaitFlush(until);
    int left = postedCount();
    if (left > 0 && link.share().isUsable()) {
      link.log(
          Level.WARNING,
          "%d requests are still with the device after %s; the close goes on"
              .formatted(left, TimeText.of(FLUSH)),
          null);
    }
  }

  private int postedCount() {
    lock.lock();
    try {
      return session.postedCount();
    } finally {
      lock.unlock();
    }
  }

  /** Delivers what has completed. Requires the lock, which is free meanwhile. */
  private void drain() {
    lock.unlock();
    try {
      link.poller().drain();
    } finally {
      lock.lock();
    }
  }

  /** Waits until the device has no request of this connection. */
  private void awaitFlush(Deadline deadline) {
    long end = deadline.end();
    lock.lock();
    try {
      awaitUninterruptibly(
          idle,
          () ->
              session.postedCount() == 0
                  || System.nanoTime() - end >= 0
                  || !link.share().isUsable());
    } finally {
      lock.unlock();
    }
  }
}
