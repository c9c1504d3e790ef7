package org.rdma4j.samples.messages;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.rdma4j.endpoint.Completion;
import org.rdma4j.endpoint.Endpoint;
import org.rdma4j.samples.command.CommonOptions;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.verbs.WorkCompletionException;

/** Waits for the requests of an endpoint, and says what to do if they fail. */
final class EndpointWaits {
  /** How long no message may arrive before this checks whether the peer is still there. */
  private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);

  /** The id of the request that checks it. */
  private static final long CHECK = -1;

  private final Endpoint endpoint;
  private final Duration timeout;

  EndpointWaits(Endpoint endpoint, Duration timeout) {
    this.endpoint = endpoint;
    this.timeout = timeout;
  }

  /** Waits for a send, a read or a write, which fails if the peer has exited. */
  void await(long id, String what) {
    try {
      await(id, what, timeout);
    } catch (TimeoutException late) {
      throw late(what, late);
    }
  }

  /**
   * Waits for a receive, for which the peer must send a message. A receive does not fail if the
   * peer exits, but a request to the peer does: if no message arrives for a while, this writes zero
   * bytes to the memory of the peer, which must allow REMOTE_WRITE.
   */
  Completion awaitMessage(long id, String what) {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (true) {
      try {
        return await(id, what, min(CHECK_INTERVAL, left(deadline)));
      } catch (TimeoutException late) {
        if (left(deadline).isZero()) {
          throw late(what, late);
        }
      }
      if (!isPeerThere(what, left(deadline))) {
        return lastMessage(id, what);
      }
    }
  }

  private static Duration left(long deadline) {
    return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  private boolean isPeerThere(String what, Duration limit) {
    endpoint.postWrite(CHECK, 0, 0, 0);
    try {
      endpoint.await(CHECK, limit);
      return true;
    } catch (WorkCompletionException gone) {
      return false;
    } catch (TimeoutException late) {
      throw late(what, late);
    } catch (InterruptedException interrupted) {
      throw interrupted(what, interrupted);
    }
  }

  /** Returns the message that the peer sent before it exited, if there is one. */
  private Completion lastMessage(long id, String what) {
    try {
      return endpoint.await(id, Duration.ZERO);
    } catch (WorkCompletionException | TimeoutException none) {
      throw new Failure(
          "the peer exited before %s completed; check its output".formatted(what), none);
    } catch (InterruptedException interrupted) {
      throw interrupted(what, interrupted);
    }
  }

  private Completion await(long id, String what, Duration limit) throws TimeoutException {
    try {
      return endpoint.await(id, limit);
    } catch (WorkCompletionException failed) {
      throw new Failure(
          "%s failed with %s; check the peer's output".formatted(what, failed.status()), failed);
    } catch (InterruptedException interrupted) {
      throw interrupted(what, interrupted);
    }
  }

  private Failure late(String what, TimeoutException late) {
    Failure failure = CommonOptions.late(what, timeout);
    failure.initCause(late);
    return failure;
  }

  private static Failure interrupted(String what, InterruptedException interrupted) {
    Thread.currentThread().interrupt();
    return new Failure("interrupted while waiting for " + what, interrupted);
  }
}
