package org.rdma4j.tools.perftest;

import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Does what ib_atomic_bw does, and works with it. */
@Command(
    description = {
      "Measures the rate of atomic operations, as ib_atomic_bw does.",
      "The peer is this program or ib_atomic_bw of perftest. Without a server name this program is the"
          + " server, which must be started first. Both sides need the same -n, -q, -b and -R."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class AtomicBw implements Runnable {
  @Mixin final TestOptions test = new TestOptions();

  @Mixin final BandwidthOptions bandwidth = new BandwidthOptions();

  @Mixin final OutstandingOption outstanding = new OutstandingOption();

  @Mixin final EventsOption events = new EventsOption();

  @Mixin final AtomicOption atomic = new AtomicOption();

  @Override
  public void run() {
    Settings.Draft draft = new Settings.Draft(Program.ATOMIC_BW, test::misuse);
    test.fill(draft);
    bandwidth.fill(draft, test);
    outstanding.fill(draft, test);
    events.fill(draft);
    atomic.fill(draft);
    new TestRun(test, draft.settings(), bandwidth.style(test)).run();
  }
}
