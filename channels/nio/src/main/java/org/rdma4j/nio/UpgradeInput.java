package org.rdma4j.nio;

import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.nio.handover.Handover;
import org.rdma4j.nio.handover.HandoverException;
import org.rdma4j.nio.handover.Resume;

/**
 * The input of a channel with an {@link Upgrade}: from where its next bytes come.
 *
 * <p>The lock of the upgrade guards this. What is volatile is also read without it.
 */
final class UpgradeInput {
  private final Upgrade upgrade;
  private final TcpEnd tcp;
  private final Handover handover;
  private final ReentrantLock lock;
  private volatile Carrier carrier = Carrier.TCP;

  /**
   * Whether what is read from TCP must be searched for the record of a peer whose offset is not
   * known, or was searched, and may not all be taken.
   */
  private volatile boolean searches;

  /** Counts what TCP carries again; null before the peer's record was accepted. */
  private volatile @Nullable Resume resumed;

  /** Whether TCP's input is still to end, because the program has ended its input over RDMA. */
  private boolean endDue;

  /**
   * Creates it.
   *
   * @param lock the lock of the upgrade
   */
  UpgradeInput(Upgrade upgrade, Handover handover, ReentrantLock lock) {
    this.upgrade = upgrade;
    this.tcp = upgrade.tcp();
    this.handover = handover;
    this.lock = lock;
  }

  // ---- From where the next bytes come

  /** Returns whether TCP does not carry the next bytes. */
  boolean isMoved() {
    return carrier != Carrier.TCP && !isDrained();
  }

  /** Returns whether all that came over RDMA was read, and the rest comes over TCP again. */
  boolean isDrained() {
    return carrier == Carrier.TCP_AGAIN && !upgrade.stream().hasUnread();
  }

  Handover.Source source() {
    Resume now = resumed;
    if (carrier != Carrier.TCP && (now == null || upgrade.stream().hasUnread())) {
      return Handover.Source.RDMA;
    }
    lock.lock();
    try {
      return now == null
          ? handover.source()
          : Objects.requireNonNullElse(now.source(), Handover.Source.RESET);
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether a reader learns something now that TCP does not show. */
  boolean isReady() {
    return switch (source()) {
      case RDMA -> upgrade.hasStream() && upgrade.stream().isReadable();
      case END, RESET -> true;
      case TCP -> ahead() > 0;
      case UNDECIDED -> false;
    };
  }

  /** Returns whether a reader has to wait here: not for TCP. */
  boolean mustWait() {
    Handover.Source source = source();
    return source == Handover.Source.UNDECIDED || (source == Handover.Source.RDMA && !isReady());
  }

  /**
   * Returns whether bytes that have come, over TCP before the upgrade or over RDMA, were not read.
   */
  boolean hasUnread() {
    return carrier == Carrier.TCP || upgrade.stream().hasUnread();
  }

  // ---- TCP

  /** Returns how many bytes may be read from TCP. */
  long tcpBytes() {
    lock.lock();
    try {
      return resumed != null ? Long.MAX_VALUE : handover.tcpBytes();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Records what was read from TCP.
   *
   * @throws SocketException if the peer had said that it sends less there
   */
  void read(ByteBuffer bytes, int from, int length) throws SocketException {
    Claiming.Step step;
    boolean overrun;
    Upgrade following = upgrade.next();
    if (following != null) {
      following.input().read(bytes, from, length);
    }
    lock.lock();
    try {
      Resume now = resumed;
      if (now != null) {
        now.read(length);
        return;
      }
      handover.read(bytes, from, length);
      overrun = handover.isOverrun();
      step = upgrade.claiming().carried();
    } finally {
      lock.unlock();
    }
    if (overrun) {
      throw tooMuch();
    }
    move();
    upgrade.claiming().take(step);
  }

  private SocketException tooMuch() {
    upgrade.breakLink("the peer has sent more over TCP than its offset says");
    return new SocketException("Connection reset");
  }

  /** TCP has ended. */
  void tcpEnded() {
    Upgrade following = upgrade.next();
    if (following != null) {
      following.input().tcpEnded();
    }
    lock.lock();
    try {
      Resume now = resumed;
      if (now != null) {
        now.tcpEnded();
      } else {
        handover.tcpEnded();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of bytes that the program has read from TCP before the upgrade. */
  long readOverTcp() {
    lock.lock();
    try {
      return handover.received();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of bytes that the peer has written there; negative if it is not known. */
  long offset() {
    lock.lock();
    try {
      return handover.inputOffset();
    } finally {
      lock.unlock();
    }
  }

  // ---- The search for the peer's record

  /** Begins to search what is read from TCP. Requires the lock. */
  void beginSearch() {
    searches = true;
  }

  /** Returns whether what is read from TCP must be {@linkplain #search searched}. */
  boolean isSearching() {
    return searches;
  }

  /** Returns how many bytes of the stream were read from TCP, and can be {@link #takeAhead}n. */
  int ahead() {
    if (!searches) {
      return 0;
    }
    lock.lock();
    try {
      return handover.ahead();
    } finally {
      lock.unlock();
    }
  }

  /** Moves bytes of the stream that were read from TCP into a buffer; returns their number. */
  int takeAhead(ByteBuffer target) {
    int count;
    lock.lock();
    try {
      count = handover.take(target);
    } finally {
      lock.unlock();
    }
    move();
    return count;
  }

  /**
   * Looks for the record of the peer in what was read from TCP.
   *
   * @throws SocketException if the peer has sent something else behind its offset
   */
  void search(ByteBuffer bytes, int from, int length) throws SocketException {
    boolean may;
    lock.lock();
    try {
      handover.search(bytes, from, length);
      may = takeBehind();
    } finally {
      lock.unlock();
    }
    if (!may) {
      throw tooMuch();
    }
    move();
  }

  /** Keeps what was read from TCP behind the stream; returns whether the peer may send that. */
  private boolean takeBehind() {
    if (!handover.isInputOffsetKnown()) {
      return true;
    }
    ByteBuffer behind = handover.takeBehind();
    return !behind.hasRemaining() || upgrade.wakeUp().takeEarly(behind, 0, behind.remaining());
  }

  // ---- The move to RDMA

  /**
   * Takes the number of bytes that the peer has written to TCP. Requires the lock.
   *
   * @throws HandoverException if it is wrong
   */
  void moves(long offset) throws HandoverException {
    handover.inputMoves(offset);
    if (!takeBehind()) {
      throw new HandoverException("the peer has sent more over TCP than its offset says");
    }
  }

  /** Lets readers and selectors leave TCP, once all that came there was read. */
  void move() {
    if (carrier != Carrier.TCP) {
      return;
    }
    WakeUp wakeUp = upgrade.wakeUp();
    if (source() == Handover.Source.RDMA) {
      boolean waits = wakeUp.begin();
      searches = false;
      carrier = carrier.to(Carrier.RDMA);
      tcp.inputMoved();
      if (waits) {
        wakeUp.ask();
      }
      if (tcp.input().isShut()) {
        tcp.input().dropSoon(upgrade);
      }
    } else if (searches && tcpBytes() == 0 && wakeUp.begin()) {
      // All was read from TCP, but not taken, and a thread may wait there for more.
      wakeUp.ask();
    }
  }

  /** Returns whether all was read that the peer had written to TCP before the upgrade. */
  boolean hasReadTcp() {
    return carrier != Carrier.TCP;
  }

  // ---- TCP again

  /**
   * Reads from TCP, behind what came over RDMA. Requires the lock.
   *
   * @return whether TCP's input is to end now
   */
  boolean resume(Resume accepted) {
    carrier = carrier.to(Carrier.TCP_AGAIN);
    resumed = accepted;
    return endDue;
  }

  /** The resume has failed. Requires the lock. */
  void resumeFailed() {
    if (carrier == Carrier.TCP_AGAIN) {
      carrier = carrier.to(Carrier.RDMA);
    }
    resumed = null;
  }

  /** Returns whether the peer's record was accepted. */
  boolean isResumed() {
    return resumed != null;
  }

  /** Returns whether all came over TCP that the peer had to send again. */
  boolean hasAll() {
    Resume now = resumed;
    return now != null && now.hasAll();
  }

  /**
   * Returns whether the end of the program's input concerns RDMA only. TCP's input stays open then,
   * so that the channel can resume, and ends behind the peer's record.
   *
   * @param idle whether no thread reads
   */
  boolean delaysEnd(boolean idle) {
    lock.lock();
    try {
      boolean wakes = hasReadTcp() ? upgrade.wakeUp().isDue() : !idle;
      endDue = handover.isUpgraded() && !wakes && resumed == null;
      return endDue;
    } finally {
      lock.unlock();
    }
  }
}
