package org.rdma4j.soak;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.rdma4j.testing.Held;

/**
 * Lets many peers come to a server, good ones and such that lie, and counts what became of them.
 *
 * <ol>
 *   <li>Many peers connect concurrently, stay, and each gets its messages back.
 *   <li>Peers whose first words are random.
 *   <li>For the chosen time, random peers: some good, some that lie, and processes that are killed
 *       with all of their connections.
 * </ol>
 *
 * <p>It fails if a good peer does not get its messages back, if the server throws what its
 * documentation does not name, or if files or RDMA objects are left at the end. {@code dev/soak}
 * runs it.
 */
public final class Soak {
  private static final int ACCEPTORS = 4;
  private static final int CLIENTS = 8;

  /**
   * Often enough that no peer seems silent, and so seldom that a thousand do not hold up others.
   */
  private static final int CROWD_TALKS_SECONDS = 10;

  private static final PrintStream OUT = System.out;

  private final ConnectionSubject subject;
  private final long seed;
  private final Map<String, AtomicLong> counts = new ConcurrentSkipListMap<>();
  private final AtomicLong failures = new AtomicLong();
  private final AtomicLong slowest = new AtomicLong();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());
  private volatile boolean ending;

  private Soak(ConnectionSubject subject, long seed) {
    this.subject = subject;
    this.seed = seed;
  }

  /** Takes the seed, and the numbers of concurrent peers, of fuzzed ones and of seconds. */
  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("victim")) {
      victim(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
      return;
    }
    long seed = arguments[0].equals("random") ? System.nanoTime() : Long.parseLong(arguments[0]);
    OUT.printf("seed %d%n", seed);
    // The connection manager keeps a domain of its own from the first identifier on.
    new ConnectionSubject().close();
    Held nothing = Held.now();
    Held before;
    Soak soak;
    try (ConnectionSubject subject = new ConnectionSubject()) {
      soak = new Soak(subject, seed);
      soak.serve();
      soak.good(new Random(seed), 1); // loads all classes
      Thread.sleep(1000);
      before = Held.now();
      OUT.printf("before: %s%n", before);
      soak.crowd(Integer.parseInt(arguments[1]));
      soak.fuzz(Integer.parseInt(arguments[2]));
      soak.mix(Duration.ofSeconds(Long.parseLong(arguments[3])));
      soak.awaitRest(before);
      soak.ending = true;
    }
    soak.assertThatNothingIsLeft(nothing);
    soak.threads.shutdown();
    soak.report();
    System.exit(soak.failures.get() == 0 ? 0 : 1);
  }

  /** Several threads accept; each connection is served by a thread of its own. */
  private void serve() {
    for (int i = 0; i < ACCEPTORS; i++) {
      threads.execute(
          () -> {
            while (!ending) {
              accept();
            }
          });
    }
  }

  private void accept() {
    try {
      Link link = subject.accept();
      if (link != null) {
        count("server: accepted");
        threads.execute(() -> echo(link));
      }
    } catch (Exception failure) {
      if (!ending) {
        fail("the server threw what it must not", failure);
      }
    }
  }

  private void echo(Link link) {
    try (link) {
      byte[] message = link.receive();
      while (message != null && message.length > 0) {
        link.send(message);
        message = link.receive();
      }
      count(message == null ? "server: silent peer left" : "server: peer said goodbye");
    } catch (Exception lost) {
      count("server: lost a peer by " + lost.getClass().getSimpleName());
    }
  }

  /** Connects, sends messages and gets them back, then says goodbye. */
  private void good(Random random, int messages) {
    long began = System.nanoTime();
    try (Link link = subject.connect(subject.address())) {
      slowest.accumulateAndGet(System.nanoTime() - began, Math::max);
      converse(link, random, messages);
      link.send(new byte[0]);
      count("client: good");
    } catch (Exception failure) {
      fail("a good peer failed", failure);
    }
  }

  private static void converse(Link link, Random random, int messages) throws Exception {
    for (int i = 0; i < messages; i++) {
      byte[] message = new byte[random.nextInt(1, Link.MAX_BYTES + 1)];
      random.nextBytes(message);
      link.send(message);
      if (!Arrays.equals(message, link.receive())) {
        throw new IllegalStateException("another message came back");
      }
    }
  }

  /** So many peers that are connected concurrently. */
  private void crowd(int peers) throws Exception {
    long began = System.nanoTime();
    CountDownLatch connected = new CountDownLatch(peers);
    Semaphore connecting = new Semaphore(64);
    for (int i = 0; i < peers; i++) {
      Random random = new Random(seed + i);
      threads.execute(
          () -> {
            connecting.acquireUninterruptibly();
            try (Link link = subject.connect(subject.address())) {
              connecting.release();
              connected.countDown();
              while (!connected.await(CROWD_TALKS_SECONDS, TimeUnit.SECONDS)) {
                converse(link, random, 1);
              }
              converse(link, random, 3);
              link.send(new byte[0]);
              count("client: in the crowd");
            } catch (Exception failure) {
              connecting.release();
              connected.countDown();
              fail("a peer of the crowd failed", failure);
            }
          });
    }
    connected.await();
    OUT.printf("%d connected concurrently, after %s%n", peers, since(began));
    OUT.printf("crowd: %s%n", Held.now());
  }

  /** So many peers whose first words are random, several at a time. */
  private void fuzz(int peers) throws Exception {
    long began = System.nanoTime();
    inParallel(
        peers,
        i -> {
          subject.fuzz(new Random(seed ^ i));
          count("client: fuzzed");
        });
    good(new Random(seed), 3);
    OUT.printf("%d fuzzed peers, in %s%n", peers, since(began));
    OUT.printf("fuzzed: %s%n", Held.now());
  }

  private interface Peer {
    void come(long number) throws Exception;
  }

  private void inParallel(int peers, Peer peer) throws InterruptedException {
    AtomicLong next = new AtomicLong();
    CountDownLatch ended = new CountDownLatch(CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
      threads.execute(
          () -> {
            for (long n = next.getAndIncrement(); n < peers; n = next.getAndIncrement()) {
              come(n, peer);
            }
            ended.countDown();
          });
    }
    ended.await();
  }

  private void come(long number, Peer peer) {
    try {
      peer.come(number);
    } catch (Exception ended) {
      count("client: ended by " + ended.getClass().getSimpleName());
    }
  }

  /** Random peers, until the time is over. */
  private void mix(Duration duration) throws Exception {
    long end = System.nanoTime() + duration.toNanos();
    long interval = Math.clamp(duration.toMillis() / 20, 5_000, 60_000);
    Thread reports = Thread.ofPlatform().daemon().start(() -> report(interval, end));
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Random random = new Random(seed * 31 + i);
      clients.add(Thread.ofPlatform().daemon().start(() -> mixUntil(end, random)));
    }
    for (int i = 0; System.nanoTime() < end; i++) {
      killAProcess(new Random(seed + i));
    }
    for (Thread client : clients) {
      client.join();
    }
    reports.interrupt();
  }

  private void mixUntil(long end, Random random) {
    while (System.nanoTime() < end) {
      if (random.nextInt(4) == 0) {
        good(random, random.nextInt(1, 20));
      } else {
        come(0, number -> count("client: " + subject.lie(random)));
      }
    }
  }

  /** Prints at intervals what is held, which should stay the same. */
  private static void report(long millis, long end) {
    long began = System.nanoTime();
    try {
      while (System.nanoTime() < end) {
        Thread.sleep(millis);
        OUT.printf("soaking for %s: %s%n", since(began), Held.now());
      }
    } catch (InterruptedException over) {
      // The time is over.
    } catch (Exception failed) {
      OUT.println("could not see what is held: " + failed);
    }
  }

  /**
   * Starts a process with connections that are in use, and kills it: it vanishes without a word.
   */
  private void killAProcess(Random random) throws Exception {
    Process victim =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Soak.class.getName(),
                "victim",
                Integer.toString(subject.address().getPort()),
                "20")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      // It prints a line once all its connections have been used.
      int first = victim.getInputStream().read();
      Thread.sleep(random.nextInt(1000));
      count(first < 0 ? "process: ended by itself" : "process: killed with 20 connections");
    } finally {
      victim.destroyForcibly().waitFor();
    }
  }

  private static void victim(int port, int connections) throws Exception {
    try (ConnectionSubject own = new ConnectionSubject()) {
      Soak soak = new Soak(own, 0);
      InetSocketAddress server = new InetSocketAddress(own.address().getAddress(), port);
      CountDownLatch used = new CountDownLatch(connections);
      for (int i = 0; i < connections; i++) {
        Random random = new Random(i);
        soak.threads.execute(
            () -> {
              try (Link link = own.connect(server)) {
                converse(link, random, 1);
                used.countDown();
                converse(link, random, Integer.MAX_VALUE);
              } catch (Exception failure) {
                soak.fail("a victim failed", failure);
              }
            });
      }
      used.await();
      OUT.println("used");
      Thread.sleep(Duration.ofMinutes(1));
    }
  }

  /** Checks that the device has no object that was not there before, after all was closed. */
  private void assertThatNothingIsLeft(Held nothing) throws Exception {
    Held left = Held.now();
    OUT.printf("closed: %s%n", left);
    if (!left.objects().equals(nothing.objects())) {
      fail("objects are left, before: " + nothing.objects(), null);
    }
  }

  /** Waits until the server has noticed that the last peers are gone. */
  private void awaitRest(Held before) throws Exception {
    List<String> more = Held.awaitNoMoreThan(before, subject.kept());
    if (!more.isEmpty()) {
      fail("more is held than before: " + more, null);
    }
    OUT.printf("at rest: %s%n", Held.now());
  }

  private void report() {
    counts.forEach((name, count) -> OUT.printf("%8d %s%n", count.get(), name));
    OUT.printf("the slowest connect took %d ms%n", slowest.get() / 1_000_000);
    OUT.printf("%d failures%n", failures.get());
  }

  private void count(String name) {
    counts.computeIfAbsent(name, each -> new AtomicLong()).incrementAndGet();
  }

  private void fail(String what, Exception failure) {
    count("FAILED: " + what);
    if (failures.incrementAndGet() <= 5) {
      OUT.println(what);
      if (failure != null) {
        failure.printStackTrace(OUT);
      }
    }
  }

  private static Duration since(long began) {
    return Duration.ofMillis((System.nanoTime() - began) / 1_000_000);
  }
}
