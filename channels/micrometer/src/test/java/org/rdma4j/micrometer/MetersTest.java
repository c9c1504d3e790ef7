package org.rdma4j.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.connection.ConnectionStatistics;
import org.rdma4j.connection.NodeStatistics;
import org.rdma4j.connection.Refusal;
import org.rdma4j.connection.Traffic;
import org.rdma4j.nio.ChannelStatistics;
import org.rdma4j.nio.RdmaSelectorProvider;

/** What Prometheus gets, without a device: the figures are those of records. */
final class MetersTest {
  private static final Traffic TRAFFIC = new Traffic(1, 2, 3, 4, 5, 6, 7, 8, 9);
  private static final NodeStatistics NODE = node(10);
  private static final ConnectionStatistics CONNECTION =
      new ConnectionStatistics(TRAFFIC, 10, 11, 12, 13, 15, 14);
  private static final ChannelStatistics CHANNELS =
      new ChannelStatistics(1, 2, 9, 3, 4, 5, 6, 7, Map.of("refused", 8L));
  private static final long PATIENCE = 20_000_000_000L;

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  // Fields, because a registry does not keep them alive.
  private final Source<NodeStatistics> node = new Source<>(NODE);
  private final Source<NodeStatistics> otherNode = new Source<>(node(20));
  private final Source<ConnectionStatistics> connection = new Source<>(CONNECTION);
  private final Source<ChannelStatistics> channels = new Source<>(CHANNELS);

  /** What has figures, which a test changes. */
  private static final class Source<S> {
    private S figures;

    Source(S figures) {
      this.figures = figures;
    }

    S figures() {
      return figures;
    }
  }

  private static NodeStatistics node(int connections) {
    return new NodeStatistics(
        TRAFFIC,
        connections,
        15,
        Map.of(Refusal.BACKLOG, 16L),
        Map.of(Reason.BROKEN_HERE, 17L),
        11,
        18,
        12,
        13,
        14);
  }

  private RdmaMeters.Added addNode(Source<NodeStatistics> source, Tags tags) {
    return RdmaMeters.addNode(registry, tags, source, Source::figures);
  }

  private void addAll() {
    addNode(node, Tags.empty());
    RdmaMeters.addConnection(registry, Tags.of("peer", "orders"), connection, Source::figures);
    ChannelMeters.add(registry, Tags.empty(), channels, Source::figures);
  }

  private String scrape() {
    return registry
        .scrape()
        .lines()
        .filter(line -> !line.startsWith("#"))
        .collect(Collectors.joining("\n"));
  }

  @Test
  void aNodeHasAMeterForEachOfItsFigures() {
    addNode(node, Tags.empty());
    assertThat(scrape())
        .isEqualTo(
            """
            rdma4j_node_broken_total{reason="broken_here"} 17.0
            rdma4j_node_buffers 11.0
            rdma4j_node_buffers_limit 18.0
            rdma4j_node_buffers_posted 13.0
            rdma4j_node_buffers_used 12.0
            rdma4j_node_connections 10.0
            rdma4j_node_connections_unwritable 15.0
            rdma4j_node_large_bytes 14.0
            rdma4j_node_message_bytes_total{direction="received"} 4.0
            rdma4j_node_message_bytes_total{direction="sent"} 2.0
            rdma4j_node_messages_total{direction="received"} 3.0
            rdma4j_node_messages_total{direction="sent"} 1.0
            rdma4j_node_operation_bytes_total{type="read"} 6.0
            rdma4j_node_operation_bytes_total{type="write"} 8.0
            rdma4j_node_operations_total{type="atomic"} 9.0
            rdma4j_node_operations_total{type="read"} 5.0
            rdma4j_node_operations_total{type="write"} 7.0
            rdma4j_node_refused_total{reason="backlog"} 16.0\
            """);
  }

  @Test
  void aConnectionHasAMeterForEachOfItsFigures() {
    RdmaMeters.addConnection(registry, Tags.of("peer", "orders"), connection, Source::figures);
    assertThat(scrape())
        .isEqualTo(
            """
            rdma4j_connection_credits{peer="orders"} 10.0
            rdma4j_connection_credits_granted{peer="orders"} 11.0
            rdma4j_connection_held_bytes{peer="orders"} 15.0
            rdma4j_connection_message_bytes_total{direction="received",peer="orders"} 4.0
            rdma4j_connection_message_bytes_total{direction="sent",peer="orders"} 2.0
            rdma4j_connection_messages_total{direction="received",peer="orders"} 3.0
            rdma4j_connection_messages_total{direction="sent",peer="orders"} 1.0
            rdma4j_connection_operation_bytes_total{peer="orders",type="read"} 6.0
            rdma4j_connection_operation_bytes_total{peer="orders",type="write"} 8.0
            rdma4j_connection_operations_total{peer="orders",type="atomic"} 9.0
            rdma4j_connection_operations_total{peer="orders",type="read"} 5.0
            rdma4j_connection_operations_total{peer="orders",type="write"} 7.0
            rdma4j_connection_outstanding{peer="orders"} 12.0
            rdma4j_connection_requests_pending{peer="orders"} 13.0
            rdma4j_connection_waits_total{peer="orders"} 14.0\
            """);
  }

  @Test
  void channelsHaveAMeterForEachOfTheirFigures() {
    ChannelMeters.add(registry, Tags.empty(), channels, Source::figures);
    assertThat(scrape())
        .isEqualTo(
            """
            rdma4j_channel_bytes_total{direction="received"} 4.0
            rdma4j_channel_bytes_total{direction="sent"} 3.0
            rdma4j_channel_registered_bytes 7.0
            rdma4j_channel_resumes_total 9.0
            rdma4j_channel_stays_total{reason="refused"} 8.0
            rdma4j_channel_tcp_bytes_total{direction="received"} 6.0
            rdma4j_channel_tcp_bytes_total{direction="sent"} 5.0
            rdma4j_channel_upgrades_total{outcome="stayed"} 2.0
            rdma4j_channel_upgrades_total{outcome="upgraded"} 1.0\
            """);
  }

  @Test
  void aProviderWithoutChannelsHasCountedNothing() {
    RdmaSelectorProvider provider = new RdmaSelectorProvider();
    new ChannelMeters(provider, "program", "test").bindTo(registry);
    assertThat(scrape())
        .contains("rdma4j_channel_upgrades_total{outcome=\"stayed\",program=\"test\"} 0.0");
    assertThat(provider.statistics().upgraded()).isZero();
    assertThat(provider.statistics().stayedByReason()).containsEntry("refused", 0L);
  }

  @Test
  void eachScrapeHasTheFiguresOfItsTime() {
    addNode(node, Tags.empty());
    scrape();
    node.figures = node(99);
    assertThat(scrape()).contains("rdma4j_node_connections 99.0");
  }

  @Test
  void nodesWithDifferentTagsHaveMetersOfTheirOwn() {
    addNode(node, Tags.of("node", "one"));
    addNode(otherNode, Tags.of("node", "other")).remove();
    addNode(otherNode, Tags.of("node", "other"));
    assertThat(scrape())
        .contains("rdma4j_node_connections{node=\"one\"} 10.0")
        .contains("rdma4j_node_connections{node=\"other\"} 20.0");
  }

  @Test
  void metersThatAreRemovedMakePlaceForOthers() {
    addNode(node, Tags.empty()).remove();
    assertThat(registry.getMeters()).isEmpty();
    assertThat(scrape()).isEmpty();

    addNode(otherNode, Tags.empty());
    assertThat(scrape()).contains("rdma4j_node_connections 20.0");
  }

  @Test
  void ofTwoWithTheSameTagsTheFirstStaysAlsoWhenTheOtherIsRemoved() {
    addNode(node, Tags.empty());
    addNode(otherNode, Tags.empty()).remove();
    assertThat(scrape()).contains("rdma4j_node_connections 10.0");
    assertThat(registry.getMeters()).hasSize(18);
  }

  @Test
  void aRegistryDoesNotKeepAliveWhatItsMetersAreAbout() throws Exception {
    awaitCollection(addedNode());
    // What counts keeps its last value, so that rates stay right; a gauge has none.
    assertThat(scrape())
        .contains("rdma4j_node_connections NaN")
        .contains("rdma4j_node_messages_total{direction=\"sent\"} 1.0");
  }

  private WeakReference<?> addedNode() {
    Source<NodeStatistics> source = new Source<>(NODE);
    addNode(source, Tags.empty());
    assertThat(scrape()).contains("rdma4j_node_connections 10.0");
    return new WeakReference<>(source);
  }

  private static void awaitCollection(WeakReference<?> reference) throws InterruptedException {
    long start = System.nanoTime();
    while (reference.get() != null) {
      assertThat(System.nanoTime() - start).as("it is not collected").isLessThan(PATIENCE);
      System.gc();
      Thread.sleep(20);
    }
  }

  /** The guide and the Javadoc name all meters, and no others. */
  @Test
  void theGuideNamesEachMeter() throws Exception {
    String page = Files.readString(Path.of("../../docs/guide/monitoring.md"));
    assertThat(names(page, "`(rdma4j\\.[a-z.]+)`")).isEqualTo(allNames());
  }

  @Test
  void theJavadocNamesEachMeter() throws Exception {
    Path sources = Path.of("src/main/java/org/rdma4j/micrometer");
    String javadoc =
        Files.readString(sources.resolve("RdmaMeters.java"))
            + Files.readString(sources.resolve("ChannelMeters.java"));
    assertThat(names(javadoc, "\\{@code[ *\n]+(rdma4j\\.[a-z.]+)\\}")).isEqualTo(allNames());
  }

  private static Set<String> names(String text, String pattern) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(result -> result.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private Set<String> allNames() {
    addAll();
    return registry.getMeters().stream()
        .map(Meter::getId)
        .map(Meter.Id::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
