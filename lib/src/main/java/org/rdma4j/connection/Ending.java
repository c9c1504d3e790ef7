package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.ConnectionException.Reason;
import org.rdma4j.platform.Deadline;
import org.rdma4j.recording.EndEvent;
import org.rdma4j.verbs.Port;
import org.rdma4j.verbs.attribute.PortState;

/**
 * How one end of a connection ends: whether it is open, ended by either side, broken or closed, and
 * the steps from one to the other.
 *
 * <p>The lock of the connection guards this: every method requires it, unless it says otherwise.
 */
final class Ending {
  /** How long a connection that breaks may take to tell the peer why. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(2);

  /** How long a close waits for the device to give back the requests of a stopped queue pair. */
  private static final Duration FLUSH = Duration.ofSeconds(5);

  private static final String RESET =
      "The peer has broken the connection, or has accessed memory that it must not";

  private final Link link;
  private final ReentrantLock lock;
  private final SendQueue sends;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  /** Signaled when the device has no request of the connection any more, or it breaks. */
  private final Condition idle;

  /** Signaled when nothing is waited for any more before the connection is closed. */
  private final Condition goodbye;

  private boolean goodbyeDone;

  /** Whether this side has said that it sends nothing more, and whether the peer has. */
  private boolean outputEnded;

  private boolean inputEnded;

  /** Whether the peer receives nothing more. */
  private boolean peerClosed;

  private boolean closing;

  /** Whether its user has closed it, rather than what it needs. */
  private boolean closedByUser;

  private @Nullable ConnectionException failure;

  /** Why nothing reaches the peer any more, although a close had begun before; null if it may. */
  private @Nullable ConnectionException goneWhileClosing;

  /** Whether the device has been told to give back all requests. */
  private volatile boolean stopped;

  /** When a close no longer waits for the device; null before it was stopped. */
  private @Nullable Deadline flushed;

  /** Creates the end of a connection that is open. */
  Ending(Link link, ReentrantLock lock, SendQueue sends) {
    this.link = link;
    this.lock = lock;
    this.sends = sends;
    this.idle = lock.newCondition();
    this.goodbye = lock.newCondition();
  }

  /**
   * Completes the future that users see, after they were told of all that came before: with a
   * failure if there is one.
   */
  private void complete(@Nullable RdmaException reason) {
    link.users().ended(() -> end(reason));
    link.later(link::tellUsers);
  }

  private void end(@Nullable RdmaException reason) {
    boolean first = reason == null ? ended.complete(null) : ended.completeExceptionally(reason);
    // A connection that was never established has not ended.
    if (first && link.isEstablished()) {
      EndEvent event = new EndEvent();
      event.connection = link.toString();
      event.failure = reason == null ? "" : String.valueOf(reason.getMessage());
      event.commit();
    }
  }

  /** Returns the future that users see. Needs no lock. */
  CompletableFuture<Void> future() {
    return ended;
  }

  /** Returns whether nothing more can be sent. */
  boolean isUseless() {
    return closing || failure != null || peerClosed;
  }

  /** Returns whether what is being fetched may still arrive. */
  boolean mayReceive() {
    return !closing && failure == null && !stopped;
  }

  /** Returns whether a close has begun. */
  boolean isClosing() {
    return closing;
  }

  boolean isPeerClosed() {
    return peerClosed;
  }

  boolean isInputEnded() {
    return inputEnded;
  }

  /** Returns why the connection is broken; null if it is not. */
  @Nullable ConnectionException failure() {
    return failure;
  }

  void checkOpen() {
    if (closing) {
      // If the user did not close it, the exception says why it was closed.
      throw failure != null && !closedByUser ? failure : link.lifetime().closed();
    }
  }

  void checkCanSend() {
    checkOpen();
    if (failure != null) {
      throw failure;
    }
    if (peerClosed) {
      throw closedByPeer();
    }
  }

  void checkOutputOpen() {
    checkCanSend();
    if (outputEnded) {
      throw new IllegalStateException(
          link + " has said that it sends nothing more: send before endOutput()");
    }
  }

  private ConnectionException because(Reason reason, String text, @Nullable Throwable cause) {
    int errno =
        switch (reason) {
          case RESET, CLOSED_BY_PEER, UNREACHABLE -> ErrorNumber.ECONNRESET.value();
          case PROTOCOL -> ErrorNumber.EPROTO.value();
          default -> 0;
        };
    return new ConnectionException(reason, link.toString(), errno, text, cause);
  }

  private ConnectionException closedByPeer() {
    return because(Reason.CLOSED_BY_PEER, "The peer has closed the connection", null);
  }

  /** Notes that the device has done all requests. */
  void becameIdle() {
    idle.signalAll();
  }

  /**
   * Handles the last message of the peer.
   *
   * @return what is wrong with it; null if nothing is
   */
  @Nullable String peerEnded(int flags, ByteBuffer reason) {
    if (flags == MessageHeader.BROKEN) {
      String text = "The peer broke the connection: " + PrintableText.of(reason);
      fail(because(Reason.RESET, text, null));
      return null;
    }
    if ((flags & ~MessageHeader.CLOSED) != 0) {
      return "it ended the connection with the flags " + flags;
    }
    inputEnded = true;
    peerClosed = flags == MessageHeader.CLOSED;
    link.wakeAll();
    if (peerClosed) {
      link.failOutput(closedByPeer());
      complete(null);
    }
    return null;
  }

  /** Handles the end of the connection below: the peer's process has gone. */
  void disconnected() {
    broken(because(Reason.RESET, "The peer ended without closing the connection", null));
  }

  /**
   * Breaks the connection because its queue pair has stopped, and not because of this side: the
   * device stops it when the peer disconnects, and when the peer accesses what it must not.
   */
  void stoppedByPeer(Throwable cause) {
    fail(because(Reason.RESET, RESET, cause));
  }

  /** Breaks the connection because the peer no longer acknowledges what is sent. */
  void unreachable(Throwable cause) {
    fail(because(Reason.UNREACHABLE, "The peer can no longer be reached", cause));
  }

  /**
   * Breaks the connection for a reason outside of it, unless the peer has closed it. Takes the lock
   * itself, after what has arrived was delivered. So user code may run in the calling thread.
   */
  void broken(ConnectionException reason) {
    link.poller().drain();
    lock.lock();
    try {
      if (peerClosed) {
        link.later(
            () -> {
              disconnect();
              link.tellUsers();
            });
      } else {
        fail(reason);
      }
    } finally {
      lock.unlock();
    }
    link.tellUsers();
  }

  /** Does what {@link #broken} does, in another thread. */
  void brokenSoon(ConnectionException reason) {
    link.later(() -> broken(reason));
  }

  /** Breaks the connection because of this side, and tells the peer why. */
  void breakUp(String text, @Nullable Throwable cause) {
    breakUp(Reason.BROKEN_HERE, text, cause);
  }

  /** Breaks the connection because of what the peer has sent, and tells the peer so. */
  void violated(String violation) {
    breakUp(Reason.PROTOCOL, "the peer broke the protocol: " + violation, null);
  }

  private void breakUp(Reason reason, String text, @Nullable Throwable cause) {
    if (failure != null || closing) {
      return;
    }
    tellPeer(text);
    fail(because(reason, "The connection is broken because " + text, cause));
  }

  private void tellPeer(String reason) {
    try {
      if (link.mayPost()) {
        postReason(reason);
      }
    } catch (RuntimeException | Error refused) {
      link.log(Level.DEBUG, "could not tell the peer why it breaks", refused);
    }
  }

  private void postReason(String reason) {
    ByteBuffer text = ByteBuffer.allocate(link.outbox().eagerBytes());
    // An encoder stops before a character that no longer fits.
    StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(reason), text, true);
    Outgoing last = newEnd(MessageHeader.BROKEN, text.flip());
    sends.postAhead(last);
  }

  private Outgoing newEnd(int flags, ByteBuffer text) {
    Slot slot = link.share().buffers().take();
    slot.fill(MessageKind.END, text);
    Outgoing last = sends.newRequest();
    last.kind = MessageKind.END;
    last.flags = flags;
    last.buffer = slot;
    return last;
  }

  /** Breaks the connection because a request failed. */
  void requestFailed(Throwable cause) {
    fail(because(Reason.BROKEN_HERE, "A request failed: " + cause.getMessage(), cause));
  }

  /** Notes the first failure: the others are its consequences. */
  private void fail(ConnectionException reason) {
    if (failure != null) {
      return;
    }
    if (closing) {
      goneWhileClosing = reason;
      idle.signalAll();
      return;
    }
    failure = reason;
    if (!peerClosed && !inputEnded) {
      link.share().log(Level.WARNING, "a connection broke: " + reason.getMessage(), null);
      complete(reason);
    } else {
      complete(null);
    }
    link.wakeAll();
    idle.signalAll();
    link.failAll(reason);
    link.later(this::disconnectSoon);
  }

  /** Ends the connection below once the peer was told why, so that the peer need not notice it. */
  private void disconnectSoon() {
    link.tellUsers();
    awaitFlush(Deadline.after(LAST_WORDS));
    disconnect();
    link.tellUsers();
  }

  /** Ends the connection below: the device gives back all requests, and the peer learns of it. */
  private void disconnect() {
    try {
      if (isPortUp()) {
        link.id().disconnect();
        stopped = true;
      }
    } catch (IllegalStateException | RdmaException notConnected) {
      link.log(Level.DEBUG, "could not disconnect", notConnected);
    }
    if (!stopped) {
      stopDevice();
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

  /** Makes the device give back all requests. Needs no lock. */
  private void stopDevice() {
    try {
      link.queuePair().toError();
    } catch (IllegalStateException | RdmaException closedOrRemoved) {
      // A removed device has no requests that could be given back.
    } finally {
      stopped = true;
    }
  }

  /** Tells the peer that this side sends nothing more. */
  void endOutput() {
    if (!outputEnded) {
      checkCanSend();
      addEnd(0);
      link.flush();
    }
  }

  private void addEnd(int flags) {
    outputEnded = true;
    sends.add(newEnd(flags, ByteBuffer.allocate(0)));
  }

  /** Says goodbye to the peer, and waits until all that was sent has arrived. */
  void sayGoodbye() {
    closedByUser = true;
    if (!closing) {
      boolean reachesPeer = !isUseless();
      closing = true;
      reachesPeer = reachesPeer && tellGoodbye();
      link.wakeAll();
      if (reachesPeer) {
        awaitIdle();
      }
      goodbyeDone = true;
      goodbye.signalAll();
    }
    while (!goodbyeDone) {
      goodbye.awaitUninterruptibly();
    }
  }

  /** Returns whether the peer will learn of the close. If not, it is reset. */
  private boolean tellGoodbye() {
    try {
      addEnd(MessageHeader.CLOSED);
      link.flush();
      return true;
    } catch (RdmaException noMemory) {
      link.log(Level.WARNING, "could not tell the peer that it is closed", noMemory);
      return false;
    }
  }

  private void awaitIdle() {
    Duration timeout = link.share().config().closeTimeout();
    try {
      BooleanSupplier done =
          () -> link.isIdle() || failure != null || peerClosed || goneWhileClosing != null;
      boolean isDone = link.await(link.new Awaited(idle, done), Deadline.after(timeout).end());
      if (!isDone) {
        link.log(
            Level.WARNING,
            "not all that was sent had arrived when it was closed after " + timeout,
            null);
      } else if (goneWhileClosing != null) {
        link.log(
            Level.WARNING,
            "not all that was sent had arrived when it was closed",
            goneWhileClosing);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Begins to close this end at once: makes the device stop. Takes the lock itself. */
  void stop() {
    lock.lock();
    try {
      closing = true;
      goodbyeDone = true;
      if (flushed == null) {
        flushed = Deadline.after(FLUSH);
      }
      goodbye.signalAll();
      link.wakeAll();
      idle.signalAll();
      link.failAll(link.lifetime().closed());
    } finally {
      lock.unlock();
    }
    stopDevice();
  }

  /**
   * Waits until the device has no request any more, after it was stopped. Takes the lock itself.
   */
  void awaitStopped() {
    Deadline until;
    lock.lock();
    try {
      until = flushed;
    } finally {
      lock.unlock();
    }
    if (until != null) {
      awaitFlush(until);
    }
  }

  /** Completes the future that users see, after everything else. Needs no lock. */
  void closed() {
    lock.lock();
    try {
      complete(null);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the device has no request of this connection. Takes the lock itself. */
  private void awaitFlush(Deadline deadline) {
    long end = deadline.end();
    boolean interrupted = Thread.interrupted();
    lock.lock();
    try {
      while (sends.postedCount() > 0 && System.nanoTime() - end < 0 && link.share().isUsable()) {
        try {
          // A removal of the device signals nothing.
          idle.awaitNanos(1_000_000);
        } catch (InterruptedException again) {
          interrupted = true;
        }
      }
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
