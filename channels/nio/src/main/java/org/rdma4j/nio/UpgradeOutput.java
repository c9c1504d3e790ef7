package org.rdma4j.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.RdmaException;
import org.rdma4j.nio.handover.Handover;
import org.rdma4j.nio.handover.Messages;

/**
 * The output of a channel with an {@link Upgrade}: where its next bytes go.
 *
 * <p>The lock of the upgrade guards this. What is volatile is also read without it. The lock of
 * writers, which some methods require, is that of {@link ChannelOutput}.
 */
final class UpgradeOutput {
  private final Upgrade upgrade;
  private final TcpEnd tcp;
  private final Handover handover;
  private final ReentrantLock lock;
  private volatile Carrier carrier = Carrier.TCP;
  private volatile boolean due;

  /** Whether TCP's output is still to end, because the program has ended its output over RDMA. */
  private boolean endDue;

  /** Whether TCP's output has ended, so that nothing can be sent again over it. */
  private boolean tcpEnded;

  /**
   * Creates it.
   *
   * @param lock the lock of the upgrade
   */
  UpgradeOutput(Upgrade upgrade, Handover handover, ReentrantLock lock) {
    this.upgrade = upgrade;
    this.tcp = upgrade.tcp();
    this.handover = handover;
    this.lock = lock;
  }

  // ---- TCP

  /** Records what was written to TCP. Called with the lock of writers. */
  void wrote(ByteBuffer bytes, int from, int length) {
    Upgrade following = upgrade.next();
    if (following != null) {
      following.output().wrote(bytes, from, length);
      return;
    }
    if (upgrade.input().isResumed()) {
      return;
    }
    Claiming.Step step;
    lock.lock();
    try {
      handover.wrote(bytes, from, length);
      step = upgrade.claiming().carried();
    } finally {
      lock.unlock();
    }
    upgrade.claiming().take(step);
  }

  /** Returns the number of bytes that this side has written to TCP before the upgrade. */
  long offset() {
    lock.lock();
    try {
      return handover.sent();
    } finally {
      lock.unlock();
    }
  }

  // ---- The move to RDMA

  /** Returns whether TCP does not carry the next bytes. */
  boolean isMoved() {
    return carrier == Carrier.RDMA;
  }

  /** Looks whether the output should move. Requires the lock. */
  void updateDue() {
    due = handover.isOutputDue();
  }

  /** Returns whether the output should move now: with the lock of writers, {@link #move}. */
  boolean isDue() {
    return due;
  }

  /** Moves the output to RDMA. Called with the lock of writers. */
  void move() {
    long offset;
    boolean ended;
    lock.lock();
    try {
      due = false;
      if (!handover.isOutputDue()) {
        return;
      }
      offset = handover.moveOutput();
      ended = handover.isOutputEnded();
    } finally {
      lock.unlock();
    }
    RdmaStream stream = upgrade.stream();
    try {
      stream.send(Messages.offset(offset));
      if (ended) {
        stream.sendEnd();
      }
    } catch (RdmaException | IllegalStateException over) {
      // The end of the RDMA connection comes in its order, and says what this means.
      log("the peer is not notified of the offset: " + over);
    }
    carrier = carrier.to(Carrier.RDMA);
    tcp.changed();
  }

  /** Writes no more to TCP, if it still does. Called with the lock of writers. */
  void stop() {
    lock.lock();
    try {
      due = false;
      if (!handover.isOutputMoved()) {
        var unused = handover.moveOutput();
      }
      carrier = carrier.to(Carrier.RDMA);
    } finally {
      lock.unlock();
    }
    tcp.changed();
  }

  // ---- RDMA

  /** Returns whether a writer over RDMA learns something now. */
  boolean isReady() {
    return upgrade.hasStream() && upgrade.stream().isWritable();
  }

  /** Returns whether short writes that were joined should be sent now. */
  boolean isFlushDue() {
    return upgrade.hasStream() && upgrade.stream().isFlushDue();
  }

  /** Sends short writes that were joined, if it is time. Called with the lock of writers. */
  void flush() {
    if (!isFlushDue()) {
      return;
    }
    try {
      upgrade.stream().flush();
    } catch (RdmaException | IllegalStateException over) {
      log("the last bytes that were written cannot be sent: " + over);
    }
  }

  /** Notifies the peer that nothing is missing, if that is so. Called with the lock of writers. */
  void mark() {
    if (isMoved()) {
      try {
        // At the end of the process nothing can be sent again.
        upgrade.stream().mark(!upgrade.rendezvous().exit().hasBegun());
      } catch (RdmaException | IllegalStateException over) {
        log("the peer is not notified that nothing is missing: " + over);
      }
    }
  }

  /**
   * Asks the peer whether its process has all bytes, and the end. Called with the lock of writers.
   *
   * @param answered is called after an answer or a failure
   */
  void askForEnd(Runnable answered) {
    if (isMoved()) {
      upgrade.stream().askForEnd(answered);
    }
  }

  // ---- The end

  /** Ends the output, also over RDMA. Called with the lock of writers. */
  void end() {
    boolean overRdma;
    Upgrade following;
    lock.lock();
    try {
      if (handover.isOutputEnded()) {
        return;
      }
      handover.outputEnded();
      following = upgrade.next();
      overRdma =
          handover.isOutputMoved() && !upgrade.stream().isStalled() && !upgrade.input().isResumed();
    } finally {
      lock.unlock();
    }
    if (following != null) {
      following.output().end();
    }
    if (overRdma) {
      try {
        upgrade.stream().sendEnd();
      } catch (RdmaException | IllegalStateException over) {
        log("the peer is not notified of the end of the output: " + over);
      }
    }
  }

  /**
   * Returns whether the end of the program's output uses RDMA only, now or when the output moves.
   * TCP's output stays open then, so that the channel can resume, and ends behind what was sent
   * again.
   */
  boolean delaysEnd() {
    lock.lock();
    try {
      if (!handover.delaysEnd()) {
        tcpEnded = true;
        return false;
      }
      if (!isResumed()) {
        endDue = true;
        return true;
      }
    } finally {
      lock.unlock();
    }
    Upgrade following = upgrade.next();
    return following != null && following.output().delaysEnd();
  }

  /**
   * Returns whether the end of TCP's output was delayed for a move that will not come. Requires the
   * lock.
   */
  boolean isEndDue() {
    return endDue && carrier == Carrier.TCP;
  }

  /** Ends TCP's output, unless the channel is closed already. */
  void endTcp() {
    try {
      tcp.endTcpOutput();
    } catch (IOException closedAlready) {
      log("was closed when its output ended: " + closedAlready);
    }
  }

  /** Returns whether bytes can be written to TCP again. Requires the lock. */
  boolean mayResume() {
    return !tcpEnded && !tcp.output().isLost();
  }

  /** Returns whether a byte that is no record can be written to TCP. Requires the lock. */
  boolean mayRefuse() {
    return isMoved() && !tcpEnded;
  }

  // ---- TCP again

  /**
   * Writes to TCP, behind what was sent again. Requires the lock.
   *
   * @return whether TCP's output is to end now
   */
  boolean resume() {
    carrier = carrier.to(Carrier.TCP_AGAIN);
    tcpEnded |= endDue;
    return endDue;
  }

  /** The resume has failed. Requires the lock. */
  void resumeFailed() {
    if (carrier == Carrier.TCP_AGAIN) {
      carrier = carrier.to(Carrier.RDMA);
    }
  }

  /** Returns whether all that is written is sent over TCP again. */
  boolean isResumed() {
    return carrier == Carrier.TCP_AGAIN;
  }

  private void log(String what) {
    upgrade.rendezvous().log(upgrade.name(), what);
  }
}
