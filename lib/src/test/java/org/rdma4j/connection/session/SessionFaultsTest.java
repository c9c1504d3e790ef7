package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.connection.buffers.LargeBuffers;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
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
  void noMessageIsDeliveredBehindOneThatReportsAFetchAfterAStop() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End stopped = simulation.end(0);
    End sender = simulation.end(1);
    stopped.session.wantMessages(false);
    stopped.user.send(LONG);
    Simulation.untilNothingMoves(
        stopped.device::execute,
        stopped::completeChain,
        sender::deliver,
        sender::supply,
        sender.device::execute);
    sender.user.send(4);
    sender.user.send(4);
    Simulation.untilNothingMoves(sender::completeChain, sender.device::execute);
    stopped.session.stop();
    Simulation.untilNothingMoves(stopped::deliver, stopped.user::tell);
    assertThat(stopped.session.nextForUser()).isEqualTo(Delivery.NOTHING);
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
    int older = 3 << 14;
    Simulation simulation = Simulation.of(Limits.scarce(older | 66, 1, 7), 1);
    End client = simulation.end(0);
    End server = simulation.end(1);
    server.user.send(LONG);
    server.user.send(LONG);
    server.close();
    server.host.outOfMemory = true;
    Simulation.untilNothingMoves(
        client.device::execute, server::deliver, server.device::execute, client::deliver);
    simulation.settle();
    assertThat(client.session.lifecycle().failure()).isNotNull();
    simulation.checkEnded();
    simulation.checkEnd();
  }

  @Test
  void aPeerThatReceivesNoAnswersTakesNoMoreThanItsShareOfTheBuffers() {
    Limits manyBuffers =
        new Limits(48, 48, 16, 8, 1024, 1024, false, true, Hello.PACKED, Hello.PACKED);
    Simulation simulation = Simulation.of(manyBuffers, 1);
    End server = simulation.end(1);
    for (int i = 0; i < 20; i++) {
      simulation.sendWithoutReceiving(0, 200);
    }
    assertThat(server.session.lifecycle().failure()).isNull();
    assertThat(server.host.pool.inUse()).isLessThan(manyBuffers.buffers() / 2);
    simulation.settle();
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @Test
  void aConnectionBreaksWhoseHandlersSendMoreThanThePeerReceives() {
    Simulation simulation =
        Simulation.of(new Limits(48, 48, 2, 8, 64, 64, false, true, Hello.PACKED, Hello.PACKED), 1);
    End server = simulation.end(1);
    int sent = 0;
    while (server.session.lifecycle().failure() == null) {
      assertThat(sent++).as("answers").isLessThan(64);
      Request answer = server.session.newRequest();
      answer.send(MessageKind.MESSAGE, 0, 0, server.host.pool.take());
      answer.isAnswer(true);
      server.session.add(answer);
      server.settle();
    }
    assertThat(server.session.lifecycle().failure())
        .hasMessageContaining("the peer has not received " + sent + " messages of handlers");
    simulation.settle();
    assertThat(simulation.end(0).session.lifecycle().failure())
        .hasMessageContaining("the peer has not received " + sent);
  }

  @Test
  void aLongMessageWhoseRestDoesNotComeBreaksTheConnection() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    End server = simulation.end(1);
    client.user.sendFirstHalf(LONG);
    simulation.settle();
    server.session.tick(0, 0, Long.MAX_VALUE, 30);
    server.session.tick(29, 0, Long.MAX_VALUE, 30);
    assertThat(server.session.lifecycle().failure()).isNull();
    server.session.tick(30, 0, Long.MAX_VALUE, 30);
    server.settle();
    assertThat(server.session.lifecycle().failure())
        .hasMessageContaining("nothing of a message of 400 bytes, of which 200 are missing");
    simulation.settle();
    assertThat(client.session.lifecycle().failure()).hasMessageContaining("nothing of a message");
    simulation.checkEnd();
  }

  @ParameterizedTest
  @ValueSource(ints = {4, LONG})
  void aCancelledRequestIsKnownToBeCancelledUntilItIsAnswered(int length) {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    End server = simulation.end(1);
    assertThat(client.user.ask(length)).isTrue();
    assertThat(client.user.cancel()).isTrue();
    // Both arrive, also if a long request is not fetched yet.
    Simulation.untilNothingMoves(
        client.device::execute,
        client::complete,
        server::deliver,
        server.device::execute,
        client::deliver);
    assertThat(server.session.isCancelled(1)).isTrue();
    assertThat(server.session.openRequests()).isEqualTo(1);
    simulation.settle();
    assertThat(server.session.isCancelled(1)).isFalse();
    simulation.checkComplete();
    assertThat(client.user.cancel()).as("after the answer").isFalse();
    simulation.checkEnd();
  }

  @Test
  void anOfferThatNamesAGreatLengthGetsMemoryForWhatItOffersOnly() {
    Simulation simulation = Simulation.withHostile(LIMITS, 0);
    End victim = simulation.end(1);
    assertThat(simulation.offer(Limits.MAX_MESSAGE, 10)).isTrue();
    victim.deliver();
    assertThat(victim.supply()).isTrue();
    assertThat(victim.host.largeBuffers.inUse()).isEqualTo(Limits.MAX_MESSAGE);
    assertThat(victim.host.largeBuffers.registeredBytes()).isEqualTo(10 * Inbox.AHEAD);
    simulation.settle();
    simulation.checkEnd();
    assertThat(victim.host.largeBuffers.registeredBytes()).isZero();
  }

  @Test
  void aMessageInPiecesGetsMoreMemoryAsMoreOfItIsOffered() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    LargeBuffers ofServer = simulation.end(1).host.largeBuffers;
    client.user.sendInPieces(Limits.MAX_MESSAGE);
    simulation.settle();
    simulation.checkComplete();
    assertThat(ofServer.registeredBytes()).isEqualTo(Limits.MAX_MESSAGE);
    simulation.checkEnd();
  }

  @Test
  void aConnectionBreaksIfThereIsNoMemoryForTheRestOfAMessage() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    End server = simulation.end(1);
    client.user.sendInPieces(Limits.MAX_MESSAGE);
    // All offers arrive.
    Simulation.untilNothingMoves(
        client.device::execute,
        client::complete,
        server::deliver,
        server.device::execute,
        client::deliver);
    assertThat(server.supply()).as("memory for the first piece").isTrue();
    server.host.outOfMemory = true;
    assertThat(server.supply()).as("memory for the second one").isTrue();
    assertThat(server.session.lifecycle().failure()).hasMessageContaining("there is no memory");
    simulation.settle();
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
  void nothingIsLostIfOnlyTheGoodbyeDoesNotArrive() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    client.user.send(4);
    simulation.settle();
    client.close();
    client.stopDevice();
    client.session.fail(client.session.because(Reason.RESET, "disconnected"));
    assertThat(client.session.lifecycle().goneWhileClosing()).isNotNull();
    assertThat(client.session.lifecycle().hasLostWhileClosing()).isFalse();
    simulation.settle();
    assertThat(client.session.lifecycle().hasLostWhileClosing()).isFalse();
    simulation.checkEnd();
  }

  @Test
  void aMessageThatFailsDuringACloseIsLost() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    client.user.send(4);
    simulation.settle();
    client.user.send(4);
    client.close();
    client.stopDevice();
    while (client.device.execute() || client.complete()) {
      // The device gives back the message and the goodbye.
    }
    assertThat(client.session.lifecycle().hasLostWhileClosing()).isTrue();
    simulation.settle();
    simulation.checkEnd();
  }

  @Test
  void aBreakAfterTheEndOfThePeersOutputIsToldAsOne() {
    Simulation simulation = Simulation.of(LIMITS, 1);
    End client = simulation.end(0);
    End server = simulation.end(1);
    client.user.send(4);
    client.endOutput();
    simulation.settle();
    assertThat(server.user.inputEnds).isEqualTo(1);
    client.stopDevice();
    server.session.fail(server.session.because(Reason.RESET, "disconnected"));
    assertThat(server.session.nextForUser()).isEqualTo(Delivery.END);
    assertThat(server.session.takeEnd()).isNotNull();
  }

  /**
   * Lets a hostile peer send messages without bytes; returns why its connection breaks, if it does.
   */
  private static @Nullable String afterForged(byte[]... messages) {
    Simulation simulation = Simulation.withHostile(LIMITS, 0);
    End victim = simulation.end(1);
    for (byte[] each : messages) {
      assertThat(simulation.forge(each)).isTrue();
      victim.deliver();
    }
    ConnectionException failure = victim.session.lifecycle().failure();
    simulation.settle();
    simulation.checkEnd();
    return failure == null ? null : failure.getMessage();
  }

  private static byte[] header(MessageKind kind, int flags, int reserved) {
    byte[] header = new byte[MessageHeader.BYTES];
    header[0] = (byte) kind.code();
    header[1] = (byte) flags;
    header[7] = (byte) reserved;
    // Credits, which a message of kind CONTROL must have.
    header[3] = (byte) (kind == MessageKind.CONTROL ? 1 : 0);
    header[15] = (byte) (kind == MessageKind.RETURN ? 1 : 0);
    return header;
  }

  private static byte[] header(MessageKind kind) {
    return header(kind, 0, 0);
  }

  @ParameterizedTest
  @EnumSource(names = {"MESSAGE", "NOTICE", "REQUEST"})
  void nothingOfTheOutputComesAfterItsEnd(MessageKind kind) {
    assertThat(afterForged(header(kind), header(MessageKind.END))).isNull();
    assertThat(afterForged(header(MessageKind.END), header(kind)))
        .contains("kind %d after the end of its output".formatted(kind.code()));
  }

  @ParameterizedTest
  @EnumSource(names = {"CONTROL", "RETURN", "CANCEL"})
  void theProtocolGoesOnAfterTheEndOfTheOutput(MessageKind kind) {
    assertThat(afterForged(header(MessageKind.END), header(kind))).isNull();
  }

  @Test
  void theOutputEndsOnce() {
    assertThat(afterForged(header(MessageKind.END), header(MessageKind.END))).contains("twice");
    byte[] closed = header(MessageKind.END, MessageHeader.CLOSED, 0);
    assertThat(afterForged(header(MessageKind.END), closed)).isNull();
  }

  @ParameterizedTest
  @EnumSource
  void whatTheProtocolDoesNotKnowBreaksTheConnection(MessageKind kind) {
    for (int flag = 1; flag <= 0x80; flag <<= 1) {
      if ((kind.flags() & flag) == 0) {
        assertThat(afterForged(header(kind, flag, 0))).contains("with the flags " + flag);
      }
    }
    assertThat(afterForged(header(kind, 0, 1))).contains("the reserved bytes 1");
  }

  @Test
  void receivesThatAPeerTakesWithoutCreditsAreReplaced() {
    Simulation simulation = Simulation.withHostile(LIMITS, 1);
    simulation.end(1).user.send(4);
    simulation.end(0).user.send(4);
    simulation.settle();
    while (simulation.forge(header(MessageKind.CONTROL))) {
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
    assertThat(simulation.end(1).host.posted)
        .hasSizeGreaterThan(manyReceives.buffers() - manyReceives.buffers() / 8);
    simulation.flood(1, 1);
    simulation.checkComplete();
    simulation.checkEnd();
  }
}
