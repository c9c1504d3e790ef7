package org.rdma4j.netty;

import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.connection.IncomingConnection;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;

/** A connection that a channel has begun to set up, on either side. Used in the event loop. */
final class PendingConnect {
  /** The channel ends a connect itself, in time. */
  private static final Duration NO_LIMIT = Duration.ofHours(1);

  private final CompletableFuture<RdmaConnection> future;
  private final ChannelPromise promise;

  private PendingConnect(CompletableFuture<RdmaConnection> future, ChannelPromise promise) {
    this.future = future;
    this.promise = promise;
  }

  /**
   * Begins to connect.
   *
   * @param here the place of the channel in its event loop, which looks when this is done
   * @param from the address of this side; null if the system chooses it
   * @param promise what the program waits for
   */
  static PendingConnect begin(
      NodeRegistration here,
      @Nullable InetSocketAddress from,
      InetSocketAddress server,
      ChannelPromise promise) {
    RdmaNode node = here.handler().node().node();
    CompletableFuture<RdmaConnection> future =
        from == null
            ? node.connectAsync(server, NO_LIMIT)
            : node.connectAsync(from, server, NO_LIMIT);
    // The channel is not told here, because the node calls this.
    var unused = future.whenComplete((established, failed) -> here.ready());
    return new PendingConnect(future, promise);
  }

  /**
   * Begins to accept a peer with the node of an event loop.
   *
   * @param here the place of the channel in its event loop, which looks when this is done
   * @param promise no program waits for it
   */
  static PendingConnect accept(
      NodeRegistration here, IncomingConnection incoming, ChannelPromise promise) {
    CompletableFuture<RdmaConnection> future;
    try {
      future = incoming.accept(here.handler().node());
    } catch (IllegalStateException late) {
      future = CompletableFuture.failedFuture(late);
    }
    var unused = future.whenComplete((established, failed) -> here.ready());
    return new PendingConnect(future, promise);
  }

  boolean isDone() {
    return future.isDone();
  }

  /** Returns why it failed, once it is done; null if it succeeded. */
  @Nullable IOException failure() {
    if (!future.isCompletedExceptionally()) {
      return null;
    }
    return future.isCancelled() ? new ClosedChannelException() : named(future.exceptionNow());
  }

  /** Returns the exception that channels of TCP throw for a reason. */
  static IOException named(Throwable reason) {
    boolean unreachable =
        reason instanceof ConnectionException known
            && known.reason() == ConnectionException.Reason.UNREACHABLE;
    String message = reason.getMessage();
    IOException named =
        unreachable ? new NoRouteToHostException(message) : new ConnectException(message);
    named.initCause(reason);
    return named;
  }

  /** Returns the connection, after a success. */
  RdmaConnection connection() {
    return future.join();
  }

  /** Notifies the program of the success, and returns whether it still wants to know. */
  boolean succeed() {
    return promise.trySuccess();
  }

  /** Gives up, and leaves no connection behind, also if it is established already. */
  void fail(Throwable reason) {
    future.cancel(false);
    if (future.isDone() && !future.isCompletedExceptionally()) {
      future.join().abort();
    }
    promise.tryFailure(reason);
  }
}
