package org.rdma4j.nio;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Finds what a reader sees after the peer's process has ended without a close. Over TCP, the kernel
 * of the peer still sends what was written before, and then the end, or a reset. Over RDMA, what
 * was in flight is lost. So it is the end only if the peer had marked that nothing was missing, and
 * if TCP has ended; otherwise it is a reset, and never an end with bytes missing.
 */
final class GonePeer {
  /** How long the kernel of the peer may take to end TCP, after it has ended RDMA. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final Duration PAUSE = Duration.ofMillis(20);

  private final Upgrade upgrade;
  private final long end = System.nanoTime() + PATIENCE_NANOS;

  private GonePeer(Upgrade upgrade) {
    this.upgrade = upgrade;
  }

  /** Ends the stream of a channel now, or soon. */
  static void ended(Upgrade upgrade) {
    GonePeer peer = new GonePeer(upgrade);
    if (upgrade.stream().isComplete() && upgrade.tcp().isOpen()) {
      var unused = upgrade.rendezvous().later(Duration.ZERO, peer::ask);
    } else {
      peer.tell(false);
    }
  }

  private void ask() {
    TcpTable table = upgrade.rendezvous().tcpTable();
    TcpTable.State state = table.state(upgrade.local(), upgrade.tcp().remote());
    if (state == TcpTable.State.OPEN && System.nanoTime() - end < 0) {
      var unused = upgrade.rendezvous().later(PAUSE, this::ask);
    } else {
      tell(state == TcpTable.State.ENDED);
    }
  }

  private void tell(boolean inOrder) {
    if (inOrder) {
      upgrade.stream().endedWithPeer();
    } else {
      upgrade.stream().ended(false);
      Resumption.refuse(upgrade);
    }
    upgrade.linkEnded(inOrder);
  }
}
