package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.PromisedReceives;
import org.rdma4j.connection.buffers.ReceiveWindow;
import org.rdma4j.connection.session.Exposure;
import org.rdma4j.connection.session.MemoryNeed;
import org.rdma4j.connection.session.Request;
import org.rdma4j.connection.session.Session;
import org.rdma4j.connection.session.SessionLimits;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.LockOrder;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.WorkCompletionException;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * One end of a connection, without the object that users hold: joins its {@link Session}, which
 * decides, with the queue pair and with threads. Each step takes the lock, informs the session of
 * what has happened, does what the session then asks for, and frees the lock. No user code runs
 * with the lock.
 *
 * <p>{@link Sends} is what users send, {@link Operations} what they do with the memory of the peer,
 * {@link Receives} what they receive, {@link Posting} posts, {@link Telling} calls users, {@link
 * Closing} ends it.
 */
final class Link implements CmEvents.Handler, CompletionClient, ConnectionWaits.Owner {
  private final DeviceShare share;
  private final Poller poller;
  private final CmId id;
  private final QueuePair queuePair;
  private final int queuePairNumber;
  private final Lifetime lifetime;
  private final ReentrantLock lock = LockOrder.LINK.newLock();
  private final Session session;
  private final Posting posting;
  private final Telling telling;
  private final ConnectionWaits waits = new ConnectionWaits(this, lock);
  private final Closing closing;
  private final Sends sends;
  private final Operations operations;
  private final Receives receives;

  /** Against which the messages of this connection count until they are freed. */
  private final ReceiveWindow window = buffer -> receives().left(buffer);

  private final MessageMemory memory;

  private boolean touched;
  private volatile long lastUse = System.nanoTime();

  /** The address that has connected; null if this side has. */
  private @Nullable InetAddress acceptedFrom;

  /** Whether this is to be called when there may be receives that it lacks. */
  private boolean awaitsReceives;

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
    this.lifetime =
        new Lifetime(
            "connection " + id.localAddress() + " to " + id.peerAddress(),
            () -> closing().destroy());
    this.session =
        new Session(
            lifetime.toString(),
            new SessionLimits(
                config.receives(), config.sends(), config.maxMessageBytes(), Hello.FEATURES),
            share.buffers(),
            share.largeBuffers(),
            promises,
            window,
            new OperationMemory(),
            lifetime::closed);
    this.posting =
        new Posting(
            queuePair,
            config.sends() + Session.CONTROL_SENDS,
            session,
            lock,
            share.nothing(),
            share.inlineBytes(),
            VerbsAccess.get().postsInUserSpace(queuePair.domain().device()));
    this.telling = new Telling(this, session);
    this.closing = new Closing(this, session, lock);
    this.sends = new Sends(this, session);
    this.operations = new Operations(this, session);
    this.receives = new Receives(this, session);
    this.memory = new MessageMemory(this, session);
  }

  /** Counts this against the connections with an address, until {@link #leaveAccepted}. */
  void acceptFrom(InetAddress address) {
    acceptedFrom = address;
    share.node().acceptedPeers().add(address);
    long first = share.config().initialMessageBytes();
    if (first > 0) {
      allowMessages(first, "NodeConfig.initialMessageBytes");
    }
  }

  /**
   * Sets the length of the longest message that the peer may send from now on.
   *
   * @param where where the program has set it, for messages
   */
  void allowMessages(long maxBytes, String where) {
    lock();
    try {
      session.allowMessages(maxBytes, where);
    } finally {
      unlock();
    }
  }

  void leaveAccepted() {
    if (acceptedFrom != null) {
      share.node().acceptedPeers().remove(acceptedFrom);
    }
  }

  DeviceShare share() {
    return share;
  }

  @Override
  public Poller poller() {
    return poller;
  }

  CmId id() {
    return id;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  Closing closing() {
    return closing;
  }

  Sends sends() {
    return sends;
  }

  Operations operations() {
    return operations;
  }

  Receives receives() {
    return receives;
  }

  ReceiveWindow window() {
    return window;
  }

  @Override
  public boolean mayWait() {
    return !isDelivering() && (!telling.isTelling() || share.config().handlersMayWait());
  }

  /** Returns whether the calling thread runs a handler. */
  boolean isHandler() {
    return isDelivering() || telling.isTelling();
  }

  private boolean isDelivering() {
    return share.node().isDelivering();
  }

  Telling telling() {
    return telling;
  }

  /** Returns how threads wait for something of this. */
  ConnectionWaits waits() {
    return waits;
  }

  @Override
  public void lock() {
    lock.lock();
  }

  @Override
  public void unlock() {
    try {
      settle();
    } finally {
      lock.unlock();
    }
  }

  /** Does immediately what the session asks for. Requires the lock. */
  private void settle() {
    MemoryNeed need = session.takeMemoryNeed();
    if (need != null) {
      memory.supply(need);
    }
    if (session.lifecycle().takeChanged()) {
      posting.postAll();
      sends.wakeAll();
      operations.wakeAll();
      receives.wakeAll();
      closing.changed();
    }
    Request exposed = session.takeRevocable();
    while (exposed != null) {
      Request offer = exposed;
      // The end of the connection may end the request, and so clear it, before the thread runs.
      Exposure exposure = offer.exposure();
      ending(() -> revoke(offer, exposure));
      exposed = session.takeRevocable();
    }
    if (session.takeBufferLack()) {
      share.buffers().whenFreed(() -> later(this::bufferFreed));
    }
    receives.wakeNext();
    closing.wakeNext();
  }

  /** Delivers messages that waited for a buffer. */
  private void bufferFreed() {
    lock();
    try {
      session.bufferFreed();
    } finally {
      unlock();
    }
    telling.tell();
  }

  /**
   * Ends the access of the peer to what was offered. If that fails, the destruction of the queue
   * pair ends it, and the memory waits for that.
   */
  private void revoke(Request offer, Exposure exposure) {
    exposure.end();
    lock();
    try {
      session.revoked(offer);
    } finally {
      unlock();
    }
    later(telling::tell);
  }

  /**
   * Posts what waits, and wakes a thread that waits to send if there is room. Requires the lock.
   */
  @Override
  public void flush() {
    posting.postAll();
    if (!awaitsReceives && lacksReceives()) {
      awaitsReceives = true;
      poller.receives().whenPossible(() -> later(this::flushAgain));
    }
    sends.wakeNext();
    operations.wakeNext();
  }

  private boolean lacksReceives() {
    try {
      return session.lacksReceives();
    } catch (RuntimeException | Error refused) {
      session.breakUp("receives could not be posted: " + refused.getMessage(), refused);
      return false;
    }
  }

  private void flushAgain() {
    lock();
    try {
      awaitsReceives = false;
      flush();
    } finally {
      unlock();
    }
  }

  /**
   * Posts what waits, unless the device is so busy that a completion will do that soon. Requires
   * the lock.
   *
   * @return whether this posted, and the device is busy now
   */
  boolean flushUnlessBusy() {
    if (!session.shouldCollect() && !(poller.isDelivering() && touched)) {
      flush();
      return session.isBusy();
    }
    return false;
  }

  /** Posts as {@link #flushUnlessBusy} does, for a caller that does not wait for it here. */
  void flushAndLeave() {
    flushUnlessBusy();
    poller.attend();
  }

  /** Notes the hello of the peer, and handles what it has sent meanwhile. */
  void connected(Hello hello) {
    lock();
    try {
      session.connected(hello);
    } finally {
      unlock();
    }
  }

  /** Grants the peer its first credits, before which it sends nothing. */
  void grantFirstCredits() {
    lock();
    try {
      session.grantFirstCredits();
      flush();
    } finally {
      unlock();
    }
  }

  /** Returns the hello of the peer. */
  Hello peer() {
    return session.peer();
  }

  /** Returns whether the two sides have learnt of each other. */
  boolean isEstablished() {
    return session.isConnected();
  }

  boolean isOpen() {
    lock();
    try {
      return session.lifecycle().isOpen();
    } finally {
      unlock();
    }
  }

  void checkNotClosed() {
    lock();
    try {
      session.lifecycle().checkOpen();
    } finally {
      unlock();
    }
  }

  ConnectionStatistics statistics() {
    lock();
    try {
      return new ConnectionStatistics(
          Traffic.of(session.counts()),
          session.credits(),
          session.grantedCredits(),
          session.outstanding(),
          session.pendingRequests(),
          session.heldBytes(),
          waits.count());
    } finally {
      unlock();
    }
  }

  boolean isWritable() {
    return session.isWritable();
  }

  @Override
  public int queuePairNumber() {
    return queuePairNumber;
  }

  @Override
  public boolean touch() {
    boolean first = !touched;
    touched = true;
    return first;
  }

  @Override
  public void received(Buffer buffer, boolean succeeded, boolean isSend, long bytes) {
    lock();
    try {
      session.received(buffer, succeeded, isSend, bytes);
    } finally {
      unlock();
    }
  }

  @Override
  public void completed(long number, @Nullable WorkCompletionException failed) {
    lock();
    try {
      if (failed == null) {
        session.completed(number);
      } else {
        session.failed(number, reason(failed.status()), failed);
      }
      closing.completed();
    } finally {
      unlock();
    }
  }

  private static Reason reason(CompletionStatus status) {
    if (status == CompletionStatus.RETRY_EXCEEDED) {
      return Reason.UNREACHABLE;
    }
    return status == CompletionStatus.FLUSHED ? Reason.RESET : Reason.BROKEN_HERE;
  }

  @Override
  public boolean batchDone() {
    boolean more = false;
    try {
      more = telling.tellSome();
    } finally {
      touched = more;
    }
    lock();
    try {
      lastUse = System.nanoTime();
      flush();
    } finally {
      unlock();
    }
    return more;
  }

  @Override
  public void deliveryFailed(Throwable thrown) {
    failed("what has arrived or completed could not be handled: " + thrown, thrown);
  }

  /** Breaks the connection because of a failure of this side, and notifies the peer. */
  void failed(String reason, Throwable thrown) {
    log(Level.WARNING, "a step has failed, which breaks the connection", thrown);
    lock();
    try {
      session.breakUp(reason, thrown);
    } finally {
      unlock();
    }
  }

  /** Reports to operators what the peer, or the way to it, has caused: see {@link PeerLog}. */
  void warn(String event, String detail) {
    share.node().peerLog().warn(event, this + detail);
  }

  /** Logs what a handler has thrown, unless it only met the end of a connection. */
  void handlerThrew(String handler, Throwable thrown) {
    Level level = thrown instanceof ConnectionException ? Level.DEBUG : Level.WARNING;
    log(level, handler + " threw an exception", thrown);
  }

  void log(Level level, String message, @Nullable Throwable thrown) {
    share.log(level, lifetime + ": " + message, thrown);
  }

  /** Runs something soon that never waits, in a thread that holds no lock. */
  void later(Runnable action) {
    share.node().later(action);
  }

  /** Runs something soon that blocks in the kernel, and waits for no peer and no user code. */
  void ending(Runnable action) {
    share.node().ending(action);
  }

  /** Runs something soon that may wait, in a thread that holds no lock. */
  void apart(Runnable action) {
    share.node().apart(action);
  }

  @Override
  public void handle(CmEvent event) {
    // A peer that gives up before it learns that this side is ready, rejects what it has accepted.
    if (event instanceof CmEvent.Disconnected || event instanceof CmEvent.Rejected) {
      // Not in the thread of the events, because what has arrived is delivered first.
      later(closing::disconnected);
    } else if (event instanceof CmEvent.DeviceRemoved) {
      share.removed();
    }
  }

  /**
   * Looks after a connection that is quiet, and tries again what there was no buffer for.
   *
   * @param keepAliveNanos the time after which to check that the peer can be reached; 0 for never
   */
  void tick(long keepAliveNanos) {
    long quiet = System.nanoTime() - lastUse;
    lock();
    try {
      if (!session.lifecycle().isUseless()) {
        telling.refuseDropped();
        session.tick(
            System.nanoTime(),
            quiet,
            share.config().handshakeTimeout().toNanos(),
            share.config().progressTimeout().toNanos());
        flush();
        if (keepAliveNanos > 0 && quiet >= keepAliveNanos) {
          session.ping();
          flush();
        }
      }
      closing.tick();
    } catch (Throwable failed) {
      session.breakUp("periodic maintenance failed: " + failed.getMessage(), failed);
    } finally {
      unlock();
    }
  }

  /** Returns the connection's name, for messages. */
  @Override
  public String toString() {
    return lifetime.toString();
  }
}
