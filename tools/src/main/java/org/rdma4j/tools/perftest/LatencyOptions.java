package org.rdma4j.tools.perftest;

import java.time.Duration;
import picocli.CommandLine.Option;

/** The options of the tests that measure latency. */
final class LatencyOptions {
  @Option(
      names = {"-H", "--report-histogram"},
      description = "print the time of each message, the shortest first")
  boolean everyTime;

  @Option(
      names = {"-U", "--report-unsorted"},
      description = "print the time of each message, in the order of the messages")
  boolean everyTimeInOrder;

  @Option(
      names = "--latency_gap",
      paramLabel = "MICROSECONDS",
      description = "wait so long before each message (default: ${DEFAULT-VALUE})")
  int gap;

  void fill(Settings.Draft draft) {
    draft.gap = Duration.ofNanos(gap * 1000L);
  }

  Style style(TestOptions test) {
    test.checkRange("--latency_gap", gap, 0, 1_000_000_000);
    return new Style(
        test.output(false),
        test.jsonFile(),
        false,
        everyTime,
        everyTimeInOrder,
        false,
        test.progress);
  }
}
