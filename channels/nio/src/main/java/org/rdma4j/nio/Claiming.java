package org.rdma4j.nio;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.nio.handover.Claim;
import org.rdma4j.nio.handover.Handover;

/**
 * When a client claims its channel, when the claim for a channel of a server can be checked, and
 * when a channel stays on TCP because there will be no claim.
 *
 * <p>The lock of the {@link Upgrade} guards this. A method that requires it says so.
 */
final class Claiming {
  /** What follows from the bytes that TCP has carried. */
  enum Step {
    NOTHING,
    CLAIM,
    /** One direction has carried much, and the other too little for a proof. */
    STAY_IF_ONE_SIDED
  }

  /** How long a client waits once it can prove something: most short connections end before. */
  private static final Duration SETTLED = Duration.ofMillis(100);

  /** After so many bytes, a client does not wait any longer. */
  private static final long MUCH = 64 << 10;

  /**
   * After so many bytes and so much time, the direction that has carried almost none will not carry
   * more. Bytes alone do not show that, because a peer may begin later.
   */
  private static final long ONE_SIDED = 1 << 20;

  private static final long ONE_SIDED_NANOS = Duration.ofSeconds(2).toNanos();

  /**
   * For how many timeouts a server waits for a claim: a client has one to connect, one for its
   * claim, and one for its turn.
   */
  private static final int TIMEOUTS = 3;

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

  /** The longest pause is 4 to the power of this, in seconds. */
  private static final int MOST_GROWTHS = 4;

  private final Upgrade upgrade;
  private final Rendezvous rendezvous;
  private final Handover handover;
  private final ReentrantLock lock;
  private final Condition moreEvidence;
  private final long began = System.nanoTime();

  /** How often RDMA has failed for this channel, or could not be used again. */
  private int failures;

  /** Whether a claim may be made and granted: not before an upgrade that has failed is over. */
  private boolean enabled;

  /** When a client of this server could claim first, on the scale of {@link System#nanoTime}. */
  private long provableSince;

  /** Lets a client claim after a while; null before it can prove something. */
  private @Nullable Future<?> settling;

  private boolean ended;

  /**
   * Creates it.
   *
   * @param lock the lock of the upgrade
   * @param failures how many upgrades of the channel have failed before; if some have, {@link
   *     #begin} must be called
   */
  Claiming(Upgrade upgrade, Handover handover, ReentrantLock lock, int failures) {
    this.upgrade = upgrade;
    this.rendezvous = upgrade.rendezvous();
    this.handover = handover;
    this.lock = lock;
    this.moreEvidence = lock.newCondition();
    this.failures = failures;
    this.enabled = failures == 0;
  }

  /** Returns how often RDMA has failed for the channel. Requires the lock. */
  int failures() {
    return failures;
  }

  /** Records that TCP has carried more; returns what to {@link #take}. Requires the lock. */
  Step carried() {
    moreEvidence.signalAll();
    if (claims()) {
      return Step.CLAIM;
    }
    return isOneSided() ? Step.STAY_IF_ONE_SIDED : Step.NOTHING;
  }

  /** Takes a step. Called without the lock. */
  void take(Step step) {
    switch (step) {
      case NOTHING -> {}
      case CLAIM -> rendezvous.claim(upgrade);
      case STAY_IF_ONE_SIDED -> stayIfOneSided();
    }
  }

  /** Returns whether this client must claim now. */
  private boolean claims() {
    if (!enabled) {
      return false;
    }
    if (!upgrade.isClient()) {
      if (provableSince == 0 && handover.isProvable()) {
        provableSince = System.nanoTime();
      }
      return false;
    }
    if (!handover.mayClaim()) {
      return false;
    }
    if (handover.bytes() < MUCH) {
      if (settling == null) {
        settling = rendezvous.later(SETTLED, this::claimSettled);
      }
      return false;
    }
    handover.claiming();
    return true;
  }

  /** Claims after a while, if the channel is still open: a short one is not worth it. */
  private void claimSettled() {
    boolean claims;
    lock.lock();
    try {
      claims = !ended && handover.mayClaim();
      if (claims) {
        handover.claiming();
      }
    } finally {
      lock.unlock();
    }
    if (claims) {
      rendezvous.claim(upgrade);
    }
  }

  private boolean isOneSided() {
    return failures == 0
        && handover.bytes() >= ONE_SIDED
        && !handover.isProvable()
        && System.nanoTime() - began >= ONE_SIDED_NANOS;
  }

  /** Stays on TCP for good if one direction has carried much, and lets the JDK read and write. */
  private void stayIfOneSided() {
    long bytes;
    lock.lock();
    try {
      bytes = handover.bytes();
      if (!isOneSided() || !handover.stay()) {
        return;
      }
    } finally {
      lock.unlock();
    }
    rendezvous.oneSided(upgrade, bytes);
    upgrade.tcp().forget(upgrade);
  }

  /** Stays on TCP for good if no client has claimed a channel of this server in time. */
  void stayIfLate() {
    lock.lock();
    try {
      long most = TIMEOUTS * rendezvous.timeout().toNanos();
      if (failures > 0
          || provableSince == 0
          || System.nanoTime() - provableSince < most
          || !handover.stay()) {
        return;
      }
    } finally {
      lock.unlock();
    }
    rendezvous.stays(upgrade, StayReason.NOT_ASKED, StayReason.NOT_ASKED.text());
    upgrade.tcp().forget(upgrade);
  }

  // ---- The server

  /** Waits until a claim can be checked, as long as a peer has time for that. */
  Handover.Verdict check(Claim claim, byte[] challenge) throws InterruptedException {
    long left = rendezvous.timeout().toNanos();
    lock.lock();
    try {
      Handover.Verdict verdict = checkNow(claim, challenge);
      while (verdict == Handover.Verdict.LATER && left > 0 && !ended) {
        left = moreEvidence.awaitNanos(left);
        verdict = checkNow(claim, challenge);
      }
      return verdict;
    } finally {
      lock.unlock();
    }
  }

  private Handover.Verdict checkNow(Claim claim, byte[] challenge) {
    return enabled ? handover.check(claim, challenge) : Handover.Verdict.LATER;
  }

  // ---- After an upgrade that has failed

  /** Lets the channel be upgraded again: a client claims after a pause. */
  void begin() {
    if (!upgrade.isClient()) {
      enable();
      return;
    }
    lock.lock();
    try {
      enableLater();
    } finally {
      lock.unlock();
    }
  }

  private void enableLater() {
    enabled = false;
    if (!ended) {
      Duration pause = FIRST_PAUSE.multipliedBy(1L << (2 * Math.min(failures - 1, MOST_GROWTHS)));
      settling = rendezvous.later(pause, this::enable);
    }
  }

  private void enable() {
    Step step;
    lock.lock();
    try {
      enabled = !ended;
      settling = null;
      step = carried();
    } finally {
      lock.unlock();
    }
    take(step);
  }

  /**
   * Lets a channel that was upgraded before, and cannot be again now, be claimed again: by the
   * client, after a longer pause. Requires the lock.
   */
  void tryLater() {
    if (failures > 0 && !ended && handover.mayTryAgain() && upgrade.isClient()) {
      failures++;
      enableLater();
    }
  }

  // ---- The end

  /** Lets a claim that waits be checked again. Requires the lock. */
  void wake() {
    moreEvidence.signalAll();
  }

  /** Ends all waits, because the program has closed the channel. Requires the lock. */
  void end() {
    ended = true;
    if (settling != null) {
      settling.cancel(false);
    }
    wake();
  }
}
