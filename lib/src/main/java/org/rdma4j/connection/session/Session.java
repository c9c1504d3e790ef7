package org.rdma4j.connection.session;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.buffers.Arrivals;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferPool;
import org.rdma4j.connection.buffers.LargeBuffers;
import org.rdma4j.connection.buffers.PromisedReceives;
import org.rdma4j.connection.buffers.ReceiveWindow;
import org.rdma4j.connection.wire.Credits;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;

/**
 * The protocol of one end of a connection, as a state machine. It is notified of what has happened
 * ({@link #received}, {@link #completed}, {@link #add}, {@link #left}, {@link #tick}), and is then
 * asked what to do: {@link #nextToPost} returns what to post, {@link #nextForUser} what to notify
 * the user of, {@link #takeMemoryNeed} what memory to get, {@link #lifecycle} whether it has ended
 * in some way. It has no lock, no thread, no clock and no device, so that two sessions can be
 * joined in memory and tested.
 *
 * <p>Not safe for use by several threads: the lock of the connection guards it. {@link #hasNews},
 * {@link #isConnected}, {@link #isJoinable}, {@link #isWritable} and {@link #isDiscarded} need no
 * lock.
 */
public final class Session {
  /**
   * The receives that the peer may need for messages of the protocol itself: three with credits,
   * and one each for the end of the output and for the end of the connection. A peer with {@link
   * Hello#ONE_RECEIVE} needs one, which is known once it is {@link #connected}.
   */
  public static final int CONTROL_RECEIVES = 5;

  /** Places of the device's queue that only messages of the protocol itself take. */
  public static final int CONTROL_SENDS = 4;

  /** How long a connection sends nothing before it gives back credits that it does not use. */
  private static final long QUIET_NANOS = 1_000_000_000;

  private final BufferPool pool;
  private final PromisedReceives promises;
  private final Credits credits;
  private final Counts counts = new Counts();
  private final Backlog backlog = new Backlog();
  private final Arrivals arrivals;
  private final Inbox inbox;
  private final Unpacking unpacking;
  private final Deliveries deliveries;
  private final Sending sending;
  private final Lifecycle lifecycle;
  private final Receiving receiving;
  private volatile boolean discarded;

  /**
   * Creates the session of a connection that is about to be established.
   *
   * @param connection its name, for messages
   * @param limits what it may use
   * @param promises the receives that are promised to the peer already
   * @param window what the messages that arrive count against
   * @param userMemory knows the memory of users
   * @param closedException creates the exception of methods that are called after a close
   */
  public Session(
      String connection,
      SessionLimits limits,
      BufferPool pool,
      LargeBuffers largeBuffers,
      PromisedReceives promises,
      ReceiveWindow window,
      UserMemory userMemory,
      Supplier<IllegalStateException> closedException) {
    this.pool = pool;
    this.promises = promises;
    this.credits = new Credits(limits.receives());
    this.arrivals = new Arrivals(limits.maxMessageBytes());
    this.inbox = new Inbox(largeBuffers, arrivals, limits.maxMessageBytes());
    Answers answers = new Answers(limits.receives(), pool, largeBuffers, arrivals);
    this.unpacking = new Unpacking(pool, credits, window, answers);
    this.deliveries = new Deliveries(inbox, unpacking, backlog);
    this.sending =
        new Sending(
            connection,
            credits,
            promises,
            pool,
            answers,
            userMemory,
            limits.sends(),
            deliveries,
            counts,
            backlog);
    this.lifecycle = new Lifecycle(connection, closedException, sending, deliveries);
    this.receiving =
        new Receiving(
            connection,
            limits.features(),
            credits,
            promises,
            window,
            sending,
            inbox,
            deliveries,
            lifecycle,
            counts);
  }

  // What has happened.

  /** Notes the hello of the peer, and handles what it has sent meanwhile. */
  public void connected(Hello hello) {
    breakIf(receiving.connected(hello));
  }

  /** Grants the peer its first credits, before which it sends nothing. */
  public void grantFirstCredits() {
    sending.grantFirstCredits();
  }

  /**
   * Handles the arrival of a message.
   *
   * @param buffer what it is in, which belongs to the session now
   * @param succeeded whether it fits into its buffer
   * @param isSend whether it is what a send of the peer sent
   * @param bytes its length, with the header
   */
  public void received(Buffer buffer, boolean succeeded, boolean isSend, long bytes) {
    breakIf(receiving.arrived(buffer, succeeded, isSend, bytes));
    var unused = deliverWaiting();
  }

  /**
   * Handles the completion of a request, and of all those before it.
   *
   * @param number the number under which it was posted
   */
  public void completed(long number) {
    while (sending.hasPostedUntil(number)) {
      completed(sending.takePosted());
    }
    var unused = deliverWaiting();
  }

  private void completed(Request request) {
    if (request.operation() == Request.Operation.FETCH) {
      breakIf(receiving.fetched(request));
      sending.recycle(request);
    } else {
      sending.completed(request, request.isOffer() ? lifecycle.whyOver() : null);
    }
  }

  /**
   * Handles the failure of a request, and the completion of all those before it.
   *
   * @param number the number under which it was posted
   * @param reason what that says about the connection: {@link Reason#RESET} if the device has only
   *     given the request back
   */
  public void failed(long number, Reason reason, RuntimeException failure) {
    while (sending.hasPostedUntil(number) && !sending.isFirst(number)) {
      completed(sending.takePosted());
    }
    if (!sending.hasPostedUntil(number)) {
      return;
    }
    if (!lifecycle.isUseless() || lifecycle.isClosing()) {
      lifecycle.fail(lifecycle.because(reason, textOf(reason, failure), failure));
    }
    ConnectionException consequence = reason == Reason.RESET ? lifecycle.failure() : null;
    sending.failed(sending.takePosted(), consequence == null ? failure : consequence);
    var unused = deliverWaiting();
  }

  private static String textOf(Reason reason, RuntimeException failure) {
    return switch (reason) {
      case UNREACHABLE -> "The peer can no longer be reached";
      case RESET -> "The peer has broken the connection, or has accessed memory that it must not";
      default -> "A request failed: " + failure.getMessage();
    };
  }

  /**
   * Takes an offer of whose {@link Request#exposure} to call {@link Exposure#end}, in a thread that
   * may block, and then {@link #revoked}; null if there is none.
   */
  public @Nullable Request takeRevocable() {
    if (!lifecycle.goesOn()) {
      sending.abandonInvalidates();
    }
    return sending.takeRevocable();
  }

  /** Records that no peer can access the memory of an offer any more. */
  public void revoked(Request offer) {
    sending.revoked(offer);
    var unused = deliverWaiting();
  }

  /**
   * Takes back the last requests of a chain, which the device did not accept: no completion would
   * come for them.
   */
  public void notAccepted(int count, RuntimeException reason) {
    sending.notAccepted(count, reason);
    var unused = deliverWaiting();
  }

  /**
   * Takes memory for a long message.
   *
   * @return whether it is needed; if not, the caller frees it
   */
  public boolean supplied(Buffer memory) {
    if (!goesOn()) {
      return false;
    }
    breakIf(receiving.supplied(memory));
    return true;
  }

  /** Records that as much of the buffer of a long message is registered as was needed. */
  public void registered() {
    if (goesOn()) {
      breakIf(receiving.registered());
    }
  }

  /**
   * Records that a message no longer counts against the receive window.
   *
   * @return whether a message that waited for that can be delivered now
   */
  public boolean left(Buffer buffer) {
    receiving.left(buffer);
    return deliverWaiting();
  }

  private boolean deliverWaiting() {
    boolean waited = unpacking.takeWaiting(inbox);
    if (waited) {
      deliveries.messageArrived();
    }
    return waited;
  }

  /**
   * Returns once whether a message waits because no buffer is free, so that {@link #bufferFreed}
   * has to be called.
   */
  public boolean takeBufferLack() {
    return unpacking.takeLack();
  }

  /** Records that a buffer may be free for a message that waits. */
  public void bufferFreed() {
    unpacking.freed();
    var unused = deliverWaiting();
  }

  /**
   * Records that time has passed: gives back the credits that a quiet connection does not use, says
   * what was read to a peer that waits for that, and breaks a connection whose peer had to send the
   * first message, or the rest of a long one.
   *
   * @param now the time, on the scale of {@link System#nanoTime}
   * @param quietNanos how long nothing has happened
   * @param handshakeNanos how long the peer may take to send its first message
   * @param progressNanos how long nothing of a long message may arrive; 0 for ever
   */
  public void tick(long now, long quietNanos, long handshakeNanos, long progressNanos) {
    if (lifecycle.isUseless()) {
      return;
    }
    String stuck = inbox.checkProgress(now, progressNanos);
    if (stuck != null) {
      breakUp(stuck, null);
      return;
    }
    if (receiving.awaitsFirst() && quietNanos >= handshakeNanos) {
      breakIf("it had to send the first message, and sent none");
    } else if (receiving.mayPost() && sending.outstanding() == 0 && quietNanos >= QUIET_NANOS) {
      sending.giveBackCredits();
    }
    if (receiving.mayPost()) {
      sending.tellRead();
    }
  }

  /** Checks that the peer can still be reached, unless the device has something to send anyway. */
  public void ping() {
    // What waits for the peer, and not for the device, does not show that the peer has gone.
    if (!lifecycle.isUseless() && receiving.mayPost() && sending.postedCount() == 0) {
      Request ping = sending.newRequest();
      ping.ping();
      sending.addAhead(ping);
    }
  }

  // What the user wants.

  /** Returns an empty request, to be filled and {@link #add added}. */
  public Request newRequest() {
    return sending.newRequest();
  }

  /** Takes back a request that is done and that no code uses any more. */
  public void recycle(Request request) {
    sending.recycle(request);
  }

  /**
   * Adds a request to the waiting ones. Breaks the connection if handlers send more than its share
   * of the buffers, because the peer does not receive that.
   */
  public void add(Request request) {
    sending.add(request);
    if (request.kind() == MessageKind.ANSWER || request.kind() == MessageKind.REFUSAL) {
      receiving.requests().remove(request.number());
    }
    String tooMuch = sending.checkAnswers();
    if (tooMuch != null) {
      breakUp(tooMuch, null);
    }
  }

  /** Adds a request that begins an exposure, which what is added later does not overtake. */
  public void addBind(Request bind, Exposure begun) {
    bind.bind(begun);
    sending.addBind(bind);
  }

  /**
   * Adds a request of the user to the peer, and returns its number, which its message must have.
   */
  public long addPending(Object listener) {
    return deliveries.pending().add(listener);
  }

  /** Forgets a request of the user whose message could not be added. */
  public void cancelPending(long number) {
    deliveries.pending().remove(number);
  }

  /**
   * Notifies the peer that the user waits for the answer to a request no more. An answer that comes
   * nevertheless is delivered as usual.
   *
   * @return whether there is something to post: not if the answer has arrived, or nothing can be
   *     sent
   * @throws RdmaException if there is no memory for the message
   */
  public boolean cancelRequest(long number) {
    if (lifecycle.isUseless() || !deliveries.pending().contains(number)) {
      return false;
    }
    Buffer empty = pool.take();
    empty.become(MessageKind.CANCEL, 0, 0);
    Request message = sending.newRequest();
    message.send(MessageKind.CANCEL, 0, number, empty);
    sending.add(message);
    return true;
  }

  /** Returns whether the peer has cancelled a request of its own that is not answered. */
  public boolean isCancelled(long number) {
    return receiving.requests().isCancelled(number);
  }

  /** Returns the number of requests of the peer that are not answered. */
  int openRequests() {
    return receiving.requests().size();
  }

  /**
   * Sets the length of the longest message of the peer from now on, if it is less than that of the
   * {@link SessionLimits}.
   *
   * @param where where that is set, for messages
   */
  public void allowMessages(long maxBytes, String where) {
    receiving.allowMessages(maxBytes, where);
  }

  /**
   * Says that messages are to be delivered as they come, rather than taken.
   *
   * @param toHold whether each is to be in a buffer of its own: {@link #pollMessage} takes it then,
   *     and otherwise {@link #takeMessages}
   */
  public void wantMessages(boolean toHold) {
    deliveries.wantMessages(toHold);
  }

  /** Returns whether messages are delivered. */
  public boolean wantsMessages() {
    return deliveries.wantsMessages();
  }

  /** Says that requests of the peer are to be delivered. */
  public void wantRequests() {
    deliveries.wantRequests();
  }

  /** Says that the user wants to know when it should send no more, and when it should go on. */
  public void wantWritability() {
    deliveries.wantWritability();
  }

  /**
   * Sets the memory of messages that have not arrived beyond which the user should send no more,
   * and that at which it goes on.
   */
  public void watermarks(long low, long high) {
    backlog.watermarks(low, high);
    deliveries.writabilityChanged();
  }

  /** Makes the delivery of messages and requests wait, or not any more. */
  public void pause(boolean whether) {
    deliveries.pause(whether);
  }

  /** Returns whether the delivery of messages and requests waits. Needs no lock. */
  public boolean isPaused() {
    return deliveries.isPaused();
  }

  /**
   * Returns the next message without taking it; null if there is none yet. If others {@link
   * Buffer#hasNext have arrived together} with it, {@link Buffer#toNext} takes it.
   */
  public @Nullable Buffer peekMessage() {
    return inbox.peek();
  }

  /**
   * Takes the next message, in a buffer of its own; null if there is none yet, or none that the
   * user may hold.
   */
  public @Nullable Buffer pollMessage() {
    return unpacking.take(inbox);
  }

  /**
   * Returns whether one of several messages that have arrived together, which was taken, may be
   * delivered now; if not, it is put back. Needs no lock: it may be out of date.
   */
  public boolean mayDeliver(Buffer message) {
    return unpacking.mayDeliver(message);
  }

  /**
   * Puts the message that was taken last back, with messages that have arrived together with it.
   */
  public void putBack(Buffer message) {
    if (discarded) {
      message.leaveWindow();
      message.free();
    } else {
      inbox.putBack(message);
    }
  }

  /** Returns whether a message can be taken, or none will come any more. */
  public boolean hasMessageOrEnd() {
    Buffer next = inbox.peek();
    if (next != null) {
      return unpacking.mayTake(next) || lifecycle.isClosing();
    }
    return (lifecycle.isInputEnded() && inbox.isEmpty())
        || lifecycle.failure() != null
        || lifecycle.isClosing();
  }

  /**
   * Returns whether a message may join a waiting message. Needs no lock: without it, that may be
   * out of date.
   */
  public boolean isJoinable() {
    return sending.isJoinable() && receiving.packs();
  }

  /**
   * Lets a copy of a message join a waiting message, so that both take one request.
   *
   * @param now whether only if the peer has room for it now
   * @param listener the listener of the end; null if there is none
   * @return whether it has joined
   */
  public boolean tryJoin(ByteBuffer message, boolean now, @Nullable Object listener, long token) {
    return receiving.packs() && sending.tryJoin(message, shortBytes(), now, listener, token);
  }

  /** Returns whether a further message could be posted without waiting for the peer. */
  public boolean hasRoomForMessage() {
    return sending.hasRoomForMessage();
  }

  /** Returns whether a further operation need not wait for long. */
  public boolean hasRoom() {
    return sending.hasRoom();
  }

  // What to post.

  /** Begins a chain of requests, which {@link #nextToPost} returns. */
  public void beginChain() {
    sending.beginChain();
  }

  /** Returns the next request of the chain, which counts as posted now; null at its end. */
  public @Nullable Request nextToPost() {
    Request ahead = sending.nextAhead();
    if (ahead != null) {
      return ahead;
    }
    return mayPost() ? sending.next() : null;
  }

  private boolean mayPost() {
    return receiving.mayPost() && goesOn();
  }

  /** Returns whether anything is still to be done: during a close, until all sends have arrived. */
  private boolean goesOn() {
    return lifecycle.goesOn() && !(lifecycle.isClosing() && sending.outstanding() == 0);
  }

  /**
   * Tries again to set receives aside that the peer may use.
   *
   * @return whether there are none for that, for credits, or for the next request
   */
  public boolean lacksReceives() {
    if (!mayPost()) {
      return false;
    }
    boolean renewed = promises.renewOwed();
    return !renewed || sending.isStarved();
  }

  /** Returns whether the device is so busy that it is better to collect requests for a chain. */
  public boolean shouldCollect() {
    return sending.shouldCollect();
  }

  /** Returns whether the device has at least half of the requests that it can have. */
  public boolean isBusy() {
    return sending.isBusy();
  }

  /** Returns the number of requests that the device has, or will have immediately. */
  public int postedCount() {
    return sending.postedCount();
  }

  /** Returns the number of requests that are not done. */
  public int outstanding() {
    return sending.outstanding();
  }

  /** Returns whether all that was sent has arrived, and all that was offered was fetched. */
  public boolean isIdle() {
    return sending.outstanding() == 0 && !inbox.isFetching();
  }

  /** Returns whether credits are due that no message carries. */
  public boolean isCreditDue() {
    return credits.isDue();
  }

  // What memory to get.

  /** Returns what the long messages of the peer count as. */
  public Arrivals arrivals() {
    return arrivals;
  }

  /**
   * Returns what memory has to be got, once: a buffer to be {@link #supplied}, or more of one to be
   * {@link #registered}; null if none has to be.
   */
  public @Nullable MemoryNeed takeMemoryNeed() {
    return inbox.takeNeed();
  }

  // Notifications of the user.

  /** Returns whether there may be a notification. Needs no lock. */
  public boolean hasNews() {
    return deliveries.hasNews();
  }

  /** Returns the next notification of the user, which the matching method then takes. */
  public Delivery nextForUser() {
    return deliveries.next(lifecycle.mayReceive());
  }

  /** Takes a request that is done. */
  public Request takeDone() {
    return deliveries.takeDone();
  }

  /** Takes the outcome of a request to the peer. */
  public Answer takeAnswer() {
    return deliveries.takeAnswer();
  }

  /** Takes the news that the user should send no more, or go on; returns whether it should. */
  public boolean takeWritability() {
    return backlog.tell();
  }

  /** Takes a request of the peer. */
  public Buffer takeRequest() {
    return deliveries.takeRequest();
  }

  /**
   * Takes the message that is to be delivered, with messages that have arrived together with it.
   */
  public Buffer takeMessages() {
    Buffer message = inbox.poll();
    if (message == null) {
      throw new AssertionError("no message");
    }
    return message;
  }

  /** Takes the news that the peer sends nothing more. */
  public void takeInputEnd() {
    deliveries.takeInputEnd();
  }

  /** Takes the news of the end; returns why the connection broke, or null if it was closed. */
  public @Nullable RuntimeException takeEnd() {
    return deliveries.takeEnd();
  }

  // How it ends.

  private void breakIf(@Nullable String violation) {
    if (violation != null) {
      // A close has no failure that would end this.
      receiving.end();
      breakUp(Reason.PROTOCOL, "the peer broke the protocol: " + violation, null);
    }
  }

  /**
   * Breaks the connection because of this side, and sends the peer the reason. Does nothing once a
   * close has begun, because what was sent before can still arrive.
   */
  public void breakUp(String text, @Nullable Throwable cause) {
    breakUp(Reason.BROKEN_HERE, text, cause);
  }

  /**
   * Breaks the connection because something that was to be sent is lost. It does so during a close,
   * too, because what arrives after a gap must not look complete to the peer.
   */
  public void lost(String text, @Nullable Throwable cause) {
    if (lifecycle.isClosing()) {
      lifecycle.fail(broken(Reason.BROKEN_HERE, text, cause));
    } else {
      breakUp(text, cause);
    }
  }

  private ConnectionException broken(Reason reason, String text, @Nullable Throwable cause) {
    return lifecycle.because(reason, "The connection is broken because " + text, cause);
  }

  private void breakUp(Reason reason, String text, @Nullable Throwable cause) {
    if (lifecycle.failure() != null || lifecycle.isClosing()) {
      return;
    }
    ConnectionException failure = broken(reason, text, cause);
    try {
      if (receiving.mayPost()) {
        tellPeer(text);
      }
    } catch (RdmaException noMemory) {
      failure.addSuppressed(noMemory);
    }
    lifecycle.fail(failure);
  }

  private void tellPeer(String text) {
    if (!sending.mayEnd()) {
      // The peer learns of the end without the reason.
      return;
    }
    ByteBuffer bytes = ByteBuffer.allocate(shortBytes());
    // An encoder stops before a character that no longer fits.
    StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text), bytes, true);
    sending.addAhead(newEnd(MessageHeader.BROKEN, bytes.flip()));
  }

  private Request newEnd(int flags, ByteBuffer text) {
    Buffer buffer = pool.takeForProtocol();
    buffer.fill(MessageKind.END, text);
    Request end = sending.newRequest();
    end.send(MessageKind.END, flags, 0, buffer);
    return end;
  }

  /** Breaks the connection for a reason outside of the protocol. */
  public void fail(ConnectionException reason) {
    lifecycle.fail(reason);
  }

  /** Creates the exception for a connection that has broken. */
  public ConnectionException because(Reason reason, String text) {
    return lifecycle.because(reason, text, null);
  }

  /** Notifies the peer that this side sends nothing more. */
  public void endOutput() {
    if (!lifecycle.isOutputEnded()) {
      lifecycle.checkCanSend();
      addEnd(0);
    }
  }

  private void addEnd(int flags) {
    Request end = newEnd(flags, ByteBuffer.allocate(0));
    if (receiving.hasOneReceive() && MessageKind.END.isEndOfOutput(flags)) {
      end.takeCreditForEnd();
    }
    sending.add(end);
    lifecycle.outputEnded();
  }

  /**
   * Begins to close the connection for its user, and says goodbye to the peer.
   *
   * @return whether the goodbye can reach the peer
   * @throws RdmaException if there is no memory for it
   */
  public boolean beginClose() {
    boolean reachesPeer = lifecycle.beginClose();
    if (reachesPeer) {
      addEnd(MessageHeader.CLOSED);
    }
    receiving.dropUnread();
    return reachesPeer;
  }

  /** Begins to close the connection immediately: nothing more is posted. */
  public void stop() {
    receiving.end();
    lifecycle.stop();
  }

  /** Records that the device takes no requests any more. */
  public void stopped() {
    lifecycle.stopped();
  }

  /** Ends all that is left, after the device has stopped, and frees all buffers. */
  public void discard(RuntimeException reason) {
    discarded = true;
    sending.discard(reason);
    deliveries.failPending(reason);
    receiving.discard(reason);
    promises.withdrawAll();
    var unused = deliverWaiting();
  }

  /** Returns whether all that was left was ended. Needs no lock. */
  public boolean isDiscarded() {
    return discarded;
  }

  /** Records that it is closed, of which the user is notified after all that came before. */
  public void closed() {
    deliveries.ended(null);
  }

  /** Returns whether it is open, ended, broken or closed. */
  public Lifecycle lifecycle() {
    return lifecycle;
  }

  // What it is like.

  /** Returns whether the two sides have learnt of each other. Needs no lock. */
  public boolean isConnected() {
    return receiving.isConnected();
  }

  /** Returns the hello of the peer. */
  public Hello peer() {
    return receiving.peer();
  }

  /** Returns the length of the longest message that is sent into a posted buffer of the peer. */
  public int shortBytes() {
    return Math.min(receiving.peer().bufferBytes(), pool.bufferBytes());
  }

  /** Returns what was transferred. */
  public Counts counts() {
    return counts;
  }

  /** Returns the memory that messages of the user hold until they have arrived. */
  public long heldBytes() {
    return backlog.bytes();
  }

  /** Returns whether that is so little that the user may send more. Needs no lock. */
  public boolean isWritable() {
    return backlog.isWritable();
  }

  /** Returns the number of messages that may be sent. */
  public int credits() {
    return credits.available();
  }

  /** Returns the number of messages that the peer may send. */
  public int grantedCredits() {
    return credits.granted();
  }

  /** Returns the number of requests to the peer that have no answer. */
  public int pendingRequests() {
    return deliveries.pending().size();
  }
}
