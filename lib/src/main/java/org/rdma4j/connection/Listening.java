package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionRejectedException;
import org.rdma4j.connection.wire.Credits;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.LockOrder;
import org.rdma4j.platform.TimeText;

/** A server without the object that users hold: the peers that connect, and that have connected. */
final class Listening implements CmEvents.Handler, NodeState.Periodic {
  /** The number of peers whose handshakes are in progress; beyond it, the oldest is dropped. */
  private static final int MAX_HANDSHAKES = 1024;

  /**
   * The part of the connections with one address that may be in their handshake; beyond it, the
   * oldest of this address is dropped.
   */
  private static final int HANDSHAKE_PART = 4;

  /** The most bytes of a reason that the connection manager carries to a peer. */
  private static final int MAX_REASON = 148;

  private static final String SERVER_CLOSED = "the server was closed";

  private final NodeState node;
  private final int backlog;
  private final CmId id;
  private final Lifetime lifetime;
  private final AcceptQueue established;
  private final ReentrantLock lock = LockOrder.LISTENING.newLock();
  private final Deque<Handshake> handshakes = new ArrayDeque<>();

  /** The peers that the program has neither accepted nor rejected. */
  private final Set<IncomingConnection> undecided = new LinkedHashSet<>();

  private volatile @Nullable Consumer<IncomingConnection> connectHandler;

  /** Kept, because the removal of the device closes the identifier. */
  private @Nullable InetSocketAddress address;

  /** A connection that this side has accepted, until the peer confirms it. */
  private final class Handshake implements CmEvents.Handler {
    final Link link;
    final InetSocketAddress peer;

    /** Gets the connection; null if the program accepts it from the server. */
    final @Nullable CompletableFuture<RdmaConnection> outcome;

    final long end = handshakeEnd();

    Handshake(
        Link link, InetSocketAddress peer, @Nullable CompletableFuture<RdmaConnection> outcome) {
      this.link = link;
      this.peer = peer;
      this.outcome = outcome;
    }

    @Override
    public void handle(CmEvent event) {
      if (event instanceof CmEvent.Established) {
        link.share().node().events().handle(link.id(), link);
        finished(this);
      } else if (event instanceof CmEvent.Rejected rejected) {
        drop(this, new ConnectionRejectedException(ofAccept(peer), rejected));
      } else if (event instanceof CmEvent.Failure failed) {
        drop(this, new RdmaException(ofAccept(peer), failed.errno()));
      } else if (event instanceof CmEvent.Disconnected) {
        drop(this, new RdmaException(ofAccept(peer), ErrorNumber.ECONNRESET.value()));
      } else if (event instanceof CmEvent.DeviceRemoved) {
        drop(this, new RdmaException(ofAccept(peer), ErrorNumber.ENODEV.value()));
        link.share().removed();
      }
    }

    /** Gives the connection to the program. */
    void finish() {
      CompletableFuture<RdmaConnection> waiting = outcome;
      if (waiting == null) {
        established.add(link);
      } else {
        link.share().node().tell(() -> finish(waiting));
      }
    }

    /** Runs user code. */
    private void finish(CompletableFuture<RdmaConnection> waiting) {
      if (!waiting.complete(new RdmaConnection(link))) {
        node.logFailure(link, link.closing().closeAtOnce());
      }
    }

    void fail(RuntimeException reason) {
      tell(link.share().node(), outcome, reason);
    }
  }

  Listening(NodeState node, int backlog) {
    this.node = node;
    this.backlog = backlog;
    this.id = node.events().create(this);
    this.lifetime = new Lifetime("server", this::destroy, node.lifetime());
    this.established = new AcceptQueue(node, lifetime);
    node.add(this);
  }

  CmId id() {
    return id;
  }

  NodeState node() {
    return node;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public void handle(CmEvent event) {
    if (event instanceof CmEvent.ConnectRequest request) {
      answerIfOpen(request);
    } else if (event instanceof CmEvent.DeviceRemoved) {
      established.fail(
          new ConnectionException(Reason.DEVICE_REMOVED, "accept", ErrorNumber.ENODEV.value()));
      // The kernel waits for that.
      node.ending(() -> node.events().close(id));
    }
  }

  /**
   * Listens.
   *
   * @param requests how many peers the kernel keeps whose requests were not read yet
   */
  void listen(int requests) {
    id.listen(requests);
    address = id.localAddress();
  }

  /** Returns the address that it listens on, or has listened on until its device was removed. */
  InetSocketAddress localAddress() {
    InetSocketAddress listening = address;
    if (listening == null || !lifetime.isOpen()) {
      throw lifetime.closed();
    }
    return listening;
  }

  private void answerIfOpen(CmEvent.ConnectRequest request) {
    try {
      answer(request);
    } catch (IllegalStateException closed) {
      if (lifetime.isOpen()) {
        throw closed;
      }
      // The close of the node has closed the identifier of the peer, too.
    }
  }

  private void answer(CmEvent.ConnectRequest request) {
    CmId peer = request.id();
    InetSocketAddress address = peer.peerAddress();
    Optional<Hello> hello = Hello.read(request.config().privateData());
    if (hello.isEmpty()) {
      reject(
          peer,
          address,
          Refusal.PROTOCOL,
          "it is not an RdmaConnection, or uses another version of the protocol");
    } else if (isFull()) {
      reject(
          peer,
          address,
          Refusal.BACKLOG,
          "as many peers wait to be accepted as the backlog allows, "
              + backlog
              + ": accept them, or raise it");
    } else {
      answer(new IncomingConnection(this, peer, address, hello.get(), handshakeEnd()));
    }
  }

  private void answer(IncomingConnection incoming) {
    Consumer<IncomingConnection> handler = connectHandler;
    if (handler == null) {
      accept(incoming, node, null);
      return;
    }
    boolean open;
    lock.lock();
    try {
      // With the lock, because a close takes the peers that are there when it has the lock.
      open = lifetime.isOpen();
      undecided.add(incoming);
    } finally {
      lock.unlock();
    }
    if (open) {
      node.tell(() -> decide(handler, incoming));
    } else {
      rejectIfUndecided(incoming, Refusal.PROGRAM, SERVER_CLOSED);
    }
  }

  /** Lets the program accept or reject a peer, now or later. Runs user code. */
  private void decide(Consumer<IncomingConnection> handler, IncomingConnection incoming) {
    try {
      handler.accept(incoming);
    } catch (Throwable thrown) {
      node.log(Level.WARNING, "the handler of " + incoming + " threw an exception", thrown);
      rejectIfUndecided(
          incoming, Refusal.PROGRAM, "the server failed to decide whether to accept it");
    }
  }

  /** Accepts a peer for the program. */
  CompletableFuture<RdmaConnection> accept(IncomingConnection incoming, NodeState home) {
    decided(incoming);
    CompletableFuture<RdmaConnection> outcome = new CompletableFuture<>();
    accept(incoming, home, outcome);
    return outcome;
  }

  /** Rejects a peer for the program. */
  void reject(IncomingConnection incoming, String reason) {
    Objects.requireNonNull(reason, "reason");
    decided(incoming);
    reject(incoming.id(), incoming.peerAddress(), Refusal.PROGRAM, reason);
  }

  private void decided(IncomingConnection incoming) {
    if (!incoming.decide()) {
      throw new IllegalStateException(
          "the "
              + incoming
              + " was accepted or rejected, also if NodeConfig.handshakeTimeout is over or the"
              + " server is closed: decide once");
    }
    forget(incoming);
  }

  private void forget(IncomingConnection incoming) {
    lock.lock();
    try {
      undecided.remove(incoming);
    } finally {
      lock.unlock();
    }
  }

  private void rejectIfUndecided(IncomingConnection incoming, Refusal refusal, String reason) {
    if (incoming.decide()) {
      forget(incoming);
      reject(incoming.id(), incoming.peerAddress(), refusal, reason);
    }
  }

  /**
   * Accepts a peer for a node, if that has room for it.
   *
   * @param outcome gets the connection; null if the program accepts it from the server
   */
  private void accept(
      IncomingConnection incoming,
      NodeState home,
      @Nullable CompletableFuture<RdmaConnection> outcome) {
    InetSocketAddress address = incoming.peerAddress();
    if (home.acceptedPeers().isFull(address.getAddress())) {
      String full =
          "its address has %d connections with this node, as many as NodeConfig.maxConnectionsPerAddress allows: close some, or raise it"
              .formatted(home.config().maxConnectionsPerAddress());
      reject(incoming.id(), address, Refusal.ADDRESS, full);
      tell(home, outcome, new RdmaException(ofAccept(address), ErrorNumber.ENOBUFS.value(), full));
      return;
    }
    Link link;
    try {
      if (home != node) {
        home.events().adopt(incoming.id());
      }
      link = home.share(incoming.id().device()).createLink(incoming.id(), address.getAddress());
    } catch (RuntimeException | Error noResources) {
      reject(incoming.id(), address, noResources);
      tell(home, outcome, noResources);
      return;
    }
    begin(new Handshake(link, address, outcome), incoming.hello());
  }

  /** Completes what gets a connection with the reason why there is none, if anything does. */
  private static void tell(
      NodeState home, @Nullable CompletableFuture<RdmaConnection> outcome, Throwable reason) {
    if (outcome != null) {
      home.tell(() -> outcome.completeExceptionally(reason));
    }
  }

  private static String ofAccept(InetSocketAddress peer) {
    return "rdma_accept(" + peer + ")";
  }

  private long handshakeEnd() {
    return Deadline.after(node.config().handshakeTimeout()).end();
  }

  private boolean isFull() {
    lock.lock();
    try {
      return established.size() + undecided.size() >= backlog;
    } finally {
      lock.unlock();
    }
  }

  /** Rejects a peer because something that the connection needs is missing, or has failed. */
  private void reject(CmId peer, InetSocketAddress address, Throwable missing) {
    String reason = "the server could not allocate resources for this connection";
    if (missing instanceof RdmaException) {
      node.peerLog().warn("rejected a peer", address + ": " + reason + ": " + missing.getMessage());
    } else {
      node.log(Level.WARNING, "rejected the peer " + address + ": " + reason, missing);
    }
    answerNo(peer, Refusal.RESOURCES, reason);
  }

  private void reject(CmId peer, InetSocketAddress address, Refusal refusal, String reason) {
    node.peerLog().warn("rejected a peer", address + ": " + reason);
    answerNo(peer, refusal, reason);
  }

  private void answerNo(CmId peer, Refusal refusal, String reason) {
    node.refused().add(refusal);
    try {
      peer.reject(encode(reason));
    } catch (IllegalStateException | RdmaException gone) {
      node.log(Level.DEBUG, "the peer that was rejected had gone", gone);
    } finally {
      node.guarded("the close of a rejected peer", peer::close);
    }
  }

  /** Encodes as much of a reason as fits, in ASCII, because a peer shows nothing else. */
  private static ByteBuffer encode(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.wrap(text, 0, Math.min(text.length, MAX_REASON));
  }

  private void begin(Handshake handshake, Hello hello) {
    Link link = handshake.link;
    link.share().node().events().handle(link.id(), handshake);
    Handshake oldest = null;
    boolean closed;
    lock.lock();
    try {
      // With the lock, because a close takes the connections that are there when it has the lock.
      closed = !lifetime.isOpen();
      if (!closed) {
        handshakes.addLast(handshake);
      }
      oldest = oldestBeyondLimits(handshake.peer.getAddress());
    } finally {
      lock.unlock();
    }
    if (closed) {
      handshake.fail(lifetime.closed());
      node.logFailure(link, link.closing().closeAtOnce());
      return;
    }
    if (oldest != null) {
      drop(oldest, "too many others began theirs after it");
    }
    try {
      link.id().accept(Connecting.parameters(link.share().config(), Credits.FIRST_WINDOW));
      // Not before: a message of the peer may arrive while this accepts, and its credits cannot be
      // given back until the queue pair is known to be ready.
      link.connected(hello);
    } catch (RuntimeException | Error gaveUp) {
      drop(handshake, gaveUp);
    }
  }

  /** Returns the handshake to drop, because there are too many; null if there are not. */
  private @Nullable Handshake oldestBeyondLimits(InetAddress address) {
    Handshake oldest = null;
    int count = 0;
    for (Handshake each : handshakes) {
      if (each.peer.getAddress().equals(address)) {
        oldest = oldest == null ? each : oldest;
        count++;
      }
    }
    int most = node.config().maxConnectionsPerAddress();
    if (most > 0 && count > Math.max(1, most / HANDSHAKE_PART)) {
      return oldest;
    }
    return handshakes.size() > MAX_HANDSHAKES ? handshakes.peekFirst() : null;
  }

  private void finished(Handshake handshake) {
    if (remove(handshake)) {
      handshake.finish();
    }
  }

  /** Returns whether a handshake was in progress, which it is not any more. */
  private boolean remove(Handshake handshake) {
    lock.lock();
    try {
      return handshakes.remove(handshake);
    } finally {
      lock.unlock();
    }
  }

  private void drop(Handshake handshake, Throwable reason) {
    drop(handshake, String.valueOf(reason.getMessage()));
  }

  private void drop(Handshake handshake, String reason) {
    if (!remove(handshake)) {
      return;
    }
    node.refused().add(Refusal.HANDSHAKE);
    node.peerLog()
        .warn(
            "dropped a peer that did not finish its part of the connection",
            handshake.peer + ": " + reason);
    handshake.fail(
        new RdmaException(ofAccept(handshake.peer), ErrorNumber.ECONNRESET.value(), reason));
    node.logFailure(handshake.link, handshake.link.closing().closeAtOnce());
  }

  @Override
  public void tick() {
    Duration timeout = node.config().handshakeTimeout();
    List<Handshake> late = new ArrayList<>();
    List<IncomingConnection> waiting = new ArrayList<>();
    lock.lock();
    try {
      for (Handshake each : handshakes) {
        if (System.nanoTime() - each.end >= 0) {
          late.add(each);
        }
      }
      for (IncomingConnection each : undecided) {
        if (each.isLate()) {
          waiting.add(each);
        }
      }
    } finally {
      lock.unlock();
    }
    for (Handshake each : late) {
      drop(each, "it took longer than NodeConfig.handshakeTimeout, " + TimeText.of(timeout));
    }
    for (IncomingConnection each : waiting) {
      rejectIfUndecided(
          each,
          Refusal.HANDSHAKE,
          "the server did not decide whether to accept it within NodeConfig.handshakeTimeout, "
              + TimeText.of(timeout));
    }
  }

  /** Waits for a peer that has connected. */
  Link accept(Duration timeout) throws InterruptedException, TimeoutException {
    return established.take(timeout);
  }

  /** Lets a handler have all peers that have connected and that connect. */
  void handle(Consumer<RdmaConnection> handler) {
    lifetime.whileOpen(
        () -> {
          established.handle(handler);
          return null;
        });
  }

  /** Lets the program accept or reject each peer that connects. */
  void handleConnects(Consumer<IncomingConnection> handler) {
    connectHandler = handler;
  }

  /** Closes this, as {@link RdmaServer#close} describes. */
  void close() {
    node.close(lifetime);
  }

  private void destroy() {
    Attempts attempts = new Attempts();
    node.remove(this);
    attempts.attempt(() -> node.events().close(id));
    List<Handshake> unfinished;
    List<IncomingConnection> waiting;
    lock.lock();
    try {
      unfinished = List.copyOf(handshakes);
      handshakes.clear();
      waiting = List.copyOf(undecided);
    } finally {
      lock.unlock();
    }
    for (IncomingConnection each : waiting) {
      rejectIfUndecided(each, Refusal.PROGRAM, SERVER_CLOSED);
    }
    List<Link> unaccepted = established.close();
    for (Handshake each : unfinished) {
      each.fail(lifetime.closed());
      unaccepted.add(each.link);
    }
    List<CompletableFuture<Void>> closes = new ArrayList<>();
    for (Link link : unaccepted) {
      closes.add(node.blocking().run(link.lifetime()::close));
    }
    for (CompletableFuture<Void> close : closes) {
      attempts.attempt(() -> BlockingWork.join(close));
    }
    attempts.finish();
  }
}
