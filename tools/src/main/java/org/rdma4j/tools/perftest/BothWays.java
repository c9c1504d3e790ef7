package org.rdma4j.tools.perftest;

import java.util.List;
import org.rdma4j.verbs.Completions;

/** The loop of a bandwidth test in which both sides send and receive messages. */
final class BothWays {
  private static final int BATCH = 16;

  private final Completions sent;
  private final Completions received;
  private final Idle idle;
  private final Clock clock;
  private final Outflow[] outflows;
  private final Inflow[] inflows;
  private final long total;
  private final long warmup;
  private final boolean timed;
  private final boolean server;
  private final Peak peak;

  /** Posts the receives, so that the peer may begin. */
  BothWays(List<TestLink> links, Resources resources, Settings settings, Clock clock, Idle idle) {
    this.idle = idle;
    this.clock = clock;
    timed = settings.isTimed();
    server = settings.server();
    warmup = settings.warmup();
    total = timed ? Long.MAX_VALUE : settings.iterations() * links.size();
    peak = new Peak(settings.peak() ? Math.toIntExact(total) : 0);
    sent = resources.sendCompletions(BATCH);
    received = resources.receiveCompletions(BATCH);
    outflows =
        links.stream()
            .map(link -> new Outflow(link, resources, settings, settings.peak() ? peak : null))
            .toArray(Outflow[]::new);
    inflows =
        links.stream().map(link -> new Inflow(link, resources, settings)).toArray(Inflow[]::new);
  }

  /** Runs until all messages are sent and received, or the clock says that it is over. */
  Throughput run() {
    Completions out = sent;
    Completions in = received;
    long posted = 0;
    long done = 0;
    long arrived = 0;
    long measured = 0;
    long began = System.nanoTime();
    // The server waits for the first message, because the client may not be ready to receive.
    boolean begun = !server;
    if (begun) {
      clock.start();
    }
    while ((done < total || arrived < total) && !clock.isOver()) {
      if (begun) {
        for (Outflow flow : outflows) {
          posted += flow.fill(posted);
        }
      }
      int polledIn = in.poll();
      if (polledIn > 0 && !begun) {
        begun = true;
        clock.start();
        began = clock.began();
      }
      for (int i = 0; i < polledIn; i++) {
        in.requireSuccess(i);
        inflows[(int) in.workRequestId(i)].complete(in.byteLength(i));
      }
      arrived += polledIn;
      // A timed test counts the messages of both directions.
      if (timed && clock.isMeasuring()) {
        measured += polledIn;
      }
      int polledOut = out.poll();
      for (int i = 0; i < polledOut; i++) {
        out.requireSuccess(i);
        int completed = outflows[(int) out.workRequestId(i)].complete();
        if (done < warmup && done + completed >= warmup) {
          began = System.nanoTime();
        }
        done += completed;
        if (clock.isMeasuring()) {
          measured += completed;
        }
        peak.complete(done);
      }
      if (polledIn + polledOut > 0) {
        clock.done(done + arrived);
      } else if (!idle.goOn()) {
        break;
      }
    }
    return timed
        ? Throughput.timed(measured, clock)
        : new Throughput(
            Math.max(0, done - warmup), Math.max(1, System.nanoTime() - began), peak.nanos());
  }
}
