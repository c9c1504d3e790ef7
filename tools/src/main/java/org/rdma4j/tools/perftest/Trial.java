package org.rdma4j.tools.perftest;

import java.io.PrintWriter;
import java.util.List;
import org.rdma4j.tools.command.Progress;
import org.rdma4j.verbs.attribute.Mtu;

/** The tests of one run: one for each length. */
final class Trial {
  private static final int MAX_ALL_SIZES_SHIFT = 23;

  private final Settings settings;
  private final Style style;
  private final String name;
  private final PrintWriter err;
  private final Control control;
  private final Handshake reports;
  private final Resources resources;
  private final List<TestLink> links;
  private final Interruption interruption;
  private final Mtu mtu;
  private final Progress progress;
  private Bandwidth.Report last = Bandwidth.Report.NONE;
  private boolean cut;

  Trial(
      TestOptions options,
      Settings settings,
      Style style,
      Control control,
      Resources resources,
      List<TestLink> links,
      Interruption interruption,
      Mtu mtu) {
    this.settings = settings;
    this.style = style;
    name = options.name();
    err = options.err();
    this.control = control;
    this.resources = resources;
    this.links = links;
    this.interruption = interruption;
    this.mtu = mtu;
    reports = new Handshake(control, settings.program().nameInC());
    progress = new Progress(err, style.progress());
  }

  void run(Printer printer) {
    Program program = settings.program();
    if (settings.server() && program.verb() != Verb.SEND && !settings.sends()) {
      awaitClient(printer);
      return;
    }
    for (long size : sizes()) {
      if (!cut) {
        test(settings.ofSize(size), printer);
      }
    }
    if (!cut && program != Program.WRITE_LAT) {
      finish();
    }
  }

  private long[] sizes() {
    if (!settings.allSizes() || settings.program().verb() == Verb.ATOMIC) {
      return new long[] {settings.size()};
    }
    int last =
        settings.transport() == Transport.UD
            ? Integer.numberOfTrailingZeros(mtu.bytes())
            : MAX_ALL_SIZES_SHIFT;
    long[] sizes = new long[last];
    for (int shift = 1; shift <= last; shift++) {
      sizes[shift - 1] = 1L << shift;
    }
    return sizes;
  }

  /** The server of a one-sided test takes no part in it. */
  private void awaitClient(Printer printer) {
    if (settings.program().isBandwidth()) {
      sync(true);
      Bandwidth.Report theirs = reports.exchange(Bandwidth.Report.NONE, false);
      reportDifference(theirs);
      printer.result(theirs.in(style.gigabits()));
      sync(false);
    } else {
      sync(true);
    }
    control.end();
  }

  private void reportDifference(Bandwidth.Report theirs) {
    boolean sameLength = theirs.size() == settings.size() || settings.allSizes();
    boolean sameNumber = settings.isTimed() || theirs.messages() == total();
    if (!sameLength || !sameNumber) {
      err.println(
          "%s: the peer measured %d messages of %d bytes, this side's options say %s of %d bytes; give both sides the same -n, -q, -s and -D"
              .formatted(
                  name,
                  theirs.messages(),
                  theirs.size(),
                  settings.isTimed() ? settings.seconds() + " s" : total() + " messages",
                  settings.size()));
    }
  }

  /**
   * Returns the number of messages of all queue pairs, including messages that are not measured.
   */
  private long total() {
    return settings.iterations() * settings.queuePairs();
  }

  private void finish() {
    if (settings.program().isBandwidth()
        && settings.program().verb() != Verb.SEND
        && !settings.bothWays()) {
      sync(true);
      reports.exchange(settings.isTimed() ? last : last.of(total()), false);
    }
    sync(true);
    control.end();
  }

  private void sync(boolean patiently) {
    control.exchange(links.getFirst().local(), patiently);
  }

  private void test(Settings sized, Printer printer) {
    Ticker ticker = new Ticker(sized, printer);
    try (Clock clock = new Clock(sized, ticker::tick)) {
      if (sized.program().isBandwidth()) {
        testBandwidth(sized, clock, printer);
      } else {
        testLatency(sized, clock, printer);
      }
      cut = clock.wasCut();
      if (!cut) {
        interruption.end();
      }
    }
  }

  private Idle idle(Clock clock) {
    return new Idle(clock, resources.events(), settings.timeout(), settings.program().nameInC());
  }

  private void testLatency(Settings sized, Clock clock, Printer printer) {
    LatencySamples samples = new LatencySamples(sized.iterations(), sized.warmup(), clock);
    TestLink link = links.getFirst();
    Runnable loop =
        switch (sized.program().verb()) {
          case SEND -> new SendPingPong(link, resources, sized, clock, idle(clock), samples)::run;
          case WRITE -> new WritePingPong(link, resources, sized, clock, idle(clock), samples)::run;
          case READ, ATOMIC ->
              new RequestLoop(link, resources, sized, clock, idle(clock), samples)::run;
        };
    if (sized.program().verb() == Verb.SEND) {
      sync(true);
    }
    interruption.begin(clock);
    loop.run();
    stop(clock);
    if (sized.isTimed()) {
      printer.timedResult(
          sized.size(), samples.counted(), Math.max(1, clock.ended() - clock.began()));
    } else {
      printer.result(sized.size(), samples);
    }
  }

  /** Ends the thread that shows the progress before anything else is printed. */
  private void stop(Clock clock) {
    clock.close();
    progress.end();
  }

  private interface BandwidthLoop {
    Throughput run();
  }

  private void testBandwidth(Settings sized, Clock clock, Printer printer) {
    BandwidthLoop loop = bandwidthLoop(sized, clock);
    boolean sends = sized.program().verb() == Verb.SEND;
    if (sends || sized.bothWays()) {
      sync(true);
    }
    interruption.begin(clock);
    Throughput measured = loop.run();
    stop(clock);
    int factor = sized.infinitely() && sized.bothWays() ? 2 : 1;
    last = Bandwidth.report(sized.size(), measured, style.gigabits(), factor);
    boolean exchanges = sized.bothWays() && !(sends && sized.isTimed());
    if (!exchanges || clock.wasCut()) {
      printer.result(last);
    }
    if (clock.wasCut()) {
      return;
    }
    if (sized.allSizes() && sized.bothWays() && !sends) {
      sync(true);
    }
    if (exchanges) {
      Bandwidth.Report theirs = reports.exchange(last, true).in(style.gigabits());
      printer.result(last.plus(theirs));
      printer.sides(last, theirs);
    }
    if (sized.allSizes() && sends) {
      sync(true);
    }
  }

  private BandwidthLoop bandwidthLoop(Settings sized, Clock clock) {
    Idle idle = idle(clock);
    if (sized.program().verb() != Verb.SEND) {
      return new Sender(links, resources, sized, clock, idle)::run;
    }
    if (sized.bothWays()) {
      return new BothWays(links, resources, sized, clock, idle)::run;
    }
    return sized.server()
        ? new Receiver(links, resources, sized, clock, idle)::run
        : new Sender(links, resources, sized, clock, idle)::run;
  }

  /** Shows how far a test has come, and prints the results of a test without end. */
  private final class Ticker {
    private final Settings sized;
    private final Printer printer;
    private long printedAt = System.nanoTime();
    private long printedMessages;

    Ticker(Settings sized, Printer printer) {
      this.sized = sized;
      this.printer = printer;
    }

    void tick(long done) {
      if (sized.infinitely()) {
        print(done);
      } else if (sized.isTimed()) {
        progress.show(() -> "%d messages".formatted(done));
      } else {
        long total = sized.iterations() * sized.queuePairs();
        progress.show(Math.min(done, total), total);
      }
    }

    private void print(long done) {
      long now = System.nanoTime();
      if (now - printedAt >= sized.seconds() * 1_000_000_000L) {
        int factor = sized.bothWays() ? 2 : 1;
        Throughput since = new Throughput(done - printedMessages, now - printedAt, 0);
        printer.result(Bandwidth.report(sized.size(), since, style.gigabits(), factor));
        printedAt = now;
        printedMessages = done;
      }
    }
  }
}
