package org.rdma4j.nio;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Held;
import org.rdma4j.testing.SimulatedAdapter;

/**
 * Lets random clients come to a server whose channels are upgraded to RDMA, and checks all bytes in
 * both directions: clients that end in order, that close or reset in the middle, that have no
 * provider, and processes that are killed. At random moments, the simulated adapter fails or
 * registers no memory.
 *
 * <p>It fails if a byte is wrong, if a client that ends in order has lost one, if one takes too
 * long, or if files or RDMA objects are left at the end. {@code dev/soak --channels} runs it.
 */
final class ChannelSoak {
  private static final int CLIENTS = 6;

  /** Enough for most channels to be upgraded in the middle. */
  private static final int MAX_BYTES = 32 << 20;

  /** So much more than it has read the server writes: it leaves a client alone that pauses. */
  private static final long MAX_AHEAD = 1 << 20;

  private static final int MAX_TRIES = 30;
  private static final int MAX_MILLIS_TO_GO_OVER = 10_000;
  private static final int PATIENCE_SECONDS = 100;
  private static final int MAX_MILLIS_UNTIL_KILLED = 2000;
  private static final int MAX_MILLIS_BETWEEN_FAILURES = 2000;
  private static final int MAX_MILLIS_WITHOUT_MEMORY = 200;
  private static final PrintStream OUT = System.out;

  private record Bytes(long read, long written) {}

  private final RdmaSelectorProvider servers = UpgradeTest.provider("");
  private final RdmaSelectorProvider clients = ChannelResumeTest.impatient();
  private final ServerSocketChannel listener = UpgradeTest.listen(servers);

  /** The channels of the server, by the ports of the clients. */
  private final Map<Integer, SocketChannel> serving = new ConcurrentHashMap<>();

  /** What the server has read and written, by the ports of the clients. */
  private final Map<Integer, Bytes> served = new ConcurrentHashMap<>();

  private final Map<String, AtomicLong> counts = new ConcurrentSkipListMap<>();
  private final AtomicLong failures = new AtomicLong();

  private ChannelSoak() throws Exception {}

  /** Takes the seed, or "random", and the number of seconds. */
  public static void main(String[] arguments) throws Exception {
    long seed = arguments[0].equals("random") ? System.nanoTime() : Long.parseLong(arguments[0]);
    OUT.printf("seed %d%n", seed);
    ChannelSoak soak = new ChannelSoak();
    Thread.ofPlatform().daemon().name("accepting").start(soak::serve);
    Random random = new Random(seed);
    for (int i = 0; soak.clients.statistics().upgraded() == 0; i++) {
      if (i == MAX_TRIES) {
        throw new AssertionError("no channel was upgraded: " + soak.clients.statistics());
      }
      // Loads all classes, and opens what the nodes have open.
      soak.inOrder(soak.clients, random, false);
    }
    Held before = Held.now();
    OUT.printf("before: %s%n", before);
    soak.soak(seed, System.nanoTime() + SECONDS.toNanos(Long.parseLong(arguments[1])));
    // The buffers of the nodes stay registered until these are closed.
    List<String> more = Held.awaitNoMoreThan(before, Set.of("mr"));
    if (!more.isEmpty()) {
      soak.fail("more is held than before: " + more);
    }
    soak.report();
    System.exit(soak.failures.get() == 0 ? 0 : 1);
  }

  private void serve() {
    try {
      while (true) {
        SocketChannel channel = listener.accept();
        Thread.ofPlatform().daemon().name("serving").start(() -> serve(channel));
      }
    } catch (IOException failed) {
      fail("the server does not accept any more: " + failed);
    }
  }

  private void serve(SocketChannel channel) {
    try {
      serveUntilEnd(channel);
    } finally {
      serving.values().remove(channel);
    }
  }

  private void serveUntilEnd(SocketChannel channel) {
    try (channel) {
      int port = ((InetSocketAddress) channel.getRemoteAddress()).getPort();
      serving.put(port, channel);
      AtomicLong read = new AtomicLong();
      FutureTask<Long> reading = reading(channel, read);
      long written =
          CheckedBytes.write(
              channel,
              new Random(),
              position -> {
                while (!reading.isDone() && position > read.get() + MAX_AHEAD) {
                  LockSupport.parkNanos(1_000_000);
                }
                return !reading.isDone();
              });
      served.put(port, new Bytes(reading.get(), written));
    } catch (IOException gone) {
      count("server: the client had gone");
    } catch (InterruptedException | ExecutionException wrong) {
      fail("server: " + wrong.getCause());
    }
  }

  private static FutureTask<Long> reading(SocketChannel channel, AtomicLong read) {
    FutureTask<Long> reading = new FutureTask<>(() -> CheckedBytes.read(channel, read));
    Thread.ofPlatform().daemon().name("reading").start(reading);
    return reading;
  }

  /** Random clients, several at a time, until the time is over. */
  private void soak(long seed, long end) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Random random = new Random(seed * 31 + i);
      threads.add(Thread.ofPlatform().daemon().start(() -> clientsUntil(end, random)));
    }
    if (SimulatedAdapter.isLoaded()) {
      Random random = new Random(~seed);
      threads.add(Thread.ofPlatform().daemon().start(() -> failUntil(end, random)));
    }
    Random random = new Random(seed);
    while (System.nanoTime() - end < 0) {
      try (ChildProcess victim = PeerDeathTest.client(listener)) {
        Thread.sleep(random.nextInt(MAX_MILLIS_UNTIL_KILLED));
        victim.kill();
      }
      count("process: killed");
      OUT.printf(
          "%d s left: %s, %s%n",
          Math.max(0, NANOSECONDS.toSeconds(end - System.nanoTime())),
          clients.statistics(),
          Held.now());
    }
    for (Thread each : threads) {
      each.join();
    }
  }

  /** At random moments, lets the adapter fail, or register no memory, for a while. */
  private void failUntil(long end, Random random) {
    try {
      while (System.nanoTime() - end < 0) {
        Thread.sleep(random.nextInt(MAX_MILLIS_BETWEEN_FAILURES));
        if (random.nextInt(4) == 0) {
          SimulatedAdapter.breakForAMoment();
          count("adapter: broken");
        } else {
          SimulatedAdapter.pinLimit(SimulatedAdapter.pinned());
          try {
            Thread.sleep(random.nextInt(MAX_MILLIS_WITHOUT_MEMORY));
          } finally {
            SimulatedAdapter.pinLimit(-1);
          }
          count("adapter: no memory");
        }
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private void clientsUntil(long end, Random random) {
    while (System.nanoTime() - end < 0) {
      try {
        switch (random.nextInt(6)) {
          case 0 -> inTheMiddle(random, false);
          case 1 -> inTheMiddle(random, true);
          case 2 -> inOrder(SelectorProvider.provider(), random, false);
          case 3 -> inOrder(clients, random, true);
          default -> inOrder(clients, random, false);
        }
      } catch (Exception failed) {
        fail("client: " + failed);
      }
    }
  }

  private SocketChannel connect(SelectorProvider provider) throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    channel.connect(listener.getLocalAddress());
    return channel;
  }

  /**
   * Gives a channel that has sent a little a random time for its upgrade, which it may not need.
   */
  private static void pause(SocketChannel channel, Random random) {
    long end = System.nanoTime() + random.nextInt(MAX_MILLIS_TO_GO_OVER) * 1_000_000L;
    while (System.nanoTime() - end < 0
        && channel instanceof StreamChannel
        && !UpgradeTest.isMoved(channel)) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /**
   * Writes a random number of bytes, with a pause after the first ones, ends, and reads until the
   * server ends.
   *
   * @param cuts whether RDMA fails at random moments, as with failures of the device, some of them
   *     in the moment of the upgrade
   */
  private void inOrder(SelectorProvider provider, Random random, boolean cuts) throws Exception {
    int length = random.nextInt(1, MAX_BYTES);
    AtomicLong cutAt = new AtomicLong(cuts ? random.nextInt(length) : Long.MAX_VALUE);
    try (SocketChannel channel = connect(provider)) {
      int port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
      AtomicBoolean paused = new AtomicBoolean();
      FutureTask<Long> reading = reading(channel, new AtomicLong());
      long written =
          CheckedBytes.write(
              channel,
              random,
              position -> {
                if (position > 0 && !paused.getAndSet(true)) {
                  if (cuts && random.nextBoolean()) {
                    cutInTheUpgrade(channel, port);
                  }
                  pause(channel, random);
                }
                if (cuts && !UpgradeTest.isMoved(channel)) {
                  // Later, because a cut before both have joined is a reset.
                  cutAt.set(Math.max(cutAt.get(), position + MAX_AHEAD));
                } else if (position >= cutAt.get()) {
                  cutAt.set(position + random.nextInt(MAX_BYTES));
                  cut(channel);
                }
                return position < length;
              });
      channel.shutdownOutput();
      if (cuts && random.nextBoolean() && UpgradeTest.isMoved(channel)) {
        LockSupport.parkNanos(random.nextInt(20) * 1_000_000L);
        cut(channel);
      }
      Bytes here = new Bytes(reading.get(PATIENCE_SECONDS, SECONDS), written);
      Bytes there = served.remove(port);
      if (there == null || there.read() != here.written() || there.written() != here.read()) {
        fail(
            "a client that ended in order at port %d has %s and %s, the server %s"
                .formatted(port, here, UpgradeTest.endOf(channel), there));
      }
      count(provider == clients ? "client: ended in order" : "client: without the provider");
    }
  }

  /** Cuts RDMA as soon as both sides have joined: most of the time, before they have moved. */
  private void cutInTheUpgrade(SocketChannel channel, int port) {
    long end = System.nanoTime() + MAX_MILLIS_TO_GO_OVER * 1_000_000L;
    try {
      while (System.nanoTime() - end < 0 && ((StreamChannel) channel).hasUpgrade()) {
        SocketChannel other = serving.get(port);
        if (other != null
            && ChannelResumeTest.hasJoined(channel)
            && ChannelResumeTest.hasJoined(other)) {
          cut(channel);
          count("client: cut in the moment of the upgrade");
          return;
        }
        LockSupport.parkNanos(20_000);
      }
    } catch (Exception noFieldOfThatName) {
      fail("RDMA cannot be cut: " + noFieldOfThatName);
    }
  }

  private void cut(SocketChannel channel) {
    try {
      ChannelResumeTest.cut(channel);
      count("client: cut");
    } catch (Exception noFieldOfThatName) {
      fail("RDMA cannot be cut: " + noFieldOfThatName);
    }
  }

  /** Closes or resets while both sides write. */
  private void inTheMiddle(Random random, boolean resets) throws Exception {
    try (SocketChannel channel = connect(clients)) {
      if (resets) {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
      try (CheckedTraffic traffic = new CheckedTraffic(channel, random)) {
        Thread.sleep(random.nextInt(MAX_MILLIS_UNTIL_KILLED));
        traffic.end(PATIENCE_SECONDS);
      }
    }
    count(resets ? "client: reset in the middle" : "client: closed in the middle");
  }

  private void report() {
    counts.forEach((name, count) -> OUT.printf("%8d %s%n", count.get(), name));
    OUT.printf("clients: %s%nserver: %s%n", clients.statistics(), servers.statistics());
    OUT.printf("%d failures%n", failures.get());
  }

  private void count(String name) {
    counts.computeIfAbsent(name, each -> new AtomicLong()).incrementAndGet();
  }

  private void fail(String what) {
    failures.incrementAndGet();
    OUT.println("FAILED: " + what);
  }
}
