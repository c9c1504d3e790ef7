package org.rdma4j.nio;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Checked bytes in both directions of a channel at the same time, until it ends: not more of them
 * than leave an emulated link room for the connection manager.
 */
final class CheckedTraffic implements AutoCloseable {
  private static final int PAUSE_MILLIS = 20;

  private final SocketChannel channel;
  private final AtomicLong read = new AtomicLong();
  private final FutureTask<Long> reading;
  private final FutureTask<Long> writing;

  CheckedTraffic(SocketChannel channel, Random random) {
    this.channel = channel;
    reading = new FutureTask<>(() -> CheckedBytes.read(channel, read));
    writing = new FutureTask<>(() -> CheckedBytes.write(channel, random, CheckedTraffic::pause));
    Thread.ofPlatform().daemon().name("reading").start(reading);
    Thread.ofPlatform().daemon().name("writing").start(writing);
  }

  private static boolean pause(long position) {
    try {
      Thread.sleep(PAUSE_MILLIS);
      return true;
    } catch (InterruptedException ended) {
      return false;
    }
  }

  /** Returns how many bytes have come, which all were the right ones. */
  long read() {
    return read.get();
  }

  /** Returns whether no more bytes can come, because the peer has ended or the channel failed. */
  boolean isEnded() {
    return reading.isDone();
  }

  /**
   * Waits until both directions have ended.
   *
   * @return the number of bytes that came
   * @throws AssertionError if a byte was wrong
   */
  long awaitEnd(long seconds) throws InterruptedException, TimeoutException {
    long bytes = get(reading, seconds);
    get(writing, seconds);
    return bytes;
  }

  /**
   * Closes the channel, and waits until both directions have ended.
   *
   * @return the number of bytes that came
   * @throws AssertionError if a byte was wrong
   */
  long end(long seconds) throws IOException, InterruptedException, TimeoutException {
    channel.close();
    return awaitEnd(seconds);
  }

  private static long get(FutureTask<Long> task, long seconds)
      throws InterruptedException, TimeoutException {
    try {
      return task.get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException wrong) {
      throw new AssertionError(wrong.getCause());
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
