package org.rdma4j.tools.gain;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rdma4j.nio.ChannelStatistics;
import org.rdma4j.nio.RdmaSelectorProvider;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.OptionRange;
import org.rdma4j.tools.command.Progress;
import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures between two machines what channels over RDMA bring compared with TCP. */
@Command(
    description = {
      "Measures what upgraded channels of java.nio bring compared with TCP between two machines:"
          + " echoes and streams, with blocking channels, the processor time of both sides, and"
          + " says whether RDMA is worth it.",
      "Run it with --serve on one machine, and with that machine's name on the other.",
      "Example: gain --serve; on the other machine: gain server-1"
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Gain implements Runnable {
  private static final Duration UPGRADE_TIME = Duration.ofSeconds(20);
  private static final int LAST_PORT = 65534;
  private static final int MAX_BYTES = 64 << 20;
  private static final int MAX_CONNECTIONS = 10_000;
  private static final int MAX_SECONDS = 3600;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "HOST",
      description = "the machine where gain --serve runs")
  String host = "";

  @Option(
      names = "--serve",
      description = "serve measurements of other machines until this is interrupted")
  boolean serves;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "the first of two TCP ports of the server (default: ${DEFAULT-VALUE})")
  int port = 18600;

  @Option(
      names = {"-c", "--connections"},
      split = ",",
      paramLabel = "COUNT",
      description = "how many connections at the same time (default: ${DEFAULT-VALUE})")
  List<Integer> connections = List.of(1, 8, 64);

  @Option(
      names = {"-s", "--size"},
      split = ",",
      paramLabel = "BYTES",
      description = "the lengths of messages (default: ${DEFAULT-VALUE})")
  List<Integer> sizes = List.of(64, 4096, 65536, 1 << 20);

  @Option(
      names = {"-D", "--duration"},
      paramLabel = "SECONDS",
      description = "how long each measurement takes (default: ${DEFAULT-VALUE})")
  int seconds = 3;

  @Option(
      names = "--all-devices",
      description = "use software devices and this host, too, which says nothing about adapters")
  boolean allDevices;

  /** Creates the command. picocli calls this. */
  public Gain() {}

  @Override
  public void run() {
    check();
    if (allDevices) {
      System.setProperty("org.rdma4j.nio.devices", "all");
    }
    RdmaSelectorProvider upgrading = new RdmaSelectorProvider();
    try {
      if (serves) {
        serve(upgrading);
      } else {
        measure(upgrading);
      }
    } catch (IOException failed) {
      throw new Failure(
          "%s: %s; check that gain --serve runs there with the same port"
              .formatted(serves ? "cannot serve" : host, failed.getMessage()),
          failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Failure("was interrupted", interrupted);
    }
  }

  private void check() {
    if (serves != host.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "give either --serve or the name of the machine where gain --serve runs");
    }
    OptionRange.check(spec, "--port", port, 0, LAST_PORT);
    OptionRange.check(spec, "--duration", seconds, 1, MAX_SECONDS);
    connections.forEach(each -> OptionRange.check(spec, "--connections", each, 1, MAX_CONNECTIONS));
    sizes.forEach(each -> OptionRange.check(spec, "--size", each, 1, MAX_BYTES));
  }

  private void serve(SelectorProvider upgrading) throws IOException {
    try (GainServer server = new GainServer(upgrading, port)) {
      PrintWriter out = spec.commandLine().getOut();
      out.printf("serving measurements on the ports %d and %d%n", server.port(), server.port() + 1);
      out.flush();
      server.run();
    }
  }

  private void measure(RdmaSelectorProvider upgrading) throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    Progress progress = new Progress(spec.commandLine().getErr(), false);
    List<Comparison> all = new ArrayList<>();
    out.println(Comparison.header());
    for (Work work : List.of(Work.ECHO, Work.STREAM)) {
      for (int count : connections) {
        for (int bytes : sizes) {
          progress.show(() -> "%s, %d connections, %d bytes".formatted(work, count, bytes));
          Comparison next = compare(upgrading, work, count, bytes);
          all.add(next);
          progress.end();
          out.println(next.line());
          out.flush();
        }
      }
    }
    out.println();
    out.println(Comparison.advice(all));
  }

  private Comparison compare(RdmaSelectorProvider upgrading, Work work, int count, int bytes)
      throws IOException, InterruptedException {
    Load.Result tcp;
    try (Load load = new Load(SelectorProvider.provider(), server(0), work, bytes)) {
      load.connect(count);
      tcp = load.run(Duration.ofSeconds(seconds));
    }
    try (Load load = new Load(upgrading, server(1), work, bytes)) {
      ChannelStatistics before = upgrading.statistics();
      load.connect(count);
      awaitUpgrades(upgrading, before, count);
      return new Comparison(work, count, bytes, tcp, load.run(Duration.ofSeconds(seconds)));
    }
  }

  private InetSocketAddress server(int which) {
    return new InetSocketAddress(host, port + which);
  }

  private void awaitUpgrades(RdmaSelectorProvider upgrading, ChannelStatistics before, int count)
      throws InterruptedException {
    long end = System.nanoTime() + UPGRADE_TIME.toNanos();
    while (upgrading.statistics().upgraded() < before.upgraded() + count) {
      ChannelStatistics now = upgrading.statistics();
      if (now.stayed() > before.stayed() || System.nanoTime() - end > 0) {
        throw new Failure(
            "channels to %s stay on TCP (%s); see doctor on both machines, and give --all-devices to try software devices"
                .formatted(host, reasons(now)));
      }
      Thread.sleep(1);
    }
  }

  private static String reasons(ChannelStatistics statistics) {
    List<String> reasons = new ArrayList<>();
    for (Map.Entry<String, Long> each : statistics.stayedByReason().entrySet()) {
      if (each.getValue() > 0) {
        reasons.add(each.getKey());
      }
    }
    return reasons.isEmpty() ? "no upgrade in time" : String.join(", ", reasons);
  }
}
