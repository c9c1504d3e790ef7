package org.rdma4j.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.Function;
import org.rdma4j.nio.ChannelStatistics;
import org.rdma4j.nio.RdmaSelectorProvider;

/**
 * How many channels of {@code java.nio} were upgraded to RDMA, and what went there, as {@link
 * RdmaSelectorProvider#statistics} counts them. It needs the artifact {@code rdma4j-nio}.
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>name</th><th>tag</th><th>what</th></tr>
 * <tr><td>{@code rdma4j.channel.upgrades}</td>
 * <td>{@code outcome}: {@code upgraded}, {@code stayed}</td><td>channels that were upgraded to RDMA,
 * and channels of clients that have tried to, and stay on TCP</td></tr>
 * <tr><td>{@code rdma4j.channel.resumes}</td>
 * <td></td><td>upgraded channels that go on over TCP because RDMA has failed</td></tr>
 * <tr><td>{@code rdma4j.channel.bytes}</td>
 * <td>{@code direction}: {@code sent}, {@code received}</td><td>bytes over RDMA</td></tr>
 * <tr><td>{@code rdma4j.channel.tcp.bytes}</td>
 * <td>{@code direction}</td><td>bytes over TCP</td></tr>
 * <tr><td>{@code rdma4j.channel.stays}</td>
 * <td>{@code reason}: see {@link ChannelStatistics#stayedByReason}</td><td>channels that stay on
 * TCP, on either side</td></tr>
 * <tr><td>{@code rdma4j.channel.registered.bytes}</td>
 * <td></td><td>registered memory of all channels</td></tr>
 * </table>
 *
 * <p>A provider lasts as long as its program, so nothing removes these meters.
 */
public final class ChannelMeters implements MeterBinder {
  private final RdmaSelectorProvider provider;
  private final Tags tags;

  /**
   * Creates the binder of a provider.
   *
   * @param provider the provider
   * @param tags keys and values that all of its meters have, such as "program", "orders"
   * @throws IllegalArgumentException if the last key has no value
   */
  public ChannelMeters(RdmaSelectorProvider provider, String... tags) {
    this.provider = provider;
    this.tags = Tags.of(tags);
  }

  /**
   * Adds the meters to a registry.
   *
   * @param registry the registry
   */
  @Override
  public void bindTo(MeterRegistry registry) {
    add(registry, tags, provider, RdmaSelectorProvider::statistics);
  }

  static <T> void add(
      MeterRegistry registry, Tags tags, T source, Function<T, ChannelStatistics> statistics) {
    var added = new RdmaMeters.Added(registry);
    var channels = new RdmaMeters.Adding<>(added, "rdma4j.channel.", tags, source, statistics);
    String upgrades = "Channels that were upgraded to RDMA, or tried to and stay on TCP";
    channels.counter(
        "upgrades", Tags.of("outcome", "upgraded"), null, upgrades, ChannelStatistics::upgraded);
    channels.counter(
        "upgrades", Tags.of("outcome", "stayed"), null, upgrades, ChannelStatistics::stayed);
    channels.counter(
        "resumes",
        Tags.empty(),
        null,
        "Upgraded channels that go on over TCP",
        ChannelStatistics::resumed);
    String bytes = "Bytes over RDMA";
    channels.counter(
        "bytes", Tags.of("direction", "sent"), "bytes", bytes, ChannelStatistics::sentBytes);
    channels.counter(
        "bytes",
        Tags.of("direction", "received"),
        "bytes",
        bytes,
        ChannelStatistics::receivedBytes);
    String tcpBytes = "Bytes of channels over TCP";
    channels.counter(
        "tcp.bytes",
        Tags.of("direction", "sent"),
        "bytes",
        tcpBytes,
        ChannelStatistics::tcpSentBytes);
    channels.counter(
        "tcp.bytes",
        Tags.of("direction", "received"),
        "bytes",
        tcpBytes,
        ChannelStatistics::tcpReceivedBytes);
    for (String reason : statistics.apply(source).stayedByReason().keySet()) {
      channels.counter(
          "stays",
          Tags.of("reason", reason),
          null,
          "Channels that stay on TCP",
          now -> now.stayedByReason().getOrDefault(reason, 0L));
    }
    channels.gauge(
        "registered.bytes",
        "bytes",
        "Registered memory of all channels",
        ChannelStatistics::registeredBytes);
  }
}
