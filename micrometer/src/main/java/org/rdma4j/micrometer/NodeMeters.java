package org.rdma4j.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.rdma4j.connection.NodeStatistics;
import org.rdma4j.connection.RdmaNode;

/**
 * What the connections of a node have transferred, and what the node has and uses, as {@link
 * RdmaNode#statistics} tells.
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>name</th><th>tag</th><th>what</th></tr>
 * <tr><td>{@code rdma4j.node.messages}, {@code rdma4j.node.message.bytes}</td>
 * <td>{@code direction}: {@code sent}, {@code received}</td><td>messages, and their bytes; a sender
 * does not count the bytes that the peer fetches</td></tr>
 * <tr><td>{@code rdma4j.node.operations}</td>
 * <td>{@code type}: {@code read}, {@code write}, {@code atomic}</td><td>operations on the memory of
 * peers</td></tr>
 * <tr><td>{@code rdma4j.node.operation.bytes}</td>
 * <td>{@code type}: {@code read}, {@code write}</td><td>the bytes of these</td></tr>
 * <tr><td>{@code rdma4j.node.connections}</td><td></td><td>connections that are not closed</td></tr>
 * <tr><td>{@code rdma4j.node.buffers}</td><td></td><td>registered buffers for messages</td></tr>
 * <tr><td>{@code rdma4j.node.buffers.used}</td><td></td><td>those that are posted, on the way, or
 * held by the program</td></tr>
 * <tr><td>{@code rdma4j.node.buffers.posted}</td><td></td><td>those that are posted, ready for
 * messages</td></tr>
 * <tr><td>{@code rdma4j.node.large.bytes}</td><td></td><td>registered bytes for longer
 * messages</td></tr>
 * </table>
 *
 * <p>Those with a tag are counters, and begin with the node; the others are gauges.
 */
public final class NodeMeters implements MeterBinder, AutoCloseable {
  private final RdmaNode node;
  private final Tags tags;
  private final List<Meters> bound = new ArrayList<>();

  /**
   * Creates the binder of a node, whose meters have no further tags.
   *
   * @param node the node
   */
  public NodeMeters(RdmaNode node) {
    this(node, Tags.empty());
  }

  /**
   * Creates the binder of a node.
   *
   * @param node the node
   * @param tags what all of its meters have; nodes that share a registry need different values
   */
  public NodeMeters(RdmaNode node, Iterable<Tag> tags) {
    this.node = node;
    this.tags = Tags.of(tags);
  }

  /**
   * Adds the meters to a registry, which does not keep the node alive.
   *
   * @param registry the registry
   */
  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    Meters meters = new Meters(registry);
    add(meters, tags, node, RdmaNode::statistics);
    bound.add(meters);
  }

  static <T> void add(Meters meters, Tags tags, T source, Function<T, NodeStatistics> statistics) {
    var node = new Figures<>(meters, "rdma4j.node.", tags, source, statistics);
    node.traffic(NodeStatistics::traffic);
    node.gauge("connections", null, "Connections that are not closed", NodeStatistics::connections);
    node.gauge("buffers", null, "Registered buffers for messages", NodeStatistics::buffers);
    node.gauge(
        "buffers.used",
        null,
        "Buffers that are posted, on the way, or held by the program",
        NodeStatistics::buffersInUse);
    node.gauge(
        "buffers.posted",
        null,
        "Buffers that are posted, ready for messages",
        NodeStatistics::postedReceives);
    node.gauge(
        "large.bytes", "bytes", "Registered bytes for longer messages", NodeStatistics::largeBytes);
  }

  /** Removes the meters from the registries; the node stays open. */
  @Override
  public synchronized void close() {
    bound.forEach(Meters::remove);
    bound.clear();
  }
}
