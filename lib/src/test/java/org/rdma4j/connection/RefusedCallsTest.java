package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.testing.SimulatedAdapter;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/**
 * The kernel and the provider refuse each native call that a connection makes: each in turn, then
 * random ones. Only what the call was for fails; afterwards everything works again, and nothing is
 * left. One thread polls for all connections of a node.
 */
@Tag("mlx5")
@Timeout(600)
final class RefusedCallsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration LATE = PATIENCE.multipliedBy(2);
  private static final NodeConfig CONFIG = NodeConfig.DEFAULT.pollers(1);
  private static final List<String> KINDS = List.of("pd", "cq", "qp", "cm_id");
  private static final int LONG_MESSAGE = 3 * CONFIG.bufferBytes();
  private static final int RANDOM_ROUNDS = Integer.getInteger("org.rdma4j.refusals.rounds", 100);
  private static final int ONE_IN = 60;

  private RdmaNode clients;
  private RdmaNode servers;
  private RdmaServer listener;
  private Pair bystanders;

  /** What is held if the bystanders are connected, and no other peer is. */
  private Map<String, Long> before;

  private record Pair(RdmaConnection client, RdmaConnection server) {
    void close() {
      client.close();
      server.close();
    }

    void echo(int length) throws Exception {
      client.send(ByteBuffer.allocate(length), PATIENCE);
      try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
        server.send(message, PATIENCE);
      }
      try (MessageBuffer message = client.receive(PATIENCE).orElseThrow()) {
        assertThat(message.byteBuffer().remaining()).isEqualTo(length);
      }
    }
  }

  @BeforeEach
  void open() throws Exception {
    CmDevices.list().forEach(each -> SimulatedAdapter.refuseIn(each.handle()));
    clients = RdmaNode.open(CONFIG);
    servers = RdmaNode.open(CONFIG);
    listener = servers.bind(RdmaConnectionTest.local());
    bystanders = connect();
    use();
    before = held();
  }

  @AfterEach
  void close() {
    SimulatedAdapter.refuseNone();
    closeNodes();
  }

  private void closeNodes() {
    for (RdmaNode node : List.of(clients, servers)) {
      try {
        node.close();
      } catch (RdmaException refused) {
        // It reports the end that was refused before; the rest is closed all the same.
        System.out.println(node + ": " + refused);
      }
    }
  }

  private Pair connect() throws Exception {
    RdmaConnection client = clients.connect(listener.localAddress(), PATIENCE);
    while (true) {
      RdmaConnection server = accept(client);
      if (server.peerAddress().equals(client.localAddress())) {
        return new Pair(client, server);
      }
      // A connection that was accepted although its client has given up.
      server.close();
    }
  }

  private RdmaConnection accept(RdmaConnection client) throws Exception {
    try {
      return listener.accept(PATIENCE);
    } catch (TimeoutException dropped) {
      // What was refused may have ended the server's side after the client had connected. Then the
      // client learns of it.
      client.ended().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      throw new IllegalStateException("the server has closed the connection", dropped);
    }
  }

  /** All that two connected programs do with each other. */
  private void use() throws Exception {
    Pair pair = connect();
    try {
      pair.echo(1);
      pair.echo(LONG_MESSAGE);
      pair.server.onRequest(request -> request.answer(request.message()));
      pair.client
          .request(ByteBuffer.allocate(8))
          .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
          .close();
      try (MemoryRegion remote =
              pair.server.register(
                  64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
          MemoryRegion local = pair.client.register(64, AccessFlag.LOCAL_WRITE)) {
        RemoteMemory name = RemoteMemory.of(remote);
        pair.client.memory().write(local.slice(0, 64), name, PATIENCE);
        pair.client.memory().read(name, local.slice(0, 64), PATIENCE);
      }
    } finally {
      pair.close();
    }
  }

  /** Returns what the use has thrown, which is one of the documented exceptions. */
  private String useIfPossible() {
    long began = System.nanoTime();
    try {
      use();
      return "";
    } catch (RdmaException | IllegalStateException refused) {
      return refused.toString();
    } catch (ExecutionException refused) {
      assertThat(refused).hasCauseInstanceOf(RdmaException.class);
      return refused.toString();
    } catch (Exception unexpected) {
      throw new AssertionError("refused: " + SimulatedAdapter.refused(), unexpected);
    } finally {
      assertThat(Duration.ofNanos(System.nanoTime() - began))
          .as("refused: %s", SimulatedAdapter.refused())
          .isLessThan(LATE);
    }
  }

  /** What is in use, apart from regions: a node keeps those of its buffers. */
  private Map<String, Long> held() {
    Map<String, Long> held =
        SimulatedAdapter.objects(KINDS).stream()
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    for (RdmaNode node : List.of(clients, servers)) {
      held.merge("connections", (long) node.statistics().connections(), Long::sum);
      for (DeviceShare share : node.state().shares()) {
        held.merge("large", share.largeBuffers().inUse(), Long::sum);
      }
    }
    return held;
  }

  /** Shows that everything works again, after a call was refused. */
  private void assertThatAllGoesOn(String refused) throws Exception {
    if (refused.startsWith("end of")) {
      // The kernel keeps the object, and so what it is made of, as long as the process.
      closeNodes();
      open();
    } else if (refused.startsWith("read of events") || refused.startsWith("req_notify_cq")) {
      // What a poller needs for all its connections, which end.
      bystanders.close();
      bystanders = connect();
    }
    bystanders.echo(1);
    use();
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!held().equals(before) && System.nanoTime() < end) {
      Thread.sleep(1);
    }
    assertThat(held()).isEqualTo(before);
  }

  private static void awaitNoBuffersInUse(RdmaNode node) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    NodeStatistics now = node.statistics();
    while (now.buffersInUse() > now.postedReceives() && System.nanoTime() < end) {
      Thread.sleep(1);
      now = node.statistics();
    }
    assertThat(now.buffersInUse()).as("%s", now).isEqualTo(now.postedReceives());
  }

  @Test
  void eachCallThatIsRefusedFailsAlone() throws Exception {
    long call = 0;
    String refused;
    do {
      SimulatedAdapter.refuse(call, ErrorNumber.ENOMEM.value());
      String thrown = useIfPossible();
      SimulatedAdapter.refuseNone();
      refused = SimulatedAdapter.refused();
      System.out.println(call + ": " + refused + thrown);
      try {
        assertThatAllGoesOn(refused);
      } catch (Exception | AssertionError failed) {
        throw new AssertionError("after a refusal of call " + call + ": " + refused, failed);
      }
      call++;
    } while (!refused.isEmpty());
    assertThat(call).isGreaterThan(50);
    bystanders.close();
    awaitNoBuffersInUse(clients);
    awaitNoBuffersInUse(servers);
  }

  @Test
  void aPollThatFailsEndsTheConnectionsOfItsPollerOnce() throws Exception {
    SimulatedAdapter.refusePoll(ErrorNumber.EIO.value());
    assertThatThrownBy(() -> bystanders.echo(1)).isInstanceOf(RdmaException.class);
    bystanders.close();
    bystanders = connect();
    bystanders.echo(1);
  }

  @Test
  void aRequestThatThrowsLeavesItsBufferToTheCaller() throws Exception {
    bystanders.server.onRequest(request -> request.answer(request.message()));
    MessageBuffer request = bystanders.client.allocateBuffer(LONG_MESSAGE);
    List<MessageBuffer> others = new ArrayList<>();
    // Until all stay in use, because a credit in flight returns its buffer. Then the next
    // short buffer, for the offer, needs memory.
    while (takeAll(others) > 0) {
      Thread.sleep(200);
    }
    SimulatedAdapter.refuse(0, ErrorNumber.ENOMEM.value());
    assertThatThrownBy(() -> bystanders.client.request(request)).isInstanceOf(RdmaException.class);
    SimulatedAdapter.refuseNone();
    assertThat(request.byteBuffer().remaining()).isEqualTo(LONG_MESSAGE);
    bystanders.client.request(request).get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
    others.forEach(MessageBuffer::close);
  }

  /** Takes the short buffers of the clients that are free; returns how many. */
  private int takeAll(List<MessageBuffer> taken) {
    int before = taken.size();
    NodeStatistics now = clients.statistics();
    while (now.buffersInUse() < now.buffers()) {
      taken.add(bystanders.client.allocateBuffer(1));
      now = clients.statistics();
    }
    return taken.size() - before;
  }

  @Test
  void memoryOfANodeIsNotFreedIfItStaysRegistered() {
    NodeMemory memory = clients.register(LONG_MESSAGE, AccessFlag.LOCAL_WRITE);
    MemorySegment segment = memory.segment();
    segment.fill((byte) 1);
    SimulatedAdapter.refuse(0, ErrorNumber.EBUSY.value());
    assertThatThrownBy(memory::close).isInstanceOf(RdmaException.class);
    SimulatedAdapter.refuseNone();
    assertThat(segment.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 1);
  }

  @Test
  void nothingIsLeftAfterRandomRefusals() throws Exception {
    int seed = Integer.getInteger("org.rdma4j.refusals.seed", (int) System.nanoTime());
    System.out.println("seed " + seed);
    for (int round = 0; round < RANDOM_ROUNDS; round++) {
      SimulatedAdapter.refuseSome(ONE_IN, seed + round, ErrorNumber.ENOMEM.value());
      useIfPossible();
    }
    SimulatedAdapter.refuseNone();
    closeNodes();
    open();
    assertThatAllGoesOn("");
  }
}
