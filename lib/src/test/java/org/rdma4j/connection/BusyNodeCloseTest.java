package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.RdmaException;
import org.rdma4j.Resources;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.RemoteMemory;

/**
 * Closes a node while all its connections are in use. {@code -Dorg.rdma4j.connection.closes=200}
 * sets how often, {@code -Dorg.rdma4j.connection.busy=200} the number of connections.
 */
@Tag("device")
@Tag("protocol")
@Tag("slow")
@Timeout(3600)
final class BusyNodeCloseTest {
  private static final int CLOSES = Integer.getInteger("org.rdma4j.connection.closes", 4);
  private static final int BUSY = Integer.getInteger("org.rdma4j.connection.busy", 200);
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** After this time it is worth knowing what a close waits for: one once took 2.6 minutes. */
  private static final Duration LONG = Duration.ofSeconds(30);

  /** Connecting all concurrently takes long in an emulated guest. */
  private static final NodeConfig PATIENT = NodeConfig.DEFAULT.handshakeTimeout(PATIENCE);

  private static final OperationHandler UNHEARD = (token, failure) -> {};

  /** What the threads that use a connection do until it is closed. */
  private interface Use {
    void once(RdmaConnection connection, RemoteMemory remote, MemoryRegion local, int number)
        throws Exception;
  }

  private static final List<Use> USES =
      List.of(
          (connection, remote, local, number) -> {
            connection.send(ByteBuffer.allocate(64 + number % 100), PATIENCE);
            connection.receive(PATIENCE).ifPresent(MessageBuffer::close);
          },
          (connection, remote, local, number) -> {
            List<CompletableFuture<Void>> sent = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
              sent.add(connection.sendAsync(ByteBuffer.allocate(100)));
            }
            for (int i = 0; i < 8; i++) {
              connection.receive(PATIENCE).ifPresent(MessageBuffer::close);
            }
            CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).get();
          },
          (connection, remote, local, number) ->
              connection.request(ByteBuffer.allocate(10)).get().close(),
          (connection, remote, local, number) ->
              CompletableFuture.allOf(
                      connection.memory().readAsync(remote, local.slice(0, 4096)),
                      connection.memory().writeAsync(local.slice(4096, 4096), remote))
                  .get(),
          (connection, remote, local, number) -> {
            connection.send(ByteBuffer.allocate(100_000), PATIENCE);
            connection.receive(PATIENCE).ifPresent(MessageBuffer::close);
          });

  private final AtomicLong rounds = new AtomicLong();

  @Test
  void closingANodeWithBusyConnectionsEndsAllWaitsAndLeavesNothing() throws Exception {
    // The connection manager opens the device when it is first used, and keeps it open.
    try (RdmaNode first = RdmaNode.open()) {
      first.bind(RdmaConnectionTest.local()).close();
    }
    try (RdmaDevice device = RdmaDevice.open(RdmaDevice.list().getFirst().name());
        ProtectionDomain domain = device.allocateProtectionDomain()) {
      Resources nothing = Resources.now();
      closeBusyNodes();
      assertThat(Resources.now()).as("besides %s", domain).isEqualTo(nothing);
    }
  }

  private void closeBusyNodes() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        RdmaNode servers = RdmaNode.open(PATIENT);
        RdmaServer listener = servers.bind(RdmaConnectionTest.local(), 1024)) {
      long threadsOfServers = threadsOfNodes();
      threads.execute(() -> echoAll(listener));
      closeBusyNode(listener, threads);
      List<String> before = rest(servers, threadsOfServers);
      long slowest = 0;
      for (int i = 0; i < CLOSES; i++) {
        slowest = Math.max(slowest, closeBusyNode(listener, threads));
        assertThat(rest(servers, threadsOfServers)).as("after close %d", i).isEqualTo(before);
      }
      System.out.printf(
          "%d closes of %d connections, %d operations, the slowest close took %d ms%n",
          CLOSES, BUSY, rounds.get(), slowest / 1_000_000);
    }
  }

  /** Sends back all messages and requests of all peers, until the listener is closed. */
  private static void echoAll(RdmaServer listener) {
    MemoryRegion[] memory = new MemoryRegion[1];
    try {
      while (true) {
        serve(listener.accept(), memory);
      }
    } catch (IllegalStateException | InterruptedException closed) {
      // The test is over.
    }
  }

  private static void serve(RdmaConnection peer, MemoryRegion[] memory) {
    var unused = peer.ended().whenComplete((closed, broken) -> peer.close());
    try {
      if (memory[0] == null) {
        memory[0] =
            peer.register(
                4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
      }
      peer.onRequest(request -> request.answer(request.message()));
      peer.onMessage(message -> sendBack(peer, message));
      MessageBuffer letter = peer.allocateBuffer(RemoteMemory.BYTES);
      RemoteMemory.of(memory[0]).write(letter.byteBuffer());
      letter.byteBuffer().flip();
      sendBack(peer, letter);
    } catch (IllegalStateException ended) {
      // The peer closed its connection immediately.
    }
  }

  private static void sendBack(RdmaConnection peer, MessageBuffer message) {
    try (message) {
      peer.sendAsync(message, 0, UNHEARD);
    } catch (IllegalStateException | RdmaException ended) {
      // The end of the connection has other handlers.
    }
  }

  /** Returns how long the close took. */
  private long closeBusyNode(RdmaServer listener, ExecutorService threads) throws Exception {
    RdmaNode node = RdmaNode.open(PATIENT);
    List<Future<Exception>> users = new ArrayList<>();
    AtomicLong inUse = new AtomicLong();
    for (int i = 0; i < BUSY; i++) {
      Use use = USES.get(i % USES.size());
      users.add(threads.submit(() -> use(node, listener, use, inUse)));
    }
    for (int i = 0; i < 4; i++) {
      users.add(threads.submit(() -> connectUntilClosed(node, listener)));
    }
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (inUse.get() < BUSY) {
      assertThat(System.nanoTime()).as("%d in use", inUse.get()).isLessThan(deadline);
      Thread.sleep(1);
    }
    long began = System.nanoTime();
    Thread closer = Thread.ofPlatform().start(node::close);
    if (!closer.join(LONG)) {
      printStacks(closer);
      closer.join(PATIENCE.minus(LONG));
    }
    assertThat(closer.isAlive()).as("still closing").isFalse();
    long took = System.nanoTime() - began;
    for (Future<Exception> user : users) {
      assertThat(user.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
          .isInstanceOfAny(IllegalStateException.class, RdmaException.class);
    }
    assertThat(node.statistics().connections()).isZero();
    return took;
  }

  /** Prints what the thread that closes does, the threads that help it, and those of the nodes. */
  private static void printStacks(Thread closer) {
    Thread.getAllStackTraces()
        .forEach(
            (thread, stack) -> {
              if (thread == closer || thread.getName().matches("rdma4j-.*|ForkJoinPool.*")) {
                System.out.println("closes for long: " + thread);
                Arrays.stream(stack).forEach(frame -> System.out.println("    at " + frame));
              }
            });
  }

  /** Uses a connection until that fails, and returns why. */
  private Exception use(RdmaNode node, RdmaServer listener, Use use, AtomicLong inUse) {
    try (RdmaConnection connection = node.connect(listener.localAddress(), PATIENCE)) {
      RemoteMemory remote;
      try (MessageBuffer name = connection.receive(PATIENCE).orElseThrow()) {
        remote = RemoteMemory.read(name.byteBuffer());
      }
      try (MemoryRegion local = connection.register(8192, AccessFlag.LOCAL_WRITE)) {
        for (int i = 0; true; i++) {
          use.once(connection, remote, local, i);
          if (i == 0) {
            inUse.incrementAndGet();
          }
          rounds.incrementAndGet();
        }
      }
    } catch (ExecutionException | CompletionException failed) {
      return failed.getCause() instanceof Exception cause ? cause : failed;
    } catch (Exception failed) {
      return failed;
    }
  }

  private static Exception connectUntilClosed(RdmaNode node, RdmaServer listener) {
    try {
      while (true) {
        node.connect(listener.localAddress(), PATIENCE).close();
      }
    } catch (Exception closed) {
      return closed;
    }
  }

  /**
   * Waits until the servers have noticed that their peers are gone, and have all their buffers
   * back. Returns what is held then besides those, of which there may be more each time.
   */
  private static List<String> rest(RdmaNode servers, long threads) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!isAtRest(servers.statistics()) || threadsOfNodes() > threads) {
      assertThat(System.nanoTime())
          .as("%s, %d threads, not %d", servers.statistics(), threadsOfNodes(), threads)
          .isLessThan(deadline);
      Thread.sleep(20);
    }
    Resources now = Resources.now();
    List<String> held = new ArrayList<>(now.descriptors());
    now.objects().stream().filter(each -> !each.equals("mr")).forEach(held::add);
    return held;
  }

  private static boolean isAtRest(NodeStatistics servers) {
    return servers.connections() == 0 && servers.buffersInUse() == servers.postedReceives();
  }

  private static long threadsOfNodes() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(each -> each.getName().matches("rdma4j-(poller|connection-manager).*"))
        .count();
  }
}
