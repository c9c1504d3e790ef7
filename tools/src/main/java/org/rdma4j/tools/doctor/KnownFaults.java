package org.rdma4j.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds which known faults this kernel and this rdma-core have. All are of soft-RoCE. */
final class KnownFaults {
  /**
   * A fault.
   *
   * @param first the first release that is known to have it
   * @param fixed the first later release that does not; null if none is known
   * @param level how much it matters
   * @param text what happens
   * @param fix how to avoid it; empty if the text says so
   */
  private record Fault(
      Release first, @Nullable Release fixed, Finding.Level level, String text, String fix) {
    boolean isIn(Release release) {
      return first.compareTo(release) <= 0 && (fixed == null || release.compareTo(fixed) < 0);
    }

    Finding in(String what, Release release) {
      String range = fixed == null ? "from %s on".formatted(first) : first + " to before " + fixed;
      return new Finding(
          level,
          "known fault",
          "soft-RoCE of %s %s: %s (known %s)".formatted(what, release, text, range),
          fix);
    }
  }

  private final Machine machine;

  private KnownFaults(Machine machine) {
    this.machine = machine;
  }

  /** Returns the faults of the drivers and providers that this machine uses. */
  static List<Finding> check(Machine machine, List<KernelDevice> devices) {
    KnownFaults faults = new KnownFaults(machine);
    Optional<Release> linux = Release.startOf(machine.kernelRelease());
    List<Finding> findings = new ArrayList<>();
    if (devices.stream().anyMatch(KernelDevice::isSoftRoce)) {
      linux.ifPresent(release -> add(findings, faults.ofDevices(), "Linux", release));
      Libraries.file(machine, "libibverbs")
          .flatMap(Libraries::release)
          .ifPresent(release -> add(findings, ofProvider(), "rdma-core", release));
    } else if (faults.lacksChecksum()) {
      linux.ifPresent(release -> add(findings, faults.ofCreation(), "Linux", release));
    }
    return findings;
  }

  private static void add(
      List<Finding> findings, List<Fault> faults, String what, Release release) {
    faults.stream()
        .filter(fault -> fault.isIn(release))
        .forEach(fault -> findings.add(fault.in(what, release)));
  }

  /** Soft-RoCE asks the kernel for its checksum by a name, so that no module depends on it. */
  private boolean lacksChecksum() {
    return machine.exists("/sys/module/rdma_rxe")
        && machine.lines("/proc/crypto").stream()
            .noneMatch(line -> line.matches("name\\s*:\\s*crc32"));
  }

  private List<Fault> ofCreation() {
    return List.of(
        new Fault(
            new Release(4, 12),
            new Release(6, 15),
            Finding.Level.PROBLEM,
            "'rdma link add' fails until the module crc32_generic is loaded",
            machine.asRoot("modprobe crc32_generic")));
  }

  private List<Fault> ofDevices() {
    return List.of(
        new Fault(
            new Release(4, 8),
            null,
            Finding.Level.NOTE,
            "7 retries, the default of a path, are tried forever, so a lost peer is never noticed;"
                + " connect with 6",
            ""),
        new Fault(
            new Release(4, 8),
            null,
            Finding.Level.NOTE,
            "devices receive only in the initial network namespace, so not in a container that has"
                + " a network of its own",
            ""),
        new Fault(
            new Release(5, 14),
            null,
            Finding.Level.WARNING,
            "a request that invalidates a memory window of type 2 that is not bound crashes the"
                + " kernel, also if it comes from a peer",
            "connect only to peers that you trust"),
        new Fault(
            new Release(5, 14),
            null,
            Finding.Level.NOTE,
            "the bounds of a memory window are those of its region",
            ""),
        new Fault(
            new Release(6, 1),
            null,
            Finding.Level.NOTE,
            "if the network interface goes down while the connection manager sends, no connection"
                + " can be made until the device is deleted and added again",
            ""),
        new Fault(
            new Release(7, 3),
            null,
            Finding.Level.WARNING,
            "data goes to and comes from the wrong place of memory that is registered on demand,"
                + " unless it begins at a page and fits into one packet",
            "register memory without ON_DEMAND (in C: without IBV_ACCESS_ON_DEMAND)"));
  }

  private static List<Fault> ofProvider() {
    return List.of(
        new Fault(
            new Release(33, 0),
            null,
            Finding.Level.WARNING,
            "a request of several pieces of different lengths fails on an extended queue pair"
                + " (ibv_wr_set_sge_list counts the first length for each piece)",
            "use pieces of one length, or a queue pair that is not extended"));
  }
}
