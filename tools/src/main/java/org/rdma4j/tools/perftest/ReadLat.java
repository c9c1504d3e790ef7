package org.rdma4j.tools.perftest;

import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Does what ib_read_lat does, and works with it. */
@Command(
    description = {
      "Measures the latency of RDMA reads, as ib_read_lat does: a round trip.",
      "The peer is this program or ib_read_lat of perftest. Without a server name this program is the"
          + " server, which must be started first. Both sides need the same -s and -R."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class ReadLat implements Runnable {
  @Mixin final TestOptions test = new TestOptions();

  @Mixin final SizeOptions size = new SizeOptions();

  @Mixin final LatencyOptions latency = new LatencyOptions();

  @Mixin final OutstandingOption outstanding = new OutstandingOption();

  @Mixin final EventsOption events = new EventsOption();

  @Override
  public void run() {
    Settings.Draft draft = new Settings.Draft(Program.READ_LAT, test::misuse);
    test.fill(draft);
    size.fill(draft);
    latency.fill(draft);
    outstanding.fill(draft, test);
    events.fill(draft);
    new TestRun(test, draft.settings(), latency.style(test)).run();
  }
}
