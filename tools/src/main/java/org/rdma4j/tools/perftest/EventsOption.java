package org.rdma4j.tools.perftest;

import picocli.CommandLine.Option;

/** The option of the tests that can wait for completion events. */
final class EventsOption {
  @Option(
      names = {"-e", "--events"},
      description = "sleep until a completion event arrives (default: poll)")
  boolean events;

  void fill(Settings.Draft draft) {
    draft.events = events;
  }
}
