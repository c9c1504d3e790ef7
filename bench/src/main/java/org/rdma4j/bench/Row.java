package org.rdma4j.bench;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.results.RunResult;
import org.rdma4j.verbs.CallStyle;

/**
 * A line of the table: which results it shows.
 *
 * @param operation what was done
 * @param max times what C takes that critical calls may take; NaN where that is not said
 * @param benchmark how the name of the benchmark's method begins
 * @param parameters of the benchmark that have these values
 */
record Row(String operation, double max, String benchmark, Map<String, String> parameters) {
  private static final double NONE = Double.NaN;

  /** What is done by either style of calls. */
  static final List<Row> EITHER_STYLE =
      List.of(
          row("post + poll", 1.35, PostAndPoll.class),
          row("wr_* + poll", NONE, ExtendedPostAndPoll.class, "calls", "EXTENDED_POST"),
          row("post + extended poll", NONE, ExtendedPostAndPoll.class, "calls", "EXTENDED_POLL"),
          row("wr_* + extended poll", 1.6, ExtendedPostAndPoll.class, "calls", "EXTENDED"),
          row("inline 16 B + poll", 1.4, InlineSend.class, "length", "16"),
          row("inline 64 B + poll", 1.4, InlineSend.class, "length", "64"),
          row("RDMA read + poll", 1.35, RemoteRead.class),
          row("RDMA write + poll", 1.35, RemoteWrite.class),
          row("8 in a chain, each", NONE, PostChain.class, "chain", "8"),
          row("16 in a chain, each", 1.35, PostChain.class, "chain", "16"),
          row("64 in a chain, each", NONE, PostChain.class, "chain", "64"),
          row("each 64th signalled", NONE, SelectiveSignaling.class),
          row("empty poll", 2, EmptyPoll.class));

  static final Row POST_AND_POLL = EITHER_STYLE.get(0);
  static final Row POOL = row("pool: acquire + release", NONE, PoolCycle.class);
  static final Row SERIALIZED =
      new Row(
          "JNI, request serialised", NONE, method(JniPostAndPoll.class, "serialized"), Map.of());
  static final Row FIELD_BY_FIELD =
      new Row("JNI, field by field", NONE, method(JniPostAndPoll.class, "fieldByField"), Map.of());

  static final List<Row> REGISTERING =
      List.of(
          registering("register 4 KiB", true, 4096),
          registering("register 1 MiB", true, 1 << 20),
          registering("allocate, register 4 KiB", false, 4096),
          registering("allocate, register 1 MiB", false, 1 << 20));

  static Row of(Load load) {
    return row(load.words(), NONE, Growth.class, "load", load.name());
  }

  private static Row row(String operation, double max, Class<?> benchmark) {
    return new Row(operation, max, method(benchmark, ""), Map.of());
  }

  private static Row row(
      String operation, double max, Class<?> benchmark, String parameter, String value) {
    return new Row(operation, max, method(benchmark, ""), Map.of(parameter, value));
  }

  private static Row registering(String operation, boolean callers, int bytes) {
    return new Row(
        operation,
        NONE,
        method(Registering.class, ""),
        Map.of("callers", Boolean.toString(callers), "bytes", Integer.toString(bytes)));
  }

  private static String method(Class<?> benchmark, String name) {
    return benchmark.getName() + "." + name;
  }

  Comparison in(Collection<RunResult> results, CallStyle style) {
    return in(results, style, 1);
  }

  Comparison in(Collection<RunResult> results, CallStyle style, int threads) {
    return results.stream()
        .filter(result -> isOf(result, style, threads))
        .map(Comparison::new)
        .findAny()
        .orElseThrow(() -> new IllegalStateException("no result of " + operation));
  }

  private boolean isOf(RunResult result, CallStyle style, int threads) {
    // The pool has no style.
    String itsStyle = result.getParams().getParam("style");
    return result.getParams().getBenchmark().startsWith(benchmark)
        && (itsStyle == null || itsStyle.equals(style.name()))
        && result.getParams().getThreads() == threads
        && parameters.entrySet().stream()
            .allMatch(each -> each.getValue().equals(result.getParams().getParam(each.getKey())));
  }
}
