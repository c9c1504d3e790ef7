package org.rdma4j.tools.perftest;

import java.util.List;
import org.rdma4j.verbs.Completions;

/** The loop of a bandwidth test of sends that receives messages and posts new receives. */
final class Receiver {
  private static final int BATCH = 16;

  private final Completions completions;
  private final Idle idle;
  private final Clock clock;
  private final Inflow[] flows;
  private final long total;
  private final long warmup;
  private final boolean timed;

  /** Posts the receives, so that the peer may begin. */
  Receiver(List<TestLink> links, Resources resources, Settings settings, Clock clock, Idle idle) {
    this.idle = idle;
    this.clock = clock;
    timed = settings.isTimed();
    warmup = settings.warmup();
    total = timed ? Long.MAX_VALUE : settings.iterations() * links.size();
    completions = resources.receiveCompletions(BATCH);
    flows =
        links.stream().map(link -> new Inflow(link, resources, settings)).toArray(Inflow[]::new);
  }

  /** Runs until all messages have arrived, or the clock says that it is over. */
  Throughput run() {
    Completions batch = completions;
    long done = 0;
    long measured = 0;
    long began = System.nanoTime();
    while (done < total && !clock.isOver()) {
      int polled;
      while ((polled = batch.poll()) == 0) {
        if (!idle.goOn()) {
          return result(measured, done, began);
        }
      }
      if (done == 0) {
        clock.start();
        began = clock.began();
      }
      for (int i = 0; i < polled; i++) {
        batch.requireSuccess(i);
        flows[(int) batch.workRequestId(i)].complete(batch.byteLength(i));
        if (++done == warmup) {
          began = System.nanoTime();
        }
        if (clock.isMeasuring()) {
          measured++;
        }
      }
      clock.done(done);
    }
    return result(measured, done, began);
  }

  private Throughput result(long measured, long done, long began) {
    return timed
        ? Throughput.timed(measured, clock)
        : new Throughput(Math.max(0, done - warmup), Math.max(1, System.nanoTime() - began), 0);
  }
}
