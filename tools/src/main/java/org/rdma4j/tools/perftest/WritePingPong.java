package org.rdma4j.tools.perftest;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.rdma4j.verbs.Completions;

/**
 * The loop of a latency test in which one message is written back and forth. A side notices that a
 * message has arrived when its last byte, which counts the messages, changes.
 */
final class WritePingPong {
  private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

  private final Completions sent;
  private final TestSends outbox;
  private final Idle idle;
  private final Clock clock;
  private final LatencySamples samples;
  private final Gap gap;
  private final Settings settings;
  private final MemorySegment memory;
  private final long lastByteOut;
  private final long lastByteIn;

  WritePingPong(
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
    outbox = new TestSends(link, resources, settings, 1);
    memory = resources.memory().segment();
    lastByteOut = outbox.nextOffset() + settings.size() - 1;
    lastByteIn = resources.layout().incoming(link.index()) + settings.size() - 1;
  }

  /**
   * The server writes first, unlike in other tests, as in perftest. Runs until all messages are
   * written and have arrived, or the clock says that it is over.
   */
  void run() {
    Completions out = sent;
    TestSends box = outbox;
    long iterations = settings.iterations();
    clock.start();
    for (long round = 1; round <= iterations && !clock.isOver(); round++) {
      if (!settings.server()) {
        if (!arrive(round)) {
          return;
        }
        samples.complete(round);
      }
      gap.pass();
      samples.send();
      memory.set(ValueLayout.JAVA_BYTE, lastByteOut, (byte) round);
      box.add(true);
      box.post();
      while (out.poll() == 0) {
        if (!idle.goOn()) {
          return;
        }
      }
      out.requireSuccess(0);
      if (settings.server()) {
        if (!arrive(round)) {
          return;
        }
        samples.complete(round);
      }
    }
  }

  private boolean arrive(long round) {
    byte expected = (byte) round;
    while ((byte) BYTE.getOpaque(memory, lastByteIn) != expected) {
      if (!idle.goOn()) {
        return false;
      }
    }
    return true;
  }
}
