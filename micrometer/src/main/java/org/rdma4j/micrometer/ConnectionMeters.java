package org.rdma4j.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.Function;
import org.rdma4j.connection.ConnectionStatistics;
import org.rdma4j.connection.RdmaConnection;

/**
 * What a connection has transferred, and what it is waiting for, as {@link
 * RdmaConnection#statistics} tells. This is for the few connections of a program that last; those
 * of {@link NodeMeters} are the sum of all.
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>name</th><th>tag</th><th>what</th></tr>
 * <tr><td>{@code rdma4j.connection.messages}, {@code rdma4j.connection.message.bytes}</td>
 * <td>{@code direction}: {@code sent}, {@code received}</td><td>messages, and their bytes; a sender
 * does not count the bytes that the peer fetches</td></tr>
 * <tr><td>{@code rdma4j.connection.operations}</td>
 * <td>{@code type}: {@code read}, {@code write}, {@code atomic}</td><td>operations on the memory of
 * the peer</td></tr>
 * <tr><td>{@code rdma4j.connection.operation.bytes}</td>
 * <td>{@code type}: {@code read}, {@code write}</td><td>the bytes of these</td></tr>
 * <tr><td>{@code rdma4j.connection.waits}</td><td></td><td>how often a thread had to wait</td></tr>
 * <tr><td>{@code rdma4j.connection.credits}</td><td></td><td>gauge: messages that the peer can
 * receive now</td></tr>
 * <tr><td>{@code rdma4j.connection.credits.granted}</td><td></td><td>gauge: messages that the peer
 * may send now</td></tr>
 * <tr><td>{@code rdma4j.connection.outstanding}</td><td></td><td>gauge: messages and operations
 * that are not done</td></tr>
 * <tr><td>{@code rdma4j.connection.requests.pending}</td><td></td><td>gauge: requests to the peer
 * that are unanswered</td></tr>
 * </table>
 */
public final class ConnectionMeters implements MeterBinder {
  private final RdmaConnection connection;
  private final Tags tags;

  /**
   * Creates the binder of a connection.
   *
   * @param connection the connection
   * @param tags what all of its meters have; connections that share a registry need different
   *     values
   */
  public ConnectionMeters(RdmaConnection connection, Iterable<Tag> tags) {
    this.connection = connection;
    this.tags = Tags.of(tags);
  }

  /**
   * Adds the meters to a registry, which does not keep the connection alive. They are removed when
   * the connection {@linkplain RdmaConnection#ended ends}.
   *
   * @param registry the registry
   */
  @Override
  public void bindTo(MeterRegistry registry) {
    Meters meters = new Meters(registry);
    add(meters, tags, connection, RdmaConnection::statistics);
    var unused = connection.ended().whenComplete((ended, reason) -> meters.remove());
  }

  static <T> void add(
      Meters meters, Tags tags, T source, Function<T, ConnectionStatistics> statistics) {
    var connection = new Figures<>(meters, "rdma4j.connection.", tags, source, statistics);
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
  }
}
