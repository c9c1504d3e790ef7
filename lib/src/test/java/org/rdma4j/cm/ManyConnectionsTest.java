package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;

/** One thread and one event channel serve both sides of many connections. */
@Tag("device")
final class ManyConnectionsTest {
  private static final int CONNECTIONS = 500;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** One side of a connection. Its queue pair sends and receives 8 bytes of its own. */
  private record Side(boolean isClient, QueuePair queuePair, long offset) {}

  private final Map<CmId, Side> sides = new HashMap<>();
  private final Map<Integer, Side> byNumber = new HashMap<>();
  private EventChannel channel;
  private CmId listener;
  private CompletionQueue queue;
  private ProtectionDomain domain;
  private MemoryRegion region;

  @BeforeEach
  void listen() {
    channel = EventChannel.open();
    listener = channel.createId(PortSpace.TCP);
    listener.bind(CmLoopback.address(0));
    listener.listen(CONNECTIONS);
    domain = listener.device().allocateProtectionDomain();
    queue = listener.device().createCompletionQueue(4 * CONNECTIONS);
    region = domain.register(2L * CONNECTIONS * Long.BYTES, AccessFlag.LOCAL_WRITE);
  }

  @AfterEach
  void close() {
    channel.close();
    queue.close();
    domain.close();
  }

  @Tag("needs-many-queue-pairs")
  @Test
  void oneChannelServesFiveHundredConnectionsThatAllEcho() throws Exception {
    for (int i = 0; i < CONNECTIONS; i++) {
      channel.createId(PortSpace.TCP).resolveAddress(listener.localAddress(), PATIENCE);
    }
    int established = 0;
    while (established < 2 * CONNECTIONS) {
      established += step(channel.awaitEvent(PATIENCE).orElseThrow());
    }
    sides.values().stream().filter(Side::isClient).forEach(this::send);
    assertThat(echoes()).isEqualTo(CONNECTIONS);
  }

  /** Takes the next step, and returns how many sides the event has established. */
  private int step(CmEvent event) {
    CmId id = event.id();
    if (event instanceof CmEvent.AddressResolved) {
      id.resolveRoute(PATIENCE);
    } else if (event instanceof CmEvent.RouteResolved) {
      side(id, true);
      id.connect(ConnectionConfig.DEFAULT);
    } else if (event instanceof CmEvent.ConnectRequest) {
      side(id, false);
      id.accept(ConnectionConfig.DEFAULT);
    } else if (event instanceof CmEvent.Established) {
      return 1;
    } else {
      fail("%s", event);
    }
    return 0;
  }

  private void side(CmId id, boolean isClient) {
    QueuePair queuePair = id.createQueuePair(domain, QueuePairConfig.reliable(queue));
    Side side = new Side(isClient, queuePair, (long) sides.size() * Long.BYTES);
    var receives = queuePair.receiveRequests(1);
    receives.add(0).into(region, side.offset(), Long.BYTES);
    receives.post();
    sides.put(id, side);
    byNumber.put(queuePair.number(), side);
  }

  private void send(Side side) {
    var sends = side.queuePair().sendRequests(1);
    sends.add(1).send().from(region, side.offset(), Long.BYTES);
    sends.post();
  }

  /** Sends back what a server receives, and counts what the clients receive. */
  private int echoes() {
    Completions completions = queue.completions(16);
    int echoes = 0;
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (echoes < CONNECTIONS && System.nanoTime() - deadline < 0) {
      if (completions.poll() == 0) {
        LockSupport.parkNanos(20_000);
      }
      for (int i = 0; i < completions.size(); i++) {
        completions.requireSuccess(i);
        Side side = Objects.requireNonNull(byNumber.get(completions.queuePairNumber(i)));
        if (side.isClient()) {
          echoes++;
        } else {
          send(side);
        }
      }
    }
    return echoes;
  }
}
