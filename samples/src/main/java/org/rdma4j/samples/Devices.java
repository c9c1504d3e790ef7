package org.rdma4j.samples;

import java.io.PrintWriter;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What ibv_devices does. */
@Command(
    description = "Lists the RDMA devices and their node GUIDs, as ibv_devices does.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class)
final class Devices implements Runnable {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Option(
      names = "--debug",
      description = "print the stack trace of a failure, not only a line that tells it")
  boolean debug;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    out.printf("    %-16s\t   node GUID%n", "device");
    out.printf("    %-16s\t----------------%n", "------");
    for (DeviceInfo device : RdmaDevice.list()) {
      out.printf("    %-16s\t%016x%n", device.name(), device.guid().value());
    }
  }
}
