package org.rdma4j.connection;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferPool;
import org.rdma4j.connection.session.Exposure;
import org.rdma4j.connection.session.Request;
import org.rdma4j.connection.session.Session;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.QueuePair;

/**
 * Offers what one connection sends and is too long for a buffer of the peer, which fetches it.
 *
 * <p>Every method requires the lock of the connection.
 */
final class Offers {
  private final Session session;
  private final Exposures exposures;
  private final BufferPool buffers;
  private final QueuePair queuePair;
  private final Consumer<Runnable> ending;

  /**
   * Creates it.
   *
   * @param ending runs what ends an exposure, in a thread that may block
   */
  Offers(
      Session session,
      Exposures exposures,
      BufferPool buffers,
      QueuePair queuePair,
      Consumer<Runnable> ending) {
    this.session = session;
    this.exposures = exposures;
    this.buffers = buffers;
    this.queuePair = queuePair;
    this.ending = ending;
  }

  /** Adds the offer of what is in a buffer, a piece of a message or all of it. */
  void add(
      MessageKind kind,
      long number,
      Buffer piece,
      int message,
      long total,
      long offset,
      boolean isAnswer,
      @Nullable Object listener,
      long token) {
    Exposure exposure = expose(BufferRegion.message(piece));
    Buffer carrier = carrier(message, total, offset, piece.length(), exposure);
    Request request = session.newRequest();
    request.offer(kind, number, carrier, piece, exposure);
    request.tell(listener, token);
    request.isAnswer(isAnswer);
    session.add(request);
  }

  /** Adds the offer of memory of the user, a whole message. */
  void addMemory(
      int message, MemorySlice memory, boolean isAnswer, CompletableFuture<Void> future) {
    Exposure exposure = expose(memory);
    Buffer carrier = carrier(message, memory.length(), 0, memory.length(), exposure);
    boolean added = false;
    try {
      Request request = session.newRequest();
      request.offer(carrier, memory, memory.length(), exposure);
      request.tell(future, 0);
      request.isAnswer(isAnswer);
      session.add(request);
      added = true;
    } finally {
      if (!added) {
        carrier.free();
        ending.accept(exposure::end);
      }
    }
  }

  /** Exposes what is about to be offered. */
  private Exposure expose(MemorySlice range) {
    return exposures.toRead(range, queuePair);
  }

  /** Returns a buffer with the offer of a piece of a message. */
  private Buffer carrier(int message, long total, long offset, long length, Exposure exposure) {
    boolean done = false;
    try {
      Buffer carrier = buffers.take();
      carrier.become(MessageKind.MESSAGE, 0, Offer.BYTES);
      Offer.write(
          carrier.segment(),
          carrier.payload(),
          message,
          total,
          offset,
          length,
          exposure.address(),
          exposure.key());
      done = true;
      return carrier;
    } finally {
      if (!done) {
        ending.accept(exposure::end);
      }
    }
  }
}
