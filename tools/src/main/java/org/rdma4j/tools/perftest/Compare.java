package org.rdma4j.tools.perftest;

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rdma4j.tools.command.DebugOption;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.OptionRange;
import org.rdma4j.tools.command.Progress;
import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a program of perftest and ours in turn, and prints how their figures compare. */
@Command(
    description = {
      "Runs a program of perftest and ours in turn with the same options, in pairs, and prints the"
          + " ratios of Java's figure to C's.",
      "Without --server both sides run on this machine, each in the language that is measured. With"
          + " --server only the clients run here; on the server, run perftest in a loop, such as:"
          + " while ib_send_lat -s 64; do :; done",
      "The options of both programs follow --. The JVMs that are measured get the options of this"
          + " JVM. A program is slow until it is compiled: give a large -n, and --warmup for the"
          + " part of it that Java's figure leaves out.",
      "Example: compare send-lat -N 9 --warmup 50000 -- -s 64 -n 100000"
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Compare implements Runnable {
  private static final String MAIN = "org.rdma4j.tools.Main";
  private static final List<String> PROGRAMS =
      List.of(
          "send-lat",
          "send-bw",
          "write-lat",
          "write-bw",
          "read-lat",
          "read-bw",
          "atomic-lat",
          "atomic-bw");
  private static final int DEFAULT_PORT = 18515;
  private static final int ATTEMPTS = 5;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "PROGRAM",
      description =
          "send-lat, send-bw, write-lat, write-bw, read-lat, read-bw, atomic-lat or atomic-bw")
  String program = "";

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "OPTION",
      description = "after --: the options of both programs, without a server")
  List<String> options = List.of();

  @Option(
      names = {"-N", "--pairs"},
      paramLabel = "COUNT",
      description = "the number of pairs (default: ${DEFAULT-VALUE})")
  int pairs = 7;

  @Option(
      names = "--server",
      paramLabel = "HOST",
      description = "a host on which the server of perftest runs in a loop (default: this machine)")
  @Nullable String server;

  @Option(
      names = "--warmup",
      paramLabel = "COUNT",
      description =
          "the number of messages at the beginning that Java's figure leaves out"
              + " (default: ${DEFAULT-VALUE})")
  long warmup;

  @Option(
      names = "--pin",
      description = "run each server on processor 0 and each client on processor 1 (taskset)")
  boolean pinned;

  @Option(
      names = "--limit",
      paramLabel = "SECONDS",
      description = "how long one test may take (default: ${DEFAULT-VALUE})")
  int limit = 600;

  @Mixin final DebugOption debug = new DebugOption();

  @Override
  public void run() {
    if (!PROGRAMS.contains(program)) {
      throw misuse(
          "PROGRAM is %s, must be one of %s".formatted(program, String.join(", ", PROGRAMS)));
    }
    OptionRange.check(spec, "-N", pairs, 1, 1000);
    OptionRange.check(spec, "--limit", limit, 1, 1_000_000);
    if (options.stream().anyMatch(each -> each.startsWith("--output"))) {
      throw misuse("--output is not possible here: the results are read from the table");
    }
    Figure figure = Figure.of(program, options);
    Ratios ratios = new Ratios();
    PrintWriter out = spec.commandLine().getOut();
    out.println(
        "%s %s: %s, %s"
            .formatted(program, String.join(" ", options), figure.title(), figure.direction()));
    onlyFirstCompiler(inputArguments()).ifPresent(out::println);
    out.printf("%6s %14s %14s %8s%n", "pair", "C", "Java", "ratio");
    Thread interruption = new Thread(() -> conclude(out, ratios), "compare-interruption");
    Runtime.getRuntime().addShutdownHook(interruption);
    try {
      compare(figure, ratios, out);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted after %d pairs".formatted(ratios.count()), interrupted);
    } finally {
      remove(interruption);
    }
    conclude(out, ratios);
  }

  private static List<String> inputArguments() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments();
  }

  /** Returns a note if the measured JVMs, which get these options, do not compile for speed. */
  static Optional<String> onlyFirstCompiler(List<String> jvmOptions) {
    return jvmOptions.stream()
        .filter(each -> each.matches("-XX:TieredStopAtLevel=[0-3]"))
        .reduce((earlier, later) -> later)
        .map(
            option ->
                "note: with "
                    + option
                    + " only the first compiler runs, so Java is slower than it can be");
  }

  private static void remove(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // Ctrl-C: the hook prints what there is.
    }
  }

  private void compare(Figure figure, Ratios ratios, PrintWriter out) throws InterruptedException {
    Contender c = contender("C", inC());
    Contender java = contender("Java", inJava());
    Progress progress = new Progress(spec.commandLine().getErr(), false);
    for (int pair = 1; pair <= pairs; pair++) {
      int number = pair;
      progress.show(() -> "pair %d of %d".formatted(number, pairs));
      // By turns, so that neither gains from a machine that becomes slower or faster.
      boolean first = pair % 2 == 1;
      double one = measure(figure, first ? c : java);
      double other = measure(figure, first ? java : c);
      double inC = first ? one : other;
      double inJava = first ? other : one;
      progress.end();
      synchronized (ratios) {
        ratios.add(inJava / inC);
      }
      out.printf(Locale.ROOT, "%6d %14.2f %14.2f %8.3f%n", pair, inC, inJava, inJava / inC);
      out.flush();
    }
  }

  /** Repeats a test whose clock was unusable. */
  private double measure(Figure figure, Contender contender) throws InterruptedException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      List<String> output = contender.run(server);
      double value =
          figure
              .in(output)
              .orElseThrow(
                  () ->
                      new Failure(
                          "%s printed no result: %s"
                              .formatted(contender.name(), String.join(" | ", output))));
      if (value > 0 && Double.isFinite(value)) {
        return value;
      }
    }
    throw new Failure(
        "%s printed no usable %s in %d tests; use a larger -n, on a machine with less other work"
            .formatted(contender.name(), figure.title(), ATTEMPTS));
  }

  private static void conclude(PrintWriter out, Ratios ratios) {
    synchronized (ratios) {
      if (ratios.count() > 0) {
        out.println(ratios.summary());
        out.println(ratios.conclusion());
        out.flush();
      }
    }
  }

  private Contender contender(String name, List<String> command) {
    return new Contender(
        name,
        command,
        port(),
        options.contains("-R") || options.contains("--rdma_cm"),
        pinned,
        Duration.ofSeconds(limit));
  }

  private List<String> inC() {
    List<String> command = new ArrayList<>();
    command.add("ib_" + program.replace('-', '_'));
    command.add("-F");
    command.addAll(options);
    return command;
  }

  private List<String> inJava() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(inputArguments());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN, program));
    command.addAll(options);
    if (warmup > 0) {
      command.addAll(List.of("--warmup", String.valueOf(warmup)));
    }
    return command;
  }

  private int port() {
    int at = Math.max(options.indexOf("-p"), options.indexOf("--port"));
    try {
      return at < 0 || at + 1 == options.size()
          ? DEFAULT_PORT
          : Integer.parseInt(options.get(at + 1));
    } catch (NumberFormatException invalid) {
      throw misuse("-p is %s, must be a number".formatted(options.get(at + 1)));
    }
  }

  private ParameterException misuse(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
