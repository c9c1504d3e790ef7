package org.rdma4j.tools.perftest;

import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The figure that is compared, of all that a program prints. */
enum Figure {
  /** The median latency, which a few long times do not change. */
  TYPICAL_LATENCY("t_typical[usec]", "less is better"),
  /** The average latency, which is all that a timed test prints. */
  AVERAGE_LATENCY("t_avg[usec]", "less is better"),
  BANDWIDTH("BW average", "more is better");

  private static final Pattern RESULT = Pattern.compile(" \\d+ +\\d+ +([\\d.]+|inf) .*");
  private static final Pattern COLUMN = Pattern.compile("\\S+");

  private static final int TYPICAL_COLUMN = 4;
  private static final int TIMED_AVERAGE_COLUMN = 2;
  private static final int BANDWIDTH_COLUMN = 3;

  private final String title;
  private final String direction;

  Figure(String title, String direction) {
    this.title = title;
    this.direction = direction;
  }

  /** Returns the figure of a program with these options. */
  static Figure of(String program, List<String> options) {
    if (program.endsWith("-bw")) {
      return BANDWIDTH;
    }
    return options.stream().anyMatch(each -> each.startsWith("-D") || each.startsWith("--duration"))
        ? AVERAGE_LATENCY
        : TYPICAL_LATENCY;
  }

  String title() {
    return title;
  }

  /** Returns which ratios are good. */
  String direction() {
    return direction;
  }

  /**
   * Finds the figure in the last line of results; empty if there is no such line. A program of
   * perftest prints {@code inf} or 0 if it could not find out how fast its clock is, which happens
   * on a busy machine.
   */
  OptionalDouble in(List<String> output) {
    for (String line : output.reversed()) {
      if (RESULT.matcher(line).matches()) {
        String value =
            COLUMN.matcher(line).results().map(MatchResult::group).toList().get(column());
        return OptionalDouble.of(
            value.equals("inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(value));
      }
    }
    return OptionalDouble.empty();
  }

  private int column() {
    return switch (this) {
      case TYPICAL_LATENCY -> TYPICAL_COLUMN;
      case AVERAGE_LATENCY -> TIMED_AVERAGE_COLUMN;
      case BANDWIDTH -> BANDWIDTH_COLUMN;
    };
  }
}
