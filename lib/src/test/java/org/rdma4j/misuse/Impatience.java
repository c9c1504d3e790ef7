package org.rdma4j.misuse;

import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Interrupts a call that would wait as long as it takes, and only that call. */
final class Impatience {
  private static final ScheduledExecutorService CLOCK =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());

  private final Thread caller = Thread.currentThread();
  private boolean over;

  private Impatience() {}

  /** Makes a call, and interrupts its thread if the call takes longer. */
  static <T> T limit(int millis, Callable<T> call) throws Exception {
    Impatience impatience = new Impatience();
    Future<?> alarm = CLOCK.schedule(impatience::ring, millis, TimeUnit.MILLISECONDS);
    try {
      return call.call();
    } finally {
      impatience.end();
      alarm.cancel(false);
    }
  }

  private synchronized void ring() {
    if (!over) {
      caller.interrupt();
    }
  }

  private synchronized void end() {
    // An interruption that came too late has no addressee.
    over = true;
    Thread.interrupted();
  }
}
