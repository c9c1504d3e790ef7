package org.rdma4j.nio.handover;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
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
    BROKEN
  }

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
    if (closed || outputEnded || sawReset || handover.isReset() || (linkOver && joined)) {
      return;
    }
    ByteBuffer data = ByteBuffer.allocate(bytes);
    while (data.hasRemaining()) {
      data.put(value(written++, salt));
    }
    if (!forgotten && handover.isOutputMoved()) {
      post(data.flip());
    } else {
      for (byte each : data.array()) {
        peer.tcpFlight.add(each);
      }
      handover.wrote(data, 0, bytes);
      checkPending();
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
    return handover.source();
  }

  private boolean ended() {
    sawEnd = true;
    return true;
  }

  private boolean readTcp(int bytes) {
    long most = forgotten ? bytes : Math.min(bytes, handover.tcpBytes());
    ByteBuffer data = ByteBuffer.allocate((int) most);
    while (data.hasRemaining() && tcpReady.peek() instanceof Byte next) {
      tcpReady.remove();
      expect(next);
      data.put(next);
    }
    int count = data.position();
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
      handover.tcpEnded();
      return true;
    }
    return false;
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
    if (!peer.lies) {
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
    peer.tcpFlight.add(Mark.FIN);
    handover.outputEnded();
    if (handover.isOutputMoved()) {
      post(ByteBuffer.allocate(0));
    }
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
    if (message instanceof Mark mark) {
      pending = null;
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
    } else if (rdmaEnded) {
      throw new HandoverException("more after the end");
    } else if (!message.hasRemaining()) {
      rdmaEnded = true;
    } else {
      while (message.hasRemaining()) {
        rdmaReady.add(message.get());
      }
    }
  }

  private void end(Runnable noted) {
    noted.run();
    forgotten = handover.isForgotten();
    linkOver = true;
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
