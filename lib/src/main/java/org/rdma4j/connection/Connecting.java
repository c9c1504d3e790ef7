package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.ConnectionRejectedException;
import org.rdma4j.connection.wire.Credits;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.TimeText;
import org.rdma4j.recording.ConnectEvent;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * The steps of a client from an address to a connection. Each event of the connection manager leads
 * to the next step.
 */
final class Connecting implements CmEvents.Handler {
  /** 6 rather than the maximum of 7, which soft-RoCE treats as "retry forever". */
  private static final int RETRIES = 6;

  /** How long the connection manager looks for an address, and for a route to it. */
  private static final Duration RESOLUTION = Duration.ofSeconds(20);

  private static final String RESOLVE_ADDRESS = "rdma_resolve_addr";
  private static final String RESOLVE_ROUTE = "rdma_resolve_route";

  private final NodeState node;
  private final InetSocketAddress server;
  private final CmId id;
  private final CompletableFuture<Link> outcome = new CompletableFuture<>();
  private final ConnectEvent recorded = new ConnectEvent();
  private @Nullable Link link;

  private Connecting(NodeState node, @Nullable InetSocketAddress local, InetSocketAddress server) {
    this.node = node;
    this.server = server;
    recorded.peer = server.toString();
    recorded.begin();
    this.id = node.lifetime().whileOpen(() -> node.events().create(this));
    try {
      resolveAddress(local);
    } catch (RuntimeException | Error failed) {
      fail(failed);
      node.events().close(id);
      throw failed;
    }
  }

  /** Connects within a time. */
  static RdmaConnection within(
      NodeState node, @Nullable InetSocketAddress local, InetSocketAddress server, Duration timeout)
      throws InterruptedException, TimeoutException {
    Deadline deadline = Deadline.after(timeout);
    node.checkMayWait();
    Connecting connecting = new Connecting(node, local, server);
    boolean done = false;
    try {
      node.loop().driveUntil(deadline.end(), connecting.outcome::isDone);
      Link link = connecting.outcome.get(deadline.nanos(), TimeUnit.NANOSECONDS);
      done = true;
      return new RdmaConnection(link);
    } catch (ExecutionException failed) {
      throw failure(failed);
    } catch (TimeoutException late) {
      throw connecting.late(timeout);
    } finally {
      if (!done) {
        connecting.giveUp();
      }
    }
  }

  /** Connects within a time, and completes a future where user code is to run. */
  static CompletableFuture<RdmaConnection> async(
      NodeState node,
      @Nullable InetSocketAddress local,
      InetSocketAddress server,
      Duration timeout) {
    Deadline deadline = Deadline.after(timeout);
    Connecting connecting = new Connecting(node, local, server);
    NodeState.Periodic endIfLate = () -> connecting.endIfLate(deadline);
    CompletableFuture<RdmaConnection> connected = new CompletableFuture<>();
    node.add(endIfLate);
    var unusedOutcome =
        connecting.outcome.whenComplete(
            (link, failed) -> {
              node.remove(endIfLate);
              if (failed != null) {
                connecting.abandonAndLeave();
              }
              node.tell(() -> connecting.tell(connected, link, failed));
            });
    var unusedEnd =
        connected.whenComplete(
            (connection, failed) -> {
              if (connected.isCancelled()) {
                connecting.fail(new CancellationException("cancelled by the program"));
              }
            });
    return connected;
  }

  private void endIfLate(Deadline deadline) {
    if (deadline.isOver()) {
      fail(late(deadline.timeout()));
    }
  }

  /** Notifies the user of the outcome. Closes the connection if the user no longer waits for it. */
  private void tell(
      CompletableFuture<RdmaConnection> connected,
      @Nullable Link link,
      @Nullable Throwable failed) {
    if (link == null) {
      connected.completeExceptionally(failed);
    } else if (!connected.complete(new RdmaConnection(link))) {
      abandonAndLeave();
    }
  }

  private TimeoutException late(Duration timeout) {
    return new TimeoutException(
        "no connection to "
            + server
            + " within "
            + TimeText.of(timeout)
            + ": check that the server runs and can be reached, or wait longer");
  }

  private static RuntimeException failure(ExecutionException failed) {
    return failed.getCause() instanceof RuntimeException cause
        ? cause
        : new IllegalStateException(failed.getCause());
  }

  /** Fails unless there is an outcome already; returns whether it did. */
  private boolean fail(Throwable reason) {
    boolean failed = outcome.completeExceptionally(reason);
    if (failed) {
      recorded.failure = reason.toString();
      recorded.commit();
    }
    return failed;
  }

  /** Ends all, also if the connection is established just now. */
  private void giveUp() {
    fail(new IllegalStateException("given up"));
    if (!outcome.isCompletedExceptionally()) {
      outcome.join().closing().close();
    }
    node.awaitClose("what the connect to " + server + " has left", abandon());
  }

  /** Closes what there is, in a thread that may block. */
  private synchronized CompletableFuture<Void> abandon() {
    Link created = link;
    return created == null
        ? node.blocking().run(() -> node.events().close(id))
        : created.closing().closeAtOnce();
  }

  private void abandonAndLeave() {
    node.logFailure("what the connect to " + server + " has left", abandon());
  }

  @Override
  public void handle(CmEvent event) {
    try {
      step(event);
    } catch (RuntimeException | Error failed) {
      if (fail(failed)) {
        node.log(Level.DEBUG, "could not connect to " + server, failed);
      }
    }
  }

  @Override
  public void closed() {
    fail(
        new IllegalStateException(
            "the node or its device was closed while the connection to " + server + " was set up"));
  }

  private void step(CmEvent event) {
    if (event instanceof CmEvent.AddressResolved) {
      resolveRoute();
    } else if (event instanceof CmEvent.RouteResolved) {
      connect();
    } else if (event instanceof CmEvent.Established established) {
      established(established);
    } else if (event instanceof CmEvent.Rejected rejected) {
      throw refused(new ConnectionRejectedException("rdma_connect(" + server + ")", rejected));
    } else if (event instanceof CmEvent.AddressFailed failure) {
      throw unreachable(RESOLVE_ADDRESS, failure.errno(), null);
    } else if (event instanceof CmEvent.RouteFailed failure) {
      throw unreachable(RESOLVE_ROUTE, failure.errno(), null);
    } else if (event instanceof CmEvent.Failure failure) {
      throw failed(failure.errno());
    } else if (event instanceof CmEvent.DeviceRemoved) {
      throw new ConnectionException(
          Reason.DEVICE_REMOVED, "connect to " + server, ErrorNumber.ENODEV.value());
    } else if (event instanceof CmEvent.Disconnected) {
      throw new ConnectionException(
          Reason.RESET, "connect to " + server, ErrorNumber.ECONNRESET.value());
    }
  }

  private void resolveAddress(@Nullable InetSocketAddress local) {
    try {
      id.resolveAddress(local, server, RESOLUTION);
    } catch (RdmaException failed) {
      throw unreachable(RESOLVE_ADDRESS, failed.errno(), failed);
    }
  }

  private void resolveRoute() {
    try {
      id.resolveRoute(RESOLUTION);
    } catch (RdmaException failed) {
      throw unreachable(RESOLVE_ROUTE, failed.errno(), failed);
    }
  }

  /** What Linux makes of the address of the server need not be the address that the user knows. */
  private ConnectionException unreachable(String call, int errno, @Nullable RdmaException cause) {
    ConnectionException named =
        new ConnectionException(Reason.UNREACHABLE, call + "(" + server + ")", errno);
    named.initCause(cause);
    return named;
  }

  private ConnectionException refused(ConnectionRejectedException rejected) {
    return new ConnectionException(Reason.REFUSED, "connect to " + server, rejected);
  }

  private ConnectionException failed(int errno) {
    String call = "connect to " + server;
    // What Linux answers to the last step of this side, if the other side has ended meanwhile.
    return errno == ErrorNumber.EINVAL.value()
        ? new ConnectionException(
            Reason.RESET,
            call,
            errno,
            "The server has probably dropped the connection while it was set up: its log has the reason",
            null)
        : new ConnectionException(Reason.UNREACHABLE, call, errno);
  }

  private void connect() {
    Link created = node.share(id.device()).createLink(id, null);
    synchronized (this) {
      link = created;
    }
    if (outcome.isDone()) {
      abandonAndLeave();
      return;
    }
    try {
      id.connect(parameters(node.config(), sendsFirst() ? 0 : Credits.FIRST_WINDOW));
    } catch (ConnectionRejectedException overIwarp) {
      throw refused(overIwarp);
    }
  }

  /**
   * Returns whether the server must not send before this side does. Over iWARP, a message that
   * arrives together with the server's part of the handshake makes the connection fail.
   */
  private boolean sendsFirst() {
    return id.device().info().transport() == TransportType.IWARP;
  }

  /** Returns what either side sends the other. */
  static ConnectionConfig parameters(NodeConfig config, int credits) {
    Hello hello =
        new Hello(
            config.bufferBytes(),
            credits,
            config.receives(),
            config.maxMessageBytes(),
            Hello.FEATURES);
    return ConnectionConfig.DEFAULT.retries(RETRIES).privateData(hello.write());
  }

  private void established(CmEvent.Established event) {
    Link established = link;
    Optional<Hello> peer = Hello.read(event.config().privateData());
    if (established == null || peer.isEmpty()) {
      throw new ConnectionException(
          Reason.PROTOCOL,
          "connect to " + server,
          ErrorNumber.EPROTO.value(),
          "The program that listens there is not an RdmaServer, or uses another version of its"
              + " protocol",
          null);
    }
    node.events().handle(id, established);
    established.connected(peer.get());
    if (sendsFirst()) {
      established.grantFirstCredits();
    }
    if (outcome.complete(established)) {
      recorded.commit();
    } else {
      abandonAndLeave();
    }
  }
}
