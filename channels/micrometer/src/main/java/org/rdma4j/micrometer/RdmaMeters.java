package org.rdma4j.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.ConnectionStatistics;
import org.rdma4j.connection.NodeStatistics;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.Traffic;

/**
 * What a node or a connection has transferred, and what it has, uses and waits for, as {@link
 * RdmaNode#statistics} and {@link RdmaConnection#statistics} return it. The meters of a node are
 * the sums of all its connections; those of a connection are for the few that last.
 *
 * <table>
 * <caption>Meters; those with a tag and the waits are counters, the others gauges</caption>
 * <tr><th>name</th><th>tag</th><th>what</th></tr>
 * <tr><td>{@code rdma4j.node.messages}, {@code rdma4j.node.message.bytes}, {@code
 * rdma4j.connection.messages}, {@code rdma4j.connection.message.bytes}</td>
 * <td>{@code direction}: {@code sent}, {@code received}</td><td>messages, and their bytes; a sender
 * does not count the bytes that the peer fetches</td></tr>
 * <tr><td>{@code rdma4j.node.operations}, {@code rdma4j.connection.operations}</td>
 * <td>{@code type}: {@code read}, {@code write}, {@code atomic}</td><td>operations on the memory of
 * peers</td></tr>
 * <tr><td>{@code rdma4j.node.operation.bytes}, {@code rdma4j.connection.operation.bytes}</td>
 * <td>{@code type}: {@code read}, {@code write}</td><td>the bytes of these</td></tr>
 * <tr><td>{@code rdma4j.node.connections}</td><td></td><td>connections that are not closed</td></tr>
 * <tr><td>{@code rdma4j.node.connections.unwritable}</td><td></td><td>connections that are not
 * writable</td></tr>
 * <tr><td>{@code rdma4j.node.refused}</td><td>{@code reason}: that of {@link
 * org.rdma4j.connection.Refusal}, such as {@code backlog}</td><td>peers that servers have
 * refused</td></tr>
 * <tr><td>{@code rdma4j.node.broken}</td><td>{@code reason}: that of {@link
 * org.rdma4j.ConnectionException.Reason}, such as {@code reset}</td><td>connections that
 * broke</td></tr>
 * <tr><td>{@code rdma4j.node.buffers.limit}</td><td></td><td>the limit of the buffers of each
 * device</td></tr>
 * <tr><td>{@code rdma4j.node.buffers}</td><td></td><td>registered buffers for messages</td></tr>
 * <tr><td>{@code rdma4j.node.buffers.used}</td><td></td><td>buffers that are posted, in flight, or
 * held by the program</td></tr>
 * <tr><td>{@code rdma4j.node.buffers.posted}</td><td></td><td>buffers that are posted, ready for
 * messages</td></tr>
 * <tr><td>{@code rdma4j.node.large.bytes}</td><td></td><td>registered bytes for longer
 * messages</td></tr>
 * <tr><td>{@code rdma4j.connection.waits}</td><td></td><td>how often a thread had to wait</td></tr>
 * <tr><td>{@code rdma4j.connection.credits}</td><td></td><td>messages that the peer can receive
 * now</td></tr>
 * <tr><td>{@code rdma4j.connection.credits.granted}</td><td></td><td>messages that the peer may
 * send now</td></tr>
 * <tr><td>{@code rdma4j.connection.outstanding}</td><td></td><td>messages and operations that are
 * not done</td></tr>
 * <tr><td>{@code rdma4j.connection.held.bytes}</td><td></td><td>memory of messages that have not
 * arrived</td></tr>
 * <tr><td>{@code rdma4j.connection.requests.pending}</td><td></td><td>requests to the peer that are
 * unanswered</td></tr>
 * </table>
 */
public final class RdmaMeters implements MeterBinder, AutoCloseable {
  private final Function<MeterRegistry, Added> binding;
  private final List<Added> bound = new ArrayList<>();

  private RdmaMeters(Function<MeterRegistry, Added> binding) {
    this.binding = binding;
  }

  /**
   * Returns the meters of a node, which last until {@link #close}.
   *
   * @param node the node
   * @param tags keys and values that all of its meters have, such as "node", "orders"; nodes that
   *     share a registry need different values
   * @return the binder
   * @throws IllegalArgumentException if the last key has no value
   */
  public static RdmaMeters of(RdmaNode node, String... tags) {
    Tags all = Tags.of(tags);
    return new RdmaMeters(registry -> addNode(registry, all, node, RdmaNode::statistics));
  }

  /**
   * Returns the meters of a connection, which are removed when the connection {@linkplain
   * RdmaConnection#ended ends}, or by {@link #close}.
   *
   * @param connection the connection
   * @param tags keys and values that all of its meters have, such as "peer", "orders"; connections
   *     that share a registry need different values
   * @return the binder
   * @throws IllegalArgumentException if the last key has no value
   */
  public static RdmaMeters of(RdmaConnection connection, String... tags) {
    Tags all = Tags.of(tags);
    return new RdmaMeters(
        registry -> {
          Added added = addConnection(registry, all, connection, RdmaConnection::statistics);
          var unused = connection.ended().whenComplete((ended, reason) -> added.remove());
          return added;
        });
  }

  /**
   * Adds the meters to a registry, which does not keep the node or connection alive.
   *
   * @param registry the registry
   */
  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    bound.add(binding.apply(registry));
  }

  /** Removes the meters from the registries; the node or connection stays open. */
  @Override
  public synchronized void close() {
    bound.forEach(Added::remove);
    bound.clear();
  }

  static <T> Added addNode(
      MeterRegistry registry, Tags tags, T source, Function<T, NodeStatistics> statistics) {
    var node = new Adding<>(new Added(registry), "rdma4j.node.", tags, source, statistics);
    node.traffic(NodeStatistics::traffic);
    node.gauge("connections", null, "Connections that are not closed", NodeStatistics::connections);
    node.gauge(
        "connections.unwritable",
        null,
        "Connections that are not writable",
        NodeStatistics::notWritable);
    node.counters("refused", "Peers that servers have refused", NodeStatistics::refused);
    node.counters("broken", "Connections that broke", NodeStatistics::broken);
    node.gauge(
        "buffers.limit",
        null,
        "The limit of the buffers of each device",
        NodeStatistics::maxBuffers);
    node.gauge("buffers", null, "Registered buffers for messages", NodeStatistics::buffers);
    node.gauge(
        "buffers.used",
        null,
        "Buffers that are posted, in flight, or held by the program",
        NodeStatistics::buffersInUse);
    node.gauge(
        "buffers.posted",
        null,
        "Buffers that are posted, ready for messages",
        NodeStatistics::postedReceives);
    node.gauge(
        "large.bytes", "bytes", "Registered bytes for longer messages", NodeStatistics::largeBytes);
    return node.added();
  }

  static <T> Added addConnection(
      MeterRegistry registry, Tags tags, T source, Function<T, ConnectionStatistics> statistics) {
    var connection =
        new Adding<>(new Added(registry), "rdma4j.connection.", tags, source, statistics);
    connection.traffic(ConnectionStatistics::traffic);
    connection.counter(
        "waits", Tags.empty(), null, "How often a thread had to wait", ConnectionStatistics::waits);
    connection.gauge(
        "credits", null, "Messages that the peer can receive now", ConnectionStatistics::credits);
    connection.gauge(
        "credits.granted",
        null,
        "Messages that the peer may send now",
        ConnectionStatistics::grantedCredits);
    connection.gauge(
        "outstanding",
        null,
        "Messages and operations that are not done",
        ConnectionStatistics::outstanding);
    connection.gauge(
        "requests.pending",
        null,
        "Requests to the peer that are unanswered",
        ConnectionStatistics::pendingRequests);
    connection.gauge(
        "held.bytes",
        "bytes",
        "Memory of messages that have not arrived",
        ConnectionStatistics::heldBytes);
    return connection.added();
  }

  /**
   * The meters that were added to a registry. It must not refer to what they measure: the end of a
   * connection refers to it.
   */
  static final class Added {
    private final MeterRegistry registry;
    private final List<Meter> meters = new ArrayList<>();

    Added(MeterRegistry registry) {
      this.registry = registry;
    }

    /** Adds a meter, unless the registry has one of this name and these tags, which then stays. */
    private synchronized void add(String name, Tags tags, Supplier<? extends Meter> register) {
      Collection<Meter> before = registry.find(name).tags(tags).meters();
      Meter meter = register.get();
      // Meters with the same name and tags are equal.
      if (!before.contains(meter)) {
        meters.add(meter);
      }
    }

    synchronized void remove() {
      meters.forEach(registry::remove);
      meters.clear();
    }
  }

  /** Makes meters of the statistics of a source, to which the meters refer weakly. */
  record Adding<T, S>(Added added, String prefix, Tags tags, T source, Function<T, S> statistics) {
    void counter(
        String name,
        Tags more,
        @Nullable String unit,
        String description,
        ToDoubleFunction<S> figure) {
      added.add(
          prefix + name,
          tags.and(more),
          () ->
              FunctionCounter.builder(prefix + name, source, of(statistics, figure))
                  .tags(tags.and(more))
                  .baseUnit(unit)
                  .description(description)
                  .register(added.registry));
    }

    /** Adds a counter for each reason. */
    <R extends Enum<R>> void counters(
        String name, String description, Function<S, Map<R, Long>> counts) {
      for (R reason : counts.apply(statistics.apply(source)).keySet()) {
        counter(
            name,
            Tags.of("reason", reason.name().toLowerCase(Locale.ROOT)),
            null,
            description,
            now -> counts.apply(now).getOrDefault(reason, 0L));
      }
    }

    void gauge(String name, @Nullable String unit, String description, ToDoubleFunction<S> figure) {
      added.add(
          prefix + name,
          tags,
          () ->
              Gauge.builder(prefix + name, source, of(statistics, figure))
                  .tags(tags)
                  .baseUnit(unit)
                  .description(description)
                  .register(added.registry));
    }

    /** Adds the counters of what a node or a connection has transferred. */
    private void traffic(Function<S, Traffic> part) {
      var traffic = new Adding<>(added, prefix, tags, source, statistics.andThen(part));
      Tags sent = Tags.of("direction", "sent");
      Tags received = Tags.of("direction", "received");
      traffic.counter("messages", sent, "messages", "Messages", Traffic::sentMessages);
      traffic.counter("messages", received, "messages", "Messages", Traffic::receivedMessages);
      String ofMessages = "Bytes of messages; a sender does not count bytes that the peer fetches";
      traffic.counter("message.bytes", sent, "bytes", ofMessages, Traffic::sentBytes);
      traffic.counter("message.bytes", received, "bytes", ofMessages, Traffic::receivedBytes);

      Tags read = Tags.of("type", "read");
      Tags write = Tags.of("type", "write");
      Tags atomic = Tags.of("type", "atomic");
      String onMemory = "Operations on the peer's memory";
      traffic.counter("operations", read, "operations", onMemory, Traffic::reads);
      traffic.counter("operations", write, "operations", onMemory, Traffic::writes);
      traffic.counter("operations", atomic, "operations", onMemory, Traffic::atomics);
      String ofOperations = "Bytes of reads and writes of the peer's memory";
      traffic.counter("operation.bytes", read, "bytes", ofOperations, Traffic::readBytes);
      traffic.counter("operation.bytes", write, "bytes", ofOperations, Traffic::writtenBytes);
    }

    /** Refers neither to the source nor to this. */
    private static <T, S> ToDoubleFunction<T> of(
        Function<T, S> statistics, ToDoubleFunction<S> figure) {
      return source -> figure.applyAsDouble(statistics.apply(source));
    }
  }
}
