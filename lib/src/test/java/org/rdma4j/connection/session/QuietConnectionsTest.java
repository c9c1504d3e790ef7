package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;

/** How many receives a connection has set aside for its peer: few, unless the peer sends. */
final class QuietConnectionsTest {
  private static final int RECEIVES = 64;

  private static Simulation between(int features, int peerFeatures) {
    return Simulation.of(limits(features, peerFeatures), 1);
  }

  private static Limits limits(int features, int peerFeatures) {
    return new Limits(64, 64, RECEIVES, 64, 1024, 1024, false, true, features, peerFeatures);
  }

  private static void becomeQuiet(Simulation simulation) {
    for (int i = 0; i < 2; i++) {
      simulation.end(0).giveBack();
      simulation.end(1).giveBack();
      simulation.settle();
    }
  }

  private static void assertReceives(Simulation simulation, int number) {
    assertThat(simulation.end(0).promises.count()).isEqualTo(number);
    assertThat(simulation.end(1).promises.count()).isEqualTo(number);
  }

  @Test
  void aNewConnectionHasTwoReceives() {
    assertReceives(between(Hello.FEATURES, Hello.FEATURES), 2);
  }

  @Test
  void anOlderPeerHasReceivesForAllMessagesOfTheProtocol() {
    assertReceives(between(Hello.FEATURES, Hello.PACKED), 1 + Session.CONTROL_RECEIVES);
    assertReceives(between(Hello.PACKED, Hello.FEATURES), 1 + Session.CONTROL_RECEIVES);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 1000})
  void aConnectionThatWasUsedHasTwoReceivesOnceItIsQuiet(int messages) {
    Simulation simulation = between(Hello.FEATURES, Hello.FEATURES);
    for (int i = 0; i < 2; i++) {
      simulation.flood(0, messages);
      simulation.flood(1, messages);
      assertThat(simulation.end(0).promises.count()).isGreaterThan(messages > 1 ? 2 : 1);
      becomeQuiet(simulation);
      assertReceives(simulation, 2);
    }
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @Test
  void theFirstMessagesOfAStreamOpenTheWindow() {
    Simulation simulation = between(Hello.FEATURES, Hello.FEATURES);
    End client = simulation.end(0);
    End server = simulation.end(1);
    int round = 0;
    int most = 0;
    while (most < RECEIVES / 2) {
      assertThat(round++).as("round trips until half of the window is granted").isLessThan(6);
      client.user.senders().getFirst().add(RECEIVES, 64);
      Simulation.untilNothingMoves(
          client.user.senders().getFirst()::step, client.device::execute, client::completeChain);
      Simulation.untilNothingMoves(server::deliver);
      Simulation.untilNothingMoves(
          server.user::take, server.user::free, server.device::execute, server::completeChain);
      most = Math.max(most, server.session.grantedCredits());
      Simulation.untilNothingMoves(client::deliver);
    }
    simulation.settle();
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @Test
  void aPeerLearnsOfACloseAlthoughItHoldsAllMessagesThatMayBeSentToIt() {
    Simulation simulation = between(Hello.FEATURES, Hello.FEATURES);
    End client = simulation.end(0);
    End server = simulation.end(1);
    while (client.session.hasRoomForMessage()) {
      client.user.send(64);
      settleButHold(simulation);
    }
    // The client grants a credit for this, and the server sends nothing with which it could say
    // that it has read that.
    server.user.send(4);
    settleButHold(simulation);
    client.close();
    settleButHold(simulation);
    assertThat(server.session.lifecycle().isPeerClosed()).isFalse();
    assertThat(server.timePasses()).isTrue();
    settleButHold(simulation);
    assertThat(server.session.lifecycle().isPeerClosed()).isTrue();
    simulation.settle();
    simulation.checkEnded();
    simulation.checkEnd();
  }

  /** Lets everything move, but no reader frees a message. */
  private static void settleButHold(Simulation simulation) {
    End client = simulation.end(0);
    End server = simulation.end(1);
    Simulation.untilNothingMoves(
        client.device::execute,
        server.device::execute,
        client::complete,
        server::complete,
        client::deliver,
        server::deliver,
        client.user::take,
        server.user::take);
  }

  private static String afterForged(byte[]... messages) {
    Simulation simulation = Simulation.withHostile(limits(Hello.FEATURES, Hello.FEATURES), 0);
    End victim = simulation.end(1);
    for (byte[] each : messages) {
      assertThat(simulation.forge(each)).isTrue();
      victim.deliver();
    }
    String failure = String.valueOf(victim.session.lifecycle().failure());
    simulation.settle();
    simulation.checkEnd();
    return failure;
  }

  private static byte[] header(MessageKind kind, int flags, int credits) {
    byte[] header = new byte[MessageHeader.BYTES];
    header[0] = (byte) kind.code();
    header[1] = (byte) flags;
    header[3] = (byte) credits;
    return header;
  }

  @Test
  void creditsThatComeBeforeTheLastOnesWereReadBreakTheConnection() {
    byte[] credits = header(MessageKind.CONTROL, 0, 1);
    assertThat(afterForged(credits)).isEqualTo("null");
    assertThat(afterForged(credits, credits))
        .contains("it sent credits before it knew that the last ones were read");
  }

  @Test
  void thatAMessageWasReadThatWasNotSentBreaksTheConnection() {
    assertThat(afterForged(header(MessageKind.MESSAGE, MessageHeader.PROTOCOL_READ, 0)))
        .contains("it has read a message of the protocol that was not sent");
  }

  @Test
  void theEndOfTheOutputNeedsACredit() {
    byte[] message = header(MessageKind.MESSAGE, 0, 0);
    byte[] end = header(MessageKind.END, 0, 0);
    assertThat(afterForged(message, end)).isEqualTo("null");
    assertThat(afterForged(message, message, message, end)).contains("without a credit");
  }
}
