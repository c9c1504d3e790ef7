package org.rdma4j.nio;

import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.nio.handover.Claim;
import org.rdma4j.nio.handover.Handover;
import org.rdma4j.nio.handover.HandoverException;
import org.rdma4j.nio.handover.Messages;
import org.rdma4j.nio.handover.Proof;

/**
 * An RDMA connection, from its begin until its end: first both sides prove which TCP connection it
 * belongs to, then it carries the bytes of that channel.
 *
 * <p>One handler takes all its messages, from the first one on. So what arrives, and the end, stay
 * in order.
 */
final class Meeting {
  /** What a server has answered to a claim. */
  enum Answer {
    /** The channel has moved, or has ended here. */
    DONE,
    /**
     * The server does not know the channel, because it has ended, or is that of another process.
     */
    UNKNOWN,
    /** The server lets none move, or does not answer. */
    REFUSED
  }

  /**
   * A client whose claim has waited for so long may have gone. Others are not looked up in the
   * table of TCP connections, which may be long.
   */
  private static final long LONG_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Rendezvous rendezvous;
  private final RdmaConnection connection;
  private final byte[] challenge = Proof.random();
  private final CountDownLatch decided = new CountDownLatch(1);

  /** The channel for which a client connects; null on the side of the server. */
  private final @Nullable Upgrade claimant;

  /** The channel whose bytes the connection carries; null until that is proven. */
  private volatile @Nullable Upgrade carried;

  /** Whether the server has refused only because it does not know the channel, or not any more. */
  private volatile boolean unknownToServer;

  /** Whether the connection carries the channel. Used by the thread that delivers. */
  private boolean joined;

  /** Whether the first message has arrived. Used by the thread that delivers. */
  private boolean begun;

  private Meeting(Rendezvous rendezvous, RdmaConnection connection, @Nullable Upgrade claimant) {
    this.rendezvous = rendezvous;
    this.connection = connection;
    this.claimant = claimant;
  }

  /**
   * Claims a channel, and waits for the answer.
   *
   * @return what this means for other channels to the same server
   */
  static Answer claim(Rendezvous rendezvous, RdmaConnection connection, Upgrade claimant)
      throws InterruptedException {
    Meeting meeting = new Meeting(rendezvous, connection, claimant);
    // Not less before the grant, because bytes of the channel may arrive right behind it.
    connection.allowMessages(RdmaStream.LONG_PIECE);
    meeting.begin();
    boolean inTime = meeting.awaitDecision(1);
    if (!inTime && claimant.giveUp()) {
      meeting.refuse("the peer did not answer in time");
    }
    if (meeting.carried != null || !claimant.isWhole()) {
      return Answer.DONE;
    }
    return meeting.unknownToServer ? Answer.UNKNOWN : Answer.REFUSED;
  }

  /** Waits for the claim of a peer, and grants or refuses it. */
  static void grant(Rendezvous rendezvous, RdmaConnection connection) throws InterruptedException {
    Meeting meeting = new Meeting(rendezvous, connection, null);
    meeting.begin();
    connection.sendAsync(Messages.challenge(meeting.challenge), 0, Meeting::ignore);
    boolean inTime = meeting.awaitDecision(2);
    Upgrade channel = meeting.carried;
    if (inTime) {
      return;
    }
    if (channel == null) {
      meeting.refuse("the peer did not prove its claim in time");
    } else if (channel.giveUp()) {
      meeting.breakUnconfirmed("the peer did not confirm the grant in time");
    }
  }

  private boolean awaitDecision(int parts) throws InterruptedException {
    return decided.await(parts * rendezvous.timeout().toNanos(), TimeUnit.NANOSECONDS);
  }

  /** A message that cannot be sent ends the connection, which is noticed. */
  private static void ignore(long token, @Nullable RuntimeException failure) {}

  private void begin() {
    connection.onMessage(this::received);
    connection.onRequest(this::asked);
    var unused = connection.ended().whenComplete((nothing, reason) -> ended(reason));
  }

  /**
   * The peer confirms that it has the offset of this side, with a request without bytes, or asks
   * for a byte over TCP that wakes its reader, or, in a longer request, what was delivered.
   */
  private void asked(IncomingRequest request) {
    Upgrade channel = carried;
    if (channel == null || !joined) {
      request.refuse("the channel is not upgraded");
      return;
    }
    if (request.message().length() > 1) {
      channel.stream().asked(request);
      return;
    }
    channel.offsetSeen();
    if (request.message().length() == 0 || channel.wakeUp().wakePeer()) {
      request.answer(ByteBuffer.allocate(0));
    } else {
      request.refuse("the output is not upgraded, or the reader was woken before");
    }
  }

  private void received(MessageBuffer message) {
    Upgrade channel = carried;
    if (channel != null && joined) {
      channel.received(message);
      return;
    }
    try (message) {
      if (claimant != null && decided.getCount() == 0) {
        // It has given up, and may have claimed again.
        return;
      }
      if (channel != null) {
        confirmed(channel, message.byteBuffer());
      } else if (claimant != null) {
        receivedByClient(claimant, message.byteBuffer());
      } else {
        receivedByServer(message.byteBuffer());
      }
    } catch (HandoverException lie) {
      if (claimant != null) {
        // Either another process has sent this, or this side has claimed nothing. In both cases
        // the peer of the TCP connection has not joined.
        claimant.linkEnded(true);
      }
      refuse(lie.getMessage());
    }
  }

  private void receivedByClient(Upgrade channel, ByteBuffer message) throws HandoverException {
    if (!begun) {
      begun = true;
      ByteBuffer claim = channel.claim(Messages.readChallenge(message)).encode();
      connection.sendAsync(claim, 0, Meeting::ignore);
      return;
    }
    if (Messages.isChannelEnded(message)) {
      unknownToServer = true;
      return;
    }
    channel.granted(Messages.readGrant(message));
    carry(channel);
    try {
      // Before the offset, which join may send.
      connection.sendAsync(Messages.confirmation(), 0, Meeting::ignore);
    } catch (RdmaException | IllegalStateException ended) {
      // The end of the connection comes in its order.
      rendezvous.log(channel.name(), "the grant cannot be confirmed: " + ended);
    }
    join(channel);
  }

  /** Lets the server join, now that the client has. */
  private void confirmed(Upgrade channel, ByteBuffer message) {
    try {
      Messages.readConfirmation(message);
      channel.confirmed();
      join(channel);
    } catch (HandoverException lie) {
      channel.linkEnded(false);
      breakUnconfirmed(lie.getMessage());
    }
  }

  private void receivedByServer(ByteBuffer message) throws HandoverException {
    if (begun) {
      throw new HandoverException("the peer has sent more than a claim");
    }
    begun = true;
    String full = rendezvous.whyFull();
    if (full != null) {
      throw new HandoverException(full);
    }
    Claim claim = Claim.decode(message);
    Upgrade channel = rendezvous.find(claim.connection(), connection.peerAddress());
    if (channel == null) {
      refuseEnded(claim);
      return;
    }
    var unused = ChannelThreads.start("rdma4j-nio-prove", () -> prove(channel, claim));
  }

  /** Waits until the claim can be checked. */
  private void prove(Upgrade channel, Claim claim) {
    long began = System.nanoTime();
    try {
      if (channel.claiming().check(claim, challenge) != Handover.Verdict.PROVEN) {
        if (channel.isWhole() && !channel.isForgotten()) {
          refuse("the claim for " + claim.connection() + " is not proven");
        } else {
          refuseEnded(claim);
        }
        return;
      }
    } catch (InterruptedException | RdmaException | IllegalStateException failed) {
      refuse("failed: " + failed.getMessage());
      return;
    }
    if (System.nanoTime() - began >= LONG_WAIT_NANOS && hasEnded(channel)) {
      channel.linkEnded(true);
      refuseEnded(claim);
      return;
    }
    // From now on, the end of the connection concerns the channel.
    carry(channel);
    try {
      // Bytes of the channel may arrive right behind the confirmation of the client.
      connection.allowMessages(RdmaStream.LONG_PIECE);
      connection.sendAsync(Messages.grant(channel.grant()), 0, Meeting::ignore);
    } catch (RdmaException | IllegalStateException failed) {
      // The client has no grant, so it has not joined.
      channel.linkEnded(true);
      refuse("the grant cannot be sent: " + failed.getMessage());
    }
  }

  /**
   * Returns whether the client has ended TCP. If this side granted its claim then, that end would
   * become a reset: this side could not know whether the client had used the grant.
   */
  private boolean hasEnded(Upgrade channel) {
    return rendezvous.tcpTable().state(channel.local(), channel.tcp().remote())
        == TcpTable.State.ENDED;
  }

  private void carry(Upgrade channel) {
    channel.stream(new RdmaStream(rendezvous, connection, channel::writable));
    carried = channel;
  }

  private void join(Upgrade channel) {
    joined = true;
    rendezvous.joined(channel);
    channel.join();
    decided.countDown();
  }

  private void refuseEnded(Claim claim) {
    connection.sendAsync(Messages.channelEnded(), 0, Meeting::ignore);
    refuse(claim.connection() + " has ended, or is no connection of this process and this host");
  }

  /**
   * Breaks the connection of a grant that was not confirmed. A client that has joined is reset
   * then; it would go on over TCP if the connection was closed.
   */
  private void breakUnconfirmed(@Nullable String why) {
    rendezvous.log(String.valueOf(connection), "broken: " + why);
    connection.abort();
    decided.countDown();
  }

  /** Closes the connection, which shows the peer that it does not belong to its channel. */
  private void refuse(@Nullable String why) {
    if (claimant != null) {
      rendezvous.notUpgraded(claimant, StayReason.REFUSED, String.valueOf(why));
    } else {
      rendezvous.log(String.valueOf(connection), "refused: " + why);
    }
    rendezvous.close(connection);
    decided.countDown();
  }

  private static boolean is(@Nullable Throwable reason, ConnectionException.Reason expected) {
    return reason instanceof ConnectionException known && known.reason() == expected;
  }

  private static String text(@Nullable Throwable reason) {
    return reason == null ? "its connection was closed here" : String.valueOf(reason.getMessage());
  }

  private void ended(@Nullable Throwable reason) {
    boolean inOrder = reason == null || is(reason, ConnectionException.Reason.CLOSED_BY_PEER);
    Upgrade channel = carried;
    boolean reset = is(reason, ConnectionException.Reason.RESET);
    // A peer that has ended its output and then closes RDMA has closed its channel.
    if (channel != null
        && joined
        && !(reason != null && inOrder && channel.stream().isInputEnded())
        && !is(reason, ConnectionException.Reason.PROTOCOL)
        && channel.tryResume(inOrder && !channel.stream().isAborted(), reset, text(reason))) {
      rendezvous.log(channel.name(), "RDMA has failed, resumes over TCP: " + reason);
    } else if (channel != null && reset) {
      GonePeer.ended(channel);
    } else if (channel != null) {
      channel.stream().ended(inOrder);
      channel.linkEnded(inOrder);
      if (!inOrder) {
        Resumption.refuse(channel);
      }
    } else if (claimant != null && decided.getCount() > 0) {
      claimant.linkEnded(inOrder);
      rendezvous.notUpgraded(claimant, StayReason.REFUSED, "the peer has refused");
    } else if (claimant == null && reason != null) {
      rendezvous.log(
          String.valueOf(connection), "ended before its peer was proven: " + reason.getMessage());
    }
    decided.countDown();
    // What the peer has ended must still be closed on this side.
    rendezvous.close(connection);
  }
}
