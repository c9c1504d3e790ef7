package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.TimeText;

/**
 * Sends a long message of heap memory in pieces, which are copied to registered memory: one is
 * copied while the peer fetches the one before.
 */
final class PiecewiseSend {
  private static final int AHEAD = 2;

  private final Link link;
  private final int pieceBytes;
  private final Deque<CompletableFuture<Void>> onTheirWay = new ArrayDeque<>();

  PiecewiseSend(Link link, int pieceBytes) {
    this.link = link;
    this.pieceBytes = pieceBytes;
  }

  /** Sends the message; breaks the connection if only a part of it is sent. */
  void send(ByteBuffer message, Duration timeout) throws InterruptedException, TimeoutException {
    Deadline deadline = Deadline.after(timeout);
    ByteBuffer rest = message.duplicate();
    long total = rest.remaining();
    int number = link.sends().newMessageNumber();
    boolean done = false;
    try {
      while (rest.hasRemaining()) {
        if (onTheirWay.size() == AHEAD) {
          awaitFirst(deadline);
        }
        long offset = total - rest.remaining();
        onTheirWay.addLast(link.sends().sendPiece(nextPiece(rest), number, total, offset));
      }
      while (!onTheirWay.isEmpty()) {
        awaitFirst(deadline);
      }
      message.position(message.limit());
      done = true;
    } finally {
      if (!done && rest.remaining() < total) {
        link.sends().abandonMessage();
      }
    }
  }

  private Buffer nextPiece(ByteBuffer rest) {
    int length = Math.min(pieceBytes, rest.remaining());
    Buffer piece = link.share().take(length);
    piece.fill(MessageKind.MESSAGE, rest.slice().limit(length));
    rest.position(rest.position() + length);
    return piece;
  }

  private void awaitFirst(Deadline deadline) throws InterruptedException, TimeoutException {
    try {
      CompletableFuture<Void> first = onTheirWay.removeFirst();
      link.poller().loop().driveUntil(deadline.end(), first::isDone);
      first.get(deadline.nanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(failed.getCause());
    } catch (TimeoutException late) {
      throw new TimeoutException(
          link.lifetime()
              + ": the peer did not fetch the message within "
              + TimeText.of(deadline.timeout()));
    }
  }
}
