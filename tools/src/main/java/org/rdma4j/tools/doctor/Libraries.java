package org.rdma4j.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rdma4j.verbs.RdmaAvailability;

/**
 * Checks that libibverbs and librdmacm are loaded, and that they belong together. The files that
 * are mapped into this process show which ones the dynamic linker chose.
 */
final class Libraries {
  private static final String SUBJECT = "libraries";
  private static final Pattern VERSION = Pattern.compile(".*\\.so\\.\\d+\\.\\d+\\.(\\d+\\.\\d+)");

  private final Machine machine;
  private final RdmaAvailability availability;

  private Libraries(Machine machine, RdmaAvailability availability) {
    this.machine = machine;
    this.availability = availability;
  }

  static List<Finding> check(Machine machine, RdmaAvailability availability) {
    return new Libraries(machine, availability).findings();
  }

  /** Returns the file of a library that is loaded into this process. */
  static Optional<String> file(Machine machine, String library) {
    return machine.lines("/proc/self/maps").stream()
        .filter(line -> line.contains("/" + library + ".so.1"))
        .map(line -> line.substring(line.indexOf('/')))
        .findFirst();
  }

  /** Returns the release of rdma-core that a file belongs to. */
  static Optional<Release> release(String file) {
    Matcher version = VERSION.matcher(file);
    return version.matches() ? Release.startOf(version.group(1)) : Optional.empty();
  }

  private List<Finding> findings() {
    switch (availability.status()) {
      case NO_LIBRARY -> {
        return List.of(
            Finding.problem(
                SUBJECT,
                "libibverbs.so.1 or librdmacm.so.1 cannot be loaded",
                Distribution.of(machine).installLibraries(machine)));
      }
      case NATIVE_ACCESS_DENIED -> {
        return List.of(
            Finding.problem(
                SUBJECT,
                "this JVM does not allow rdma4j to call C",
                "start java with --enable-native-access=ALL-UNNAMED"));
      }
      default -> {
        return loaded();
      }
    }
  }

  private List<Finding> loaded() {
    List<Finding> findings = new ArrayList<>();
    List<Release> releases = new ArrayList<>();
    for (String library : List.of("libibverbs", "librdmacm")) {
      file(machine, library)
          .ifPresent(
              file -> {
                Optional<Release> release = release(file);
                release.ifPresent(releases::add);
                findings.add(
                    Finding.ok(
                        SUBJECT,
                        file
                            + release.map(each -> " of rdma-core " + each).orElse(", no version")));
              });
    }
    if (releases.size() == 2 && !releases.get(0).equals(releases.get(1))) {
      findings.add(
          Finding.warning(
              SUBJECT,
              "libibverbs is of rdma-core %s, but librdmacm of %s"
                  .formatted(releases.get(0), releases.get(1)),
              Distribution.of(machine).installLibraries(machine)));
    }
    return findings;
  }
}
