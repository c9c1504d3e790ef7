package org.rdma4j.tools.doctor;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks how much memory this process may lock. Every registered byte is locked, and so are the
 * queues of most adapters; what exceeds the limit fails with ENOMEM.
 */
final class MemoryLimit {
  private static final String SUBJECT = "memlock";
  private static final Pattern LIMIT = Pattern.compile("(unlimited|\\d+)\\s+(unlimited|\\d+).*");

  /** What an endpoint registers (1 MiB), and as much for the queues. */
  private static final long MIN_BYTES = 2 << 20;

  private static final int CAP_IPC_LOCK = 14;
  private static final Pattern ALL_USERS = Pattern.compile("0\\s+0\\s+4294967295");

  private MemoryLimit() {}

  static List<Finding> check(Machine machine) {
    return List.of(finding(machine));
  }

  private static Finding finding(Machine machine) {
    Matcher limit = LIMIT.matcher(machine.field("/proc/self/limits", "Max locked memory"));
    if (!limit.matches()) {
      return Finding.note(
          SUBJECT, "/proc/self/limits does not state how much memory may be locked");
    }
    String soft = limit.group(1);
    if (soft.equals("unlimited")) {
      return Finding.ok(SUBJECT, "no limit");
    }
    if (mayExceed(machine)) {
      return Finding.ok(SUBJECT, "no limit for this process, which has CAP_IPC_LOCK");
    }
    long bytes = Long.parseLong(soft);
    String text =
        "this process may lock %s; registering more fails with ENOMEM".formatted(size(bytes));
    return bytes < MIN_BYTES
        ? Finding.problem(SUBJECT, text, raise(machine))
        : Finding.warning(SUBJECT, text, raise(machine));
  }

  /** Returns the command that raises the limit. */
  static String raise(Machine machine) {
    Matcher limit = LIMIT.matcher(machine.field("/proc/self/limits", "Max locked memory"));
    if (limit.matches() && limit.group(2).equals("unlimited")) {
      return "ulimit -l unlimited";
    }
    return machine.isContainer()
        ? "start the container with --ulimit memlock=-1"
        : "echo '* - memlock unlimited' | "
            + machine.asRoot("tee /etc/security/limits.d/rdma.conf")
            + ", then log in again; in a systemd service: LimitMEMLOCK=infinity";
  }

  /** The kernel honors the capability only outside of user namespaces. */
  private static boolean mayExceed(Machine machine) {
    String effective = machine.field("/proc/self/status", "CapEff:");
    return effective.matches("\\p{XDigit}{1,16}")
        && (Long.parseUnsignedLong(effective, 16) >>> CAP_IPC_LOCK & 1) == 1
        && ALL_USERS.matcher(machine.text("/proc/self/uid_map")).matches();
  }

  private static String size(long bytes) {
    return bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
  }
}
