package org.rdma4j.connection.simulation;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.rdma4j.LoggedFaults;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;

/** One end of a connection, and what its program does with it. */
final class End {
  /** What a handler does with each seventh message or request. */
  enum Whim {
    NONE,
    THROWS,
    CLOSES,
    ABORTS,
    WAITS,
    KEEPS,
    CONNECTS,
    PAUSES
  }

  /** What a handler throws on purpose. */
  static final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Thrown() {
      super(LoggedFaults.ON_PURPOSE);
    }
  }

  private static final int OFTEN = 7;

  private final NodeSimulation simulation;
  final RdmaConnection connection;
  private final Whim whim;
  private final NumberedMessages sent;
  private final NumberedMessages received;
  private final Queue<MessageBuffer> kept = new ArrayDeque<>();
  private final Queue<IncomingRequest> asked = new ArrayDeque<>();
  private final CompletableFuture<Void> ended;
  private int handled;
  private boolean paused;

  /** Whether this end has sent all it wants to. */
  boolean outputEnded;

  /** Whether the program has closed this end in order. */
  boolean closed;

  /** Whether the program has ended this end in a way that loses messages. */
  boolean broken;

  End(
      NodeSimulation simulation,
      RdmaConnection connection,
      Whim whim,
      NumberedMessages sent,
      NumberedMessages received) {
    this.simulation = simulation;
    this.connection = connection;
    this.whim = whim;
    this.sent = sent;
    this.received = received;
    this.ended = connection.ended();
  }

  /** Takes what arrives from now on. */
  void begin() {
    simulation.promised("the end of " + connection, ended);
    attempt(
        () -> {
          connection.onRequest(this::asked);
          connection.onMessage(this::arrived);
        });
  }

  private void arrived(MessageBuffer message) {
    boolean wantsAnswer = simulation.checked(() -> received.arrived(message.byteBuffer()));
    if (++handled % OFTEN == 0) {
      indulge();
      if (whim == Whim.KEEPS) {
        kept.add(message);
        return;
      }
    }
    message.close();
    if (wantsAnswer) {
      send(0, false);
    }
  }

  private void asked(IncomingRequest request) {
    if (++handled % OFTEN == 0) {
      indulge();
      if (whim == Whim.KEEPS) {
        asked.add(request);
        return;
      }
    }
    attempt(() -> request.answer(request.message()));
  }

  private void indulge() {
    switch (whim) {
      case THROWS -> {
        broken = true;
        throw new Thrown();
      }
      case CLOSES -> {
        closed = true;
        connection.close();
      }
      case ABORTS -> abort();
      case WAITS -> simulation.checked(this::waitInHandler);
      case CONNECTS -> simulation.connectAgain();
      case PAUSES -> pause();
      default -> {}
    }
  }

  private boolean waitInHandler() {
    try {
      connection.receive(Duration.ofSeconds(1));
    } catch (IllegalStateException right) {
      return true;
    } catch (InterruptedException | TimeoutException | RdmaException waited) {
      throw new AssertionError("a handler may wait", waited);
    }
    throw new AssertionError("a handler may wait");
  }

  /** Makes a call that is refused if the connection has ended. */
  private boolean attempt(Runnable call) {
    try {
      call.run();
      return true;
    } catch (IllegalStateException | RdmaException ended) {
      simulation.failed("a call of " + connection, ended);
      return false;
    }
  }

  void send(int length, boolean wantsAnswer) {
    long number = sent.begin();
    ByteBuffer bytes = NumberedMessages.bytes(number, length, wantsAnswer);
    boolean begun =
        attempt(
            () -> {
              CompletableFuture<Void> sending = connection.sendAsync(bytes);
              simulation.promised("a message of " + connection, sending);
              var unused =
                  sending.whenComplete(
                      (done, failure) -> {
                        if (failure != null) {
                          simulation.failed("a message of " + connection, failure);
                          sent.excuse(number);
                        }
                      });
            });
    if (!begun) {
      sent.excuse(number);
    }
  }

  void request(int length) {
    ByteBuffer bytes = ByteBuffer.allocate(Math.max(1, length));
    attempt(
        () -> {
          CompletableFuture<MessageBuffer> answer = connection.request(bytes);
          simulation.promised("a request of " + connection, answer);
          var unused =
              answer.whenComplete(
                  (message, failure) -> {
                    if (failure == null) {
                      message.close();
                    } else {
                      simulation.failed("a request of " + connection, failure);
                    }
                  });
        });
  }

  void pause() {
    paused = true;
    connection.pauseReceiving();
  }

  void resume() {
    if (paused) {
      paused = false;
      connection.resumeReceiving();
    }
  }

  /** Gives back what a handler has kept. */
  void release() {
    for (MessageBuffer each = kept.poll(); each != null; each = kept.poll()) {
      each.close();
    }
    for (IncomingRequest each = asked.poll(); each != null; each = asked.poll()) {
      IncomingRequest request = each;
      attempt(() -> request.answer(ByteBuffer.allocate(1)));
      request.message().close();
    }
  }

  void endOutput() {
    outputEnded = true;
    attempt(connection::endOutput);
  }

  void close() {
    closed = true;
    simulation.promised("the close of " + connection, connection.closeAsync());
  }

  void abort() {
    broken = true;
    connection.abort();
  }

  /** Returns whether either side has closed the connection, or it is broken. */
  boolean hasEnded() {
    return ended.isDone();
  }

  NumberedMessages sent() {
    return sent;
  }

  NumberedMessages received() {
    return received;
  }

  @Override
  public String toString() {
    Throwable reason = ended.isCompletedExceptionally() ? ended.exceptionNow() : null;
    return "%s (%s%s%s%s%s)"
        .formatted(
            connection,
            whim,
            reason == null ? "" : ", " + reason,
            closed ? ", closed" : "",
            broken ? ", broken" : "",
            outputEnded ? ", output ended" : "");
  }
}
