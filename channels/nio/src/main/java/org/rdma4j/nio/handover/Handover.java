package org.rdma4j.nio.handover;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection that begins over TCP and may go on over RDMA. It is notified of what has
 * happened, and answers where bytes come from and go to.
 *
 * <p>Each direction is moved once, after the number of bytes that its sender names. The sender
 * counts what it has written to TCP, the receiver what it has read from there; so no byte is lost,
 * doubled or out of order, whichever of both ways is faster.
 *
 * <p>Once both ends have joined, only the RDMA connection shows how a direction ends: what TCP says
 * may be early, because the bytes that follow the last one over TCP may still be in flight over
 * RDMA.
 *
 * <p>One thread at a time may use it.
 */
public final class Handover {
  /** Where a reader gets its next bytes. */
  public enum Source {
    /** From TCP. */
    TCP,
    /** From the RDMA connection, also if it has ended. */
    RDMA,
    /** Not known yet: TCP has ended, and bytes may still come over RDMA. */
    UNDECIDED,
    /** The stream has ended. */
    END,
    /** The connection was reset. */
    RESET
  }

  /** What a server thinks of a claim. */
  public enum Verdict {
    /** It must read or write more bytes first: ask again after that. */
    LATER,
    /** It is not proven, or comes too late. */
    REFUSED,
    /** It is proven. */
    PROVEN
  }

  private enum Link {
    NONE,
    CLAIMED,
    JOINED,
    CLOSED,
    BROKEN
  }

  /** So that no peer tries what the bytes might be. */
  private static final int MAX_CLAIMS = 3;

  private final Proof proof;
  private final String connection;
  private final Evidence sent = new Evidence();
  private final Evidence received = new Evidence();
  private Link link = Link.NONE;
  private int claims;
  private @Nullable Claim claim;
  private byte[] challenge = {};
  private boolean isClaimant;
  private boolean granted;
  private boolean joined;

  /** Whether this end stays on TCP by its own decision. */
  private boolean staying;

  private boolean outputMoved;
  private boolean outputEnded;
  private boolean tcpEnded;
  private long offset = -1;

  /** Whether the peer's record has shown the offset, before a message over RDMA did. */
  private boolean offsetFound;

  /** What was read from TCP, but not by the program yet. */
  private final OffsetSearch ahead = new OffsetSearch();

  /** Whether a server looks for the record of its client. */
  private boolean searches;

  /**
   * Creates the end of a connection that is made over TCP.
   *
   * @param proof the proof of this process
   * @param connection the addresses and ports of both ends, that of the client first
   */
  public Handover(Proof proof, String connection) {
    this.proof = proof;
    this.connection = connection;
  }

  // ---- TCP

  /**
   * Notes what was written to TCP.
   *
   * @param bytes a buffer that holds it
   * @param from the index of the first byte
   * @param length the number of bytes
   */
  public void wrote(ByteBuffer bytes, int from, int length) {
    sent.add(bytes, from, length);
  }

  /**
   * Notes what was read from TCP.
   *
   * @param bytes a buffer that holds it
   * @param from the index of the first byte
   * @param length the number of bytes, at most {@link #tcpBytes}
   */
  public void read(ByteBuffer bytes, int from, int length) {
    received.add(bytes, from, length);
  }

  /**
   * Returns whether the peer may send a record over TCP, and this side does not know its offset. So
   * the bytes that are read from TCP must be {@linkplain #search searched}. A client searches as
   * soon as it has joined, because a server that has joined knows that, and may be the first to see
   * the end of the RDMA connection.
   *
   * @return whether it searches
   */
  public boolean isSearching() {
    return offset < 0 && link == Link.JOINED && (isClaimant || searches);
  }

  /** Lets a server whose RDMA connection has failed look for the record of its client. */
  public void beginSearch() {
    searches = true;
  }

  /**
   * Stores bytes that were read from TCP while {@link #isSearching} is true, and looks for the
   * record of the peer in them.
   *
   * @param bytes a buffer that holds them
   * @param from the index of the first byte
   * @param length the number of bytes
   */
  public void search(ByteBuffer bytes, int from, int length) {
    ahead.add(bytes, from, length);
    if (isSearching()) {
      byte[] key = resumeKey();
      long before = received.count();
      int index = ahead.find(at -> Resume.isRecord(ahead.at(at), key, !isClaimant, before + at));
      if (index >= 0) {
        offset = before + index;
        offsetFound = true;
      }
    }
  }

  /**
   * Returns how many bytes of the stream were read from TCP, and can be {@linkplain #take taken}.
   *
   * @return their number
   */
  public int ahead() {
    if (offset >= 0) {
      return Math.clamp(offset - received.count(), 0, ahead.length());
    }
    return isSearching() ? ahead.decided() : ahead.length();
  }

  /**
   * Moves bytes of the stream that were read from TCP to the program.
   *
   * @param target where to
   * @return their number; 0 if there are none, or the buffer is full
   */
  public int take(ByteBuffer target) {
    int count = Math.min(ahead(), target.remaining());
    if (count > 0) {
      int from = target.position();
      ahead.take(target, count);
      received.add(target, from, count);
    }
    return count;
  }

  /**
   * Removes the bytes that were read from TCP behind those of the stream.
   *
   * @return the bytes
   */
  public ByteBuffer takeBehind() {
    return ahead.takeFrom(ahead());
  }

  /**
   * Records that the stream of TCP has ended. This does not matter once all bytes that the peer has
   * sent over TCP were read.
   */
  public void tcpEnded() {
    tcpEnded = true;
  }

  /** Records that this side ends its output, whichever way it goes. */
  public void outputEnded() {
    outputEnded = true;
  }

  // ---- The client

  /**
   * Returns whether this client has something to prove and has not tried yet.
   *
   * @return whether to connect and to {@link #claim}
   */
  public boolean mayClaim() {
    return claims == 0 && link == Link.NONE && isWhole() && isProvable();
  }

  /**
   * Returns whether no direction has ended, as far as this side knows.
   *
   * @return whether it may be upgraded
   */
  public boolean isWhole() {
    return !tcpEnded && !outputEnded;
  }

  /**
   * Returns whether both directions have carried what a proof needs.
   *
   * @return whether a peer can prove something
   */
  public boolean isProvable() {
    return proof.suffices(sent.count(), received.count());
  }

  /**
   * Returns the number of bytes that both directions have carried over TCP.
   *
   * @return the sum
   */
  public long bytes() {
    return sent.count() + received.count();
  }

  /** Records that a client tries, or will not. {@link #mayClaim} is false from now on. */
  public void claiming() {
    claims++;
  }

  /**
   * Lets a client claim again, and a server check that, after a claim that has led to nothing: the
   * client could not connect, or the RDMA connection has ended before one of them joined it. The
   * bytes that TCP has carried still count.
   *
   * @return whether {@link #mayClaim} may be true again
   */
  public boolean mayTryAgain() {
    boolean over = link == Link.NONE || link == Link.CLOSED;
    if (joined || staying || !over || !isWhole()) {
      return false;
    }
    link = Link.NONE;
    claims = 0;
    claim = null;
    granted = false;
    isClaimant = false;
    return true;
  }

  /**
   * Claims this connection.
   *
   * @param random the challenge of the server
   * @return the message to send
   * @throws HandoverException if this side has given up; then the RDMA connection must be closed
   */
  public Claim claim(byte[] random) throws HandoverException {
    if (link != Link.NONE) {
      throw new HandoverException("the challenge comes too late");
    }
    Claim draft =
        new Claim(connection, sent.count(), received.count(), Proof.random(), new byte[0]);
    Claim made = draft.with(proof.ofClient(random, draft, sent, received));
    challenge = random;
    claim = made;
    isClaimant = true;
    link = Link.CLAIMED;
    return made;
  }

  /**
   * Joins the RDMA connection, if the server has proven what it must.
   *
   * @param token the proof of the server
   * @throws HandoverException if it is wrong; then the RDMA connection must be closed, and {@link
   *     #linkClosed} be called: the server has not joined
   */
  public void granted(byte[] token) throws HandoverException {
    if (!isWhole()) {
      // What ends over TCP could not be sent again there.
      throw new HandoverException("the grant comes after the end of one direction of TCP");
    }
    if (claim == null
        || link != Link.CLAIMED
        || !Proof.equal(token, proof.ofServer(challenge, claim, sent, received))) {
      throw new HandoverException("the peer does not know what was exchanged over TCP");
    }
    join();
  }

  // ---- The server

  /**
   * Checks the claim of a client. If it is proven, the grant must follow, or the end of the RDMA
   * connection.
   *
   * @param other the claim
   * @param random the challenge that the client was sent
   * @return whether it is proven
   */
  public Verdict check(Claim other, byte[] random) {
    if (!mayBeClaimed()
        || claims >= MAX_CLAIMS
        || !isWhole()
        || !proof.suffices(other.sent(), other.received())) {
      return Verdict.REFUSED;
    }
    if (!received.reaches(other.sent()) || other.received() > sent.count()) {
      return Verdict.LATER;
    }
    claims++;
    if (!other.connection().equals(connection)
        || !Proof.equal(other.token(), proof.ofClient(random, other, received, sent))) {
      return Verdict.REFUSED;
    }
    claim = other;
    challenge = random;
    granted = false;
    link = Link.CLAIMED;
    return Verdict.PROVEN;
  }

  /**
   * Returns whether a claim may be checked: there was none, or the client of an earlier one never
   * confirmed its grant. As this client claims again, it has not used that grant.
   */
  private boolean mayBeClaimed() {
    return link == Link.NONE || (link == Link.BROKEN && !joined);
  }

  /**
   * Returns the proof of the server for the claim that it has found proven.
   *
   * @return the proof, to be sent
   */
  public byte[] grant() {
    if (claim == null) {
      throw new IllegalStateException("no claim is proven");
    }
    granted = true;
    return proof.ofServer(challenge, claim, received, sent);
  }

  /**
   * Joins the RDMA connection, because the client has confirmed that it has the grant. Before that,
   * this side sends nothing over RDMA but the grant. So a client without a grant can give up, and
   * knows that this side stays on TCP.
   *
   * @throws HandoverException if no grant was sent, or this side has given up; then the RDMA
   *     connection must be broken
   */
  public void confirmed() throws HandoverException {
    if (!granted || link != Link.CLAIMED) {
      throw new HandoverException("the peer confirms what was not granted, or comes too late");
    }
    join();
  }

  private void join() {
    if (link == Link.CLAIMED) {
      link = Link.JOINED;
      joined = true;
    }
  }

  /**
   * Returns the key with which both ends authenticate their {@link Resume}.
   *
   * @return the key
   */
  public byte[] resumeKey() {
    if (claim == null || !joined) {
      throw new IllegalStateException(
          "this end has no RDMA connection, so it has no key to resume with");
    }
    return isClaimant
        ? proof.resumeKey(challenge, claim, sent, received)
        : proof.resumeKey(challenge, claim, received, sent);
  }

  // ---- Output

  /**
   * Returns whether this side should move to RDMA: between two writes, {@link #moveOutput}. A
   * server does so after its client. So a client that knows the server's offset knows that the
   * server has its own.
   *
   * @return whether it is time
   */
  public boolean isOutputDue() {
    return link == Link.JOINED && !outputMoved && (isClaimant || isInputOffsetKnown());
  }

  /**
   * Returns whether an end of this side's output must not use TCP now: the output uses RDMA, or
   * will, unless the RDMA connection ends before that. An end over TCP would say nothing to the
   * peer, which waits for that over RDMA, and this side could not resume over TCP behind it.
   *
   * @return whether to end TCP only once it is known that the output stays there
   */
  public boolean delaysEnd() {
    return outputMoved || link == Link.JOINED;
  }

  /**
   * Moves the output to RDMA. Nothing may be written to TCP from now on.
   *
   * @return the number of bytes that TCP carried, to be sent as the first message
   */
  public long moveOutput() {
    outputMoved = true;
    return sent.count();
  }

  /**
   * Returns whether the output uses RDMA.
   *
   * @return whether it has moved
   */
  public boolean isOutputMoved() {
    return outputMoved;
  }

  /**
   * Returns whether the connection is upgraded.
   *
   * @return whether this side has joined the RDMA connection, and that connection has not ended
   */
  public boolean isUpgraded() {
    return link == Link.JOINED;
  }

  /**
   * Returns whether this side has ended its output.
   *
   * @return whether nothing more may be written
   */
  public boolean isOutputEnded() {
    return outputEnded;
  }

  // ---- Input

  /**
   * Records after how many bytes the peer moves to RDMA.
   *
   * @param bytes the number that the peer has sent
   * @throws HandoverException if it is less than the bytes received over TCP; then the RDMA
   *     connection must be broken
   */
  public void inputMoves(long bytes) throws HandoverException {
    if (!joined || (offset >= 0 && !(offsetFound && bytes == offset))) {
      throw new HandoverException("the peer moves to RDMA when it must not");
    }
    offsetFound = false;
    if (bytes < received.count()) {
      throw new HandoverException(
          "the peer moves to RDMA after "
              + bytes
              + " bytes, but "
              + received.count()
              + " have come over TCP");
    }
    offset = bytes;
  }

  /**
   * Returns how many bytes may be read from TCP.
   *
   * @return their number; {@link Long#MAX_VALUE} while the peer's output uses TCP
   */
  public long tcpBytes() {
    return offset < 0 ? Long.MAX_VALUE : Math.max(0, offset - received.count() - ahead.length());
  }

  /**
   * Returns whether it is known after how many bytes the peer moves to RDMA.
   *
   * @return whether {@link #inputMoves} was called, or the peer's record was found
   */
  public boolean isInputOffsetKnown() {
    return offset >= 0;
  }

  /**
   * Returns whether bytes that came over TCP were not read before the peer's output moved.
   *
   * @return whether some are left, as far as this is known
   */
  public boolean hasUnread() {
    return offset > received.count() || ahead.length() > 0;
  }

  /**
   * Returns the number of bytes that the peer has written to TCP.
   *
   * @return the offset; negative if it is not known
   */
  public long inputOffset() {
    return offset;
  }

  /**
   * Returns the number of bytes that the program has read from TCP.
   *
   * @return the number
   */
  public long received() {
    return received.count();
  }

  /**
   * Returns the number of bytes that this side has written to TCP.
   *
   * @return the number
   */
  public long sent() {
    return sent.count();
  }

  /**
   * Returns whether the peer has sent more over TCP than it said. Its offset may arrive while a
   * thread reads from TCP, which has taken more then.
   *
   * @return whether the RDMA connection must be broken
   */
  public boolean isOverrun() {
    return offset >= 0 && received.count() > offset;
  }

  /**
   * Returns where the next bytes come from.
   *
   * @return the source
   */
  public Source source() {
    if (ahead() > 0 && (offset >= 0 || !isReset())) {
      return Source.TCP;
    }
    if (offset >= 0) {
      if (received.count() == offset) {
        return Source.RDMA;
      }
      return tcpEnded || isOverrun() ? Source.RESET : Source.TCP;
    }
    if (isReset()) {
      return Source.RESET;
    }
    if (!tcpEnded) {
      return Source.TCP;
    }
    return switch (link) {
      case NONE, CLOSED -> Source.END;
      // Without the confirmation of this client, the server has moved nothing.
      case CLAIMED -> isClaimant ? Source.END : Source.UNDECIDED;
      case JOINED -> Source.UNDECIDED;
      case BROKEN -> Source.RESET;
    };
  }

  /**
   * Stays on TCP for good, unless it was claimed.
   *
   * @return whether it stays
   */
  public boolean stay() {
    if (link == Link.NONE) {
      link = Link.CLOSED;
      staying = true;
    }
    return isForgotten();
  }

  // ---- The end of the RDMA connection

  /** Records that the peer has closed the RDMA connection, after all that it has sent there. */
  public void linkClosed() {
    if (link != Link.BROKEN) {
      link = Link.CLOSED;
    }
  }

  /**
   * Records that the RDMA connection has broken, or that this side has broken it. The peer cannot
   * have joined before this side has joined as a client, or has sent the grant as a server. A
   * server whose grant was not confirmed goes on over TCP, but does not believe the end of TCP: the
   * client may have sent something over RDMA.
   */
  public void linkBroken() {
    boolean peerMayHaveJoined = joined || granted;
    link = link == Link.CLOSED || !peerMayHaveJoined ? Link.CLOSED : Link.BROKEN;
  }

  /**
   * Returns whether this side has joined the RDMA connection.
   *
   * @return whether it has
   */
  public boolean isJoined() {
    return joined;
  }

  /**
   * Returns whether bytes may be lost, because the RDMA connection broke after this side had joined
   * it.
   *
   * @return whether the whole connection was reset
   */
  public boolean isReset() {
    return joined && link == Link.BROKEN;
  }

  /**
   * Returns whether this end goes on over TCP for good, and needs no further notification.
   *
   * @return whether the handover is over and has not happened
   */
  public boolean isForgotten() {
    return link == Link.CLOSED && !joined;
  }

  @Override
  public String toString() {
    return connection
        + ": "
        + link
        + ", sent "
        + sent.count()
        + (outputMoved ? " and moved" : "")
        + ", received "
        + received.count()
        + (offset < 0 ? "" : " of " + offset);
  }
}
