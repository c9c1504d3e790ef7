package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rdma4j.connection.wire.MessageKind;

/** Faults of the protocol, most of them found by the simulation, each in the fewest steps. */
final class SessionFaultsTest {
  private static final Limits LIMITS = Limits.ofNode(0);
  private static final int LONG = 200;

  @Test
  void thePeerIsNotNotifiedOfAWriteWhoseMemoryWasClosedWhileItWaited() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    User user = simulation.end(0).user;
    for (int i = 0; i < 5; i++) {
      user.send(4);
    }
    assertThat(user.begin(Operation.Kind.WRITE_AND_NOTIFY, false)).isTrue();
    assertThat(user.operations.closeUnposted(0)).isTrue();
    simulation.settle();
    assertThat(user.operations.lostMessages()).isEqualTo(1);
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @Test
  void aLongMessageFailsThatIsStillBeingSentWhenTheConnectionBreaks() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    client.user.send(LONG);
    client.breakUp();
    simulation.settle();
    simulation.checkEnded();
    simulation.checkEnd();
  }

  @Test
  void aLongMessageFailsThatIsStillBeingSentWhenThePeerCloses() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    End server = simulation.end(1);
    client.user.send(4);
    simulation.settle();
    client.user.send(LONG);
    server.close();
    while (server.device.execute() || client.deliver()) {
      // The goodbye comes before the message was sent.
    }
    simulation.settle();
    simulation.checkEnded();
    simulation.checkEnd();
  }

  @Test
  void closesOfBothSidesDoNotWaitForMessagesThatNobodyTakes() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    for (int side = 0; side < 2; side++) {
      simulation.end(side).user.send(LONG);
      simulation.end(side).user.ask(4);
      for (int i = 0; i < 10; i++) {
        simulation.end(side).user.send(4);
      }
    }
    simulation.end(0).close();
    simulation.end(1).close();
    simulation.settle();
    simulation.checkEnded();
    simulation.checkEnd();
  }

  @Test
  void nothingIsSentBehindAMessageThatCouldNotBePostedDuringAClose() {
    // So few receives that each offer needs another one, for the answer that it was fetched.
    Simulation simulation = Simulation.of(Limits.scarce(66, 1, 8), 1);
    End client = simulation.end(0);
    End server = simulation.end(1);
    server.user.send(LONG);
    server.user.send(LONG);
    server.close();
    server.host.outOfMemory = true;
    client.device.execute();
    server.deliver();
    simulation.settle();
    assertThat(client.session.lifecycle().failure()).isNotNull();
    simulation.checkEnded();
    simulation.checkEnd();
  }

  @Test
  void anEndInTheMiddleOfAMessageBreaksTheConnection() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    simulation.end(0).user.sendFirstHalf(LONG);
    simulation.end(0).close();
    simulation.settle();
    assertThat(simulation.end(1).session.lifecycle().failure())
        .hasMessageContaining("in the middle of a message");
    simulation.checkEnded();
    simulation.checkEnd();
  }

  @Test
  void aLongMessageIsExposedFromItsBindUntilThePeerHasFetchedIt() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    client.user.send(LONG);
    assertThat(client.host.exposed()).hasSize(1).noneMatch(Range::isAccessible);
    while (client.device.execute()) {
      // The first credits, the bind and the offer.
    }
    assertThat(client.host.exposed()).hasSize(1).allMatch(Range::isAccessible);
    simulation.settle();
    assertThat(client.host.exposed()).isEmpty();
    simulation.checkEnd();
  }

  @Test
  void aLongMessageIsRegisteredAsLongAsItIsFetchedIfThereAreNoWindows() {
    Simulation simulation = Simulation.of(Limits.ofNode(1 << 11), 1);
    End client = simulation.end(0);
    client.user.send(LONG);
    assertThat(client.host.exposed()).hasSize(1).allMatch(Range::isAccessible);
    simulation.settle();
    assertThat(client.host.exposed()).isEmpty();
    simulation.checkEnd();
  }

  @Test
  void receivesThatAPeerTakesWithoutCreditsAreReplaced() {
    Simulation simulation = Simulation.withHostile(LIMITS, 1);
    simulation.end(1).user.send(4);
    simulation.end(0).user.send(4);
    simulation.settle();
    while (simulation.forge(MessageKind.CONTROL.code())) {
      // An empty message breaks its connection, but all take receives of both connections.
    }
    simulation.end(0).user.send(4);
    simulation.settle();
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @Test
  void aThreadFindsABufferToSendFromAlthoughReceivesHaveTakenTheOthers() {
    Limits manyReceives = Limits.ofNode(5 << 7);
    Simulation simulation = Simulation.of(manyReceives, 4);
    for (int i = 0; i < 30; i++) {
      simulation.flood(i % 4 * 2, 199);
    }
    assertThat(simulation.end(1).host.posted).hasSize(manyReceives.buffers());
    simulation.flood(1, 1);
    simulation.checkComplete();
    simulation.checkEnd();
  }
}
