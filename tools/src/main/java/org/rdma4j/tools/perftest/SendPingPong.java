package org.rdma4j.tools.perftest;

import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.Completions;

/** The loop of a latency test in which one message is sent back and forth. */
final class SendPingPong {
  private final Completions sent;
  private final Completions received;
  private final TestSends outbox;
  private final TestReceives inbox;
  private final Idle idle;
  private final Clock clock;
  private final LatencySamples samples;
  private final Gap gap;
  private final Settings settings;

  /** Posts the receives, so that the peer may begin. */
  SendPingPong(
      TestLink link,
      Resources resources,
      Settings settings,
      Clock clock,
      Idle idle,
      LatencySamples samples) {
    this.idle = idle;
    this.clock = clock;
    this.samples = samples;
    this.settings = settings;
    gap = new Gap(settings.gap());
    sent = resources.sendCompletions(1);
    received = resources.receiveCompletions(1);
    outbox = new TestSends(link, resources, settings, 1);
    inbox = new TestReceives(link, resources, settings);
    for (int i = 0; i < settings.receiveDepth(); i++) {
      inbox.post();
    }
  }

  /** Runs until all messages are sent and received, or the clock says that it is over. */
  void run() {
    Completions out = sent;
    Completions in = received;
    TestSends box = outbox;
    long iterations = settings.iterations();
    if (!settings.server()) {
      clock.start();
      send(box);
      if (!complete(out)) {
        return;
      }
    }
    for (long round = 1; round <= iterations && !clock.isOver(); round++) {
      if (!complete(in)) {
        return;
      }
      if (round == 1) {
        begin(in);
      }
      if (inbox.posted() < iterations) {
        inbox.post();
      }
      samples.complete(round);
      if (settings.server() || round < iterations) {
        send(box);
        if (!complete(out)) {
          return;
        }
      }
    }
  }

  private void begin(Completions first) {
    if (settings.server()) {
      clock.start();
    }
    long bytes = first.byteLength(0) - settings.transport().headerBytes();
    if (bytes != settings.size()) {
      throw new Failure(
          "the peer sends messages of %d bytes, this side has -s %d; give both sides the same -s"
              .formatted(bytes, settings.size()));
    }
  }

  private void send(TestSends box) {
    gap.pass();
    samples.send();
    box.add(true);
    box.post();
  }

  /** Waits for a completion; returns false if the test is over. */
  private boolean complete(Completions completions) {
    while (completions.poll() == 0) {
      if (!idle.goOn()) {
        return false;
      }
    }
    completions.requireSuccess(0);
    return true;
  }
}
