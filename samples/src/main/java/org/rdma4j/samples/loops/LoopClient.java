package org.rdma4j.samples.loops;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.rdma4j.connection.RdmaConnection;

/** A client of {@link LoopServer}: asks for squares, and counts ticks. */
final class LoopClient implements AutoCloseable {
  private final RdmaConnection connection;
  private final AtomicLong ticks = new AtomicLong();
  private volatile boolean serverEnds;

  LoopClient(InetSocketAddress server, Duration timeout)
      throws InterruptedException, TimeoutException {
    connection = RdmaConnection.connect(server, timeout);
    connection.onMessageBytes(
        message -> {
          if (message.hasRemaining()) {
            ticks.incrementAndGet();
          } else {
            serverEnds = true;
          }
        });
  }

  /** Asks for the square of a number. */
  CompletableFuture<Long> square(long number) {
    return connection
        .request(ByteBuffer.allocate(Long.BYTES).putLong(0, number))
        .thenApply(
            answer -> {
              try (answer) {
                return answer.byteBuffer().getLong();
              }
            });
  }

  /** Returns whether the server wants to end, so that this should ask no more. */
  boolean serverEnds() {
    return serverEnds;
  }

  long ticks() {
    return ticks.get();
  }

  /** Reads no ticks until {@link #resume}: answers still come. */
  void pause() {
    connection.pauseReceiving();
  }

  void resume() {
    connection.resumeReceiving();
  }

  @Override
  public void close() {
    connection.close();
  }
}
