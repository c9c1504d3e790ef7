package org.rdma4j.tools.perftest;

import java.util.List;
import org.rdma4j.verbs.Completions;

/**
 * The loop of a bandwidth test that posts as many requests as may be outstanding on each queue
 * pair, and waits for their completions.
 */
final class Sender {
  private static final int BATCH = 16;

  private final Completions completions;
  private final Idle idle;
  private final Clock clock;
  private final Outflow[] flows;
  private final long total;
  private final long warmup;
  private final boolean timed;
  private final Peak peak;

  Sender(List<TestLink> links, Resources resources, Settings settings, Clock clock, Idle idle) {
    this.idle = idle;
    this.clock = clock;
    timed = settings.isTimed();
    warmup = settings.warmup();
    total = timed ? Long.MAX_VALUE : settings.iterations() * links.size();
    peak = new Peak(settings.peak() ? Math.toIntExact(total) : 0);
    completions = resources.sendCompletions(BATCH);
    flows =
        links.stream()
            .map(link -> new Outflow(link, resources, settings, settings.peak() ? peak : null))
            .toArray(Outflow[]::new);
  }

  /** Runs until all messages are complete, or the clock says that it is over. */
  Throughput run() {
    Completions batch = completions;
    long posted = 0;
    long done = 0;
    long measured = 0;
    clock.start();
    long began = clock.began();
    while (done < total && !clock.isOver()) {
      for (Outflow flow : flows) {
        posted += flow.fill(posted);
      }
      int polled;
      while ((polled = batch.poll()) == 0) {
        if (!idle.goOn()) {
          return result(measured, done, began);
        }
      }
      for (int i = 0; i < polled; i++) {
        batch.requireSuccess(i);
        int completed = flows[(int) batch.workRequestId(i)].complete();
        if (done < warmup && done + completed >= warmup) {
          began = System.nanoTime();
        }
        done += completed;
        if (clock.isMeasuring()) {
          measured += completed;
        }
        peak.complete(done);
      }
      clock.done(done);
    }
    return result(measured, done, began);
  }

  private Throughput result(long measured, long done, long began) {
    return timed
        ? Throughput.timed(measured, clock)
        : new Throughput(
            Math.max(0, done - warmup), Math.max(1, System.nanoTime() - began), peak.nanos());
  }
}
