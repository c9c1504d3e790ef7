package org.rdma4j.nio;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * Keeps the process alive at its end until what was written over RDMA has arrived, as the kernel
 * goes on with TCP after the end of a process.
 *
 * <p>It ends no connection, because shutdown hooks of the program run at the same time and may
 * still use connections: the kernel ends them with the process. Hooks may also write after this has
 * found that all has arrived. So once the end has begun, each close and each blocking write waits
 * for that, and the JVM waits for the hook that calls it.
 */
final class Exit {
  /** How long it waits while nothing arrives: the peer is alive, but does not read. */
  private static final long STILL_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** How long it waits for the end of what threads still write, which are no hooks. */
  private static final long BUSY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long LONGEST_PAUSE_MILLIS = 20;

  /** How long peers have to send credits for what they have read. */
  private static final long CREDITS_MILLIS = 50;

  private final Set<Upgrade> upgrades;
  private final Set<StreamClose> closing = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean watches = new AtomicBoolean();
  private volatile boolean begun;

  /**
   * Creates it.
   *
   * @param upgrades the upgraded channels that are still open for the program
   */
  Exit(Set<Upgrade> upgrades) {
    this.upgrades = upgrades;
  }

  /** Waits for the end of the process from now on. */
  void watch() {
    if (!watches.getAndSet(true)) {
      try {
        Runtime.getRuntime()
            .addShutdownHook(ChannelThreads.named("rdma4j-nio-exit").unstarted(this::begin));
      } catch (IllegalStateException endsAlready) {
        begun = true;
      }
    }
  }

  void add(StreamClose close) {
    closing.add(close);
  }

  void remove(StreamClose close) {
    closing.remove(close);
  }

  /** Returns whether the process is about to end. */
  boolean hasBegun() {
    return begun;
  }

  private void begin() {
    begun = true;
    closing.forEach(StreamClose::wake);
    List<Written> all = new ArrayList<>();
    for (Upgrade each : upgrades) {
      all.add(new Written(each));
    }
    await(all, () -> closing);
    if (!all.isEmpty()) {
      awaitCredits();
    }
  }

  /** A peer whose credits are in flight when the process ends sees a failure, and so a reset. */
  private static void awaitCredits() {
    try {
      Thread.sleep(CREDITS_MILLIS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until all that was written to a channel has arrived. */
  void await(Upgrade upgrade) {
    await(List.of(new Written(upgrade)), Set::of);
  }

  /** Waits until a close is done. */
  void await(StreamClose close) {
    await(List.of(), () -> closing.contains(close) ? Set.of(close) : Set.of());
  }

  /** Waits for what was written, and for the closes that have not ended. */
  private static void await(List<Written> written, Supplier<Set<StreamClose>> underWay) {
    List<Written> left = new ArrayList<>(written);
    long began = System.nanoTime();
    long progress = began;
    long before = -1;
    long pause = 1;
    boolean logged = false;
    while (true) {
      left.removeIf(Written::hasArrived);
      Set<StreamClose> closes = underWay.get();
      if (left.isEmpty() && closes.isEmpty()) {
        return;
      }
      long messages =
          left.stream().mapToLong(Written::inFlight).sum()
              + closes.stream().mapToLong(each -> 1 + each.inFlight()).sum();
      long now = System.nanoTime();
      if (messages != before) {
        before = messages;
        progress = now;
      }
      if (now - progress >= STILL_NANOS) {
        left.forEach(Written::abandon);
        return;
      }
      if (!logged && now - began >= BUSY_NANOS) {
        logged = true;
        log(left.size() + closes.size());
      }
      try {
        Thread.sleep(pause);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return;
      }
      pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
    }
  }

  private static void log(int count) {
    System.getLogger("org.rdma4j.nio")
        .log(
            Level.INFO,
            "the end of the process waits until the peers of %d channels have received what was written, at most %d s without progress"
                .formatted(count, TimeUnit.NANOSECONDS.toSeconds(STILL_NANOS)));
  }

  /** What was written to a channel until a moment. */
  private static final class Written {
    private final Upgrade upgrade;
    private final RdmaStream stream;
    private final long messages;

    /** When all of it had arrived; 0 before. */
    private long arrived;

    Written(Upgrade upgrade) {
      this.upgrade = upgrade;
      this.stream = upgrade.stream();
      this.messages = stream.messages();
    }

    /** Returns whether all has arrived, and the peer knows that it has, or cannot be notified. */
    boolean hasArrived() {
      if (stream.isOver() || stream.isAbandoned() || upgrade.output().isResumed()) {
        return true;
      }
      if (upgrade.isResuming()) {
        return false;
      }
      if (!stream.hasArrived(messages)) {
        return false;
      }
      upgrade.tcp().output().mark(upgrade);
      if (stream.isMarked() && stream.inFlight() == 0) {
        return true;
      }
      long now = System.nanoTime();
      if (arrived == 0) {
        arrived = now;
      }
      // Other threads may write for ever.
      return stream.messages() > messages && now - arrived >= BUSY_NANOS;
    }

    long inFlight() {
      return stream.inFlight();
    }

    void abandon() {
      stream.abandon();
    }
  }
}
