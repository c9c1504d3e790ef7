package org.rdma4j.tools.perftest;

import org.rdma4j.verbs.Completions;

/** The loop of a latency test of reads or atomic operations, of which one is outstanding. */
final class RequestLoop {
  private final Completions completions;
  private final TestSends outbox;
  private final Idle idle;
  private final Clock clock;
  private final LatencySamples samples;
  private final Gap gap;
  private final long iterations;

  RequestLoop(
      TestLink link,
      Resources resources,
      Settings settings,
      Clock clock,
      Idle idle,
      LatencySamples samples) {
    this.idle = idle;
    this.clock = clock;
    this.samples = samples;
    gap = new Gap(settings.gap());
    iterations = settings.iterations();
    completions = resources.sendCompletions(1);
    outbox = new TestSends(link, resources, settings, 1);
  }

  /** Runs until all requests are complete, or the clock says that it is over. */
  void run() {
    Completions completed = completions;
    TestSends box = outbox;
    clock.start();
    for (long round = 1; round <= iterations && !clock.isOver(); round++) {
      gap.pass();
      samples.send();
      box.add(true);
      box.post();
      while (completed.poll() == 0) {
        if (!idle.goOn()) {
          return;
        }
      }
      completed.requireSuccess(0);
      samples.complete(round);
    }
  }
}
