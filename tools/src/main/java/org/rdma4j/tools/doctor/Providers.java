package org.rdma4j.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks that libibverbs has the library of the provider of each device. */
final class Providers {
  private static final String SUBJECT = "providers";

  private final Machine machine;
  private final String directory;

  private Providers(Machine machine, String libibverbs) {
    this.machine = machine;
    this.directory = libibverbs.substring(0, libibverbs.lastIndexOf('/')) + "/libibverbs";
  }

  /** Returns nothing if libibverbs is not loaded: then all providers are missing. */
  static List<Finding> check(Machine machine, List<KernelDevice> devices) {
    Optional<String> libibverbs = Libraries.file(machine, "libibverbs");
    List<Finding> findings = new ArrayList<>();
    if (libibverbs.isPresent()) {
      Providers providers = new Providers(machine, libibverbs.get());
      devices.forEach(device -> findings.add(providers.of(device)));
    }
    return findings;
  }

  private Finding of(KernelDevice device) {
    if (device.driver().isEmpty()) {
      return Finding.note(SUBJECT, device.name() + " has a driver that this program does not know");
    }
    String provider = device.driver().get().provider();
    Optional<String> library =
        machine.names(directory).stream()
            .filter(name -> name.matches("lib" + provider + "-rdmav\\d+\\.so"))
            .findFirst();
    return library
        .map(name -> Finding.ok(SUBJECT, device.name() + " has " + directory + "/" + name))
        .orElseGet(
            () ->
                Finding.problem(
                    SUBJECT,
                    "%s has no provider: there is no lib%s-rdmav*.so in %s"
                        .formatted(device.name(), provider, directory),
                    Distribution.of(machine).installProviders(machine)));
  }
}
