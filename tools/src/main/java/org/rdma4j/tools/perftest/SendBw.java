package org.rdma4j.tools.perftest;

import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Does what ib_send_bw does, and works with it. */
@Command(
    description = {
      "Measures the bandwidth of sends, as ib_send_bw does.",
      "The peer is this program or ib_send_bw of perftest. Without a server name this program is the"
          + " server, which must be started first. Both sides need the same -n, -s, -q, -b, -c and -R."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class SendBw implements Runnable {
  @Mixin final TestOptions test = new TestOptions();

  @Mixin final SizeOptions size = new SizeOptions();

  @Mixin final BandwidthOptions bandwidth = new BandwidthOptions();

  @Mixin final ReceiveOptions receive = new ReceiveOptions();

  @Mixin final InlineOption inline = new InlineOption();

  @Mixin final EventsOption events = new EventsOption();

  @Override
  public void run() {
    Settings.Draft draft = new Settings.Draft(Program.SEND_BW, test::misuse);
    test.fill(draft);
    size.fill(draft);
    bandwidth.fill(draft, test);
    receive.fill(draft, test);
    inline.fill(draft, test);
    events.fill(draft);
    new TestRun(test, draft.settings(), bandwidth.style(test)).run();
  }
}
