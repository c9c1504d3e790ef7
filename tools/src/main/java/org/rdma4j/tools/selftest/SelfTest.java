package org.rdma4j.tools.selftest;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.tools.command.CmAddress;
import org.rdma4j.tools.command.DebugOption;
import org.rdma4j.tools.command.DeviceOptions;
import org.rdma4j.tools.command.Json;
import org.rdma4j.tools.command.OptionRange;
import org.rdma4j.tools.command.Version;
import org.rdma4j.tools.selftest.CheckResult.CheckVerdict;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Tests a device with all that the library does on it, and prints a report. */
@Command(
    description = {
      "Tests an RDMA device alone: exchanges data of each kind between two queue pairs and over a"
          + " connection to itself, compares every byte, and compares queues of mlx5 that are used in"
          + " place, without libmlx5, with those of libmlx5.",
      "Please send the report to the project, in particular if something failed, or if the device is"
          + " an adapter: https://github.com/rdma4j/rdma4j/issues"
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:no check failed", "1:a check failed", "2:wrong usage"})
public final class SelfTest implements Callable<Integer> {
  private static final int MAX_REQUESTS = 100_000_000;
  private static final int MAX_SECONDS = 1_000_000;

  private final Supplier<List<SelfCheck>> checks;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "DEVICE",
      description = "the RDMA device, such as mlx5_0 (default: the first one)")
  @Nullable String device;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "the port of the RDMA device (default: ${DEFAULT-VALUE})")
  int port = 1;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      description = "how many requests of each kind are posted (default: ${DEFAULT-VALUE})")
  int count = 2000;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "the longest time that a check may take (default: ${DEFAULT-VALUE})")
  int seconds = 60;

  @Option(
      names = "--json",
      description = "print one JSON object; the lines of the checks go to standard error")
  boolean json;

  @Mixin final DebugOption debug = new DebugOption();

  /** Creates the program, with all checks. */
  public SelfTest() {
    this(SelfTest::all);
  }

  SelfTest(Supplier<List<SelfCheck>> checks) {
    this.checks = checks;
  }

  private static List<SelfCheck> all() {
    List<SelfCheck> all = new ArrayList<>();
    all.add(new QueryCheck());
    all.add(new RegionCheck());
    for (RequestKind kind : RequestKind.values()) {
      all.add(new RequestCheck(kind));
    }
    all.add(new ExtendedCheck());
    all.add(new LongMessageCheck());
    all.add(new DatagramCheck());
    all.add(new SharedReceiveCheck());
    all.add(new WindowCheck());
    all.add(new WrongKeyCheck());
    all.add(new EventCheck());
    all.add(new EchoCheck());
    all.add(new PeerMemoryCheck());
    all.add(new InPlaceCheck());
    // The last one: the others have loaded all classes and opened the files that stay open.
    all.add(new DescriptorCheck());
    return all;
  }

  @Override
  public Integer call() throws InterruptedException {
    OptionRange.check(spec, "-i", port, 1, 255);
    OptionRange.check(spec, "-n", count, 1, MAX_REQUESTS);
    OptionRange.check(spec, "--timeout", seconds, 1, MAX_SECONDS);
    String name = DeviceOptions.selected(device).get(0).name();
    TestedDevice tested = new TestedDevice(name, port, count, CmAddress.of(name));
    PrintWriter lines = json ? spec.commandLine().getErr() : spec.commandLine().getOut();
    Map<String, Object> facts = new ReportFacts(tested).all();
    facts.forEach((what, value) -> lines.println("%-12s%s".formatted(what, value)));
    List<CheckResult> results = new ArrayList<>();
    CheckRun run = new CheckRun(tested, Duration.ofSeconds(seconds));
    for (SelfCheck check : checks.get()) {
      // The line ends with the result, so that a user sees which check runs.
      lines.print("%-24s".formatted(check.name()));
      lines.flush();
      results.add(run.run(check));
      lines.println(results.getLast().text());
    }
    long failed = of(results, CheckVerdict.FAILED).count();
    lines.println(
        "%d checks: %d passed, %d failed, %d not supported by the device"
            .formatted(
                results.size(),
                of(results, CheckVerdict.PASSED).count(),
                failed,
                of(results, CheckVerdict.NOT_SUPPORTED).count()));
    if (json) {
      List<Object> checked = results.stream().<Object>map(CheckResult::json).toList();
      spec.commandLine()
          .getOut()
          .println(Json.text(Json.object("facts", facts, "failed", failed, "checks", checked)));
    }
    return failed == 0 ? 0 : 1;
  }

  private static Stream<CheckResult> of(List<CheckResult> results, CheckVerdict verdict) {
    return results.stream().filter(each -> each.verdict() == verdict);
  }
}
