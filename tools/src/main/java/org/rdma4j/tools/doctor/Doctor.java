package org.rdma4j.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.rdma4j.tools.command.DebugOption;
import org.rdma4j.tools.command.Version;
import org.rdma4j.verbs.RdmaAvailability;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Finds out why RDMA does not work here. */
@Command(
    description = {
      "Finds out whether RDMA works on this machine, and if not, why: checks the kernel, the devices,"
          + " the libraries, permissions and limits, says which GID to use, and sends messages"
          + " through each device.",
      "Each line is a finding: OK, NOTE, WARNING or PROBLEM. Findings that can be fixed end with the"
          + " command to type. It needs no libraries of RDMA and no root."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:no problem was found", "1:there is a problem", "2:wrong usage"})
public final class Doctor implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Option(
      names = "--json",
      description = "print one JSON object with all findings: level, subject, text, fix")
  boolean json;

  @Mixin final DebugOption debug = new DebugOption();

  @Override
  public Integer call() {
    DoctorReport report = new DoctorReport(examine(Machine.ofThisProcess()));
    spec.commandLine().getOut().println(json ? report.json() : report.text());
    return report.isHealthy() ? 0 : 1;
  }

  private static List<Finding> examine(Machine machine) {
    // First, since it loads the libraries.
    RdmaAvailability availability = RdmaDevice.availability();
    List<Finding> findings = filesOf(machine, availability);
    switch (availability.status()) {
      case NO_LIBRARY, NATIVE_ACCESS_DENIED, NO_DEVICE -> {
        // The checks of the files have said so.
      }
      case FAILED ->
          findings.add(
              Finding.problem(
                  "verbs", availability.explanation(), "see whether C can: ibv_devinfo"));
      default -> {
        List<KernelDevice> devices = KernelDevice.all(machine);
        findings.addAll(RoundTrips.check(machine, devices));
        if (availability.status() != RdmaAvailability.Status.NO_CONNECTION_MANAGER) {
          findings.addAll(ConnectionCheck.check(devices));
        }
      }
    }
    return findings;
  }

  /** Returns what the files of a machine show. */
  static List<Finding> filesOf(Machine machine, RdmaAvailability availability) {
    List<KernelDevice> devices = KernelDevice.all(machine);
    List<Finding> findings = new ArrayList<>();
    findings.addAll(KernelModules.check(machine));
    findings.addAll(DeviceCheck.check(machine, devices));
    findings.addAll(DeviceFileCheck.check(machine));
    findings.addAll(Libraries.check(machine, availability));
    findings.addAll(Providers.check(machine, devices));
    findings.addAll(MemoryLimit.check(machine));
    findings.addAll(HugePageCheck.check(machine));
    findings.addAll(Ports.check(machine, devices));
    findings.addAll(KnownFaults.check(machine, devices));
    return findings;
  }
}
