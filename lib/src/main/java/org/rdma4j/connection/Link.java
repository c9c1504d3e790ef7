package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Deadline;
import org.rdma4j.recording.WaitEvent;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * One end of a connection, without the object that users hold: its queue pair, its lock, the
 * requests that complete, and those who wait. {@link Outbox} has what users send, {@link Arrivals}
 * what arrives, {@link Ending} how it ends.
 *
 * <p>Its lock guards everything. No user code runs with the lock.
 */
final class Link implements CmEvents.Handler, Poller.Client {
  /**
   * The receives for messages of the protocol itself: three with credits, and one each for the end
   * of the output and for the end of the connection.
   */
  static final int CONTROLS = 5;

  /** How long a connection sends nothing before it gives back credits that it does not use. */
  private static final long QUIET_NANOS = 1_000_000_000;

  private final DeviceShare share;
  private final Poller poller;
  private final CmId id;
  private final QueuePair queuePair;
  private final int queuePairNumber;
  private final Lifetime lifetime;
  private final ReentrantLock lock = new ReentrantLock();
  private final Credits credits;
  private final PromisedReceives promises;
  private final SendQueue sends;
  private final Inbox inbox;
  private final UserCalls users;
  private final Ending ending;
  private final Arrivals arrivals;
  private final Outbox outbox;

  private final Awaited arrivedOrEnded;

  /** Completes when users were told of everything, after the link was destroyed. */
  private final CompletableFuture<Void> allTold = new CompletableFuture<>();

  /** Buffers of a broken connection that the peer might still read from. */
  private final Deque<Slot> readable = new ArrayDeque<>();

  private boolean touched;
  private long waits;
  private volatile long lastUse = System.nanoTime();

  /** What users hold. If handlers do all the work, only this refers to it. */
  @SuppressWarnings("UnusedVariable")
  private @Nullable RdmaConnection held;

  /** What a thread waits for: made once for each kind of wait, so that a wait allocates nothing. */
  final class Awaited {
    private final Condition woken;
    private final BooleanSupplier done;
    private final BooleanSupplier doneWithoutLock = this::holds;
    private int waiting;

    /**
     * Creates it.
     *
     * @param woken is signaled when it may be over
     * @param done returns whether it is over; called with the lock
     */
    Awaited(Condition woken, BooleanSupplier done) {
      this.woken = woken;
      this.done = done;
    }

    /**
     * Wakes one of the threads that wait, if the wait is over now. That one calls this again once
     * it has taken its part, so that no more threads are woken than find something. Requires the
     * lock.
     */
    void wakeNext() {
      if (waiting > 0 && done.getAsBoolean()) {
        woken.signal();
      }
    }

    /** Wakes all threads that wait. Requires the lock. */
    void wakeAll() {
      woken.signalAll();
    }

    /** Waits until this is over, or until the end; returns whether it is. Requires the lock. */
    private boolean sleep(long end) throws InterruptedException {
      waiting++;
      try {
        long left = end - System.nanoTime();
        while (!done.getAsBoolean()) {
          if (left <= 0) {
            return false;
          }
          left = woken.awaitNanos(left);
        }
        return true;
      } finally {
        waiting--;
      }
    }

    private boolean holds() {
      lock.lock();
      try {
        return done.getAsBoolean();
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Creates the end of a connection that is about to be established.
   *
   * @param promises the receives that are promised to the peer already
   */
  Link(DeviceShare share, Poller poller, CmId id, QueuePair queuePair, PromisedReceives promises) {
    NodeConfig config = share.config();
    this.share = share;
    this.poller = poller;
    this.id = id;
    this.queuePair = queuePair;
    this.queuePairNumber = queuePair.number();
    this.promises = promises;
    this.credits = new Credits(config.receives());
    this.sends =
        new SendQueue(
            queuePair,
            lock,
            credits,
            promises,
            share.buffers(),
            config.sends(),
            share.inlineBytes());
    this.inbox = new Inbox(share.largeBuffers(), config.maxMessageBytes());
    this.users = new UserCalls(this, lock, sends, inbox);
    this.ending = new Ending(this, lock, sends);
    this.arrivals = new Arrivals(this, ending, credits, promises, sends, inbox, users);
    this.outbox = new Outbox(this, lock, sends, users);
    this.lifetime =
        new Lifetime("connection " + id.localAddress() + " to " + id.peerAddress(), this::destroy);
    this.arrivedOrEnded =
        awaited(
            () ->
                inbox.hasNext()
                    || (ending.isInputEnded() && inbox.isEmpty())
                    || ending.failure() != null
                    || ending.isClosing());
  }

  /** Returns what threads can wait for; its condition is evaluated with the lock. */
  Awaited awaited(BooleanSupplier done) {
    return new Awaited(lock.newCondition(), done);
  }

  /** Notes what the peer tells about itself, and handles what it has sent meanwhile. */
  void connected(Hello told) {
    lock.lock();
    try {
      arrivals.connected(told);
    } finally {
      lock.unlock();
    }
  }

  /** Grants the peer its first credits, before which it sends nothing. */
  void grantFirstCredits() {
    lock.lock();
    try {
      sends.grantFirstCredits();
      flush();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int queuePairNumber() {
    return queuePairNumber;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  CmId id() {
    return id;
  }

  DeviceShare share() {
    return share;
  }

  Poller poller() {
    return poller;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  Ending ending() {
    return ending;
  }

  Outbox outbox() {
    return outbox;
  }

  Hello peer() {
    return arrivals.peer();
  }

  boolean isOpen() {
    lock.lock();
    try {
      return !ending.isUseless() && !ending.isInputEnded();
    } finally {
      lock.unlock();
    }
  }

  ConnectionStatistics statistics() {
    lock.lock();
    try {
      return new ConnectionStatistics(
          sends.traffic(arrivals.messages(), arrivals.bytes()),
          credits.available(),
          credits.granted(),
          sends.outstanding(),
          users.pendingRequests(),
          waits);
    } finally {
      lock.unlock();
    }
  }

  void checkNotClosed() {
    lock.lock();
    try {
      ending.checkOpen();
    } finally {
      lock.unlock();
    }
  }

  TimeoutException timedOut(String missing, Duration timeout) {
    return new TimeoutException("%s: %s within %s".formatted(lifetime, missing, timeout));
  }

  /** Takes the next message, or waits for it; null if the peer sends nothing more. */
  @Nullable MessageBuffer receive(Duration timeout) throws InterruptedException, TimeoutException {
    lock.lock();
    try {
      awaitMessage(timeout);
      Slot next = inbox.poll();
      return next == null ? null : new MessageBuffer(next);
    } finally {
      wakeReceiver();
      lock.unlock();
    }
  }

  /**
   * Copies the next message, or waits for it, and gives its buffer back. If that fails, the message
   * is still the next one.
   *
   * @return whether there was one; if not, the peer sends nothing more
   */
  boolean receive(ByteBuffer target, Duration timeout)
      throws InterruptedException, TimeoutException {
    Slot next;
    lock.lock();
    try {
      awaitMessage(timeout);
      next = takeIfFits(target.remaining());
    } finally {
      wakeReceiver();
      lock.unlock();
    }
    if (next == null) {
      return false;
    }
    boolean copied = false;
    try {
      next.copyTo(target);
      copied = true;
    } finally {
      if (!copied) {
        putBack(next);
      }
    }
    next.free();
    return true;
  }

  /** Takes the next message, which must not be longer; null if there is none. Requires the lock. */
  private @Nullable Slot takeIfFits(int bytes) {
    Slot next = inbox.peek();
    if (next != null && next.kind() == MessageKind.NOTICE) {
      throw new IllegalStateException(
          "%s: the next message is the notice %d, which has no bytes to copy: receive it with receive(timeout)"
              .formatted(lifetime, next.number()));
    }
    if (next != null && next.length() > bytes) {
      throw new IllegalArgumentException(
          "the buffer has room for %d bytes, but the next message has %d: receive it into a longer one"
              .formatted(bytes, next.length()));
    }
    return inbox.poll();
  }

  private void putBack(Slot message) {
    if (!putBackIfOpen(message)) {
      // Nobody receives it any more, and what is left in the inbox may have been freed already.
      message.free();
    }
  }

  private boolean putBackIfOpen(Slot message) {
    lock.lock();
    try {
      if (ending.isClosing()) {
        return false;
      }
      inbox.putBack(message);
      wakeReceiver();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is a message, or nothing more to come. Requires the lock. */
  private void awaitMessage(Duration timeout) throws InterruptedException, TimeoutException {
    long end = Deadline.after(timeout).end();
    ending.checkOpen();
    checkMayWait();
    if (users.handlesMessages()) {
      throw new IllegalStateException(
          lifetime + " has a handler of messages, which receives all of them");
    }
    if (!await(arrivedOrEnded, end)) {
      throw timedOut("no message arrived", timeout);
    }
    ending.checkOpen();
    RdmaException failure = ending.failure();
    if (failure != null && !inbox.hasNext() && !ending.isInputEnded()) {
      throw failure;
    }
  }

  void handleMessages(MessageHandler handler, RdmaConnection holder) {
    handle(() -> users.handleMessages(handler), holder);
  }

  void handleMessageBytes(
      Consumer<ByteBuffer> handler, LongConsumer noticeHandler, RdmaConnection holder) {
    if (share.config().maxMessageBytes() > Integer.MAX_VALUE) {
      throw new IllegalStateException(
          "NodeConfig.maxMessageBytes is %d, more than a ByteBuffer can have: lower it, or use onMessage"
              .formatted(share.config().maxMessageBytes()));
    }
    handle(() -> users.handleMessageBytes(handler, noticeHandler), holder);
  }

  void handleRequests(RequestHandler handler, RdmaConnection holder) {
    handle(() -> users.handleRequests(handler), holder);
  }

  private void handle(Runnable setHandler, RdmaConnection holder) {
    lock.lock();
    try {
      ending.checkOpen();
      setHandler.run();
      held = holder;
    } finally {
      lock.unlock();
    }
    users.tell();
  }

  /**
   * Posts what waits, unless the device is so busy that a completion will do that soon.
   *
   * @return whether this posted, and the device is busy now
   */
  boolean flushUnlessBusy() {
    if (!sends.shouldCollect() && !(poller.isDelivering() && touched)) {
      flush();
      return sends.isBusy();
    }
    return false;
  }

  /** Posts as {@link #flushUnlessBusy} does, for a caller that does not wait for it here. */
  void flushAndLeave() {
    flushUnlessBusy();
    poller.attend();
  }

  /** Returns whether requests may be posted, see {@link Arrivals#mayPost}. Requires the lock. */
  boolean mayPost() {
    return arrivals.mayPost();
  }

  /**
   * Posts what waits, and wakes a thread that waits to send if there is room now. Requires the
   * lock, which it releases while the device takes the requests. If another thread posts, that one
   * does this too.
   */
  void flush() {
    while (mayFlush() && flushOnce()) {
      // There may be more now.
    }
    outbox.wakeSenders();
  }

  private boolean mayFlush() {
    return ending.failure() == null
        && !(ending.isClosing() && sends.outstanding() == 0)
        && mayPost();
  }

  /** Posts a chain; returns whether there was one. */
  private boolean flushOnce() {
    try {
      boolean some = sends.flush();
      Outgoing withoutMemory = sends.pollRefused();
      while (withoutMemory != null) {
        finish(withoutMemory, withoutMemory.failure);
        withoutMemory = sends.pollRefused();
      }
      boolean complete = promises.renewOwed();
      if (sends.isStarved() || !complete) {
        share.buffers().whenFreed(() -> later(this::flushLocked));
      }
      return some;
    } catch (RuntimeException | Error refused) {
      ending.breakUp("requests could not be posted: " + refused.getMessage(), refused);
      return false;
    }
  }

  private void flushLocked() {
    lock.lock();
    try {
      flush();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until a condition holds. The thread polls itself for a moment if it can. Requires the
   * lock, which it releases meanwhile.
   *
   * @return whether the condition holds
   */
  boolean await(Awaited awaited, long end) throws InterruptedException {
    if (awaited.done.getAsBoolean()) {
      return true;
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    waits++;
    WaitEvent event = Recording.beginWait();
    flush();
    lock.unlock();
    try {
      poller.assist(end, awaited.doneWithoutLock);
    } finally {
      lock.lock();
    }
    boolean reached = awaited.sleep(end);
    if (event != null && event.shouldCommit()) {
      event.connection = lifetime.toString();
      event.reached = reached;
      event.commit();
    }
    return reached;
  }

  /** Wakes a thread that waits for a message, if there is one for it. Requires the lock. */
  void wakeReceiver() {
    arrivedOrEnded.wakeNext();
  }

  /** Wakes all threads that wait for messages or to send. Requires the lock. */
  void wakeAll() {
    arrivedOrEnded.wakeAll();
    outbox.wakeAll();
  }

  /**
   * Checks that the calling thread may wait, also if it would not have to this time.
   *
   * @throws IllegalStateException if it runs a handler
   */
  void checkMayWait() {
    if (isHandler()) {
      throw NodeState.mustNotWait();
    }
  }

  /** Returns whether the calling thread runs a handler. */
  private boolean isHandler() {
    return share.isDelivering() || users.isTelling();
  }

  @Override
  public boolean touch() {
    boolean first = !touched;
    touched = true;
    return first;
  }

  /** Handles the arrival of a message, as {@link Arrivals#arrived} describes. */
  @Override
  public void received(Slot buffer, boolean succeeded, boolean isSend, long bytes) {
    lock.lock();
    try {
      arrivals.arrived(buffer, succeeded, isSend, bytes);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void completed(long number, @Nullable WorkCompletionException failed) {
    lock.lock();
    try {
      while (sends.hasPostedUntil(number)) {
        boolean last = sends.isFirst(number);
        Outgoing done = sends.takePosted();
        if (last && failed != null) {
          requestFailed(done, failed);
        } else {
          succeeded(done);
        }
      }
      if (sends.outstanding() == 0) {
        ending.becameIdle();
      }
    } finally {
      lock.unlock();
    }
  }

  private void succeeded(Outgoing done) {
    Incoming incoming = done.incoming;
    if (incoming != null && done.local != null) {
      arrivals.fetched(incoming, done.local.length(), (done.flags & MessageHeader.OFFER) != 0);
      sends.recycle(done);
    } else if (!done.isOffer() || done.fetched) {
      finish(done, null);
    } else if (done.buffer != null) {
      // Done for its user when the peer has fetched what it offers.
      done.buffer.free();
      done.buffer = null;
    }
  }

  private void requestFailed(Outgoing done, WorkCompletionException reason) {
    CompletionStatus status = reason.status();
    if (!ending.isUseless()) {
      if (status == CompletionStatus.RETRY_EXCEEDED) {
        ending.unreachable(reason);
      } else if (status == CompletionStatus.FLUSHED) {
        ending.stoppedByPeer(reason);
      } else {
        ending.requestFailed(reason);
      }
    }
    sends.removeOffer(done);
    RdmaException consequence = status == CompletionStatus.FLUSHED ? ending.failure() : null;
    finish(done, done.incoming == null && consequence != null ? consequence : reason);
  }

  /** Ends a request for its user, who is told soon. Requires the lock. */
  void finish(Outgoing request, @Nullable RuntimeException reason) {
    if (request.buffer != null) {
      request.buffer.free();
      request.buffer = null;
    }
    if (request.offered != null) {
      if (reason == null) {
        request.offered.free();
      } else {
        readable.addLast(request.offered);
      }
      request.offered = null;
    }
    request.failure = reason;
    request.done = true;
    if (request.event != null) {
      Recording.end(request.event, lifetime.toString(), reason == null);
    }
    if (request.awaited != null) {
      request.awaited.signal();
    } else if (request.handler != null || request.future != null) {
      users.finished(request);
    } else {
      sends.recycle(request);
    }
  }

  /**
   * Fails all that the device does not have yet, and all that waits for the peer. Requires the
   * lock.
   */
  void failAll(RuntimeException reason) {
    Outgoing next = sends.pollUnposted();
    while (next != null) {
      finish(next, reason);
      next = sends.pollUnposted();
    }
    failRequests(reason);
  }

  /**
   * Fails all that a peer which has closed the connection no longer receives, and goes on to fetch
   * what it offered before: it waits for that. Requires the lock.
   */
  void failOutput(RuntimeException reason) {
    List<Outgoing> fetches = new ArrayList<>();
    Outgoing next = sends.pollUnposted();
    while (next != null) {
      if (next.incoming == null) {
        finish(next, reason);
      } else {
        fetches.add(next);
      }
      next = sends.pollUnposted();
    }
    fetches.forEach(sends::addFetch);
    failRequests(reason);
  }

  private void failRequests(RuntimeException reason) {
    List<CompletableFuture<MessageBuffer>> unanswered = users.removeRequests();
    if (!unanswered.isEmpty()) {
      later(() -> unanswered.forEach(each -> each.completeExceptionally(reason)));
    }
  }

  @Override
  public void batchDone() {
    try {
      users.tell();
    } finally {
      touched = false;
    }
    lock.lock();
    try {
      lastUse = System.nanoTime();
      flush();
    } finally {
      lock.unlock();
    }
  }

  UserCalls users() {
    return users;
  }

  /** Returns whether the two sides have learnt of each other. */
  boolean isEstablished() {
    return arrivals.isConnected();
  }

  @Override
  public void deliveryFailed(Throwable thrown) {
    failed("what has arrived or completed could not be handled: " + thrown, thrown);
  }

  /** Breaks the connection because of a failure of this side, and tells the peer so. */
  private void failed(String reason, Throwable thrown) {
    log(Level.WARNING, "a step has failed, which breaks the connection", thrown);
    lock.lock();
    try {
      ending.breakUp(reason, thrown);
    } finally {
      lock.unlock();
    }
  }

  /** Tells users all there is to tell. Called without the lock. */
  void tellUsers() {
    users.tell();
  }

  /** Breaks the connection because the peer broke the protocol. Requires the lock. */
  void violated(String violation) {
    arrivals.breakUp(violation);
  }

  /** Breaks the connection because its user's handler threw an exception. Requires the lock. */
  void handlerFailed(String failed, Throwable thrown) {
    log(Level.WARNING, failed + "an exception", thrown);
    ending.breakUp(failed + thrown, thrown);
  }

  /**
   * Gets memory for a long message, in a thread that may block: registering it takes long, and can
   * fail.
   */
  void supplyMemory(long bytes) {
    // A failure breaks the connection, so nobody waits for this.
    var unused = share.node().blocking().run(() -> supply(bytes));
  }

  private void supply(long bytes) {
    Slot memory;
    try {
      memory = share.largeBuffers().take(bytes);
    } catch (RuntimeException | Error failed) {
      failed(
          "there is no memory for a message of %d bytes: %s".formatted(bytes, failed.getMessage()),
          failed);
      return;
    }
    boolean used = false;
    lock.lock();
    try {
      used = arrivals.supplied(memory);
      flush();
    } catch (RuntimeException | Error failed) {
      ending.breakUp("a message could not be fetched: " + failed.getMessage(), failed);
    } finally {
      lock.unlock();
    }
    if (!used) {
      memory.free();
    }
    later(users::tell);
  }

  /** Ends the occupation of a place by a message that a user goes on holding. */
  void leavePlace(Slot slot) {
    if (slot.leavePlace() != null) {
      freePlace(slot);
    }
  }

  /** Returns the exception for a request that the peer refused. */
  RdmaException refused(String reason) {
    return new RdmaException(lifetime.toString(), 0, "The peer refused the request: " + reason);
  }

  void log(Level level, String message, @Nullable Throwable thrown) {
    share.log(level, lifetime + ": " + message, thrown);
  }

  /** Runs something soon, in a thread that holds no lock. */
  void later(Runnable action) {
    share.node().later(action);
  }

  /**
   * Notes that a message no longer occupies a place of this connection. Called without the lock.
   */
  void placeFreed(Slot buffer) {
    lock.lock();
    try {
      freePlace(buffer);
      if (!ending.isClosing() && (credits.isDue() || sends.outstanding() > 0)) {
        flush();
      }
    } finally {
      lock.unlock();
    }
    if (isLarge(buffer) && users.hasNews() && !users.isTelling()) {
      // Messages that waited for this memory have a handler, which this thread must not run.
      later(users::tell);
    }
  }

  private boolean isLarge(Slot buffer) {
    return buffer.capacity() > share.buffers().bufferBytes();
  }

  /** Notes that a message no longer occupies a place of this connection. Requires the lock. */
  void freePlace(Slot buffer) {
    if (isLarge(buffer)) {
      inbox.closed(buffer);
      if (ending.failure() == null) {
        arrivals.fetchOffered();
      }
    } else {
      credits.freed();
    }
  }

  @Override
  public void handle(CmEvent event) {
    if (event instanceof CmEvent.Disconnected) {
      // Not in the thread of the events, because what has arrived is delivered first.
      later(ending::disconnected);
    } else if (event instanceof CmEvent.DeviceRemoved) {
      share.removed();
    }
  }

  /**
   * Looks after a connection that is quiet: gives back the credits that it does not use, checks
   * that the peer can still be reached, and tries again what there was no buffer for.
   *
   * @param keepAliveNanos the time after which to check; 0 for never
   */
  void tick(long keepAliveNanos) {
    lock.lock();
    try {
      long quiet = System.nanoTime() - lastUse;
      if (ending.isUseless()) {
        return;
      }
      users.refuseDropped();
      if (arrivals.awaitsFirst() && quiet >= share.config().handshakeTimeout().toNanos()) {
        arrivals.breakUp("it had to send the first message, and sent none");
      }
      if (!mayPost()) {
        return;
      }
      if (sends.outstanding() == 0 && quiet >= QUIET_NANOS) {
        sends.giveBackCredits();
      }
      flush();
      // What waits for the peer, and not for the device, does not show that the peer has gone.
      if (keepAliveNanos > 0 && quiet >= keepAliveNanos && sends.postedCount() == 0) {
        sends.postAhead(ping());
      }
    } catch (Throwable failed) {
      ending.breakUp("what is done at intervals has failed: " + failed.getMessage(), failed);
    } finally {
      lock.unlock();
    }
  }

  private Outgoing ping() {
    Outgoing ping = sends.newRequest();
    ping.operation = Outgoing.Operation.PING;
    ping.local = share.nothing();
    ping.remoteAddress = 0;
    ping.remoteKey = 0;
    return ping;
  }

  /** Returns whether all that was sent has arrived. Requires the lock. */
  boolean isIdle() {
    return sends.outstanding() == 0 && !arrivals.isFetching();
  }

  /** Tells the peer that this side sends nothing more. */
  void endOutput() {
    lock.lock();
    try {
      ending.endOutput();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Closes this end, as {@link RdmaConnection#close} describes: in a thread that may wait if a
   * handler calls this.
   */
  void close() {
    if (isHandler()) {
      later(this::close);
      return;
    }
    lock.lock();
    try {
      ending.sayGoodbye();
    } finally {
      lock.unlock();
    }
    share.node().awaitClose(lifetime, closeAtOnce());
  }

  /**
   * Closes this end without a goodbye, in a thread that may block.
   *
   * @return completes when it is closed and users were told
   */
  CompletableFuture<Void> closeAtOnce() {
    return share.node().blocking().run(lifetime::close).thenCompose(closed -> allTold);
  }

  /** Ends everything at once: the last step of a close, or all of it if the node closes. */
  private void destroy() {
    Attempts attempts = new Attempts();
    attempts.attempt(ending::stop);
    attempts.attempt(ending::awaitStopped);
    attempts.attempt(() -> poller.remove(this));
    share.forget(this);
    attempts.attempt(() -> share.node().events().close(id));
    attempts.attempt(this::discardAll);
    later(this::tellTheEnd);
    attempts.finish();
  }

  private void discardAll() {
    Attempts attempts = new Attempts();
    lock.lock();
    try {
      attempts.attempt(promises::withdrawAll);
      Outgoing left = sends.pollUndone();
      while (left != null) {
        finish(left, lifetime.closed());
        left = sends.pollUndone();
      }
      failAll(lifetime.closed());
      for (Slot each : readable) {
        attempts.attempt(each::free);
      }
      readable.clear();
      attempts.attempt(arrivals::discard);
    } finally {
      lock.unlock();
    }
    attempts.finish();
  }

  private void tellTheEnd() {
    try {
      ending.closed();
      users.tell();
    } finally {
      allTold.complete(null);
    }
  }

  /** Returns the connection's name, for messages. */
  @Override
  public String toString() {
    return lifetime.toString();
  }
}
