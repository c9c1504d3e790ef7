package org.rdma4j.tools.devices;

import java.io.PrintWriter;
import java.util.List;
import org.rdma4j.tools.command.DebugOption;
import org.rdma4j.tools.command.Version;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Does what ibv_devices does. */
@Command(
    description = "Lists the RDMA devices and their node GUIDs, as ibv_devices does.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class Devices implements Runnable {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin final DebugOption debug = new DebugOption();

  @Override
  public void run() {
    List<DeviceInfo> devices = RdmaDevice.list();
    PrintWriter out = spec.commandLine().getOut();
    out.printf("    %-16s\t   node GUID%n", "device");
    out.printf("    %-16s\t----------------%n", "------");
    for (DeviceInfo device : devices) {
      out.printf("    %-16s\t%016x%n", device.name(), device.guid().value());
    }
  }
}
