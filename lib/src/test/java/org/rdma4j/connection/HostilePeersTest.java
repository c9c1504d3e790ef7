package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;
import org.rdma4j.connection.wire.Offered;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.SendRequests;

/**
 * Peers that do not keep to the protocol: their connections break with the reason, no other does.
 */
@Tag("device")
@Tag("protocol")
final class HostilePeersTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int SLOW_PEERS = 200;

  /** What is seen is less than 2 s, unless other tests use the processors, too. */
  private static final Duration MAX_DELAY = Duration.ofSeconds(5);

  private static final Hello HELLO = new Hello(1024, 2, 8, 1 << 20);
  private static final Hello PACKS = HELLO.with(Hello.PACKED);
  private static final Hello SENDS_FIRST = new Hello(1024, 0, 8, 1 << 20);

  private RdmaNode node;
  private RdmaServer listener;
  private RdmaConnection good;
  private RdmaConnection goodServer;

  @BeforeEach
  void connect() throws Exception {
    node =
        RdmaNode.open(
            NodeConfig.DEFAULT
                .bufferBytes(1024)
                .receives(8)
                .maxMessageBytes(1 << 20)
                .progressTimeout(Duration.ofSeconds(2))
                .handshakeTimeout(Duration.ofSeconds(30)));
    listener = node.bind(RdmaConnectionTest.local());
    good = node.connect(listener.localAddress(), PATIENCE);
    goodServer = listener.accept(PATIENCE);
  }

  @AfterEach
  void closeAll() throws Exception {
    try {
      good.send(StandardCharsets.US_ASCII.encode("still there"), PATIENCE);
      try (MessageBuffer message = goodServer.receive(PATIENCE).orElseThrow()) {
        assertThat(StandardCharsets.US_ASCII.decode(message.byteBuffer()).toString())
            .isEqualTo("still there");
      }
    } finally {
      node.close();
    }
  }

  /** Describes what a hostile peer sends; the memory holds a message and may be changed. */
  private interface Violation {
    void describe(SendRequests requests, MemoryRegion memory, RemoteMemory exposed);
  }

  private static void header(
      MemoryRegion memory, int kind, int flags, int credits, int fetched, byte[] bytes) {
    ByteBuffer buffer = memory.byteBuffer();
    buffer.put((byte) kind).put((byte) flags).putShort((short) credits).putShort((short) fetched);
    buffer.putShort((short) 0).putLong(0).put(bytes);
  }

  private static void send(SendRequests requests, MemoryRegion memory, int length) {
    requests.add(1).send().from(memory, 0, length).signaled();
  }

  private void assertThatItBreaks(Violation violation, String reason) throws Exception {
    assertThatItBreaks(HELLO, violation, reason);
  }

  private void assertThatItBreaks(Hello hello, Violation violation, String reason)
      throws Exception {
    // Over iWARP, a message without a receive would break the connection first.
    try (HostilePeer peer = HostilePeer.connect(listener.localAddress(), hello, 16);
        RdmaConnection accepted = listener.accept(PATIENCE)) {
      MemoryRegion exposed =
          accepted.register(4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
      SendRequests requests = peer.requests();
      violation.describe(requests, peer.memory(), RemoteMemory.of(exposed));
      requests.post();
      assertThatThrownBy(
              () -> {
                while (accepted.receive(PATIENCE).isPresent()) {}
              })
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining(reason);
      assertThatThrownBy(() -> accepted.ended().get()).cause().hasMessageContaining(reason);
    }
  }

  @Test
  void creditsBeyondWhatThePeerSaidItHas() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          header(memory, 5, 0, 0xffff, 0, new byte[0]);
          send(requests, memory, 16);
        },
        "65535 credits");
  }

  @Test
  void fetchesOfWhatWasNotOffered() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          header(memory, 5, 0, 0, 1, new byte[0]);
          send(requests, memory, 16);
        },
        "fetched more than it was offered");
  }

  @Test
  void emptyControlMessages() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          header(memory, 5, 0, 0, 0, new byte[0]);
          send(requests, memory, 16);
        },
        "empty message");
  }

  @Test
  void creditsGivenBackThatThePeerDoesNotHave() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          header(memory, 7, 0, 0, 0, new byte[0]);
          memory.byteBuffer().putLong(8, 2);
          send(requests, memory, 16);
        },
        "it gave back 2 credits, but has 0");
  }

  @Test
  void anEndWithFlagsThatDoNotExist() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          header(memory, 6, 64, 0, 0, new byte[0]);
          send(requests, memory, 16);
        },
        "with the flags 64");
  }

  @Test
  void messagesOfAnUnknownKind() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          header(memory, 77, 0, 0, 0, new byte[0]);
          send(requests, memory, 16);
        },
        "kind 77");
  }

  @Test
  void messagesWithoutAHeader() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> send(requests, memory, 15),
        "not a message of this protocol");
  }

  @Tag("needs-immediate-data")
  @Test
  void writesWithAnImmediateValue() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) ->
            requests
                .add(1)
                .writeWithImmediate(exposed.address(), exposed.key(), 0)
                .from(memory, 0, 100)
                .signaled(),
        "not a message of this protocol");
  }

  @Test
  void moreMessagesThanThereAreCredits() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          header(memory, 0, 0, 0, 0, new byte[0]);
          // More than the connection ever grants, because no message is closed.
          for (int i = 0; i < 12; i++) {
            send(requests, memory, 20);
          }
        },
        "without a credit");
  }

  @Test
  void messagesThatAreLongerThanTheBuffers() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          header(memory, 0, 0, 0, 0, new byte[0]);
          send(requests, memory, 2000);
        },
        "longer than the buffers");
  }

  @Test
  void offersLongerThanWhatIsReceived() throws Exception {
    Offered offer = new Offered(1, 1L << 40, 0, 1L << 40, 4096, 1);
    assertThatItBreaks(offering(offer), "offered a message of 1099511627776 bytes");
  }

  @Test
  void offersWhosePiecesAreOutsideTheMessage() throws Exception {
    assertThatItBreaks(offering(new Offered(1, 5000, 4000, 2000, 4096, 1)), "not valid");
  }

  @Test
  void piecesOfMessagesThatNeverBegan() throws Exception {
    assertThatItBreaks(offering(new Offered(1, 5000, 4000, 1000, 4096, 1)), "without those before");
  }

  @Test
  void messagesOfWhichOnlyTheFirstByteIsOffered() throws Exception {
    long before = node.statistics().largeBytes();
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          byte[] offer = new byte[Offer.BYTES];
          new Offered(1, 1 << 20, 0, 1, memory.remoteAddress(), memory.remoteKey())
              .write()
              .get(offer);
          header(memory, 0, MessageHeader.OFFER, 0, 0, offer);
          send(requests, memory, 16 + offer.length);
        },
        "nothing of a message of 1048576 bytes, of which 1048575 are missing, has arrived for 2 s");
    assertThat(node.statistics().largeBytes()).isEqualTo(before);
  }

  @Tag("needs-remote-errors")
  @Test
  void offersOfMemoryThatIsGone() throws Exception {
    assertThatItBreaks(offering(new Offered(1, 5000, 0, 5000, 4096, 1)), "REMOTE_ACCESS_ERROR");
  }

  private static Violation offering(Offered offer) {
    byte[] bytes = new byte[Offer.BYTES];
    offer.write().get(bytes);
    return (requests, memory, exposed) -> {
      header(memory, 0, MessageHeader.OFFER, 0, 0, bytes);
      send(requests, memory, 16 + bytes.length);
    };
  }

  /** Sends several messages together, of which the first has 1 byte; each is delivered or none. */
  private static Violation packed(int kind, int flags, int firstLength, int... rest) {
    return (requests, memory, exposed) -> {
      header(memory, kind, flags, 0, 0, new byte[1]);
      ByteBuffer buffer = memory.byteBuffer().putShort(6, (short) firstLength).position(17);
      for (int length : rest) {
        buffer.putInt(length).put((byte) 0);
      }
      send(requests, memory, buffer.position());
    };
  }

  @Test
  void packedMessagesWhoseLengthsDoNotFit() throws Exception {
    String reason = "whose lengths do not fit together";
    for (Violation each :
        List.of(
            packed(0, MessageHeader.PACKED, 1),
            packed(0, MessageHeader.PACKED, 0),
            packed(0, MessageHeader.PACKED, 2, 1),
            packed(0, MessageHeader.PACKED, 0xffff, 1),
            packed(0, MessageHeader.PACKED, 1, 1, 0),
            packed(0, MessageHeader.PACKED, 1, 1, 2),
            packed(0, MessageHeader.PACKED, 1, 1, -1),
            packed(0, MessageHeader.PACKED, 1, 1, Integer.MIN_VALUE),
            packed(0, MessageHeader.PACKED, 1, 1, Integer.MAX_VALUE))) {
      assertThatItBreaks(PACKS, each, reason);
    }
  }

  @Test
  void packedMessagesOfAPeerThatHasNotAnnouncedThem() throws Exception {
    assertThatItBreaks(packed(0, MessageHeader.PACKED, 1, 1), "with the flags 8");
  }

  @Test
  void packedMessagesOfAnotherKind() throws Exception {
    assertThatItBreaks(PACKS, packed(2, MessageHeader.PACKED, 1, 1), "with the flags 8");
    assertThatItBreaks(
        PACKS, packed(0, MessageHeader.PACKED | MessageHeader.OFFER, 1, 1), "with the flags 9");
  }

  @Test
  void aLengthWithoutTheFlagOfPackedMessages() throws Exception {
    assertThatItBreaks(PACKS, packed(0, 0, 1, 1), "the reserved bytes 1");
  }

  @Test
  void answersToRequestsThatWereNotMade() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          header(memory, 3, 0, 0, 0, new byte[0]);
          send(requests, memory, 16);
        },
        "does not wait for an answer");
  }

  @Test
  void theReasonThatAPeerGivesIsShownWithoutControlCharacters() throws Exception {
    assertThatItBreaks(
        (requests, memory, exposed) -> {
          byte[] text = "because\u001b[2J\n".getBytes(StandardCharsets.UTF_8);
          header(memory, 6, MessageHeader.BROKEN, 0, 0, text);
          send(requests, memory, 16 + text.length);
        },
        "because?[2J?");
  }

  private static byte[] header(MessageKind kind, int credits) {
    byte[] message = new byte[MessageHeader.BYTES];
    MessageHeader.write(MemorySegment.ofArray(message), 0, kind, 0, credits, 0, 0);
    return message;
  }

  @Test
  void aPeerThatBreaksTheProtocolIsToldWhy() throws Exception {
    try (HostilePeer peer = HostilePeer.connect(listener.localAddress(), HELLO, 1);
        RdmaConnection accepted = listener.accept(PATIENCE)) {
      byte[] unknown = header(MessageKind.CONTROL, 0);
      unknown[0] = 77;
      peer.send(unknown);
      MemorySegment arrived = peer.receive(PATIENCE).orElseThrow();
      assertThat(MessageHeader.kind(arrived, 0)).isEqualTo(MessageKind.END.code());
      assertThat(arrived.getString(MessageHeader.BYTES)).contains("kind 77");
      assertThat(accepted.isOpen()).isFalse();
    }
  }

  /** Over iWARP, the client must send first: what the server sent immediately could end it. */
  @Test
  void nothingIsSentBeforeAPeerThatIsToBeTheFirst() throws Exception {
    try (HostilePeer peer = HostilePeer.connect(listener.localAddress(), SENDS_FIRST, 1);
        RdmaConnection accepted = listener.accept(PATIENCE)) {
      accepted.endOutput();
      assertThat(peer.receive(Duration.ofMillis(500))).isEmpty();
      peer.send(header(MessageKind.CONTROL, 2));
      MemorySegment arrived = peer.receive(PATIENCE).orElseThrow();
      assertThat(MessageHeader.kind(arrived, 0)).isEqualTo(MessageKind.END.code());
    }
  }

  @Test
  void aPeerThatIsToBeTheFirstAndSendsNothingIsDropped() throws Exception {
    try (RdmaNode impatient =
            RdmaNode.open(NodeConfig.DEFAULT.handshakeTimeout(Duration.ofSeconds(3)));
        RdmaServer server = impatient.bind(RdmaConnectionTest.local());
        HostilePeer peer = HostilePeer.connect(server.localAddress(), SENDS_FIRST, 0);
        RdmaConnection accepted = server.accept(PATIENCE)) {
      assertThat(peer.memory().byteSize()).isPositive();
      assertThatThrownBy(() -> accepted.receive(PATIENCE))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("it had to send the first message");
    }
  }

  @Test
  void aPeerIsNotLateIfThisSideIs() throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch free = new CountDownLatch(1);
    try (RdmaNode busy =
            RdmaNode.open(NodeConfig.DEFAULT.pollers(1).handshakeTimeout(Duration.ofMillis(1500)));
        RdmaServer server = busy.bind(RdmaConnectionTest.local());
        EventChannel events = EventChannel.open();
        RdmaNode ending = RdmaNode.open()) {
      RdmaConnection sender = node.connect(server.localAddress(), PATIENCE);
      RdmaConnection receiver = server.accept(PATIENCE);
      RdmaConnection ends = ending.connect(server.localAddress(), PATIENCE);
      assertThat(server.accept(PATIENCE).isOpen() && ends.isOpen()).isTrue();
      CmId late = resolved(events, server);
      try (SimpleMessages queues = SimpleMessages.create(late, 1, 1)) {
        assertThat(queues.queuePair().number()).isPositive();
        // A handler that waits, which it must not do, stops the poller. The end of a connection
        // waits for the poller, and stops the thread that reads the events of all handshakes.
        receiver.onMessage(
            message -> {
              message.close();
              blocked.countDown();
              awaitUninterruptibly(free);
            });
        sender.send(ByteBuffer.allocate(1), PATIENCE);
        assertThat(blocked.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        late.connect(ConnectionConfig.DEFAULT.privateData(HELLO.write()));
        // The answer of the server is there, but not read.
        Thread.sleep(500);
        end(ending);
        Thread.sleep(500);
        assertThat(events.awaitEvent(PATIENCE).orElseThrow())
            .isInstanceOf(CmEvent.Established.class);
        Thread.sleep(1500);
        free.countDown();
        assertThat(server.accept(PATIENCE).isOpen()).isTrue();
      } finally {
        free.countDown();
      }
    }
  }

  private static void end(RdmaNode node) {
    node.close();
  }

  private static CmId resolved(EventChannel events, RdmaServer server) throws InterruptedException {
    CmId id = events.createId(PortSpace.TCP);
    id.resolveAddress(null, server.localAddress(), PATIENCE);
    assertThat(events.awaitEvent(PATIENCE)).get().isInstanceOf(CmEvent.AddressResolved.class);
    id.resolveRoute(PATIENCE);
    assertThat(events.awaitEvent(PATIENCE)).get().isInstanceOf(CmEvent.RouteResolved.class);
    return id;
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Over iWARP, the kernel of the peer finishes the handshake. */
  @Tag("needs-infiniband-connection-manager")
  @Test
  @Tag("slow")
  @Timeout(300)
  void peersThatNeverFinishTheirHandshakeDelayNobody() throws Exception {
    List<HostilePeer> silent = new ArrayList<>();
    try {
      for (int i = 0; i < SLOW_PEERS; i++) {
        HostilePeer peer = HostilePeer.prepare(listener.localAddress(), HELLO, 0);
        silent.add(peer);
        // The answer is never read, so it is never confirmed.
        peer.requestConnection();
      }
      long began = System.nanoTime();
      try (RdmaConnection client = node.connect(listener.localAddress(), PATIENCE);
          RdmaConnection accepted = listener.accept(PATIENCE)) {
        long connected = System.nanoTime() - began;
        assertThat(client.isOpen() && accepted.isOpen()).isTrue();
        long waiting = System.nanoTime();
        assertThatThrownBy(() -> listener.accept(Duration.ofSeconds(2)))
            .isInstanceOf(TimeoutException.class);
        long waited = System.nanoTime() - waiting;
        System.out.printf(
            "%d slow peers delayed a good one by at most %d ms; accept(2 s) took %d ms%n",
            SLOW_PEERS, connected / 1_000_000, waited / 1_000_000);
        assertThat(Duration.ofNanos(connected)).isLessThan(MAX_DELAY);
        assertThat(Duration.ofNanos(waited))
            .isBetween(Duration.ofSeconds(2), MAX_DELAY.plusSeconds(2));
      }
    } finally {
      silent.forEach(HostilePeer::close);
    }
  }
}
