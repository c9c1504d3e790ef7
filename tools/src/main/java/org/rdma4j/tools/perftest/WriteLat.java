package org.rdma4j.tools.perftest;

import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Does what ib_write_lat does, and works with it. */
@Command(
    description = {
      "Measures the latency of RDMA writes, as ib_write_lat does: half the round trip of a message.",
      "The peer is this program or ib_write_lat of perftest. Without a server name this program is the"
          + " server, which must be started first. Both sides need the same -n, -s, -c and -R."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class WriteLat implements Runnable {
  @Mixin final TestOptions test = new TestOptions();

  @Mixin final SizeOptions size = new SizeOptions();

  @Mixin final LatencyOptions latency = new LatencyOptions();

  @Mixin final InlineOption inline = new InlineOption();

  @Override
  public void run() {
    Settings.Draft draft = new Settings.Draft(Program.WRITE_LAT, test::misuse);
    test.fill(draft);
    size.fill(draft);
    latency.fill(draft);
    inline.fill(draft, test);
    new TestRun(test, draft.settings(), latency.style(test)).run();
  }
}
