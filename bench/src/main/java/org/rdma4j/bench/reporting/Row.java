package org.rdma4j.bench.reporting;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.results.RunResult;
import org.rdma4j.bench.loops.EmptyPoll;
import org.rdma4j.bench.loops.ExtendedPostAndPoll;
import org.rdma4j.bench.loops.Growth;
import org.rdma4j.bench.loops.InlineSend;
import org.rdma4j.bench.loops.JniPostAndPoll;
import org.rdma4j.bench.loops.Load;
import org.rdma4j.bench.loops.PoolCycle;
import org.rdma4j.bench.loops.PostAndPoll;
import org.rdma4j.bench.loops.PostChain;
import org.rdma4j.bench.loops.PreparedChain;
import org.rdma4j.bench.loops.PreparedPostAndPoll;
import org.rdma4j.bench.loops.PreparedSelectiveSignaling;
import org.rdma4j.bench.loops.Registering;
import org.rdma4j.bench.loops.RemoteRead;
import org.rdma4j.bench.loops.RemoteWrite;
import org.rdma4j.bench.loops.SelectiveSignaling;
import org.rdma4j.bench.standin.CallStyle;

/**
 * A line of a table, and which of JMH's results it shows.
 *
 * @param operation the operation, as printed
 * @param max the limit, as a multiple of C's time; NaN if there is no limit
 * @param benchmark the beginning of the full name of the benchmark's method
 * @param parameters the values that parameters of the benchmark must have
 */
public record Row(String operation, double max, String benchmark, Map<String, String> parameters) {
  private static final double NONE = Double.NaN;

  /** Operations that are measured by critical and by plain calls. */
  public static final List<Row> EITHER_STYLE =
      List.of(
          row("post + poll", 1.3, PostAndPoll.class),
          row("prepared: post + poll", 1.15, PreparedPostAndPoll.class),
          row("wr_* + poll", NONE, ExtendedPostAndPoll.class, "calls", "EXTENDED_POST"),
          row("post + extended poll", NONE, ExtendedPostAndPoll.class, "calls", "EXTENDED_POLL"),
          row("wr_* + extended poll", 2.2, ExtendedPostAndPoll.class, "calls", "EXTENDED"),
          inline("inline 16 B + poll", 1.4, "16", InlineSend.Source.REGION),
          inline("inline 64 B + poll", 1.6, "64", InlineSend.Source.REGION),
          inline("inline 16 B of an array + poll", NONE, "16", InlineSend.Source.ARRAY),
          inline("inline 64 B of an array + poll", NONE, "64", InlineSend.Source.ARRAY),
          row("RDMA read + poll", 1.35, RemoteRead.class),
          row("RDMA write + poll", 1.35, RemoteWrite.class),
          row("8 in a chain, each", NONE, PostChain.class, "chain", "8"),
          row("16 in a chain, each", NONE, PostChain.class, "chain", "16"),
          row("prepared: 16 in a chain, each", 1.1, PreparedChain.class),
          row("64 in a chain, each", NONE, PostChain.class, "chain", "64"),
          row("each 64th signaled", 1.35, SelectiveSignaling.class),
          row("prepared: each 64th signaled", NONE, PreparedSelectiveSignaling.class),
          row("empty poll", 2, EmptyPoll.class));

  /** One send and the poll of its completion. */
  public static final Row POST_AND_POLL = EITHER_STYLE.get(0);

  /** The same with a request that is prepared in advance. */
  public static final Row PREPARED = EITHER_STYLE.get(1);

  /** Taking a slab from a pool and giving it back. */
  public static final Row POOL = row("pool: acquire + release", NONE, PoolCycle.class);

  /** One send and one poll over JNI, with a request that is prepared in advance. */
  public static final Row SERIALIZED =
      new Row("JNI, prepared request", NONE, method(JniPostAndPoll.class, "serialized"), Map.of());

  /** One send and one poll over JNI, with a call for each field. */
  public static final Row FIELD_BY_FIELD =
      new Row("JNI, field by field", NONE, method(JniPostAndPoll.class, "fieldByField"), Map.of());

  /** Registrations of memory. */
  public static final List<Row> REGISTERING =
      List.of(
          registering("register 4 KiB", true, 4096),
          registering("register 1 MiB", true, 1 << 20),
          registering("allocate, register 4 KiB", false, 4096),
          registering("allocate, register 1 MiB", false, 1 << 20));

  /**
   * Returns the row of a load.
   *
   * @param load the load
   * @return the row of a post and a poll under that load
   */
  public static Row of(Load load) {
    return row(load.label(), NONE, Growth.class, "load", load.name());
  }

  private static Row row(String operation, double max, Class<?> benchmark) {
    return new Row(operation, max, method(benchmark, ""), Map.of());
  }

  private static Row row(
      String operation, double max, Class<?> benchmark, String parameter, String value) {
    return new Row(operation, max, method(benchmark, ""), Map.of(parameter, value));
  }

  private static Row inline(String operation, double max, String length, InlineSend.Source source) {
    return new Row(
        operation,
        max,
        method(InlineSend.class, ""),
        Map.of("length", length, "source", source.name()));
  }

  private static Row registering(String operation, boolean callerMemory, int bytes) {
    return new Row(
        operation,
        NONE,
        method(Registering.class, ""),
        Map.of("callerMemory", Boolean.toString(callerMemory), "bytes", Integer.toString(bytes)));
  }

  private static String method(Class<?> benchmark, String name) {
    return benchmark.getName() + "." + name;
  }

  /** Returns this row's comparison, by one thread. */
  Comparison in(Collection<RunResult> results, CallStyle style) {
    return in(results, style, 1);
  }

  /** Returns this row's comparison, by the given number of threads. */
  Comparison in(Collection<RunResult> results, CallStyle style, int threads) {
    return results.stream()
        .filter(result -> isOf(result, style, threads))
        .map(Comparison::new)
        .findAny()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "JMH has no result for "
                        + operation
                        + ", "
                        + style
                        + " calls, threads: "
                        + threads));
  }

  private boolean isOf(RunResult result, CallStyle style, int threads) {
    // The pool does not have this parameter.
    String actual = result.getParams().getParam("style");
    return result.getParams().getBenchmark().startsWith(benchmark)
        && (actual == null || actual.equals(style.name()))
        && result.getParams().getThreads() == threads
        && parameters.entrySet().stream()
            .allMatch(each -> each.getValue().equals(result.getParams().getParam(each.getKey())));
  }
}
