package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;

/** Messages that are sent together because they wait. */
final class PackedMessagesTest {
  private static final int RECEIVES = 4;

  private static Limits limits(int features, int peerFeatures) {
    return new Limits(64, 64, RECEIVES, 2, 64, 64, false, true, features, peerFeatures);
  }

  private final Simulation simulation = Simulation.of(limits(Hello.PACKED, Hello.PACKED), 1);
  private final End client = simulation.end(0);
  private final End server = simulation.end(1);

  /** Sends without a word to the device, which is still to execute all it has. */
  private static void sendAll(End end, int messages) {
    for (int i = 0; i < messages; i++) {
      assertThat(end.user.send(4 + i)).isTrue();
    }
  }

  /** Returns the messages that the device has, as they are on the wire. */
  private static List<String> sent(End end) {
    return end.device.messages();
  }

  @Test
  void messagesThatWaitGoTogetherEachAfterItsLength() {
    sendAll(client, 5);
    Simulation.untilNothingMoves(client.device::execute, client::completeChain);
    Simulation.untilNothingMoves(
        server::deliver, server.user::take, server.user::free, server.device::execute);
    client.deliver(); // credits
    assertThat(sent(client))
        .as("kind, flags, credits, fetched, first length, number; messages 1 to 4")
        .containsExactly(
            "00 18 0000 0000 0005 0000000000000000 0000000105 00000006 000000020607 00000007 00000003070809 00000008 0000000408090a0b"
                .replace(" ", ""));
    simulation.settle();
    simulation.checkComplete();
    assertThat(server.session.counts().receivedMessages).isEqualTo(5);
    assertThat(server.session.counts().receivedBytes).isEqualTo(4 + 5 + 6 + 7 + 8);
    assertThat(client.session.counts().sentMessages).isEqualTo(5);
    assertThat(client.session.counts().sentBytes).isEqualTo(4 + 5 + 6 + 7 + 8);
    simulation.checkEnd();
  }

  @Test
  void nothingWaitsForOthers() {
    for (int i = 0; i < 10; i++) {
      sendAll(client, 1);
      assertThat(sent(client)).hasSize(1);
      assertThat(sent(client).getFirst()).startsWith("0000");
      simulation.settle();
    }
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0, 1", "1, 0"})
  void aPeerThatDoesNotKnowItGetsEachMessageAlone(int features, int peerFeatures) {
    Simulation other = Simulation.of(limits(features, peerFeatures), 1);
    for (int side = 0; side < 2; side++) {
      End end = other.end(side);
      sendAll(end, 10);
      assertThat(sent(end)).allMatch(each -> each.startsWith("0000"));
      other.settle();
      assertThat(end.session.counts().sentMessages).isEqualTo(10);
    }
    other.checkComplete();
    other.checkEnd();
  }

  @Test
  void messagesEndInTheirOrderWithTheOneThatTheyHaveJoined() {
    List<Long> tokens = sendWithListeners();
    assertThat(ended(tokens)).isEmpty();
    Simulation.untilNothingMoves(
        client.device::execute,
        client::completeChain,
        server::deliver,
        server.user::take,
        server.user::free,
        server.device::execute,
        server::completeChain,
        client::deliver);
    assertThat(ended(tokens)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
    simulation.checkEnd();
  }

  @Test
  void messagesThatHaveJoinedFailWithTheConnection() {
    List<Long> tokens = sendWithListeners();
    client.breakUp();
    assertThat(ended(tokens))
        .as("requests that the device does not have")
        .containsExactly(1L, 2L, 3L, 4L, 5L);
    client.stopDevice();
    Simulation.untilNothingMoves(client.device::execute, client::complete);
    assertThat(ended(tokens)).containsExactly(1L, 2L, 3L, 4L, 5L, 0L);
    simulation.checkEnd();
  }

  /** Sends messages whose ends a list gets; the device takes the first. */
  private List<Long> sendWithListeners() {
    List<Long> tokens = new ArrayList<>();
    server.user.peerLies = true; // its user expects other bytes
    for (long i = 0; i < 6; i++) {
      ByteBuffer bytes = ByteBuffer.allocate(4);
      if (!client.session.tryJoin(bytes, false, tokens, i)) {
        add(client, bytes, tokens, i);
      }
    }
    return tokens;
  }

  private static void add(End end, ByteBuffer bytes, List<Long> listener, long token) {
    Request request = end.session.newRequest();
    Buffer buffer = end.host.pool.take();
    buffer.fill(MessageKind.MESSAGE, bytes);
    request.send(MessageKind.MESSAGE, 0, 0, buffer);
    request.tell(listener, token);
    request.joinable();
    end.order.called(request);
    end.session.add(request);
    end.submitted();
  }

  /** Adds the tokens of the messages that have ended to the list. */
  private List<Long> ended(List<Long> tokens) {
    while (client.session.nextForUser() == Delivery.DONE) {
      Request done = client.session.takeDone();
      if (done.listener() == tokens) {
        tokens.add(done.token());
      }
      client.session.recycle(done);
    }
    return tokens;
  }

  /** A sender that blocks returns once the peer has room, whether its message joins or not. */
  @Test
  void aMessageThatWaitsForACreditIsJoinedOnlyByThoseThatMayWait() {
    sendAll(client, 2);
    Simulation.untilNothingMoves(client.device::execute, client::completeChain);
    assertThat(client.session.credits()).isZero();
    sendAll(client, 1);
    assertThat(client.session.tryJoin(ByteBuffer.allocate(4), true, null, 0)).isFalse();
    assertThat(client.session.isJoinable()).isTrue();
    sendAll(client, 1);
    simulation.settle();
    simulation.checkComplete();
    simulation.checkEnd();
  }

  @Test
  void aMessageThatDoesNotFitGoesAlone() {
    sendAll(client, 3);
    for (int i = 0; i < 2; i++) {
      assertThat(client.user.send(60)).isTrue();
    }
    assertThat(client.session.isJoinable()).isTrue();
    assertThat(client.session.tryJoin(ByteBuffer.allocate(1), false, null, 0)).isFalse();
    simulation.settle();
    simulation.checkComplete();
    simulation.checkEnd();
  }

  /** What a user holds counts against the window, also if the peer has sent it with others. */
  @Test
  void aUserHoldsNoMoreMessagesThanTwiceTheWindow() {
    int held = 0;
    server.user.peerLies = true;
    for (int i = 0; i < 10 * RECEIVES; i++) {
      send(packed(8));
      while (server.user.take()) {
        held++;
      }
    }
    assertThat(held).isBetween(RECEIVES, 2 * RECEIVES);
    Simulation.untilNothingMoves(server.device::execute, server::completeChain);
    assertThat(server.host.pool.inUse() - server.host.posted.size())
        .as("buffers of messages, and one of credits")
        .isLessThanOrEqualTo(2 * RECEIVES + 1);
    assertThat(server.user.free()).isTrue();
    assertThat(server.user.take()).as("after one was closed").isTrue();
    simulation.checkEnd();
  }

  @Test
  void aMessageWaitsForABufferIfNoneIsFree() {
    server.user.peerLies = true;
    send(packed(2));
    server.host.outOfMemory = true;
    List<Buffer> all = new ArrayList<>();
    Buffer next = server.host.pool.tryTakeForProtocol();
    while (next != null) {
      all.add(next);
      next = server.host.pool.tryTakeForProtocol();
    }
    assertThat(server.session.hasMessageOrEnd()).isTrue();
    assertThat(server.user.take()).isFalse();
    assertThat(server.session.hasMessageOrEnd()).isFalse();
    server.settle();
    assertThat(server.goOnWithBuffer()).isFalse();
    server.host.outOfMemory = false;
    all.forEach(Buffer::free);
    assertThat(server.goOnWithBuffer()).isTrue();
    assertThat(server.user.take()).isTrue();
    assertThat(server.user.take()).isTrue();
    simulation.checkEnd();
  }

  @Test
  void whatWaitsForAnswersToLeaveIsDeliveredOnceTheyHaveFailed() {
    Limits deep = new Limits(64, 64, 64, 64, 64, 64, false, true, Hello.PACKED, Hello.PACKED);
    Simulation other = Simulation.of(deep, 1);
    End answering = other.end(1);
    answering.user.peerLies = true;
    answering.session.watermarks(1 << 20, 1 << 20); // which is never reached
    answering.session.wantMessages(false);
    byte[] message = packed(2);
    message[3] = 32; // credits for the answers
    assertThat(other.end(0).device.forge(message)).isTrue();
    answering.deliver();
    for (int i = 0; i < 32; i++) {
      Request answer = answering.session.newRequest();
      Buffer buffer = answering.host.pool.take();
      buffer.fill(MessageKind.MESSAGE, ByteBuffer.allocate(4));
      answer.send(MessageKind.MESSAGE, 0, 0, buffer);
      answer.isAnswer(true);
      answering.order.called(answer);
      answering.session.add(answer);
    }
    answering.submitted();
    Buffer second = answering.session.takeMessages();
    second.toNext();
    assertThat(answering.session.mayDeliver(second)).isFalse();
    answering.session.putBack(second);
    answering.breakUp();
    Simulation.untilNothingMoves(answering.user::tell);
    assertThat(answering.session.hasNews()).isFalse();
    answering.stopDevice();
    Simulation.untilNothingMoves(answering.device::execute, answering::complete);
    assertThat(answering.session.hasNews()).isTrue();
    assertThat(answering.session.nextForUser()).isEqualTo(Delivery.MESSAGE);
    answering.session.takeMessages().free();
    other.checkEnd();
  }

  @ParameterizedTest
  @CsvSource({
    "0000, ''",
    "0004, 00000000",
    "0003, 00000000",
    "0005, 0000000000000001",
    "0004, 0000000000000001",
    "0004, 00000000ffffffff",
    "0004, 000000007fffffff",
    "0004, 00000000000000010000000002",
    "ffff, 0000000000000000",
  })
  void noMessageIsDeliveredIfALengthIsWrong(String firstLength, String bytes) {
    byte[] header = HexFormat.of().parseHex("000800000000" + firstLength + "0".repeat(16));
    send(header, HexFormat.of().parseHex(bytes));
    assertThat(server.session.lifecycle().failure()).hasMessageContaining("do not fit together");
    assertThat(server.session.peekMessage()).isNull();
    assertThat(server.session.counts().receivedMessages).isZero();
    simulation.checkEnd();
  }

  @ParameterizedTest
  @CsvSource({"4, 4", "5, 4", "4, 5", "0, 5"})
  void eachMessageMayBeAsLongAsTheUserAllows(int first, int second) {
    server.user.peerLies = true;
    server.session.allowMessages(4, "the test");
    ByteBuffer message =
        ByteBuffer.allocate(MessageHeader.BYTES + first + MessageHeader.LENGTH_BYTES + second);
    message.put(1, (byte) MessageHeader.PACKED).putShort(6, (short) first);
    message.putInt(MessageHeader.BYTES + first, second);
    send(message.array());
    if (first > 4 || second > 4) {
      assertThat(server.session.lifecycle().failure())
          .hasMessageContaining("a message of 5 bytes, more than the 4 of the test");
      assertThat(server.session.peekMessage()).isNull();
    } else {
      assertThat(server.session.lifecycle().failure()).isNull();
      assertThat(server.session.peekMessage()).isNotNull();
    }
    simulation.checkEnd();
  }

  /** Returns so many messages of no bytes. */
  private static byte[] packed(int messages) {
    byte[] message = new byte[MessageHeader.BYTES + (messages - 1) * MessageHeader.LENGTH_BYTES];
    message[1] = MessageHeader.PACKED;
    return message;
  }

  /** The client sends this, once it has a credit; the server receives it. */
  private void send(byte[]... parts) {
    ByteBuffer message = ByteBuffer.allocate(100);
    for (byte[] part : parts) {
      message.put(part);
    }
    byte[] bytes = new byte[message.flip().remaining()];
    message.get(bytes);
    if (server.session.grantedCredits() > 0) {
      assertThat(client.device.forge(bytes)).isTrue();
      server.deliver();
    }
  }
}
