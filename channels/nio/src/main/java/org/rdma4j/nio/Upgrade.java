package org.rdma4j.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.Objects;
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
 * stream over RDMA once there is one.
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
  private final Claiming claiming;
  private final WakeUp wakeUp = new WakeUp(this, lock);
  private volatile @Nullable RdmaStream stream;
  private volatile boolean inputMoved;
  private volatile boolean outputMoved;
  private volatile boolean outputDue;
  private volatile boolean reset;

  /** Whether the peer has the offset of this side, and so reads no more of TCP than that. */
  private volatile boolean offsetSeen;

  /** Goes on over TCP after RDMA has failed; null before the peer's record was accepted. */
  private volatile @Nullable Resume resumed;

  /**
   * Whether what is read from TCP must be searched for the record of a peer whose offset is not
   * known, or was searched, and may not all be taken.
   */
  private volatile boolean searches;

  /** Whether TCP's input is still to end, because the program has ended its input over RDMA. */
  private boolean inputEndDue;

  /** Whether TCP's output is still to end, because the program has ended its output over RDMA. */
  private boolean endDue;

  /** Whether TCP's output has ended, so that nothing can be sent again over it. */
  private boolean tcpOutputEnded;

  /** Whether the program has closed the channel, but TCP stays open until all was delivered. */
  private volatile boolean closeDue;

  /**
   * Whether the peer has named where its output moves to RDMA. Used by the thread that delivers.
   */
  private boolean offsetArrived;

  private boolean closed;

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

  Claiming claiming() {
    return claiming;
  }

  WakeUp wakeUp() {
    return wakeUp;
  }

  // ---- Input

  boolean isInputMoved() {
    return inputMoved && !isDrained();
  }

  /** Returns whether all that came over RDMA was read, and the rest comes over TCP again. */
  boolean isDrained() {
    return resumed != null && !stream().hasUnread();
  }

  Handover.Source source() {
    Resume now = resumed;
    if (inputMoved && (now == null || stream().hasUnread())) {
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
  boolean isInputReady() {
    RdmaStream now = stream;
    return switch (source()) {
      case RDMA -> now != null && now.isReadable();
      case END, RESET -> true;
      case TCP -> ahead() > 0;
      case UNDECIDED -> false;
    };
  }

  /** Returns whether a reader has to wait here: not for TCP. */
  boolean mustAwaitInput() {
    Handover.Source source = source();
    return source == Handover.Source.UNDECIDED
        || (source == Handover.Source.RDMA && !isInputReady());
  }

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
   * Notes what was read from TCP.
   *
   * @throws SocketException if the peer had said that it sends less there
   */
  void read(ByteBuffer bytes, int from, int length) throws SocketException {
    Claiming.Step step;
    boolean overrun;
    Upgrade following = next;
    if (following != null) {
      following.read(bytes, from, length);
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
      step = claiming.carried();
    } finally {
      lock.unlock();
    }
    if (overrun) {
      breakLink("the peer has sent more over TCP than its offset says");
      throw new SocketException("Connection reset");
    }
    moveInput();
    claiming.take(step);
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
    moveInput();
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
      breakLink("the peer has sent more over TCP than its offset says");
      throw new SocketException("Connection reset");
    }
    moveInput();
  }

  /** Keeps what was read from TCP behind the stream; returns whether the peer may send that. */
  private boolean takeBehind() {
    if (!handover.isInputOffsetKnown()) {
      return true;
    }
    ByteBuffer behind = handover.takeBehind();
    return !behind.hasRemaining() || wakeUp.takeEarly(behind, 0, behind.remaining());
  }

  void tcpEnded() {
    Upgrade following = next;
    if (following != null) {
      following.tcpEnded();
    }
    lock.lock();
    try {
      Resume now = resumed;
      if (now != null) {
        now.tcpEnded();
        return;
      }
      handover.tcpEnded();
    } finally {
      lock.unlock();
    }
  }

  /** Lets readers and selectors leave TCP, once all that came there was read. */
  private void moveInput() {
    if (inputMoved) {
      return;
    }
    if (source() == Handover.Source.RDMA) {
      boolean waits = wakeUp.begin();
      searches = false;
      inputMoved = true;
      tcp.inputMoved();
      if (waits) {
        wakeUp.ask();
      }
      if (tcp.input().isShut()) {
        tcp.input().dropSoon(this);
      }
    } else if (searches && tcpBytes() == 0 && wakeUp.begin()) {
      // All was read from TCP, but not taken, and a thread may wait there for more.
      wakeUp.ask();
    }
  }

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
    return !closed && handover.isOutputMoved();
  }

  /** Returns whether bytes may be lost, because the RDMA connection broke. */
  boolean isReset() {
    return reset;
  }

  RdmaStream stream() {
    RdmaStream now = stream;
    if (now == null) {
      throw new IllegalStateException("there is no RDMA connection for " + name);
    }
    return now;
  }

  // ---- Output

  boolean isOutputMoved() {
    return outputMoved;
  }

  /** Returns whether the output should move now: with the lock of writers, {@link #moveOutput}. */
  boolean isOutputDue() {
    return outputDue;
  }

  /** Returns whether a writer over RDMA learns something now. */
  boolean isOutputReady() {
    RdmaStream now = stream;
    return now != null && now.isWritable();
  }

  /** Returns whether short writes that were joined should be sent now. */
  boolean isFlushDue() {
    RdmaStream now = stream;
    return now != null && now.isFlushDue();
  }

  /** Sends short writes that were joined, if it is time. Called with the lock of writers. */
  void flush() {
    RdmaStream now = stream;
    if (now == null || !now.isFlushDue()) {
      return;
    }
    try {
      now.flush();
    } catch (RdmaException | IllegalStateException over) {
      rendezvous.log(name, "the last bytes that were written cannot be sent: " + over);
    }
  }

  /** Notifies the peer that nothing is missing, if that is so. Called with the lock of writers. */
  void mark() {
    if (outputMoved) {
      try {
        // At the end of the process nothing can be sent again.
        stream().mark(!rendezvous.exit().hasBegun());
      } catch (RdmaException | IllegalStateException over) {
        rendezvous.log(name, "the peer is not notified that nothing is missing: " + over);
      }
    }
  }

  /**
   * Asks the peer whether its process has all bytes, and the end. Called with the lock of writers.
   *
   * @param answered is called after an answer or a failure
   */
  void askForEnd(Runnable answered) {
    if (outputMoved) {
      stream().askForEnd(answered);
    }
  }

  /** Notes what was written to TCP. Called with the lock of writers. */
  void wrote(ByteBuffer bytes, int from, int length) {
    Upgrade following = next;
    if (following != null) {
      following.wrote(bytes, from, length);
      return;
    }
    if (resumed != null) {
      return;
    }
    Claiming.Step step;
    lock.lock();
    try {
      handover.wrote(bytes, from, length);
      step = claiming.carried();
    } finally {
      lock.unlock();
    }
    claiming.take(step);
  }

  /** Moves the output to RDMA. Called with the lock of writers. */
  void moveOutput() {
    long offset;
    boolean ended;
    lock.lock();
    try {
      outputDue = false;
      if (!handover.isOutputDue()) {
        return;
      }
      offset = handover.moveOutput();
      ended = handover.isOutputEnded();
    } finally {
      lock.unlock();
    }
    RdmaStream now = stream();
    try {
      now.send(Messages.offset(offset));
      if (ended) {
        now.sendEnd();
      }
    } catch (RdmaException | IllegalStateException over) {
      // The end of the RDMA connection comes in its order, and says what this means.
      rendezvous.log(name, "the peer is not notified of the offset: " + over);
    }
    outputMoved = true;
    tcp.changed();
  }

  /** Ends the output, also over RDMA. Called with the lock of writers. */
  void endOutput() {
    boolean moved;
    Upgrade following;
    lock.lock();
    try {
      if (handover.isOutputEnded()) {
        return;
      }
      handover.outputEnded();
      following = next;
      moved = handover.isOutputMoved() && !stream().isStalled() && resumed == null;
    } finally {
      lock.unlock();
    }
    if (following != null) {
      following.endOutput();
    }
    if (moved) {
      try {
        stream().sendEnd();
      } catch (RdmaException | IllegalStateException over) {
        rendezvous.log(name, "the peer is not notified of the end of the output: " + over);
      }
    }
  }

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

  // ---- The client

  /** Returns whether the channel is open, and neither direction has ended. */
  boolean isWhole() {
    lock.lock();
    try {
      return !closed && handover.isWhole();
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
      searches = true;
    } finally {
      lock.unlock();
    }
  }

  // ---- The server

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
      late = closed;
      outputDue = handover.isOutputDue();
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
      boolean may;
      lock.lock();
      try {
        handover.inputMoves(offset);
        outputDue = handover.isOutputDue();
        may = takeBehind();
      } finally {
        lock.unlock();
      }
      if (!may) {
        throw new HandoverException("the peer has sent more over TCP than its offset says");
      }
      if (client) {
        offsetSeen();
        confirmOffset();
      }
      moveInput();
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
      ends = endDue && !outputMoved && !reset;
      claiming.wake();
    } finally {
      lock.unlock();
    }
    if (ends) {
      // The output does not move any more.
      endTcpOutput();
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

  private void endTcpOutput() {
    try {
      tcp.endTcpOutput();
    } catch (IOException closedAlready) {
      rendezvous.log(name, "was closed when its output ended: " + closedAlready);
    }
  }

  // ---- Resume over TCP

  /**
   * Begins to resume over TCP, if both directions can. Called at the end of the connection. If the
   * peer's offset has not arrived, this side searches what it reads from TCP for the peer's record:
   * the offset is the number of bytes before it.
   *
   * @param closedByPeer whether the connection was closed in order: during the upgrade, only
   *     because the peer's channel is closed
   * @param mayBeGone whether RDMA has failed as if the peer's process had ended
   */
  boolean tryResume(boolean closedByPeer, boolean mayBeGone, String reason) {
    lock.lock();
    try {
      if ((closed && !closeDue)
          || (closedByPeer && !(outputMoved && handover.isInputOffsetKnown()))
          || !tcp.mayResume()
          || tcp.output().isLost()
          || tcpOutputEnded
          || !handover.isUpgraded()
          || !stream().mayResume()) {
        return false;
      }
      if (!client && !handover.isInputOffsetKnown()) {
        handover.beginSearch();
        searches = true;
      }
      stream().stall();
    } finally {
      lock.unlock();
    }
    Resumption.begin(this, mayBeGone, reason);
    return true;
  }

  /**
   * Lets a peer that waits for a record of this side know that none comes. An end of TCP would say
   * the same, but after the end of a process it is the end of the stream.
   */
  void refuseResume() {
    boolean may;
    lock.lock();
    try {
      may = offsetSeen && outputMoved && !tcpOutputEnded && tcp.isOpen();
    } finally {
      lock.unlock();
    }
    if (may) {
      // A write to TCP may wait.
      var unused = ChannelThreads.start("rdma4j-nio-resume", this::writeRefusal);
    }
  }

  private void writeRefusal() {
    ByteBuffer one = ByteBuffer.allocate(1).put(0, Resume.REFUSAL);
    try {
      var unused = tcp.writeTcp(new ByteBuffer[] {one}, 0, 1);
    } catch (IOException closedMeanwhile) {
      rendezvous.log(name, "the peer is not notified of the failure: " + closedMeanwhile);
    }
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

  /** Writes no more to TCP, if it still does. Called with the lock of writers. */
  void stopOutput() {
    lock.lock();
    try {
      outputDue = false;
      if (!handover.isOutputMoved()) {
        var unused = handover.moveOutput();
      }
      outputMoved = true;
    } finally {
      lock.unlock();
    }
    tcp.changed();
  }

  /** Returns the number of bytes that this side has written to TCP before the upgrade. */
  long outputOffset() {
    lock.lock();
    try {
      return handover.sent();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of bytes that the program has read from TCP. */
  long readOverTcp() {
    lock.lock();
    try {
      return handover.received();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the same number of the peer; negative if it is not known. */
  long inputOffset() {
    lock.lock();
    try {
      return handover.inputOffset();
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether all was read that the peer had written to TCP before the upgrade. */
  boolean hasReadTcp() {
    return inputMoved;
  }

  /** Reads from TCP, behind what came over RDMA. */
  void inputResumed(Resume accepted) {
    boolean ends;
    lock.lock();
    try {
      ends = inputEndDue;
      if (!closed && !handover.isOutputEnded()) {
        Proof proof = rendezvous.proof().after(handover.resumeKey());
        Upgrade following =
            new Upgrade(rendezvous, tcp, name, local, client, proof, claiming.failures() + 1);
        next = following;
        if (!client) {
          rendezvous.expect(following);
        }
      }
      resumed = accepted;
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
      outputMoved = false;
      ends = endDue;
      tcpOutputEnded |= ends;
      closes = closeDue;
      closeDue = false;
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
    resumed = null;
    linkEnded(inOrder);
    endClose();
  }

  /**
   * Returns whether the end of the program's input concerns RDMA only. TCP's input stays open then,
   * so that the channel can resume, and ends behind the peer's record.
   *
   * @param idle whether no thread reads
   */
  boolean delaysInputEnd(boolean idle) {
    lock.lock();
    try {
      boolean wakes = inputMoved ? wakeUp.isDue() : !idle;
      inputEndDue = handover.isUpgraded() && !wakes && resumed == null;
      return inputEndDue;
    } finally {
      lock.unlock();
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
        tcpOutputEnded = true;
        return false;
      }
      if (!hasResumed()) {
        endDue = true;
        return true;
      }
    } finally {
      lock.unlock();
    }
    Upgrade following = next;
    return following != null && following.delaysEnd();
  }

  /**
   * Returns whether TCP stays open for a channel that the program closes, until the process of the
   * peer has all that may have to be sent again. A close with bytes that were not read is a reset.
   *
   * @param seconds the value of SO_LINGER
   */
  boolean delaysClose(int seconds) {
    RdmaStream now = stream;
    boolean mayResume = now != null && !now.isOver();
    lock.lock();
    try {
      closeDue = mayResume && outputMoved && seconds != 0 && !wakeUp.isDue() && !hasUnread();
      return closeDue;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether TCP is still open for a channel that the program has closed. */
  boolean isCloseDue() {
    return closeDue;
  }

  /** Closes TCP after {@link #delaysClose}, unless the connection resumes. */
  void endClose() {
    boolean closes;
    lock.lock();
    try {
      closes = closeDue && !isResuming();
      if (closes) {
        closeDue = false;
      }
    } finally {
      lock.unlock();
    }
    if (closes) {
      tcp.closeTcp(reset);
    }
  }

  /** Returns whether all that is written is sent over TCP again. */
  boolean hasResumed() {
    return resumed != null && !outputMoved;
  }

  /** Returns whether bytes that came before RDMA failed were not read: then a close is a reset. */
  boolean hasUnreadAfterResume() {
    return (resumed != null || isResuming()) && hasUnread();
  }

  private boolean hasUnread() {
    return !inputMoved || stream().hasUnread();
  }

  /** Returns whether the rest of the output was not sent again yet. */
  boolean isResuming() {
    RdmaStream now = stream;
    return outputMoved && now != null && now.isStalled();
  }

  // ---- The next upgrade

  /** Lets the next upgrade count, if nothing of this one is left to read or to send again. */
  void followIfDone() {
    Upgrade following = next;
    Resume now = resumed;
    if (following != null
        && now != null
        && now.hasAll()
        && !outputMoved
        && isDrained()
        && tcp.upgrade().compareAndSet(this, following)) {
      following.claiming.begin();
    }
  }

  // ---- The end

  /**
   * Closes the RDMA connection as SO_LINGER says. As with TCP, the peer sees a reset if bytes were
   * not read.
   *
   * @param seconds how long to wait until all has arrived; 0 if the peer shall see a reset
   */
  void closeWithin(int seconds) {
    RdmaStream open;
    boolean unread;
    Upgrade following;
    lock.lock();
    try {
      closed = true;
      following = next;
      open = stream;
      unread = handover.hasUnread();
      claiming.end();
    } finally {
      lock.unlock();
    }
    if (following != null) {
      following.closeWithin(seconds);
    }
    if (open == null) {
      rendezvous.forget(this);
    } else if (resumed != null && !outputMoved) {
      rendezvous.forget(this);
      tcp.input().dropSoon(this);
    } else {
      if (closeDue && resumed != null) {
        // Wakes a thread that waits for TCP.
        tcp.endTcpInput();
      }
      StreamClose.close(this, open, seconds == 0 || unread || open.hasUnread(), seconds);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
