package org.rdma4j.nio.handover;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rdma4j.nio.handover.Handover.Source;
import org.rdma4j.nio.handover.Handover.Verdict;

/**
 * One end of a connection in memory, with the program that uses it. It does with its {@link
 * Handover} what a channel does.
 */
final class SimulatedEnd {
  /** What TCP and RDMA carry in addition to bytes. */
  enum Mark {
    FIN,
    RST,
    CLOSED,
    BROKEN,
    /** The client has the offset of the server. */
    CONFIRMED
  }

  /** How a record that lies differs from the truth. */
  private record Lie(long delivered, long sent) {}

  final Handover handover;
  final boolean client;

  /** What is in flight to this end, and what its kernel has of it. */
  final Deque<Object> tcpFlight = new ArrayDeque<>();

  final Deque<Object> tcpReady = new ArrayDeque<>();
  final Deque<Object> rdmaFlight = new ArrayDeque<>();
  private final Deque<Byte> rdmaReady = new ArrayDeque<>();
  private final byte salt;
  SimulatedEnd peer = this;

  long written;
  long read;
  boolean outputEnded;
  boolean closed;
  boolean sawEnd;
  boolean sawReset;
  boolean linkOpen;
  boolean joined;
  boolean granting;

  /** Whether it has named a wrong offset: then it sends what it likes. */
  boolean lies;

  /** How many of the last bytes that it has sent over RDMA it can send again. */
  int most = 64;

  private final List<Byte> sentOverRdma = new ArrayList<>();
  private long delivered;
  private boolean offsetSeen;
  private boolean finished;
  private @Nullable Resume resume;
  private @Nullable Lie lie;
  private boolean recordSent;
  private boolean readySent;
  private boolean restSent;

  /** Whether RDMA has failed before it knew the peer's offset. */
  private boolean mustFind;

  private int again;

  /** Whether the peer has sent its record, and that it is ready for the rest. */
  private boolean accepted;

  private boolean inputResumed;

  /** Whether it has left the handover for good, and uses TCP as if there had been none. */
  private boolean forgotten;

  private boolean tcpEnded;
  private boolean rdmaEnded;
  private boolean linkOver;
  private boolean offsetArrived;
  private byte[] challenge = {};
  private @Nullable Claim pending;

  SimulatedEnd(boolean client, byte salt) {
    this.client = client;
    this.salt = salt;
    this.handover = new Handover(new Proof(new byte[0], 4), "client server");
  }

  private static byte value(long index, byte salt) {
    return (byte) (index * 31 + (index >> 8) + salt);
  }

  boolean isOver() {
    return closed || sawEnd || sawReset;
  }

  // ---- The program

  void write(int bytes) {
    boolean over = linkOver && joined && !restSent;
    if (closed || outputEnded || sawReset || handover.isReset() || over) {
      return;
    }
    ByteBuffer data = ByteBuffer.allocate(bytes);
    while (data.hasRemaining()) {
      data.put(value(written++, salt));
    }
    if (!forgotten && handover.isOutputMoved() && !restSent) {
      for (byte each : data.array()) {
        sentOverRdma.add(each);
      }
      post(data.flip());
    } else {
      sendOverTcp(data.flip());
      handover.wrote(data, 0, bytes);
      checkPending();
    }
  }

  private void sendOverTcp(ByteBuffer data) {
    for (int i = 0; i < data.limit(); i++) {
      peer.tcpFlight.add(data.get(i));
    }
  }

  /** Reads, and returns whether something came. */
  boolean read(int bytes) {
    if (isOver()) {
      return false;
    }
    return switch (source()) {
      case TCP -> readTcp(bytes);
      case RDMA -> readRdma(bytes);
      case END -> ended();
      case RESET -> reset();
      case UNDECIDED -> false;
    };
  }

  Source source() {
    if (forgotten) {
      return tcpEnded ? Source.END : Source.TCP;
    }
    Resume now = resume;
    if (now == null || handover.tcpBytes() > 0 || handover.ahead() > 0) {
      return handover.source();
    }
    if (!rdmaReady.isEmpty() || handover.isReset()) {
      return Source.RDMA;
    }
    return inputResumed ? Objects.requireNonNull(now.source()) : Source.UNDECIDED;
  }

  private boolean ended() {
    sawEnd = true;
    return true;
  }

  private boolean readTcp(int bytes) {
    boolean all = forgotten || inputResumed;
    if (!all && handover.ahead() > 0) {
      return takeAhead(bytes);
    }
    long atMost = all ? bytes : Math.min(bytes, handover.tcpBytes());
    ByteBuffer data = ByteBuffer.allocate((int) atMost);
    boolean searches = !all && handover.isSearching();
    while (data.hasRemaining() && tcpReady.peek() instanceof Byte next) {
      tcpReady.remove();
      if (!searches) {
        expect(next);
      }
      data.put(next);
    }
    int count = data.position();
    if (count > 0 && searches) {
      handover.search(data, 0, count);
      putBackBehind();
      var unused = takeAhead(bytes);
      return true;
    }
    if (count > 0 && resume != null && inputResumed) {
      resume.read(count);
      return true;
    }
    if (count > 0) {
      handover.read(data, 0, count);
      checkPending();
      return true;
    }
    if (tcpReady.peek() == Mark.RST) {
      return reset();
    }
    if (tcpReady.peek() == Mark.FIN) {
      tcpReady.remove();
      tcpEnded = true;
      if (resume != null && inputResumed) {
        resume.tcpEnded();
      } else {
        handover.tcpEnded();
      }
      return true;
    }
    return false;
  }

  private boolean takeAhead(int bytes) {
    ByteBuffer data = ByteBuffer.allocate(bytes);
    int count = handover.take(data);
    for (int i = 0; i < count; i++) {
      expect(data.get(i));
    }
    return count > 0;
  }

  /** What was read behind the offset of the peer is not of the stream. */
  private void putBackBehind() {
    if (handover.isInputOffsetKnown()) {
      ByteBuffer behind = handover.takeBehind();
      for (int i = behind.limit() - 1; i >= 0; i--) {
        tcpReady.addFirst(behind.get(i));
      }
    }
  }

  private boolean readRdma(int bytes) {
    int count = 0;
    while (count < bytes && !rdmaReady.isEmpty()) {
      expect(rdmaReady.remove());
      count++;
    }
    if (count > 0) {
      return true;
    }
    if (rdmaEnded) {
      sawEnd = true;
    } else if (linkOver) {
      reset();
    }
    return isOver();
  }

  private void expect(byte next) {
    // An end that lies may read what its peer has sent because of that.
    if (!peer.lies && !lies && lie == null) {
      assertThat(next).as("byte %s", read).isEqualTo(value(read, peer.salt));
    }
    read++;
  }

  private boolean reset() {
    sawReset = true;
    // What a program does when a read has failed.
    end(Mark.RST);
    return true;
  }

  void endOutput() {
    if (closed || outputEnded || sawReset) {
      return;
    }
    outputEnded = true;
    // Behind what may have to be sent again, if there is an RDMA connection.
    boolean delays = !restSent && handover.delaysEnd();
    if (!delays) {
      finish();
    }
    handover.outputEnded();
    if (handover.isOutputMoved()) {
      post(ByteBuffer.allocate(0));
    }
  }

  private void finish() {
    finished = true;
    peer.tcpFlight.add(Mark.FIN);
  }

  void close() {
    if (!closed && !sawReset) {
      end(Mark.FIN);
    }
  }

  private void end(Mark tcp) {
    if (!outputEnded) {
      endOutputOverRdma();
    }
    closed = true;
    peer.tcpFlight.add(tcp);
    closeLink();
  }

  private void endOutputOverRdma() {
    outputEnded = true;
    handover.outputEnded();
    if (handover.isOutputMoved() && !handover.isReset()) {
      post(ByteBuffer.allocate(0));
    }
  }

  // ---- TCP

  /** Lets something arrive, and returns whether there was something. */
  boolean arriveOverTcp(int count) {
    boolean some = false;
    for (int i = 0; i < count && !tcpFlight.isEmpty(); i++) {
      tcpReady.add(tcpFlight.remove());
      some = true;
    }
    return some;
  }

  // ---- RDMA

  private void post(Object message) {
    if (linkOpen) {
      peer.rdmaFlight.add(message);
    }
  }

  void closeLink() {
    if (linkOpen) {
      post(Mark.CLOSED);
      linkOpen = false;
    }
  }

  /** Lets the other end know that this one may have lost something. */
  private void breakLink() {
    post(Mark.BROKEN);
    linkOpen = false;
  }

  boolean connect() {
    if (!client || closed || sawReset || !handover.mayClaim()) {
      return false;
    }
    handover.claiming();
    linkOpen = true;
    peer.linkOpen = !peer.closed;
    peer.challenge = Proof.random();
    peer.post(Messages.challenge(peer.challenge));
    if (peer.closed) {
      rdmaFlight.add(Mark.CLOSED);
    }
    return true;
  }

  /** Lets the next message arrive, and returns whether there was one. */
  boolean arriveOverRdma() {
    if (rdmaFlight.isEmpty()) {
      return false;
    }
    Object message = rdmaFlight.remove();
    if (closed) {
      return true;
    }
    if (message == Mark.CONFIRMED) {
      offsetSeen = true;
      return true;
    }
    if (message instanceof Mark mark) {
      pending = null;
      if (mark == Mark.BROKEN && mayResume()) {
        linkOver = true;
        linkOpen = false;
        int held = Math.min(most, sentOverRdma.size());
        resume = new Resume(handover.resumeKey(), client, sentOverRdma.size(), delivered, held);
        mustFind = !handover.isInputOffsetKnown();
        if (mustFind && !client) {
          handover.beginSearch();
        }
        return true;
      }
      end(mark == Mark.CLOSED ? handover::linkClosed : handover::linkBroken);
      return true;
    }
    try {
      take((ByteBuffer) message);
    } catch (HandoverException lie) {
      if (client && !joined) {
        // Another process has sent this. The peer of the TCP connection has therefore not joined.
        end(handover::linkClosed);
      } else {
        if (granting) {
          granting = false;
          breakLink();
        }
        end(handover::linkBroken);
      }
    }
    return true;
  }

  private void take(ByteBuffer message) throws HandoverException {
    if (joined) {
      takeStream(message);
    } else if (granting) {
      Messages.readConfirmation(message);
      handover.confirmed();
      granting = false;
      joined = true;
    } else if (!client) {
      pending = Claim.decode(message);
      checkPending();
    } else if (challenge.length == 0) {
      challenge = Messages.readChallenge(message);
      post(handover.claim(challenge).encode());
    } else {
      handover.granted(Messages.readGrant(message));
      joined = true;
      post(Messages.confirmation());
    }
  }

  private void takeStream(ByteBuffer message) throws HandoverException {
    if (!offsetArrived) {
      offsetArrived = true;
      handover.inputMoves(Messages.readOffset(message));
      putBackBehind();
      if (client) {
        offsetSeen = true;
        post(Mark.CONFIRMED);
      }
    } else if (rdmaEnded) {
      throw new HandoverException("more after the end");
    } else if (!message.hasRemaining()) {
      rdmaEnded = true;
    } else {
      while (message.hasRemaining()) {
        rdmaReady.add(message.get());
        delivered++;
      }
    }
  }

  // ---- Resume

  private boolean mayResume() {
    return handover.isUpgraded() && !finished;
  }

  /** Lets the record of the next resume say something else than is true. */
  void lieInResume(long more) {
    lie = new Lie(more % 2 == 0 ? more : 0, more % 3 == 0 ? more : 0);
  }

  /** Takes the next step of a resume, and returns whether there was one. */
  boolean resume() {
    Resume now = resume;
    if (now == null || closed || sawReset || handover.isReset()) {
      return false;
    }
    try {
      return resume(now);
    } catch (HandoverException refused) {
      end(handover::linkBroken);
      return true;
    }
  }

  private boolean resume(Resume now) throws HandoverException {
    if (!recordSent && (!client || offsetSeen || accepted)) {
      sendRecord(now);
      return true;
    }
    if (handover.isSearching() && tcpEnded && handover.ahead() == 0) {
      throw new HandoverException("the peer has ended TCP without a resume");
    }
    if (handover.tcpBytes() > 0 || handover.ahead() > 0) {
      return false;
    }
    if (!accepted && tcpReady.size() >= Resume.RECORD_BYTES) {
      again = (int) now.accept(takeTcp(Resume.RECORD_BYTES), handover.inputOffset());
      accepted = true;
      return true;
    }
    if (!accepted && (tcpEnded || tcpReady.peekLast() instanceof Mark)) {
      throw new HandoverException("the peer has ended TCP without a resume");
    }
    if (recordSent && accepted && !readySent) {
      sendReady();
      return true;
    }
    if (recordSent && accepted && !inputResumed && !tcpReady.isEmpty()) {
      if (takeTcp(1).get(0) != Resume.READY) {
        throw new HandoverException("not ready");
      }
      inputResumed = true;
      sendRest();
      return true;
    }
    return false;
  }

  private void sendRecord(Resume now) {
    recordSent = true;
    if (!handover.isOutputMoved()) {
      var unused = handover.moveOutput();
    }
    Lie told = lie;
    sendOverTcp(told == null ? now.record(handover.sent()) : lying(told));
    // An end that searches must find the record first, or it might take the rest for the stream.
    if (!mustFind || accepted) {
      sendReady();
    }
  }

  private void sendReady() {
    readySent = true;
    sendOverTcp(ByteBuffer.wrap(new byte[] {Resume.READY}));
  }

  private ByteBuffer lying(Lie with) {
    long sent = Math.max(0, sentOverRdma.size() + with.sent);
    return new Resume(
            handover.resumeKey(), client, sent, Math.max(0, delivered + with.delivered), 0)
        .record(handover.sent());
  }

  private void sendRest() {
    restSent = true;
    for (int i = sentOverRdma.size() - again; i < sentOverRdma.size(); i++) {
      peer.tcpFlight.add(sentOverRdma.get(i));
    }
    if (outputEnded) {
      finish();
    }
  }

  private ByteBuffer takeTcp(int bytes) throws HandoverException {
    ByteBuffer data = ByteBuffer.allocate(bytes);
    while (data.hasRemaining()) {
      if (!(tcpReady.remove() instanceof Byte next)) {
        throw new HandoverException("the peer has ended TCP without a resume");
      }
      data.put(next);
    }
    return data.flip();
  }

  private void end(Runnable noted) {
    noted.run();
    forgotten = handover.isForgotten();
    linkOver = true;
    if (outputEnded && !finished && !handover.isOutputMoved() && !handover.isReset() && !closed) {
      // The output does not move any more.
      finish();
    }
    closeLink();
  }

  private void checkPending() {
    if (pending != null && !closed) {
      Verdict verdict = handover.check(pending, challenge);
      if (verdict == Verdict.PROVEN) {
        pending = null;
        granting = true;
        post(Messages.grant(handover.grant()));
      } else if (verdict == Verdict.REFUSED) {
        refuse();
      }
    }
  }

  private void refuse() {
    pending = null;
    closeLink();
  }

  /** Whether this server waits for the confirmation of a grant. */
  boolean isUnconfirmed() {
    return granting;
  }

  /** Does not wait any longer for the other side, and returns whether it did. */
  boolean giveUp() {
    if (closed) {
      return false;
    }
    if (pending != null) {
      refuse();
      return true;
    }
    if (resume != null && !inputResumed && !handover.isReset() && !sawReset) {
      end(handover::linkBroken);
      return true;
    }
    if (linkOpen && !joined && (client || granting)) {
      if (granting) {
        granting = false;
        breakLink();
      }
      end(handover::linkBroken);
      return true;
    }
    return false;
  }

  boolean moveOutput() {
    if (closed || !handover.isOutputDue()) {
      return false;
    }
    post(Messages.offset(handover.moveOutput()));
    if (outputEnded) {
      post(ByteBuffer.allocate(0));
    }
    return true;
  }

  /** Names a wrong offset to the peer. */
  void lie(long offset) {
    if (joined && !closed && !handover.isOutputMoved()) {
      lies = true;
      handover.moveOutput();
      post(Messages.offset(offset));
    }
  }

  /** A third process claims this connection. */
  void attack(long counts) {
    if (closed || client) {
      return;
    }
    byte[] random = Proof.random();
    Claim forged = new Claim("client server", counts, counts, Proof.random(), Proof.random());
    assertThat(handover.check(forged, random)).isNotEqualTo(Verdict.PROVEN);
  }

  @Override
  public String toString() {
    return (client ? "client " : "server ")
        + handover
        + ", written "
        + written
        + ", read "
        + read
        + (sawEnd ? ", end" : "")
        + (sawReset ? ", reset" : "")
        + (closed ? ", closed" : "");
  }
}
