package org.rdma4j.samples;

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
 * Messages to an {@link EchoServer}, as many on their way as there is room for. Their lengths are
 * from 1 byte to 1 MiB, as many below 1 KiB as above; the same for the same seed.
 */
final class Echoes {
  static final int LONGEST = 1 << 20;

  /** How many are back once it is well under way. */
  private static final int BEGUN = 20;

  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private final Duration patience;
  private final RdmaConnection connection;
  private final long seed;
  private final int count;
  private final byte[] bytes = new byte[2 * LONGEST];
  private final CountDownLatch begun = new CountDownLatch(BEGUN);
  private final Semaphore room;

  Echoes(RdmaConnection connection, long seed, int count) {
    this(connection, seed, count, Integer.MAX_VALUE, PATIENCE);
  }

  /**
   * Echoes of which no more are on their way than asked for, instead of all that there is room for.
   *
   * @param atOnce how many are on their way at once at most
   * @param patience how long each call waits
   */
  Echoes(RdmaConnection connection, long seed, int count, int atOnce, Duration patience) {
    this.patience = patience;
    this.connection = connection;
    this.seed = seed;
    this.count = count;
    room = new Semaphore(atOnce);
    new Random(seed).nextBytes(bytes);
  }

  /** Sends all, and compares what comes back; throws what the connection does where it breaks. */
  void play() throws Exception {
    FutureTask<Boolean> sending = new FutureTask<>(this::send);
    Thread.ofVirtual().start(sending);
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      try (MessageBuffer message = connection.receive(patience).orElseThrow()) {
        assertThat(message.byteBuffer().equals(next(random)))
            .as("echo %d of seed %d is what was sent", i, seed)
            .isTrue();
      }
      room.release();
      begun.countDown();
    }
    assertThat(sending.get(patience.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  /** In a thread of its own, from where it has come well under way. */
  FutureTask<Boolean> begin() throws InterruptedException {
    FutureTask<Boolean> playing =
        new FutureTask<>(
            () -> {
              play();
              return true;
            });
    Thread.ofPlatform().daemon().start(playing);
    assertThat(begun.await(patience.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return playing;
  }

  private boolean send() throws Exception {
    Random random = new Random(seed);
    for (int i = 0; i < count; i++) {
      assertThat(room.tryAcquire(patience.toSeconds(), TimeUnit.SECONDS)).isTrue();
      try (MessageBuffer message = connection.buffer(patience)) {
        message.byteBuffer().put(next(random)).flip();
        connection.send(message, patience);
      }
    }
    return true;
  }

  private ByteBuffer next(Random random) {
    int length = (int) Math.pow(LONGEST + 1, random.nextDouble());
    return ByteBuffer.wrap(bytes, random.nextInt(LONGEST), length);
  }
}
