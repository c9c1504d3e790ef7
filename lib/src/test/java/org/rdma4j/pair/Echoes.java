package org.rdma4j.pair;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;

/**
 * Sends messages to an {@link EchoServer}, as many at a time as the connection allows, and checks
 * the echoes. Half of the messages are shorter than 1 KiB, the others have up to 1 MiB. The same
 * seed leads to the same messages.
 */
final class Echoes {
  static final int MAX_BYTES = 1 << 20;

  /** The number of echoes after which the exchange has begun. */
  private static final int UNDER_WAY = 20;

  private static final Duration TIMEOUT = Duration.ofMinutes(3);

  private final Duration timeout;
  private final RdmaConnection connection;
  private final long seed;
  private final int count;
  private final byte[] bytes = new byte[2 * MAX_BYTES];
  private final CountDownLatch begun = new CountDownLatch(UNDER_WAY);
  private final Semaphore permits;

  Echoes(RdmaConnection connection, long seed, int count) {
    this(connection, seed, count, Integer.MAX_VALUE, TIMEOUT);
  }

  /**
   * Creates echoes with a limit of outstanding messages, besides that of the connection.
   *
   * @param maxOutstanding the number of messages that may be outstanding
   * @param timeout the longest time that each call waits
   */
  Echoes(RdmaConnection connection, long seed, int count, int maxOutstanding, Duration timeout) {
    this.timeout = timeout;
    this.connection = connection;
    this.seed = seed;
    this.count = count;
    permits = new Semaphore(maxOutstanding);
    new Random(seed).nextBytes(bytes);
  }

  /** Sends all messages and checks the echoes; throws what the connection throws if it breaks. */
  void run() throws Exception {
    FutureTask<Boolean> sending = new FutureTask<>(this::send);
    Thread.ofVirtual().start(sending);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      try (MessageBuffer message = connection.receive(timeout).orElseThrow()) {
        assertThat(message.byteBuffer().equals(next(random)))
            .as("echo %d of seed %d is what was sent", i, seed)
            .isTrue();
      }
      permits.release();
      begun.countDown();
    }
    assertThat(sending.get(timeout.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  /** Starts another thread that runs, and returns when the exchange has begun. */
  FutureTask<Boolean> begin() throws InterruptedException {
    FutureTask<Boolean> running =
        new FutureTask<>(
            () -> {
              run();
              return true;
            });
    Thread.ofPlatform().daemon().start(running);
    assertThat(begun.await(timeout.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return running;
  }

  private boolean send() throws Exception {
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      assertThat(permits.tryAcquire(timeout.toSeconds(), TimeUnit.SECONDS)).isTrue();
      connection.send(next(random), timeout);
    }
    return true;
  }

  private ByteBuffer next(Random random) {
    int length = (int) Math.pow(MAX_BYTES + 1, random.nextDouble());
    return ByteBuffer.wrap(bytes, random.nextInt(MAX_BYTES), length);
  }
}
