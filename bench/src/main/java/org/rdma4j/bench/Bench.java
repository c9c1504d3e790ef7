package org.rdma4j.bench;

import java.io.PrintStream;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.rdma4j.verbs.CallStyle;

/** Runs the benchmarks and prints one table: {@code dev/bench}. */
public final class Bench {
  private record Row(Class<? extends AgainstC> benchmark, String operation, double most) {}

  private static final double NONE = Double.NaN;
  private static final List<Row> ROWS =
      List.of(
          new Row(PostAndPoll.class, "post + poll", 1.7),
          new Row(EmptyPoll.class, "empty poll", 3),
          new Row(PostChain.class, "16 in a chain, each", NONE));

  private Bench() {}

  /**
   * Measures for two minutes.
   *
   * @param arguments the file for JMH's results, as JSON, and the file for what JMH says
   * @throws RunnerException where a benchmark fails
   */
  public static void main(String[] arguments) throws RunnerException {
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .include(Bench.class.getPackageName())
                    .addProfiler(GCProfiler.class)
                    .shouldFailOnError(true)
                    .resultFormat(ResultFormatType.JSON)
                    .result(arguments[0])
                    .output(arguments[1])
                    .build())
            .run();
    PrintStream out = System.out;
    out.printf(
        "%-32s%9s%12s%9s%18s%7s%22s%n",
        "operation", "C ns/op", "Java ns/op", "Java / C", "quartiles", "B/op", "at most");
    for (CallStyle style : List.of(CallStyle.CRITICAL, CallStyle.PLAIN)) {
      for (Row row : ROWS) {
        print(out, row, style, new Comparison(find(results, row, style)));
      }
    }
  }

  private static RunResult find(Collection<RunResult> results, Row row, CallStyle style) {
    return results.stream()
        .filter(result -> result.getParams().getBenchmark().startsWith(row.benchmark.getName()))
        .filter(result -> result.getParams().getParam("style").equals(style.name()))
        .findAny()
        .orElseThrow(() -> new IllegalStateException("no result of " + row.operation));
  }

  private static void print(PrintStream out, Row row, CallStyle style, Comparison comparison) {
    boolean aimed = style == CallStyle.CRITICAL && !Double.isNaN(row.most);
    out.printf(
        Locale.ROOT,
        "%-32s%9.2f%12.2f%9.2f%18s%7.2f%22s%n",
        row.operation + ", " + style.name().toLowerCase(Locale.ROOT),
        comparison.c(),
        comparison.java(),
        comparison.ratio(0.5),
        String.format(Locale.ROOT, "%.2f to %.2f", comparison.ratio(0.25), comparison.ratio(0.75)),
        comparison.bytes(),
        aimed ? verdict(row.most, comparison) : "0 B");
  }

  private static String verdict(double most, Comparison comparison) {
    // JMH itself allocates some bytes in an iteration.
    boolean met = comparison.ratio(0.5) <= most && comparison.bytes() < 0.1;
    return String.format(Locale.ROOT, "%.1f, 0 B: %s", most, met ? "met" : "MISSED");
  }
}
