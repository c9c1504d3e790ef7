package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.wire.Forgery;
import org.rdma4j.connection.wire.Hello;

/**
 * Whatever a peer sends over a real queue pair, the server goes on: it serves the others, and holds
 * no more than its limits allow. {@code -Dorg.rdma4j.fuzz.messages=100000} sets how many messages
 * peers send in all. {@code SessionSimulationTest} has the same messages without a device, where
 * more can be tried.
 */
@Tag("device")
@Tag("protocol")
@SuppressWarnings("NullAway.Init") // jqwik initializes the fields
@Timeout(1800) // for org.rdma4j.testing.TestWatch, because the number of messages can be set
final class WireFuzzTest {
  private static final int TRIES = 50;
  private static final int MESSAGES = Integer.getInteger("org.rdma4j.fuzz.messages", 5000);
  private static final int GOOD_CLIENTS = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** The receives that are promised to the good clients may be more than before. */
  private static final int MORE_BUFFERS = GOOD_CLIENTS * 16;

  /** As many as both nodes begin at most because of what peers do: see {@link AttacksTest}. */
  private static final int MORE_THREADS = 32;

  /** A connection needs none, but the JVM may open files meanwhile. */
  private static final int MORE_DESCRIPTORS = 8;

  private static final NodeConfig CONFIG =
      NodeConfig.DEFAULT.receives(16).maxBuffers(1024).maxMessageBytes(1 << 16);

  /** What an honest server says of itself. */
  private static final Hello SERVER = new Hello(CONFIG.bufferBytes(), 2, 16, 1 << 16, Hello.PACKED);

  private static RdmaNode node;
  private static InetSocketAddress address;
  private static GoodClients good;
  private static long descriptors;
  private static int threads;
  private static int connections;
  private static int rejected;
  private static int buffersInUse;

  @BeforeContainer
  static void serve() throws Exception {
    node = RdmaNode.open(CONFIG);
    RdmaServer server = node.bind(RdmaConnectionTest.local());
    GoodClients.serve(server);
    address = server.localAddress();
    good = new GoodClients(address, GOOD_CLIENTS);
    good.echo(100);
    send(new SplittableRandom(1), 100); // loads all classes, and begins all threads
    good.echo(100);
    descriptors = descriptors();
    threads = threads();
    buffersInUse = onceTheyHaveGone().buffersInUse();
  }

  @AfterContainer
  static void close() throws IOException {
    System.out.printf(
        "%d connections, %d of which were not accepted; %d threads and %d descriptors more; %s%n",
        connections, rejected, threads() - threads, descriptors() - descriptors, node.statistics());
    good.close();
    node.close();
  }

  @Property(tries = TRIES, shrinking = ShrinkingMode.OFF)
  void whateverAPeerSendsTheServerServesTheOthersWithinItsLimits(@ForAll long seed)
      throws Exception {
    send(new SplittableRandom(seed), MESSAGES / TRIES);
    NodeStatistics held = node.statistics();
    assertThat(held.buffers()).isLessThanOrEqualTo(2 * CONFIG.maxBuffers());
    assertThat(held.largeBytes()).isLessThanOrEqualTo(CONFIG.maxLargeBytes());
    good.echo(10);
    held = onceTheyHaveGone();
    assertThat(held.buffersInUse()).isLessThanOrEqualTo(buffersInUse + MORE_BUFFERS);
    assertThat(threads()).isLessThanOrEqualTo(threads + MORE_THREADS);
    assertThat(descriptors()).isLessThanOrEqualTo(descriptors + MORE_DESCRIPTORS);
  }

  /** Returns what the node holds when only the good clients are left. */
  private static NodeStatistics onceTheyHaveGone() throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    NodeStatistics held = node.statistics();
    while (held.connections() > GOOD_CLIENTS) {
      assertThat(end - System.nanoTime()).as("until peers have gone").isPositive();
      Thread.sleep(10);
      held = node.statistics();
    }
    return held;
  }

  /** Sends so many messages, over as many connections as that takes. */
  private static void send(RandomGenerator random, int messages) throws Exception {
    int sent = 0;
    while (sent < messages) {
      connections++;
      Hello hello =
          new Hello(40 + random.nextInt(5000), random.nextInt(3), 16, 1 << 16, random.nextInt(4));
      try (HostilePeer peer = HostilePeer.connect(address, hello, random.nextInt(16))) {
        Forgery forgery =
            new Forgery(
                random,
                SERVER,
                peer.memory().remoteAddress(),
                peer.memory().remoteKey(),
                peer.memory().byteSize());
        boolean arrived = true;
        while (arrived && sent < messages) {
          sent++;
          // The server ignores what comes after a violation, so that would try nothing.
          arrived = peer.send(forgery.next()) && !peer.isEnded();
        }
      } catch (RdmaException refused) {
        rejected++; // The server need not accept such a hello.
        sent++;
      }
    }
  }

  private static int threads() {
    return Thread.getAllStackTraces().size();
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }
}
