package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;
import org.rdma4j.connection.wire.Offered;
import org.rdma4j.verbs.MemoryRegion;

/** While hostile peers attack a server, it serves the others, and holds no more than its limits. */
@Tag("device")
@Tag("protocol")
@Timeout(200)
final class AttacksTest {
  private static final int GOOD_CLIENTS = 50;
  private static final int HOSTILE_CONNECTIONS = 20;
  private static final int MESSAGES = 1000;
  private static final int MAX_ROUNDS = 15;

  /**
   * What a node begins at most because of what peers do: threads that register memory and close
   * connections (8), end accesses (4), and report (4). The node of the good clients has them, too.
   */
  private static final int MORE_THREADS = 2 * (8 + 4 + 4);

  private static final long MAX_MESSAGE = 1 << 22;
  private static final Hello HELLO = new Hello(4096, 2, 64, MAX_MESSAGE);

  private static final NodeConfig CONFIG =
      NodeConfig.DEFAULT
          .maxBuffers(4096)
          .maxMessageBytes(MAX_MESSAGE)
          .maxLargeBytes(4 * MAX_MESSAGE)
          .handshakeTimeout(Duration.ofSeconds(3))
          // So that closes wait as long as a test counts them.
          .closeTimeout(Duration.ofSeconds(60));

  /** What hostile peers do on each of their connections, until it ends. */
  @SuppressWarnings("ImmutableEnumChecker") // a Hello is immutable
  private enum Attack {
    OFFERS_OF_ONE_BYTE(HELLO, 16) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return offer(number, 1, memory);
      }
    },
    HUGE_TOTALS_OF_WHICH_ONE_BYTE_IS_OFFERED(HELLO, 16) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return number > 0 ? null : offer(0, MAX_MESSAGE, memory);
      }
    },
    NO_CREDITS(new Hello(4096, 0, 64, MAX_MESSAGE), 16) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return header(MessageKind.MESSAGE, 0, 4096);
      }
    },
    MESSAGES_WITHOUT_CREDITS(HELLO, 16) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return header(MessageKind.REQUEST, 0, 4096);
      }

      @Override
      boolean send(HostilePeer peer, byte[] message) throws InterruptedException {
        return peer.send(message);
      }
    },
    NO_RECEIVES(new Hello(4096, 64, 64, MAX_MESSAGE), 0) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return header(MessageKind.REQUEST, 0, 4096);
      }
    },
    MESSAGES_AFTER_THE_END(HELLO, 16) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return header(number == 0 ? MessageKind.END : MessageKind.MESSAGE, 0, 0);
      }
    },
    UNKNOWN_FLAGS(HELLO, 16) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return header(MessageKind.MESSAGE, 64, 100);
      }
    },
    SHORT_BUFFERS(new Hello(64, 2, 64, MAX_MESSAGE), 16) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return header(MessageKind.MESSAGE, 0, 4096); // the answer is offered
      }
    },
    SILENT_ALTHOUGH_THEY_ARE_TO_BE_THE_FIRST(new Hello(4096, 0, 64, MAX_MESSAGE), 16) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return null;
      }
    },
    CONNECTIONS_THAT_END_AT_ONCE(HELLO, 1) {
      @Override
      byte @Nullable [] message(int number, MemoryRegion memory) {
        return header(MessageKind.END, MessageHeader.CLOSED, 0);
      }
    };

    final Hello hello;
    final int receives;

    Attack(Hello hello, int receives) {
      this.hello = hello;
      this.receives = receives;
    }

    /** Returns the message of a number; null for none, while the connection stays open. */
    abstract byte @Nullable [] message(int number, MemoryRegion memory);

    boolean send(HostilePeer peer, byte[] message) throws InterruptedException {
      return peer.sendWithCredit(message);
    }

    private static byte[] header(MessageKind kind, int flags, int bytes) {
      byte[] message = new byte[MessageHeader.BYTES + bytes];
      MessageHeader.write(MemorySegment.ofArray(message), 0, kind, flags, 0, 0, 0);
      return message;
    }

    private static byte[] offer(int number, long total, MemoryRegion memory) {
      byte[] message = header(MessageKind.MESSAGE, MessageHeader.OFFER, Offer.BYTES);
      new Offered(number, total, 0, 1, memory.remoteAddress(), memory.remoteKey())
          .write()
          .get(message, MessageHeader.BYTES, Offer.BYTES);
      return message;
    }
  }

  private final Deque<HostilePeer> hostile = new ArrayDeque<>();
  private volatile boolean attacks = true;
  private volatile int connections;
  private RdmaNode node;
  private RdmaServer server;
  private GoodClients good;

  @BeforeEach
  void serve() throws Exception {
    node = RdmaNode.open(CONFIG);
    server = node.bind(RdmaConnectionTest.local());
    GoodClients.serve(server);
    good = new GoodClients(server.localAddress(), GOOD_CLIENTS);
    good.echo(20);
  }

  @AfterEach
  void close() {
    good.close();
    hostile.forEach(HostilePeer::close);
    node.close();
  }

  @ParameterizedTest
  @EnumSource
  void anAttackHoldsUpNoOtherAndTakesNoMoreThanTheLimits(Attack attack) throws Exception {
    Duration calm = good.echo(20);
    FutureTask<Boolean> attacking = new FutureTask<>(() -> attack(attack));
    Thread.ofPlatform().daemon().start(attacking);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    int before = threads.getThreadCount();
    threads.resetPeakThreadCount();
    List<Duration> rounds = new ArrayList<>();
    try {
      for (int i = 0; i < 5 || (i < MAX_ROUNDS && connections < HOSTILE_CONNECTIONS); i++) {
        rounds.add(good.echo(20));
      }
    } finally {
      attacks = false;
      assertThat(attacking.get(100, TimeUnit.SECONDS)).isTrue();
    }
    good.echo(20);
    NodeStatistics held = node.statistics();
    int moreThreads = threads.getPeakThreadCount() - before;
    System.out.printf(
        "%s: %d connections, %d threads more; 20 echoes took %d ms before, %s ms during it; %s%n",
        attack,
        connections,
        moreThreads,
        calm.toMillis(),
        rounds.stream().map(Duration::toMillis).sorted().toList(),
        held);
    assertThat(held.buffers()).isLessThanOrEqualTo(2 * CONFIG.maxBuffers());
    // Messages that are sent, and that arrive.
    assertThat(held.largeBytes()).isLessThanOrEqualTo(2 * CONFIG.maxLargeBytes());
    assertThat(moreThreads).isLessThanOrEqualTo(MORE_THREADS);
  }

  /** A close in a handler waits for its peer, and no thread does. */
  @Test
  void closesOfPeersThatReceiveNothingTakeNoThreads() throws Exception {
    CountDownLatch closed = new CountDownLatch(HOSTILE_CONNECTIONS);
    int before = Thread.getAllStackTraces().size();
    try (RdmaServer closing = node.bind(RdmaConnectionTest.local())) {
      closing.onAccept(
          peer ->
              peer.onMessage(
                  message -> {
                    peer.sendAsync(message, 0, (token, failure) -> {});
                    peer.close();
                    closed.countDown();
                  }));
      for (int i = 0; i < HOSTILE_CONNECTIONS; i++) {
        HostilePeer peer = HostilePeer.connect(closing.localAddress(), Attack.NO_CREDITS.hello, 16);
        hostile.addLast(peer);
        assertThat(peer.send(Attack.header(MessageKind.MESSAGE, 0, 100))).isTrue();
      }
      assertThat(closed.await(60, TimeUnit.SECONDS)).isTrue();
      good.echo(20);
      assertThat(node.statistics().connections()).isEqualTo(GOOD_CLIENTS + HOSTILE_CONNECTIONS);
      assertThat(Thread.getAllStackTraces()).hasSizeLessThan(before + HOSTILE_CONNECTIONS / 2);
    }
  }

  /** Attacks with new connections all the time; the last ones stay open. */
  private boolean attack(Attack attack) throws Exception {
    int count = 0;
    while (attacks || count == 0) {
      if (hostile.size() == HOSTILE_CONNECTIONS) {
        hostile.removeFirst().close();
      }
      count++;
      connections = count;
      HostilePeer peer;
      try {
        peer = HostilePeer.connect(server.localAddress(), attack.hello, attack.receives);
      } catch (RdmaException rejected) {
        continue; // The server need not accept so many.
      }
      hostile.addLast(peer);
      boolean arrived = true;
      for (int i = 0; arrived && i < MESSAGES && attacks; i++) {
        byte @Nullable [] message = attack.message(i, peer.memory());
        arrived = message != null && attack.send(peer, message);
      }
    }
    return true;
  }
}
