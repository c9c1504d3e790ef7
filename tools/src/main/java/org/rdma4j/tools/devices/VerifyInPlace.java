package org.rdma4j.tools.devices;

import java.io.PrintWriter;
import java.util.Locale;
import org.rdma4j.tools.command.DeviceOptions;
import org.rdma4j.tools.command.OptionRange;
import org.rdma4j.tools.command.Version;
import org.rdma4j.tools.devices.InPlaceTrial.Kind;
import org.rdma4j.tools.devices.InPlaceTrial.Result;
import org.rdma4j.verbs.QueueAccess;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows on a real adapter that queues used in place do what libmlx5 does. */
@Command(
    description = {
      "Posts requests of each kind through libmlx5 and in place, without libmlx5, between two queue"
          + " pairs of an mlx5 adapter; checks the data and the completions of both, and compares"
          + " their times.",
      "Use in place is experimental, because it was only proven on a simulated adapter. Please send"
          + " what this prints to the project, in particular if something fails."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class VerifyInPlace implements Runnable {
  private static final int MAX_REQUESTS = 100_000_000;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final DeviceOptions options = new DeviceOptions();

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "the port of the RDMA device (default: ${DEFAULT-VALUE})")
  int port = 1;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      description = "how many requests of each kind are posted (default: ${DEFAULT-VALUE})")
  int count = 20_000;

  @Override
  public void run() {
    OptionRange.check(spec, "-i", port, 1, 255);
    OptionRange.check(spec, "-n", count, 1, MAX_REQUESTS);
    PrintWriter out = spec.commandLine().getOut();
    try (RdmaDevice device = options.openConnectable()) {
      describe(out, device);
      InPlaceTrial byProvider = new InPlaceTrial(device, port, QueueAccess.BY_PROVIDER);
      InPlaceTrial inPlace = new InPlaceTrial(device, port, QueueAccess.IN_PLACE);
      out.println(
          "nanoseconds, medians         post: libmlx5  in place  to the completion: libmlx5"
              + "  in place");
      for (Kind kind : Kind.values()) {
        Result before = byProvider.run(kind, count);
        Result after = inPlace.run(kind, count);
        out.printf(
            Locale.ROOT,
            "%-28s %13d %9d %27d %9d%n",
            kind,
            before.postNanos(),
            after.postNanos(),
            before.doneNanos(),
            after.doneNanos());
      }
      out.println("All data and all completions were right, both ways.");
    }
  }

  private static void describe(PrintWriter out, RdmaDevice device) {
    DeviceAttributes attributes = device.attributes();
    out.printf(
        "%s: firmware %s, vendor 0x%x, part %d%n",
        device.info().name(),
        attributes.firmwareVersion(),
        attributes.vendorId(),
        attributes.vendorPartId());
    out.printf(
        "%s %s, %s, %d processors, java %s%n",
        System.getProperty("os.name"),
        System.getProperty("os.version"),
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("java.vm.version"));
  }
}
