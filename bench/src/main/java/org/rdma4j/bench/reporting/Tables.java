package org.rdma4j.bench.reporting;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.results.RunResult;
import org.rdma4j.bench.loops.Load;
import org.rdma4j.bench.standin.CallStyle;

/** The tables of JMH's results. Whatever a table prints, it also keeps as points for charts. */
public final class Tables {
  /** The number of threads in the rows with several threads. */
  public static final int THREADS = 2;

  private static final String CHART_OF_RATIOS = "Java / C";
  private static final String CHART_OF_CHAINS = "ns each, by length of the chain";
  private static final String CHART_OF_LOADS = "ns, by load";

  private final PrintStream out;
  private final List<RunResult> results;
  private final List<Point> points = new ArrayList<>();

  /**
   * Creates the tables of some results.
   *
   * @param out where the tables are printed
   * @param results JMH's results
   */
  public Tables(PrintStream out, Collection<RunResult> results) {
    this.out = out;
    this.results = List.copyOf(results);
  }

  /**
   * Returns what was printed so far.
   *
   * @return the points for charts
   */
  public List<Point> points() {
    return List.copyOf(points);
  }

  /** Prints the time of each operation by either style of calls, of a pool, and over JNI. */
  public void printSpeed() {
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
        print(row.operation() + ", " + calls, row.max(), comparison);
        points.add(new Point(CHART_OF_RATIOS, calls, row.operation(), comparison.ratio(0.5)));
        points.addAll(Summary.points(row.operation(), calls, row.max(), comparison));
      }
      for (int length : List.of(1, 8, 16, 64)) {
        Comparison comparison = chainOf(length).in(results, style);
        String x = Integer.toString(length);
        points.add(new Point(CHART_OF_CHAINS, calls, x, comparison.java()));
        if (style == CallStyle.CRITICAL) {
          points.add(new Point(CHART_OF_CHAINS, "C", x, comparison.c()));
        }
      }
    }
    for (Row row : List.of(Row.POOL, Row.SERIALIZED, Row.FIELD_BY_FIELD)) {
      Comparison comparison = row.in(results, CallStyle.CRITICAL);
      print(row.operation(), Double.NaN, comparison);
      points.addAll(Summary.points(row.operation(), "critical", Double.NaN, comparison));
    }
    printMultiple(Row.SERIALIZED, Row.PREPARED, 2);
    printMultiple(Row.FIELD_BY_FIELD, Row.POST_AND_POLL, 6);
  }

  private static Row chainOf(int length) {
    return length == 1
        ? Row.POST_AND_POLL
        : Row.EITHER_STYLE.stream()
            .filter(row -> row.operation().startsWith(length + " in a chain"))
            .findAny()
            .orElseThrow();
  }

  /** Prints how many times as long JNI takes as the safe API. The two ran one after the other. */
  private void printMultiple(Row jni, Row safe, double min) {
    double multiple =
        jni.in(results, CallStyle.CRITICAL).java() / safe.in(results, CallStyle.CRITICAL).java();
    out.printf(
        Locale.ROOT,
        "%s: %.2f times as long as %s (aim: at least %.1f times, %s)%n",
        jni.operation(),
        multiple,
        safe.operation(),
        min,
        multiple >= min ? "met" : "MISSED");
  }

  /** Prints the time of a post and a poll under each load and by several threads. */
  public void printGrowth() {
    out.printf(
        "%n%-32s%9s%12s%9s%12s%15s%n",
        "post + poll with", "C -O2 ns", "Java ns/op", "Java / C", "C / base", "Java / base");
    Row baseRow = Row.of(Load.BASE);
    Comparison base = baseRow.in(results, CallStyle.CRITICAL);
    for (Load load : Load.values()) {
      printGrowth(load.label(), Row.of(load).in(results, CallStyle.CRITICAL), base);
    }
    printGrowth("2 threads", baseRow.in(results, CallStyle.CRITICAL, THREADS), base);
    printGrowth(
        "pool, 2 threads",
        Row.POOL.in(results, CallStyle.CRITICAL, THREADS),
        Row.POOL.in(results, CallStyle.CRITICAL));
  }

  private void printGrowth(String name, Comparison comparison, Comparison base) {
    out.printf(
        "%-32s%9s%12s%9s%12s%15s%n",
        name,
        number(comparison.c()),
        number(comparison.java()),
        number(comparison.ratio(0.5)),
        number(comparison.c() / base.c()),
        number(comparison.java() / base.java()));
    points.add(new Point(CHART_OF_LOADS, "Java", name, comparison.java()));
    if (!Double.isNaN(comparison.c())) {
      points.add(new Point(CHART_OF_LOADS, "C", name, comparison.c()));
    }
  }

  /** Prints the time to register memory and to close the region. */
  public void printRegistering() {
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
