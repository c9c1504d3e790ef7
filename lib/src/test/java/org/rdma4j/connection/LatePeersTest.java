package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A peer is not late if only the program that drives the node is. */
@Tag("device")
@Tag("protocol")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class LatePeersTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration HANDSHAKE = Duration.ofSeconds(1);

  /** More than the events that one poll handles. */
  private static final int PEERS = 100;

  @Test
  void peersWhoseEventsWaitBehindManyOthersAreNotLate() throws Exception {
    AtomicInteger accepted = new AtomicInteger();
    try (DrivenNode driven = DrivenNode.open(NodeConfig.DEFAULT.handshakeTimeout(HANDSHAKE));
        RdmaNode clients = RdmaNode.open(NodeConfig.DEFAULT.handshakeTimeout(PATIENCE))) {
      RdmaServer server = driven.node().bind(RdmaConnectionTest.local());
      server.onAccept(peer -> accepted.incrementAndGet());
      List<FutureTask<RdmaConnection>> connects = new ArrayList<>();
      for (int i = 0; i < PEERS; i++) {
        FutureTask<RdmaConnection> connect =
            new FutureTask<>(() -> clients.connect(server.localAddress(), PATIENCE));
        connects.add(connect);
        Thread.ofPlatform().daemon().start(connect);
      }
      // All requests wait before the first are accepted.
      Thread.sleep(3000);
      while (driven.node().statistics().connections() == 0) {
        driven.poll();
      }
      // The peers have done their part, which the program does not look at.
      Thread.sleep(2 * HANDSHAKE.toMillis());
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (accepted.get() < PEERS && end - System.nanoTime() > 0) {
        driven.drive(Duration.ofMillis(10));
      }
      assertThat(accepted).hasValue(PEERS);
      for (FutureTask<RdmaConnection> connect : connects) {
        assertThat(connect.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).isOpen()).isTrue();
      }
    }
  }
}
