package org.rdma4j.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
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

/** Runs the benchmarks and prints their tables: {@code dev/bench}. */
public final class Bench {
  /** What plain calls may take of any operation of which it is said for critical ones. */
  private static final double MAX_PLAIN = 1.75;

  private static final int THREADS = 2;

  private final PrintStream out;
  private final List<RunResult> results = new ArrayList<>();
  private final List<Point> points = new ArrayList<>();

  private Bench(PrintStream out) {
    this.out = out;
  }

  /**
   * Measures for a quarter of an hour, or three minutes.
   *
   * @param arguments the file for JMH's results, as JSON; the file for what JMH says; the file to
   *     which points are appended; then "quick" for one JVM and few iterations of each, and nothing
   *     of growth
   * @throws RunnerException where a benchmark fails
   * @throws IOException where a file cannot be written
   */
  public static void main(String[] arguments) throws RunnerException, IOException {
    boolean quick = arguments.length > 3;
    Bench bench = new Bench(System.out);
    try (PrintStream log = new PrintStream(arguments[1], StandardCharsets.UTF_8)) {
      for (ChainedOptionsBuilder options : quick ? speed(true) : all()) {
        OutputFormat format = OutputFormatFactory.createFormatInstance(log, VerboseMode.NORMAL);
        bench.results.addAll(new Runner(options.build(), format).run());
      }
    }
    try (PrintStream json = new PrintStream(arguments[0], StandardCharsets.UTF_8)) {
      ResultFormatFactory.getInstance(ResultFormatType.JSON, json).writeOut(bench.results);
    }
    bench.printSpeed();
    if (!quick) {
      bench.printGrowth();
    }
    Point.append(Path.of(arguments[2]), bench.points);
  }

  private static List<ChainedOptionsBuilder> speed(boolean quick) {
    return List.of(
        including(options(quick), Row.EITHER_STYLE).param("style", CallStyle.CRITICAL.name()),
        // Its cost falls on whoever begins a safepoint: Safepoints measures it.
        including(options(quick), Row.EITHER_STYLE)
            .param("style", CallStyle.PLAIN.name())
            .jvmArgsAppend("-XX:+UseSystemMemoryBarrier"),
        // These know no styles.
        including(options(quick), List.of(Row.POOL, Row.SERIALIZED, Row.FIELD_BY_FIELD))
            .param("style", CallStyle.CRITICAL.name()));
  }

  private static List<ChainedOptionsBuilder> all() {
    List<ChainedOptionsBuilder> all = new ArrayList<>(speed(false));
    List<Row> growth = new ArrayList<>(Row.REGISTERING);
    growth.add(Row.of(Load.MIN));
    all.add(including(options(false), growth).param("style", CallStyle.CRITICAL.name()));
    all.add(
        including(options(false), List.of(Row.POOL, Row.of(Load.MIN)))
            .param("style", CallStyle.CRITICAL.name())
            .param("load", Load.MIN.name())
            .threads(THREADS));
    return all;
  }

  private static ChainedOptionsBuilder including(ChainedOptionsBuilder options, List<Row> rows) {
    rows.forEach(row -> options.include(Pattern.quote(row.benchmark())));
    return options;
  }

  private static ChainedOptionsBuilder options(boolean quick) {
    ChainedOptionsBuilder options =
        new OptionsBuilder().addProfiler(GCProfiler.class).shouldFailOnError(true);
    return quick ? options.forks(1).warmupIterations(30).measurementIterations(30) : options;
  }

  private void printSpeed() {
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
      String calls = style.name().toLowerCase(Locale.ROOT);
      for (Row row : Row.EITHER_STYLE) {
        Comparison comparison = row.in(results, style);
        // What critical calls may take is said for each row, what plain ones may for all of those.
        double max = style == CallStyle.CRITICAL || Double.isNaN(row.max()) ? row.max() : MAX_PLAIN;
        print(row.operation() + ", " + calls, max, comparison);
        points.add(new Point("Java / C", calls, row.operation(), comparison.ratio(0.5)));
      }
      for (int chain : List.of(1, 8, 16, 64)) {
        Comparison comparison = chainOf(chain).in(results, style);
        String x = Integer.toString(chain);
        points.add(new Point("ns each, by length of the chain", calls, x, comparison.java()));
        if (style == CallStyle.CRITICAL) {
          points.add(new Point("ns each, by length of the chain", "C", x, comparison.c()));
        }
      }
    }
    for (Row row : List.of(Row.POOL, Row.SERIALIZED, Row.FIELD_BY_FIELD)) {
      print(row.operation(), Double.NaN, row.in(results, CallStyle.CRITICAL));
    }
    printTimesOurs(Row.SERIALIZED, 1.8);
    printTimesOurs(Row.FIELD_BY_FIELD, 6);
  }

  private static Row chainOf(int length) {
    return length == 1
        ? Row.POST_AND_POLL
        : Row.EITHER_STYLE.stream()
            .filter(row -> row.operation().startsWith(length + " in a chain"))
            .findAny()
            .orElseThrow();
  }

  /** Through C, which ran beside each, as the two ran one after the other. */
  private void printTimesOurs(Row jni, double min) {
    double ours = Row.POST_AND_POLL.in(results, CallStyle.CRITICAL).ratio(0.5);
    double times = jni.in(results, CallStyle.CRITICAL).ratio(0.5) / ours;
    out.printf(
        Locale.ROOT,
        "%s: %.2f times ours (at least %.1f: %s)%n",
        jni.operation(),
        times,
        min,
        times >= min ? "met" : "MISSED");
  }

  private void printGrowth() {
    out.printf(
        "%n%-32s%9s%12s%9s%12s%15s%n",
        "post + poll with", "C -O2 ns", "Java ns/op", "Java / C", "C / least", "Java / least");
    Comparison min = Row.of(Load.MIN).in(results, CallStyle.CRITICAL);
    for (Load load : Load.values()) {
      printGrowth(load.words(), Row.of(load).in(results, CallStyle.CRITICAL), min);
    }
    Row one = Row.of(Load.MIN);
    printGrowth("2 threads", one.in(results, CallStyle.CRITICAL, THREADS), min);
    printGrowth(
        "pool, 2 threads",
        Row.POOL.in(results, CallStyle.CRITICAL, THREADS),
        Row.POOL.in(results, CallStyle.CRITICAL));
    out.printf("%n%-32s%9s%12s%9s%n", "", "C us", "Java us", "Java / C");
    for (Row row : Row.REGISTERING) {
      Comparison comparison = row.in(results, CallStyle.CRITICAL);
      out.printf(
          "%-32s%9s%12s%9s%n",
          row.operation(),
          number(comparison.c() / 1000),
          number(comparison.java() / 1000),
          number(comparison.ratio(0.5)));
    }
  }

  private void printGrowth(String name, Comparison comparison, Comparison min) {
    out.printf(
        "%-32s%9s%12s%9s%12s%15s%n",
        name,
        number(comparison.c()),
        number(comparison.java()),
        number(comparison.ratio(0.5)),
        number(comparison.c() / min.c()),
        number(comparison.java() / min.java()));
    points.add(new Point("ns, by what there is much of", "Java", name, comparison.java()));
    if (!Double.isNaN(comparison.c())) {
      points.add(new Point("ns, by what there is much of", "C", name, comparison.c()));
    }
  }

  private void print(String name, double max, Comparison comparison) {
    out.printf(
        "%-32s%9s%12s%12s%9s%18s%12s%7s%22s%n",
        name,
        number(comparison.c()),
        number(comparison.unmerged()),
        number(comparison.java()),
        number(comparison.ratio(0.5)),
        Double.isNaN(comparison.c())
            ? "-"
            : number(comparison.ratio(0.25)) + " to " + number(comparison.ratio(0.75)),
        number(comparison.ratioToUnmerged()),
        number(comparison.bytes()),
        Double.isNaN(max) ? "" : verdict(max, comparison));
  }

  private static String number(double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%.2f", value);
  }

  private static String verdict(double max, Comparison comparison) {
    // JMH itself allocates some bytes in an iteration.
    boolean met = comparison.ratio(0.5) <= max && comparison.bytes() < 0.1;
    return String.format(Locale.ROOT, "%.2f, 0 B: %s", max, met ? "met" : "MISSED");
  }
}
