package org.rdma4j.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.nio.handover.Claim;
import org.rdma4j.nio.handover.Handover;
import org.rdma4j.nio.handover.HandoverException;
import org.rdma4j.nio.handover.Messages;
import org.rdma4j.nio.handover.Proof;
import org.rdma4j.nio.handover.Resume;

/**
 * The way of one channel or socket from TCP to RDMA: a {@link Handover} with its lock, and the
 * stream over RDMA once there is one. Its {@link UpgradeInput} and {@link UpgradeOutput} move, and
 * return to TCP, each for itself (see {@link Carrier}), and its {@link UpgradeClose} follows.
 *
 * <p>The lock is held for moments only, and never while something of the RDMA connection is called:
 * such a call may deliver to other channels.
 */
final class Upgrade {
  private final Rendezvous rendezvous;
  private final TcpEnd tcp;
  private final String name;
  private final InetSocketAddress local;
  private final boolean client;

  /** The upgrade that follows after a resume, and sees what TCP carries from there on. */
  private volatile @Nullable Upgrade next;

  private final Handover handover;
  private final ReentrantLock lock = new ReentrantLock();
  private final UpgradeInput input;
  private final UpgradeOutput output;
  private final UpgradeClose close;
  private final Claiming claiming;
  private final WakeUp wakeUp = new WakeUp(this, lock);
  private volatile @Nullable RdmaStream stream;
  private volatile boolean reset;

  /** Whether the peer has the offset of this side, and so reads no more of TCP than that. */
  private volatile boolean offsetSeen;

  /**
   * Whether the peer has named where its output moves to RDMA. Used by the thread that delivers.
   */
  private boolean offsetArrived;

  /**
   * Creates it.
   *
   * @param name the addresses and ports of the TCP connection, that of the client first
   * @param local the address of this side over TCP
   * @param client whether this side has connected
   * @param proof the proof of this process, or a proof after an upgrade that has failed
   * @param failures how many upgrades of the channel have failed before; if some have, {@link
   *     Claiming#begin} must be called
   */
  Upgrade(
      Rendezvous rendezvous,
      TcpEnd tcp,
      String name,
      InetSocketAddress local,
      boolean client,
      Proof proof,
      int failures) {
    this.rendezvous = rendezvous;
    this.tcp = tcp;
    this.name = name;
    this.local = local;
    this.client = client;
    this.handover = new Handover(proof, name);
    this.input = new UpgradeInput(this, handover, lock);
    this.output = new UpgradeOutput(this, handover, lock);
    this.close = new UpgradeClose(this, handover, lock);
    this.claiming = new Claiming(this, handover, lock, failures);
  }

  /** Returns the addresses and ports of the TCP connection, that of the client first. */
  String name() {
    return name;
  }

  TcpEnd tcp() {
    return tcp;
  }

  boolean isClient() {
    return client;
  }

  /** Returns the address of this side over TCP. */
  InetSocketAddress local() {
    return local;
  }

  Rendezvous rendezvous() {
    return rendezvous;
  }

  UpgradeInput input() {
    return input;
  }

  UpgradeOutput output() {
    return output;
  }

  UpgradeClose close() {
    return close;
  }

  Claiming claiming() {
    return claiming;
  }

  WakeUp wakeUp() {
    return wakeUp;
  }

  // ---- The peer

  /**
   * Shows the server that its offset has arrived: from now on it may send a record over TCP, which
   * this side will not take for bytes of the stream. To a client, the offset of the server shows
   * the same.
   */
  private void confirmOffset() {
    try {
      var unused =
          stream().connection().request(ByteBuffer.allocate(0)).thenAccept(MessageBuffer::close);
    } catch (RdmaException | IllegalStateException over) {
      rendezvous.log(name, "the offset is not confirmed: " + over);
    }
  }

  /** The peer has the offset of this side. */
  void offsetSeen() {
    offsetSeen = true;
  }

  /** Returns whether the peer has the offset of this side. */
  boolean isOffsetSeen() {
    return offsetSeen;
  }

  /** Returns whether no thread writes to TCP any more, and TCP is open. Requires the lock. */
  boolean mayWakePeer() {
    return close.isOpen() && handover.isOutputMoved();
  }

  /** Returns whether bytes may be lost, because the RDMA connection broke. */
  boolean isReset() {
    return reset;
  }

  /** Returns whether there is a stream over RDMA, or was. */
  boolean hasStream() {
    return stream != null;
  }

  RdmaStream stream() {
    RdmaStream now = stream;
    if (now == null) {
      throw new IllegalStateException("there is no RDMA connection for " + name);
    }
    return now;
  }

  // ---- The claim

  /**
   * Stays on TCP, unless one side has claimed the connection.
   *
   * @return whether it stays
   */
  boolean stay() {
    lock.lock();
    try {
      if (!handover.stay()) {
        return false;
      }
    } finally {
      lock.unlock();
    }
    rendezvous.stays(this, StayReason.URGENT_DATA, StayReason.URGENT_DATA.text());
    tcp.forget(this);
    return true;
  }

  /** Returns whether the channel is open, and neither direction has ended. */
  boolean isWhole() {
    lock.lock();
    try {
      return close.isOpen() && handover.isWhole();
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the channel stays on TCP for good. */
  boolean isForgotten() {
    lock.lock();
    try {
      return handover.isForgotten();
    } finally {
      lock.unlock();
    }
  }

  Claim claim(byte[] challenge) throws HandoverException {
    lock.lock();
    try {
      return handover.claim(challenge);
    } finally {
      lock.unlock();
    }
  }

  void granted(byte[] token) throws HandoverException {
    lock.lock();
    try {
      handover.granted(token);
      input.beginSearch();
    } finally {
      lock.unlock();
    }
  }

  /** The client has confirmed the grant. */
  void confirmed() throws HandoverException {
    lock.lock();
    try {
      handover.confirmed();
    } finally {
      lock.unlock();
    }
  }

  byte[] grant() {
    lock.lock();
    try {
      return handover.grant();
    } finally {
      lock.unlock();
    }
  }

  // ---- The RDMA connection

  /** Gives the channel the stream over RDMA, before anything of it arrives. */
  void stream(RdmaStream carrying) {
    stream = carrying;
  }

  /** Goes on over RDMA. */
  void join() {
    boolean late;
    lock.lock();
    try {
      late = !close.isOpen();
      output.updateDue();
    } finally {
      lock.unlock();
    }
    if (late) {
      // The channel was closed when there was no stream to close.
      rendezvous.forget(this);
      rendezvous.close(stream().connection());
    } else {
      tcp.output().move(this);
    }
  }

  /**
   * Does not wait for the answer to the claim, or for its confirmation, any longer.
   *
   * @return whether it had not come
   */
  boolean giveUp() {
    lock.lock();
    try {
      if (handover.isJoined()) {
        return false;
      }
      handover.linkBroken();
    } finally {
      lock.unlock();
    }
    linkEnded(false);
    return true;
  }

  /** Takes a message of the channel. */
  void received(MessageBuffer message) {
    if (offsetArrived) {
      if (stream().arrived(message)) {
        // A mark wakes no thread.
        if (stream().isReadable()) {
          readable();
        }
      } else {
        breakLink("the peer has sent more after its end");
      }
      return;
    }
    offsetArrived = true;
    try (message) {
      long offset = Messages.readOffset(message.byteBuffer());
      lock.lock();
      try {
        input.moves(offset);
        output.updateDue();
      } finally {
        lock.unlock();
      }
      if (client) {
        offsetSeen();
        confirmOffset();
      }
      input.move();
      tcp.output().move(this);
      readable();
    } catch (HandoverException lie) {
      breakLink(lie.getMessage());
    }
  }

  /** There is room to write again, or what was joined should be sent. */
  void writable() {
    tcp.output().move(this);
    tcp.ready(SelectionKey.OP_WRITE);
    tcp.output().wake();
  }

  private void readable() {
    tcp.ready(SelectionKey.OP_READ);
    tcp.input().wake();
  }

  /** Ends the RDMA connection, because it is of no use any more. */
  void breakLink(@Nullable String why) {
    rendezvous.log(name, "the RDMA connection is broken: " + why);
    linkEnded(false);
    RdmaStream now = stream;
    if (now != null) {
      now.ended(false);
      rendezvous.close(now.connection());
    }
    tcp.changed();
  }

  /**
   * Records that the RDMA connection has ended, or will not come.
   *
   * @param inOrder whether the peer closed the connection or refused the claim; false if it broke
   */
  void linkEnded(boolean inOrder) {
    boolean forgotten;
    boolean resetNow;
    boolean ends;
    lock.lock();
    try {
      if (inOrder) {
        handover.linkClosed();
      } else {
        handover.linkBroken();
      }
      claiming.tryLater();
      forgotten = handover.isForgotten();
      resetNow = !reset && handover.source() == Handover.Source.RESET;
      reset = handover.isReset();
      ends = output.isEndDue() && !reset;
      claiming.wake();
    } finally {
      lock.unlock();
    }
    if (ends) {
      // The output does not move any more.
      output.endTcp();
    }
    if (forgotten) {
      tcp.forget(this);
    }
    if (resetNow) {
      tcp.inputMoved();
      if (!tcp.input().isIdle()) {
        tcp.endTcpInput();
      }
    }
    if (wakeUp.isDue()) {
      wakeUp.endInput();
    }
    tcp.changed();
  }

  // ---- Resume over TCP

  /**
   * Begins to resume over TCP, if both directions can. Called at the end of the connection. If the
   * peer's offset has not arrived, this side looks for the peer's record in what it reads from TCP:
   * the number of bytes before the record is the offset.
   *
   * @param closedByPeer whether the connection was closed in order: during the upgrade, only
   *     because the peer's channel is closed
   * @param mayBeGone whether RDMA has failed as if the peer's process had ended
   */
  boolean tryResume(boolean closedByPeer, boolean mayBeGone, String reason) {
    lock.lock();
    try {
      if (close.isClosed()
          || (closedByPeer && !(output.isMoved() && handover.isInputOffsetKnown()))
          || !tcp.mayResume()
          || !output.mayResume()
          || !handover.isUpgraded()
          || !stream().mayResume()) {
        return false;
      }
      if (!client && !handover.isInputOffsetKnown()) {
        handover.beginSearch();
        input.beginSearch();
      }
      stream().stall();
    } finally {
      lock.unlock();
    }
    Resumption.begin(this, mayBeGone, reason);
    return true;
  }

  /** Returns the resume. The stream must have stalled. */
  Resume resume() {
    RdmaStream now = stream();
    HeldBytes kept = now.kept();
    lock.lock();
    try {
      return new Resume(handover.resumeKey(), client, kept.sent(), now.delivered(), kept.count());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns whether the peer takes a record of this side for what it is: it has the offset of this
   * side, or searches. A client that has joined does.
   */
  boolean mayBeginResume() {
    return !client || offsetSeen;
  }

  /** Returns whether the peer takes a byte over TCP for the refusal that it is. */
  boolean mayRefuseResume() {
    lock.lock();
    try {
      return offsetSeen && output.mayRefuse() && tcp.isOpen();
    } finally {
      lock.unlock();
    }
  }

  /** Reads from TCP, behind what came over RDMA. */
  void inputResumed(Resume accepted) {
    boolean ends;
    lock.lock();
    try {
      if (close.isOpen() && !handover.isOutputEnded()) {
        Proof proof = rendezvous.proof().after(handover.resumeKey());
        Upgrade following =
            new Upgrade(rendezvous, tcp, name, local, client, proof, claiming.failures() + 1);
        next = following;
        if (!client) {
          rendezvous.expect(following);
        }
      }
      ends = input.resume(accepted);
    } finally {
      lock.unlock();
    }
    if (ends) {
      tcp.endTcpInput();
    }
    tcp.changed();
  }

  /** Writes to TCP, behind what was sent again. */
  void outputResumed(int again, String reason) throws IOException {
    rendezvous.resumed(this, again, reason);
    boolean ends;
    boolean closes;
    lock.lock();
    try {
      ends = output.resume();
      closes = close.endByResume();
    } finally {
      lock.unlock();
    }
    if (closes) {
      tcp.closeTcp(false);
    } else if (ends) {
      tcp.endTcpOutput();
    }
    followIfDone();
    tcp.changed();
  }

  /** Resets the connection, because it cannot resume, unless the peer has ended its output. */
  void resumeFailed() {
    boolean inOrder = stream().isInputEnded();
    stream().ended(inOrder);
    lock.lock();
    try {
      input.resumeFailed();
      output.resumeFailed();
    } finally {
      lock.unlock();
    }
    linkEnded(inOrder);
    close.endTcp();
  }

  /** Returns whether bytes that came before RDMA failed were not read: then a close is a reset. */
  boolean hasUnreadAfterResume() {
    return (input.isResumed() || isResuming()) && input.hasUnread();
  }

  /** Returns whether the rest of the output was not sent again yet. */
  boolean isResuming() {
    RdmaStream now = stream;
    return output.isMoved() && now != null && now.isStalled();
  }

  // ---- The next upgrade

  /** Returns the upgrade that follows after a resume; null before that. */
  @Nullable Upgrade next() {
    return next;
  }

  /** Lets the next upgrade count, if nothing of this one is left to read or to send again. */
  void followIfDone() {
    Upgrade following = next;
    if (following != null
        && input.hasAll()
        && output.isResumed()
        && input.isDrained()
        && tcp.upgrade().compareAndSet(this, following)) {
      following.claiming.begin();
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
