package org.rdma4j.tools.perftest;

import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Does what ib_atomic_lat does, and works with it. */
@Command(
    description = {
      "Measures the latency of atomic operations, as ib_atomic_lat does: a round trip.",
      "The peer is this program or ib_atomic_lat of perftest. Without a server name this program is the"
          + " server, which must be started first. Both sides need the same -R."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class AtomicLat implements Runnable {
  @Mixin final TestOptions test = new TestOptions();

  @Mixin final LatencyOptions latency = new LatencyOptions();

  @Mixin final OutstandingOption outstanding = new OutstandingOption();

  @Mixin final EventsOption events = new EventsOption();

  @Mixin final AtomicOption atomic = new AtomicOption();

  @Override
  public void run() {
    Settings.Draft draft = new Settings.Draft(Program.ATOMIC_LAT, test::misuse);
    test.fill(draft);
    latency.fill(draft);
    outstanding.fill(draft, test);
    events.fill(draft);
    atomic.fill(draft);
    new TestRun(test, draft.settings(), latency.style(test)).run();
  }
}
