package org.rdma4j.tools.doctor;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.rdma4j.tools.command.Json;
import org.rdma4j.tools.doctor.Finding.Level;

/**
 * All findings, for people and for programs.
 *
 * @param findings the findings, in the order of the checks
 */
record DoctorReport(List<Finding> findings) {
  /** Returns whether RDMA can be used. */
  boolean isHealthy() {
    return count(Level.PROBLEM) == 0;
  }

  /** Returns a line for each finding, and a summary. */
  String text() {
    return findings.stream().map(DoctorReport::line).collect(Collectors.joining("\n"))
        + "\n%s, %s"
            .formatted(
                counted(count(Level.PROBLEM), "problem"), counted(count(Level.WARNING), "warning"));
  }

  /** Returns an object with the counts and an array of the findings. */
  String json() {
    return findings.stream()
        .map(DoctorReport::json)
        .collect(
            Collectors.joining(
                ",\n    ",
                "{\n  \"problems\": %d,\n  \"warnings\": %d,\n  \"findings\": [\n    "
                    .formatted(count(Level.PROBLEM), count(Level.WARNING)),
                "\n  ]\n}"));
  }

  private long count(Level level) {
    return findings.stream().filter(finding -> finding.level() == level).count();
  }

  private static String counted(long count, String what) {
    return "%s %s%s".formatted(count == 0 ? "no" : count, what, count == 1 ? "" : "s");
  }

  private static String line(Finding finding) {
    return "%-7s  %s: %s%s"
        .formatted(
            finding.level(),
            finding.subject(),
            finding.text(),
            finding.fix().isEmpty() ? "" : "; fix: " + finding.fix());
  }

  private static String json(Finding finding) {
    return "{\"level\": %s, \"subject\": %s, \"text\": %s, \"fix\": %s}"
        .formatted(
            Json.text(finding.level().name().toLowerCase(Locale.ROOT)),
            Json.text(finding.subject()),
            Json.text(finding.text()),
            finding.fix().isEmpty() ? "null" : Json.text(finding.fix()));
  }
}
