package org.rdma4j.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
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
import org.rdma4j.bench.loops.Load;
import org.rdma4j.bench.reporting.Point;
import org.rdma4j.bench.reporting.Row;
import org.rdma4j.bench.reporting.Tables;
import org.rdma4j.bench.standin.CallStyle;

/** Runs the JMH benchmarks and prints their tables: {@code dev/bench}. */
public final class Bench {
  private Bench() {}

  /**
   * Measures for a quarter of an hour, for ten minutes if only posts, or for three minutes if
   * quick.
   *
   * @param arguments the file for JMH's results, as JSON; the file for JMH's log; the file to which
   *     points are appended; then, optionally, "posts" to leave out registrations and the
   *     benchmarks under load, with fewer iterations, or "quick" for the same in one JVM instead of
   *     three
   * @throws RunnerException if a benchmark fails
   * @throws IOException if a file cannot be written
   */
  public static void main(String[] arguments) throws RunnerException, IOException {
    boolean all = arguments.length == 3;
    int jvms = !all && arguments[3].equals("quick") ? 1 : 3;
    List<RunResult> results = new ArrayList<>();
    try (PrintStream log = new PrintStream(arguments[1], StandardCharsets.UTF_8)) {
      for (ChainedOptionsBuilder options : all ? all() : speed(() -> brief(jvms))) {
        OutputFormat format = OutputFormatFactory.createFormatInstance(log, VerboseMode.NORMAL);
        results.addAll(new Runner(options.build(), format).run());
      }
    }
    try (PrintStream json = new PrintStream(arguments[0], StandardCharsets.UTF_8)) {
      ResultFormatFactory.getInstance(ResultFormatType.JSON, json).writeOut(results);
    }
    Tables tables = new Tables(System.out, results);
    tables.printSpeed();
    if (all) {
      tables.printGrowth();
      tables.printRegistering();
    }
    Point.append(Path.of(arguments[2]), tables.points());
  }

  private static List<ChainedOptionsBuilder> speed(Supplier<ChainedOptionsBuilder> options) {
    return List.of(
        including(options.get(), Row.EITHER_STYLE).param("style", CallStyle.CRITICAL.name()),
        // The thread that starts a safepoint pays for this option: Safepoints measures that.
        including(options.get(), Row.EITHER_STYLE)
            .param("style", CallStyle.PLAIN.name())
            .jvmArgsAppend("-XX:+UseSystemMemoryBarrier"),
        // The style makes no difference to these.
        including(options.get(), List.of(Row.POOL, Row.SERIALIZED, Row.FIELD_BY_FIELD))
            .param("style", CallStyle.CRITICAL.name()));
  }

  private static List<ChainedOptionsBuilder> all() {
    List<ChainedOptionsBuilder> all = new ArrayList<>(speed(Bench::options));
    List<Row> growth = new ArrayList<>(Row.REGISTERING);
    growth.add(Row.of(Load.BASE));
    all.add(including(options(), growth).param("style", CallStyle.CRITICAL.name()));
    all.add(
        including(options(), List.of(Row.POOL, Row.of(Load.BASE)))
            .param("style", CallStyle.CRITICAL.name())
            .param("load", Load.BASE.name())
            .threads(Tables.THREADS));
    return all;
  }

  private static ChainedOptionsBuilder including(ChainedOptionsBuilder options, List<Row> rows) {
    rows.forEach(row -> options.include(Pattern.quote(row.benchmark())));
    return options;
  }

  private static ChainedOptionsBuilder options() {
    return new OptionsBuilder().addProfiler(GCProfiler.class).shouldFailOnError(true);
  }

  private static ChainedOptionsBuilder brief(int jvms) {
    return options().forks(jvms).warmupIterations(30).measurementIterations(30);
  }
}
