package org.rdma4j.nio.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.nio.handover.Handover.Source;
import org.rdma4j.nio.handover.Handover.Verdict;

/** What one end refuses, and what it does not believe. */
final class HandoverTest {
  private static final int EXCHANGED = 40;

  private Handover client = end();
  private Handover server = end();
  private final byte[] challenge = Proof.random();

  private static Handover end() {
    return new Handover(new Proof(new byte[0], 32), "client server");
  }

  /** Lets both ends send each other something over TCP. */
  @BeforeEach
  void exchange() {
    client = end();
    server = end();
    send(client, server, EXCHANGED);
    send(server, client, EXCHANGED);
  }

  private static void send(Handover from, Handover to, int bytes) {
    ByteBuffer data = ByteBuffer.allocate(bytes);
    while (data.hasRemaining()) {
      data.put((byte) data.position());
    }
    from.wrote(data, 0, bytes);
    to.read(data, 0, bytes);
  }

  private static Claim forged() {
    return new Claim("client server", EXCHANGED, EXCHANGED, Proof.random(), Proof.random());
  }

  private void join() throws HandoverException {
    Claim claim = client.claim(challenge);
    assertThat(server.check(claim, challenge)).isEqualTo(Verdict.PROVEN);
    client.granted(server.grant());
    server.confirmed();
  }

  @Test
  void afterAResumeOnlyThePeerCanClaimAndOneByteSuffices() throws HandoverException {
    join();
    Proof shared = new Proof(new byte[0], 32);
    Handover before = server;
    byte[] key = client.resumeKey();
    for (boolean known : new boolean[] {false, true}) {
      client = new Handover(known ? shared.after(key) : new Proof(new byte[0], 1), "client server");
      server = new Handover(shared.after(before.resumeKey()), "client server");
      send(client, server, 1);
      send(server, client, 1);
      assertThat(client.mayClaim()).isTrue();
      assertThat(server.check(client.claim(challenge), challenge))
          .isEqualTo(known ? Verdict.PROVEN : Verdict.REFUSED);
    }
  }

  @Test
  void aClaimThatHasLedToNothingCanBeMadeAgain() throws HandoverException {
    Claim claim = client.claim(challenge);
    assertThat(server.check(claim, challenge)).isEqualTo(Verdict.PROVEN);
    byte[] late = server.grant();
    client.linkBroken();
    // The server does not know whether the client has used the grant.
    server.linkBroken();
    assertThat(server.mayTryAgain()).isFalse();
    assertThat(client.mayTryAgain()).isTrue();
    assertThatThrownBy(() -> client.granted(late)).isInstanceOf(HandoverException.class);
    send(client, server, 7);
    join();
    assertThat(client.isJoined() && server.isJoined()).isTrue();
  }

  @Test
  void aServerThatHasRefusedOrWhoseClientHasGoneCanBeClaimedAgain() throws HandoverException {
    assertThat(server.check(client.claim(challenge), challenge)).isEqualTo(Verdict.PROVEN);
    client.linkClosed();
    server.linkClosed();
    assertThat(server.check(forged(), challenge)).isEqualTo(Verdict.REFUSED);
    assertThat(client.mayTryAgain() && server.mayTryAgain()).isTrue();
    join();
    client.linkClosed();
    assertThat(client.mayTryAgain()).as("after an upgrade").isFalse();
  }

  @Test
  void anEndThatStaysOnTcpByItsOwnDecisionDoesNotTryAgain() {
    client.stay();
    assertThat(client.mayTryAgain()).isFalse();
  }

  @Test
  void aGrantAfterTheEndOfTheOutputIsNotUsed() throws HandoverException {
    assertThat(server.check(client.claim(challenge), challenge)).isEqualTo(Verdict.PROVEN);
    client.outputEnded();
    assertThatThrownBy(() -> client.granted(server.grant()))
        .hasMessageContaining("end of one direction");
  }

  @Test
  void aQuestionIsAnsweredOnceAllThatItAsksForWasDelivered() throws HandoverException {
    ByteBuffer request = Messages.deliveryQuestion(Messages.delivered(5, true));
    long question = Messages.readDeliveryQuestion(request);
    assertThat(Messages.isDelivered(question, 5, true)).isTrue();
    assertThat(Messages.isDelivered(question, 5, false)).isFalse();
    assertThat(Messages.isDelivered(question, 4, true)).isFalse();
    assertThat(Messages.isDelivered(Messages.delivered(5, false), 6, false)).isTrue();
    // What a peer asks for that lies is never delivered.
    assertThat(Messages.isDelivered(-1, Long.MAX_VALUE - 1, true)).isFalse();
    assertThatThrownBy(() -> Messages.readDeliveryQuestion(ByteBuffer.allocate(5)))
        .hasMessage("the question of the peer has 5 bytes, must have 8");
  }

  @Test
  void aClientMayTryAgainUntilItHasClaimed() throws HandoverException {
    client.claiming();
    assertThat(client.mayClaim()).isFalse();
    assertThat(client.mayTryAgain()).isTrue();
    assertThat(client.mayClaim()).isTrue();
    client.claim(challenge);
    assertThat(client.mayTryAgain()).isFalse();
    assertThat(client.mayClaim()).isFalse();
  }

  @Test
  void aServerCountsClaimsThatAreWrong() throws HandoverException {
    Claim claim = client.claim(challenge);
    for (int i = 0; i < 3; i++) {
      assertThat(server.check(forged(), challenge)).isEqualTo(Verdict.REFUSED);
    }
    assertThat(server.check(claim, challenge)).as("too late").isEqualTo(Verdict.REFUSED);
  }

  @Test
  void aServerGrantsOneClaim() throws HandoverException {
    Claim claim = client.claim(challenge);
    assertThat(server.check(claim, challenge)).isEqualTo(Verdict.PROVEN);
    assertThat(server.check(claim, challenge)).isEqualTo(Verdict.REFUSED);
  }

  @Test
  void aClaimForAnotherConnectionOrChallengeIsRefused() throws HandoverException {
    Handover other = new Handover(new Proof(new byte[0], 32), "another server");
    send(other, client, 0);
    Claim claim = client.claim(challenge);
    assertThat(server.check(claim, Proof.random())).isEqualTo(Verdict.REFUSED);
    Claim elsewhere =
        new Claim("another server", claim.sent(), claim.received(), Proof.random(), claim.token());
    assertThat(server.check(elsewhere, challenge)).isEqualTo(Verdict.REFUSED);
  }

  @Test
  void whoHasEndedADirectionGoesNowhere() throws HandoverException {
    assertThat(client.mayClaim()).isTrue();
    client.outputEnded();
    assertThat(client.mayClaim()).isFalse();
    Claim claim = client.claim(challenge);
    server.tcpEnded();
    assertThat(server.check(claim, challenge)).isEqualTo(Verdict.REFUSED);
  }

  @Test
  void aServerWaitsForBytesThatAClientNames() throws HandoverException {
    ByteBuffer late = ByteBuffer.allocate(10);
    client.wrote(late, 0, 10);
    Claim claim = client.claim(challenge);
    assertThat(server.check(claim, challenge)).isEqualTo(Verdict.LATER);
    server.read(late, 0, 10);
    assertThat(server.check(claim, challenge)).isEqualTo(Verdict.PROVEN);
  }

  @Test
  void aGrantThatWasNotAwaitedIsRefused() throws HandoverException {
    byte[] token = new byte[Proof.BYTES];
    assertThatThrownBy(() -> client.granted(token)).isInstanceOf(HandoverException.class);
    Claim claim = client.claim(challenge);
    assertThatThrownBy(() -> client.granted(token)).isInstanceOf(HandoverException.class);
    server.check(claim, challenge);
    client.linkBroken();
    assertThatThrownBy(() -> client.granted(server.grant())).isInstanceOf(HandoverException.class);
    assertThat(client.isJoined()).isFalse();
  }

  @Test
  void anOffsetIsRefusedBeforeTheGrantAndAgain() throws HandoverException {
    server.check(client.claim(challenge), challenge);
    assertThatThrownBy(() -> server.inputMoves(EXCHANGED)).isInstanceOf(HandoverException.class);
    assertThatThrownBy(server::confirmed).isInstanceOf(HandoverException.class);
    server.grant();
    assertThatThrownBy(() -> server.inputMoves(EXCHANGED)).isInstanceOf(HandoverException.class);
    server.confirmed();
    assertThatThrownBy(server::confirmed).isInstanceOf(HandoverException.class);
    server.inputMoves(EXCHANGED);
    assertThatThrownBy(() -> server.inputMoves(EXCHANGED)).isInstanceOf(HandoverException.class);
  }

  @Test
  void bytesAreReadFromTcpUpToTheOffset() throws HandoverException {
    join();
    assertThat(client.tcpBytes()).isEqualTo(Long.MAX_VALUE);
    client.inputMoves(EXCHANGED + 10);
    assertThat(client.tcpBytes()).isEqualTo(10);
    assertThat(client.source()).isEqualTo(Source.TCP);
    client.read(ByteBuffer.allocate(10), 0, 10);
    assertThat(client.source()).isEqualTo(Source.RDMA);
  }

  @Test
  void anOffsetThatIsNotReachedResets() throws HandoverException {
    join();
    client.inputMoves(EXCHANGED + 10);
    client.tcpEnded();
    assertThat(client.source()).isEqualTo(Source.RESET);
  }

  @Test
  void aServerDoesNotBelieveTheEndOfTcpWhileTheClientMayHaveJoined() throws HandoverException {
    server.check(client.claim(challenge), challenge);
    server.tcpEnded();
    assertThat(server.source()).isEqualTo(Source.UNDECIDED);
    server.grant();
    assertThat(server.source()).isEqualTo(Source.UNDECIDED);
    server.linkClosed();
    assertThat(server.source()).isEqualTo(Source.END);
  }

  @Test
  void aServerWhoseGrantMayHaveArrivedDoesNotBelieveTheEndOfTcpIfTheConnectionBreaks()
      throws HandoverException {
    server.check(client.claim(challenge), challenge);
    server.grant();
    server.linkBroken();
    server.linkClosed();
    assertThat(server.isReset()).as("it goes on over TCP").isFalse();
    assertThat(server.source()).isEqualTo(Source.TCP);
    server.tcpEnded();
    assertThat(server.source()).isEqualTo(Source.RESET);
    assertThat(server.isForgotten()).isFalse();
  }

  @Test
  void aClientWithoutTheGrantBelievesTheEndOfTcp() throws HandoverException {
    server.check(client.claim(challenge), challenge);
    client.tcpEnded();
    assertThat(client.source()).isEqualTo(Source.END);
    byte[] grant = server.grant();
    assertThatThrownBy(() -> client.granted(grant)).isInstanceOf(HandoverException.class);
    client.linkBroken();
    assertThat(client.source()).isEqualTo(Source.END);
    assertThat(client.isForgotten()).isTrue();
  }

  @Test
  void whoseConfirmationComesTooLateHasNotJoined() throws HandoverException {
    server.check(client.claim(challenge), challenge);
    server.grant();
    server.linkClosed();
    assertThatThrownBy(server::confirmed).isInstanceOf(HandoverException.class);
    assertThat(server.isJoined()).isFalse();
    assertThat(server.isForgotten()).isTrue();
    assertThat(server.isOutputDue()).isFalse();
  }
}
