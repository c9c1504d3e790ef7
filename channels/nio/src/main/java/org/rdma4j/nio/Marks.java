package org.rdma4j.nio;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Notifies peers of channels that write nothing for a moment that nothing is missing. So a peer
 * knows whether the end of this process is the end of the stream, or has lost some of it.
 */
final class Marks {
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final Rendezvous rendezvous;
  private final Set<Upgrade> upgrades;
  private final AtomicBoolean planned = new AtomicBoolean();

  /**
   * Creates it.
   *
   * @param upgrades the upgraded channels
   */
  Marks(Rendezvous rendezvous, Set<Upgrade> upgrades) {
    this.rendezvous = rendezvous;
    this.upgrades = upgrades;
  }

  /** Records that a channel has sent something. */
  void due() {
    if (!planned.get() && !planned.getAndSet(true)) {
      var unused = rendezvous.later(PAUSE, this::mark);
    }
  }

  private void mark() {
    planned.set(false);
    boolean again = false;
    for (Upgrade each : upgrades) {
      RdmaStream stream = each.stream();
      if (stream.isMarkDue()) {
        each.tcp().output().mark(each);
        again |= stream.isMarkDue();
      }
    }
    if (again) {
      due();
    }
  }
}
