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
import java.util.concurrent.locks.Condition;
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

  private final NodeState node;
  private final int backlog;
  private final CmId id;
  private final Lifetime lifetime;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Handshake> handshakes = new ArrayDeque<>();
  private final Set<Link> established = new LinkedHashSet<>();
  private @Nullable Consumer<RdmaConnection> acceptHandler;
  private volatile @Nullable ConnectHandler connectHandler;
  private @Nullable RdmaException failure;
  private volatile @Nullable InetSocketAddress removedAddress;

  /** A connection that this side has accepted, until the peer confirms it. */
  private final class Handshake implements CmEvents.Handler {
    final Link link;
    final InetSocketAddress peer;
    final long end = Deadline.after(node.config().handshakeTimeout()).end();

    Handshake(Link link, InetSocketAddress peer) {
      this.link = link;
      this.peer = peer;
    }

    @Override
    public void handle(CmEvent event) {
      if (event instanceof CmEvent.Established) {
        link.share().node().events().handle(link.id(), link);
        finished(this);
      } else if (event instanceof CmEvent.Rejected rejected) {
        drop(this, new ConnectionRejectedException("rdma_accept(" + peer + ")", rejected));
      } else if (event instanceof CmEvent.Failure failed) {
        drop(this, new RdmaException("rdma_accept(" + peer + ")", failed.errno()));
      } else if (event instanceof CmEvent.Disconnected) {
        drop(this, new RdmaException("rdma_accept(" + peer + ")", ErrorNumber.ECONNRESET.value()));
      } else if (event instanceof CmEvent.DeviceRemoved) {
        drop(this, new RdmaException("rdma_accept(" + peer + ")", ErrorNumber.ENODEV.value()));
        link.share().removed();
      }
    }
  }

  Listening(NodeState node, int backlog) {
    this.node = node;
    this.backlog = backlog;
    this.id = node.events().create(this);
    this.lifetime = new Lifetime("server", this::destroy, node.lifetime());
    node.add(this);
  }

  CmId id() {
    return id;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public void handle(CmEvent event) {
    if (event instanceof CmEvent.ConnectRequest request) {
      answerIfOpen(request);
    } else if (event instanceof CmEvent.DeviceRemoved) {
      lock.lock();
      try {
        failure =
            new ConnectionException(Reason.DEVICE_REMOVED, "accept", ErrorNumber.ENODEV.value());
        changed.signalAll();
      } finally {
        lock.unlock();
      }
      removedAddress = id.localAddress();
      // The kernel waits for that.
      node.ending(() -> node.events().close(id));
    }
  }

  /** Returns the address that it listens on, or has listened on until its device was removed. */
  InetSocketAddress localAddress() {
    InetSocketAddress former = removedAddress;
    return former == null || !lifetime.isOpen() ? id.localAddress() : former;
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
      String other = "it is not an RdmaConnection, or uses another version of the protocol";
      reject(peer, address, other, Refusal.PROTOCOL, null);
    } else if (isFull()) {
      String full = backlog + " peers wait to be accepted: accept them, or raise the backlog";
      reject(peer, address, full, Refusal.BACKLOG, null);
    } else {
      answer(peer, address, hello.get());
    }
  }

  private void answer(CmId peer, InetSocketAddress address, Hello hello) {
    ConnectHandler handler = connectHandler;
    if (handler == null) {
      accept(peer, address, hello, node);
    } else {
      node.tell(() -> decide(handler, peer, address, hello));
    }
  }

  /** Lets the program decide over a peer. Runs user code. */
  private void decide(ConnectHandler handler, CmId peer, InetSocketAddress address, Hello hello) {
    Admission decided;
    try {
      decided = Objects.requireNonNull(handler.connecting(address), "what the handler returned");
    } catch (Throwable thrown) {
      node.log(
          Level.WARNING,
          "the handler of connecting peers threw an exception, for " + address,
          thrown);
      decided = Admission.reject("the server could not decide over this connection");
    }
    NodeState home = decided.home() == null ? node : decided.home();
    String refusal = decided.refusal();
    if (refusal == null) {
      accept(peer, address, hello, home);
    } else {
      reject(peer, address, refusal, Refusal.PROGRAM, null);
    }
  }

  /** Accepts a peer for a node, if that has room for it. */
  private void accept(CmId peer, InetSocketAddress address, Hello hello, NodeState home) {
    if (home.acceptedPeers().isFull(address.getAddress())) {
      String full =
          "its address has %d connections with this node, as many as NodeConfig.maxConnectionsPerAddress allows: close some, or raise it"
              .formatted(home.config().maxConnectionsPerAddress());
      reject(peer, address, full, Refusal.ADDRESS, null);
      return;
    }
    Link link;
    try {
      if (home != node) {
        home.events().adopt(peer);
      }
      link = home.share(peer.device()).createLink(peer, address.getAddress());
    } catch (RuntimeException | Error noResources) {
      reject(
          peer,
          address,
          "the server could not allocate resources for this connection",
          Refusal.RESOURCES,
          noResources);
      return;
    }
    begin(link, address, hello);
  }

  private boolean isFull() {
    lock.lock();
    try {
      return established.size() >= backlog;
    } finally {
      lock.unlock();
    }
  }

  private void reject(
      CmId peer,
      InetSocketAddress address,
      String reason,
      Refusal refusal,
      @Nullable Throwable thrown) {
    node.refused().add(refusal);
    if (thrown == null || thrown instanceof RdmaException) {
      String cause = thrown == null ? "" : ": " + thrown.getMessage();
      node.peerLog().warn("rejected a peer", address + ": " + reason + cause);
    } else {
      node.log(Level.WARNING, "rejected the peer " + address + ": " + reason, thrown);
    }
    try {
      peer.reject(encode(reason));
    } catch (RdmaException gone) {
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

  private void begin(Link link, InetSocketAddress peer, Hello hello) {
    Handshake handshake = new Handshake(link, peer);
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
      oldest = oldestBeyondLimits(peer.getAddress());
    } finally {
      lock.unlock();
    }
    if (closed) {
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
    lock.lock();
    try {
      if (!handshakes.remove(handshake)) {
        return;
      }
      established.add(handshake.link);
      if (acceptHandler == null) {
        changed.signal();
      } else {
        tellOf(handshake.link);
      }
    } finally {
      lock.unlock();
    }
  }

  private void drop(Handshake handshake, Throwable reason) {
    drop(handshake, String.valueOf(reason.getMessage()));
  }

  private void drop(Handshake handshake, String reason) {
    lock.lock();
    try {
      if (!handshakes.remove(handshake)) {
        return;
      }
    } finally {
      lock.unlock();
    }
    node.refused().add(Refusal.HANDSHAKE);
    node.peerLog()
        .warn(
            "dropped a peer that did not finish its part of the connection",
            handshake.peer + ": " + reason);
    node.logFailure(handshake.link, handshake.link.closing().closeAtOnce());
  }

  @Override
  public void tick() {
    Duration timeout = node.config().handshakeTimeout();
    List<Handshake> late = new ArrayList<>();
    lock.lock();
    try {
      for (Handshake each : handshakes) {
        if (System.nanoTime() - each.end >= 0) {
          late.add(each);
        }
      }
    } finally {
      lock.unlock();
    }
    for (Handshake each : late) {
      drop(each, "it took longer than NodeConfig.handshakeTimeout, " + TimeText.of(timeout));
    }
  }

  /** Waits for a peer that has connected. */
  Link accept(Duration timeout) throws InterruptedException, TimeoutException {
    long end = Deadline.after(timeout).end();
    node.checkMayWait();
    node.loop().driveUntil(end, this::hasPeerOrEnd);
    lock.lockInterruptibly();
    try {
      if (acceptHandler != null) {
        throw new IllegalStateException(
            lifetime + " has a handler of connections, which accepts all of them");
      }
      while (established.isEmpty()) {
        if (!lifetime.isOpen()) {
          throw lifetime.closed();
        }
        if (failure != null) {
          throw failure;
        }
        long left = end - System.nanoTime();
        if (left <= 0) {
          throw new TimeoutException("no peer connected within " + TimeText.of(timeout));
        }
        changed.awaitNanos(left);
      }
      Link next = established.iterator().next();
      established.remove(next);
      return next;
    } finally {
      lock.unlock();
    }
  }

  private boolean hasPeerOrEnd() {
    lock.lock();
    try {
      return !established.isEmpty() || failure != null || !lifetime.isOpen();
    } finally {
      lock.unlock();
    }
  }

  /** Lets a handler have all peers that have connected and that connect. */
  void handle(Consumer<RdmaConnection> handler) {
    lifetime.whileOpen(
        () -> {
          lock.lock();
          try {
            acceptHandler = handler;
            established.forEach(this::tellOf);
            return null;
          } finally {
            lock.unlock();
          }
        });
  }

  /** Lets the program decide over each peer that connects. */
  void handleConnects(ConnectHandler handler) {
    connectHandler = handler;
  }

  /** Gives a peer to the handler soon, where the handlers of its node run. */
  private void tellOf(Link link) {
    link.share().node().tell(() -> give(link));
  }

  /** Gives a peer to the handler, unless the server was closed. Runs user code. */
  private void give(Link next) {
    Consumer<RdmaConnection> handler;
    lock.lock();
    try {
      handler = established.remove(next) ? acceptHandler : null;
    } finally {
      lock.unlock();
    }
    if (handler == null) {
      return;
    }
    RdmaConnection connection = new RdmaConnection(next);
    try {
      handler.accept(connection);
    } catch (Throwable thrown) {
      node.log(
          Level.WARNING,
          "the handler of connections threw an exception, so " + next + " is closed",
          thrown);
      node.logFailure(next, next.closing().closeAtOnce());
    }
  }

  /** Closes this, as {@link RdmaServer#close} describes. */
  void close() {
    node.close(lifetime);
  }

  private void destroy() {
    Attempts attempts = new Attempts();
    node.remove(this);
    attempts.attempt(() -> node.events().close(id));
    List<Link> unaccepted = new ArrayList<>();
    lock.lock();
    try {
      handshakes.forEach(each -> unaccepted.add(each.link));
      handshakes.clear();
      unaccepted.addAll(established);
      established.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
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
