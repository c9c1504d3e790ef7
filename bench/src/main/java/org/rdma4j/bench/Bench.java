package org.rdma4j.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.rdma4j.verbs.CallStyle;

/** Runs the benchmarks and prints one table: {@code dev/bench}. */
public final class Bench {
  /**
   * A line of the table.
   *
   * @param benchmark how the name of its method begins
   * @param parameter of the benchmark, or empty
   * @param value of the parameter
   * @param most times what C takes that critical calls may take; NaN where that is not said
   */
  private record Row(
      String benchmark, String parameter, String value, String operation, double most) {
    Row(Class<? extends AgainstC> benchmark, String operation, double most) {
      this(benchmark, "", "", operation, most);
    }

    Row(
        Class<? extends AgainstC> benchmark,
        String parameter,
        String value,
        String operation,
        double most) {
      this(benchmark.getName() + ".", parameter, value, operation, most);
    }

    boolean isOf(RunResult result) {
      return result.getParams().getBenchmark().startsWith(benchmark)
          && (parameter.isEmpty() || result.getParams().getParam(parameter).equals(value));
    }
  }

  /** What plain calls may take of any of them. */
  private static final double MOST_PLAIN = 1.75;

  private static final double NONE = Double.NaN;
  private static final String POOL = PoolCycle.class.getName() + ".";
  private static final String JNI = JniPostAndPoll.class.getName() + ".";
  private static final Row SERIALIZED =
      new Row(JNI + "serialized", "", "", "JNI, request serialised", NONE);
  private static final Row FIELD_BY_FIELD =
      new Row(JNI + "fieldByField", "", "", "JNI, field by field", NONE);
  private static final List<Row> ROWS =
      List.of(
          new Row(PostAndPoll.class, "post + poll", 1.35),
          new Row(ExtendedPostAndPoll.class, "calls", "EXTENDED_POST", "wr_* + poll", NONE),
          new Row(
              ExtendedPostAndPoll.class, "calls", "EXTENDED_POLL", "post + extended poll", NONE),
          new Row(ExtendedPostAndPoll.class, "calls", "EXTENDED", "wr_* + extended poll", 1.6),
          new Row(InlineSend.class, "length", "16", "inline 16 B + poll", 1.4),
          new Row(InlineSend.class, "length", "64", "inline 64 B + poll", 1.4),
          new Row(RemoteRead.class, "RDMA read + poll", 1.35),
          new Row(RemoteWrite.class, "RDMA write + poll", 1.35),
          new Row(PostChain.class, "chain", "8", "8 in a chain, each", NONE),
          new Row(PostChain.class, "chain", "16", "16 in a chain, each", 1.35),
          new Row(PostChain.class, "chain", "64", "64 in a chain, each", NONE),
          new Row(SelectiveSignaling.class, "each 64th signalled", NONE),
          new Row(EmptyPoll.class, "empty poll", 2));

  private Bench() {}

  /**
   * Measures for some ten minutes, or three.
   *
   * @param arguments the file for JMH's results, as JSON; the file for what JMH says; then "quick"
   *     for one JVM and few iterations of each
   * @throws RunnerException where a benchmark fails
   * @throws IOException where a file cannot be written
   */
  public static void main(String[] arguments) throws RunnerException, IOException {
    boolean quick = arguments.length > 2;
    List<RunResult> results = new ArrayList<>();
    try (PrintStream log = new PrintStream(arguments[1], StandardCharsets.UTF_8)) {
      ChainedOptionsBuilder ours =
          options(quick).include(Bench.class.getPackageName()).exclude(Pattern.quote(JNI));
      // JNI has one way to call.
      ChainedOptionsBuilder jni =
          options(quick).include(Pattern.quote(JNI)).param("style", CallStyle.CRITICAL.name());
      for (ChainedOptionsBuilder options : List.of(ours, jni)) {
        OutputFormat format = OutputFormatFactory.createFormatInstance(log, VerboseMode.NORMAL);
        results.addAll(new Runner(options.build(), format).run());
      }
    }
    try (PrintStream json = new PrintStream(arguments[0], StandardCharsets.UTF_8)) {
      ResultFormatFactory.getInstance(ResultFormatType.JSON, json).writeOut(results);
    }
    PrintStream out = System.out;
    out.printf(
        "%-32s%9s%12s%12s%9s%18s%12s%7s%22s%n",
        "operation",
        "C -O2 ns",
        "unmerged ns",
        "Java ns/op",
        "Java / C",
        "quartiles",
        "/ unmerged",
        "B/op",
        "at most");
    for (CallStyle style : List.of(CallStyle.CRITICAL, CallStyle.PLAIN)) {
      for (Row row : ROWS) {
        String name = row.operation + ", " + style.name().toLowerCase(Locale.ROOT);
        // What critical calls may take is said for each row, what plain ones may for all of those.
        double most = style == CallStyle.CRITICAL || Double.isNaN(row.most) ? row.most : MOST_PLAIN;
        print(out, name, most, new Comparison(find(results, row, style)));
      }
    }
    RunResult pool =
        results.stream()
            .filter(result -> result.getParams().getBenchmark().startsWith(POOL))
            .findAny()
            .orElseThrow(() -> new IllegalStateException("no result of the pool"));
    print(out, "pool: acquire + release", NONE, new Comparison(pool));
    for (Row row : List.of(SERIALIZED, FIELD_BY_FIELD)) {
      print(out, row.operation, NONE, new Comparison(find(results, row, CallStyle.CRITICAL)));
    }
    printTimesOurs(out, results, SERIALIZED, 1.8);
    printTimesOurs(out, results, FIELD_BY_FIELD, 6);
  }

  private static ChainedOptionsBuilder options(boolean quick) {
    ChainedOptionsBuilder options =
        new OptionsBuilder().addProfiler(GCProfiler.class).shouldFailOnError(true);
    return quick ? options.forks(1).warmupIterations(30).measurementIterations(30) : options;
  }

  /** Through C, which ran beside each, as the two ran one after the other. */
  private static void printTimesOurs(
      PrintStream out, Collection<RunResult> results, Row jni, double least) {
    Comparison ours = new Comparison(find(results, ROWS.get(0), CallStyle.CRITICAL));
    Comparison other = new Comparison(find(results, jni, CallStyle.CRITICAL));
    double times = other.ratio(0.5) / ours.ratio(0.5);
    out.printf(
        Locale.ROOT,
        "%s: %.2f times ours (at least %.1f: %s)%n",
        jni.operation,
        times,
        least,
        times >= least ? "met" : "MISSED");
  }

  private static RunResult find(Collection<RunResult> results, Row row, CallStyle style) {
    return results.stream()
        .filter(row::isOf)
        .filter(result -> result.getParams().getParam("style").equals(style.name()))
        .findAny()
        .orElseThrow(() -> new IllegalStateException("no result of " + row.operation));
  }

  private static void print(PrintStream out, String name, double most, Comparison comparison) {
    out.printf(
        Locale.ROOT,
        "%-32s%9s%12s%12s%9s%18s%12s%7s%22s%n",
        name,
        number(comparison.c()),
        number(comparison.unmerged()),
        number(comparison.java()),
        number(comparison.ratio(0.5)),
        number(comparison.ratio(0.25)) + " to " + number(comparison.ratio(0.75)),
        number(comparison.ratioToUnmerged()),
        number(comparison.bytes()),
        Double.isNaN(most) ? "" : verdict(most, comparison));
  }

  private static String number(double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%.2f", value);
  }

  private static String verdict(double most, Comparison comparison) {
    // JMH itself allocates some bytes in an iteration.
    boolean met = comparison.ratio(0.5) <= most && comparison.bytes() < 0.1;
    return String.format(Locale.ROOT, "%.2f, 0 B: %s", most, met ? "met" : "MISSED");
  }
}
