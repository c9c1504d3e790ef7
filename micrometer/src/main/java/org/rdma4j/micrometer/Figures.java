package org.rdma4j.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.Traffic;

/**
 * The figures of a source, which become meters.
 *
 * @param meters where they are added
 * @param prefix what their names begin with
 * @param tags what all of them have
 * @param source what they are about, which they refer to weakly
 * @param statistics takes the figures
 */
record Figures<T, S>(Meters meters, String prefix, Tags tags, T source, Function<T, S> statistics) {

  void counter(
      String name,
      Tags more,
      @Nullable String unit,
      String description,
      ToDoubleFunction<S> figure) {
    meters.add(
        prefix + name,
        tags.and(more),
        () ->
            FunctionCounter.builder(prefix + name, source, of(statistics, figure))
                .tags(tags.and(more))
                .baseUnit(unit)
                .description(description)
                .register(meters.registry()));
  }

  void gauge(String name, @Nullable String unit, String description, ToDoubleFunction<S> figure) {
    meters.add(
        prefix + name,
        tags,
        () ->
            Gauge.builder(prefix + name, source, of(statistics, figure))
                .tags(tags)
                .baseUnit(unit)
                .description(description)
                .register(meters.registry()));
  }

  /** The counters of what nodes and connections have transferred. */
  void traffic(Function<S, Traffic> part) {
    Figures<T, Traffic> traffic =
        new Figures<>(meters, prefix, tags, source, statistics.andThen(part));
    Tags sent = Tags.of("direction", "sent");
    Tags received = Tags.of("direction", "received");
    String messages = "messages";
    traffic.counter(messages, sent, messages, "Messages", Traffic::sentMessages);
    traffic.counter(messages, received, messages, "Messages", Traffic::receivedMessages);
    String ofMessages = "Bytes of messages; a sender does not count those that the peer fetches";
    traffic.counter("message.bytes", sent, "bytes", ofMessages, Traffic::sentBytes);
    traffic.counter("message.bytes", received, "bytes", ofMessages, Traffic::receivedBytes);

    Tags read = Tags.of("type", "read");
    Tags write = Tags.of("type", "write");
    Tags atomic = Tags.of("type", "atomic");
    String operations = "operations";
    String onMemory = "Operations on the peer's memory";
    traffic.counter(operations, read, operations, onMemory, Traffic::reads);
    traffic.counter(operations, write, operations, onMemory, Traffic::writes);
    traffic.counter(operations, atomic, operations, onMemory, Traffic::atomics);
    String ofOperations = "Bytes of reads and writes of the peer's memory";
    traffic.counter("operation.bytes", read, "bytes", ofOperations, Traffic::readBytes);
    traffic.counter("operation.bytes", write, "bytes", ofOperations, Traffic::writtenBytes);
  }

  /** Refers neither to the source nor to these figures. */
  private static <T, S> ToDoubleFunction<T> of(
      Function<T, S> statistics, ToDoubleFunction<S> figure) {
    return source -> figure.applyAsDouble(statistics.apply(source));
  }
}
