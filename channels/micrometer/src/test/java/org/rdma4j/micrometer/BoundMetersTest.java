package org.rdma4j.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.testing.DeviceAddress;

/** Meters of real nodes and connections, and what remains of them afterwards. */
@Tag("device")
@Timeout(200)
final class BoundMetersTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private RdmaNode servers;
  private RdmaServer server;

  @BeforeEach
  void listen() {
    servers = RdmaNode.open();
    server = servers.bind(new InetSocketAddress(DeviceAddress.ipv4(), 0));
  }

  @AfterEach
  void close() {
    servers.close();
  }

  private RdmaConnection connect(RdmaNode node) throws Exception {
    return node.connect(server.localAddress(), PATIENCE);
  }

  @Test
  void aScrapeHasWhatANodeAndItsConnectionHaveTransferred() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaMeters meters = RdmaMeters.of(node);
        RdmaConnection client = connect(node);
        RdmaConnection peer = server.accept(PATIENCE)) {
      meters.bindTo(registry);
      RdmaMeters.of(client, "peer", "orders").bindTo(registry);
      client.send(ByteBuffer.allocate(100), PATIENCE);
      peer.receive(PATIENCE).orElseThrow().close();
      assertThat(registry.scrape())
          .contains("rdma4j_node_messages_total{direction=\"sent\"} 1.0")
          .contains("rdma4j_node_message_bytes_total{direction=\"sent\"} 100.0")
          .contains("rdma4j_node_connections 1.0")
          .contains(
              "rdma4j_connection_message_bytes_total{direction=\"sent\",peer=\"orders\"} 100.0");
    }
    assertThat(registry.getMeters()).isEmpty();
  }

  @Test
  void aNodeTakesThePlaceOfOneWhoseMetersAreClosed() {
    for (int i = 0; i < 2; i++) {
      MeterRegistry second = new SimpleMeterRegistry();
      try (RdmaNode node = RdmaNode.open();
          RdmaMeters meters = RdmaMeters.of(node)) {
        meters.bindTo(registry);
        meters.bindTo(second);
        assertThat(registry.getMeters()).hasSize(29);
        assertThat(second.getMeters()).hasSize(29);
      }
      assertThat(registry.getMeters()).isEmpty();
      assertThat(second.getMeters()).isEmpty();
    }
  }

  @Test
  void aClosedNodeIsCollectedWhoseMetersAreNotClosed() throws Exception {
    WeakReference<RdmaNode> closed = closedNode();
    collectUntil(() -> closed.get() == null);
    assertThat(registry.scrape())
        .contains("rdma4j_node_connections NaN")
        .contains("rdma4j_node_messages_total{direction=\"sent\"} 1.0");
  }

  private WeakReference<RdmaNode> closedNode() throws Exception {
    RdmaNode node = RdmaNode.open();
    try (node;
        RdmaConnection client = connect(node)) {
      RdmaMeters.of(node).bindTo(registry);
      client.send(ByteBuffer.allocate(100), PATIENCE);
      assertThat(registry.scrape()).contains("rdma4j_node_connections 1.0");
    }
    assertThat(registry.scrape()).contains("rdma4j_node_connections 0.0");
    return new WeakReference<>(node);
  }

  @Test
  void theMetersOfAConnectionGoWhenThePeerClosesIt() throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaConnection client = connect(node)) {
      RdmaMeters.of(client, "peer", "orders").bindTo(registry);
      assertThat(registry.getMeters()).hasSize(15);
      server.accept(PATIENCE).close();
      client.ended().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      collectUntil(() -> registry.getMeters().isEmpty());

      RdmaMeters.of(client, "peer", "orders").bindTo(registry);
      assertThat(registry.getMeters()).as("meters of an ended connection").isEmpty();
    }
  }

  @Test
  void aConnectionThatTheProgramHasDroppedIsCollected() throws Exception {
    try (RdmaNode node = RdmaNode.open()) {
      WeakReference<RdmaConnection> dropped = droppedConnection(node);
      collectUntil(() -> dropped.get() == null);
      assertThat(registry.scrape()).contains("rdma4j_connection_credits{peer=\"orders\"} NaN");
    }
    // It ends with its node.
    collectUntil(() -> registry.getMeters().isEmpty());
  }

  private WeakReference<RdmaConnection> droppedConnection(RdmaNode node) throws Exception {
    RdmaConnection client = connect(node);
    RdmaMeters.of(client, "peer", "orders").bindTo(registry);
    assertThat(registry.scrape()).doesNotContain("NaN");
    return new WeakReference<>(client);
  }

  private static void collectUntil(BooleanSupplier done) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!done.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("it takes too long").isNegative();
      System.gc();
      Thread.sleep(50);
    }
  }
}
