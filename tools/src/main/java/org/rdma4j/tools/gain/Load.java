package org.rdma4j.tools.gain;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Connections to a server that all do the same work at the same time, each in a thread of its own.
 */
final class Load implements AutoCloseable {
  private static final long MAX_LATENCY_NANOS = Duration.ofMinutes(1).toNanos();

  /** How long the server may take for an answer, or to read what is in flight. */
  private static final long PATIENCE_SECONDS = 60;

  /**
   * What was measured.
   *
   * @param perSecond messages in a second, of all connections
   * @param medianMicros the median of the round trips, in microseconds; 0 for a stream
   * @param cpuNanosPerMessage the processor time of both sides for a message, in nanoseconds
   */
  record Result(double perSecond, double medianMicros, double cpuNanosPerMessage) {}

  private record Part(long messages, Histogram roundTrips) {}

  private final SelectorProvider provider;
  private final InetSocketAddress server;
  private final Work work;
  private final int bytes;
  private final List<SocketChannel> channels = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  Load(SelectorProvider provider, InetSocketAddress server, Work work, int bytes) {
    this.provider = provider;
    this.server = server;
    this.work = work;
    this.bytes = bytes;
  }

  /** Opens connections, so that a later measurement finds them upgraded. */
  void connect(int connections) throws IOException, InterruptedException {
    for (int i = 0; i < connections; i++) {
      channels.add(await(() -> open(work)));
    }
  }

  private SocketChannel open(Work with) throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    boolean done = false;
    try {
      channel.connect(server);
      with.greet(channel, bytes);
      done = true;
    } finally {
      if (!done) {
        channel.close();
      }
    }
    return channel;
  }

  /** Works for a time with all connections; a stream can be measured once. */
  Result run(Duration time) throws IOException, InterruptedException {
    long serverBefore = serverCpuNanos();
    long clientBefore = GainServer.cpuNanos();
    long began = System.nanoTime();
    long end = began + time.toNanos();
    List<Callable<Part>> parts = new ArrayList<>();
    for (SocketChannel each : channels) {
      parts.add(() -> work == Work.ECHO ? echo(each, end) : stream(each, end));
    }
    long messages = 0;
    Histogram roundTrips = new Histogram(MAX_LATENCY_NANOS, 3);
    for (Part part : await(parts, time)) {
      messages += part.messages;
      roundTrips.add(part.roundTrips);
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    long cpu = GainServer.cpuNanos() - clientBefore + serverCpuNanos() - serverBefore;
    return new Result(
        messages / seconds,
        roundTrips.getValueAtPercentile(50) / 1000.0,
        (double) cpu / Math.max(1, messages));
  }

  private <T> T await(Callable<T> task) throws IOException, InterruptedException {
    return await(List.of(task), Duration.ZERO).getFirst();
  }

  /** Runs tasks, each in a thread of its own, for a time and as long as the server may take. */
  private <T> List<T> await(List<Callable<T>> tasks, Duration time)
      throws IOException, InterruptedException {
    List<T> results = new ArrayList<>();
    try {
      for (Future<T> each :
          threads.invokeAll(tasks, time.toSeconds() + PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        results.add(each.get());
      }
    } catch (ExecutionException failed) {
      throw new IOException("a connection failed: " + failed.getCause(), failed.getCause());
    } catch (CancellationException late) {
      throw new IOException("the server did not answer within " + PATIENCE_SECONDS + " s", late);
    }
    return results;
  }

  private long serverCpuNanos() throws IOException, InterruptedException {
    return await(this::askCpuNanos);
  }

  private long askCpuNanos() throws IOException {
    try (SocketChannel channel = open(Work.CPU_TIME)) {
      ByteBuffer nanos = ByteBuffer.allocate(Long.BYTES);
      Work.read(channel, nanos);
      return nanos.getLong(0);
    }
  }

  private Part echo(SocketChannel channel, long end) throws IOException {
    ByteBuffer message = ByteBuffer.allocateDirect(bytes);
    Histogram roundTrips = new Histogram(MAX_LATENCY_NANOS, 3);
    long began = System.nanoTime();
    while (began < end) {
      Work.write(channel, message.clear());
      Work.read(channel, message.clear());
      long now = System.nanoTime();
      roundTrips.recordValue(Math.min(now - began, MAX_LATENCY_NANOS));
      began = now;
    }
    return new Part(roundTrips.getTotalCount(), roundTrips);
  }

  private Part stream(SocketChannel channel, long end) throws IOException {
    ByteBuffer message = ByteBuffer.allocateDirect(bytes);
    while (System.nanoTime() < end) {
      Work.write(channel, message.clear());
    }
    channel.shutdownOutput();
    ByteBuffer received = ByteBuffer.allocate(Long.BYTES);
    Work.read(channel, received);
    return new Part(received.getLong(0) / bytes, new Histogram(MAX_LATENCY_NANOS, 3));
  }

  @Override
  public void close() throws IOException {
    threads.shutdownNow();
    for (SocketChannel each : channels) {
      each.close();
    }
  }
}
