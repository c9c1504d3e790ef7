package org.rdma4j.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.Mtu;

/** The handshake over real sockets, without a device. */
final class HandshakeTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final EndpointAddress CLIENT = EndpointAddressTest.SAMPLE;
  private static final EndpointAddress SERVER =
      new EndpointAddress(
          new QueuePairAddress(0, 0x11, 0, Gid.ZERO), Mtu.MTU_4096, 1, 0x1000, 5, 1);

  private final Answers answers = new Answers();
  private PendingPeers<Made> server;

  /** What the server makes for a peer. */
  private record Made(EndpointAddress remote) {}

  /** Makes it, and remembers what was discarded. */
  private static final class Answers implements PendingPeers.Preparation<Made> {
    final List<Made> made = new CopyOnWriteArrayList<>();
    final List<Made> discarded = new CopyOnWriteArrayList<>();
    volatile Duration duration = Duration.ZERO;

    @Override
    public Made prepare(SocketAddress peer, EndpointAddress remote) {
      LockSupport.parkNanos(duration.toNanos());
      Made result = new Made(remote);
      made.add(result);
      return result;
    }

    @Override
    public EndpointAddress local(Made prepared) {
      return SERVER;
    }

    @Override
    public void discard(Made prepared) {
      discarded.add(prepared);
    }
  }

  @BeforeEach
  void listen() throws IOException {
    server = listen(LONG);
  }

  private PendingPeers<Made> listen(Duration limit) throws IOException {
    return PendingPeers.on(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), answers, limit);
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  @Test
  void anUnresolvedAddressIsNamed() {
    InetSocketAddress unresolved = InetSocketAddress.createUnresolved("none.invalid", 0);
    assertThatThrownBy(() -> PendingPeers.on(unresolved, answers, Duration.ofSeconds(1)))
        .isInstanceOf(UnknownHostException.class)
        .hasMessage("none.invalid");
  }

  @Test
  void bothSidesLearnOfEachOther() throws Exception {
    Future<EndpointAddress> client = start(() -> perform(server, remote -> {}));
    assertThat(server.accept(LONG).remote()).isEqualTo(CLIENT);
    assertThat(client.get(30, TimeUnit.SECONDS)).isEqualTo(SERVER);
    assertThat(answers.discarded).isEmpty();
  }

  @Test
  void theServerCanReceiveBeforeTheClientCanSend() throws Exception {
    Future<EndpointAddress> client =
        start(() -> perform(server, remote -> assertThat(answers.made).hasSize(1)));
    server.accept(LONG);
    client.get(30, TimeUnit.SECONDS);
  }

  @Test
  void theServerIsNotDoneBeforeTheClientIsReady() throws Exception {
    CompletableFuture<Boolean> mayConnect = new CompletableFuture<>();
    Future<EndpointAddress> client = start(() -> perform(server, remote -> mayConnect.join()));
    assertThatThrownBy(() -> server.accept(SHORT)).isInstanceOf(SocketTimeoutException.class);
    assertThat(answers.discarded).isEmpty();
    mayConnect.complete(true);
    assertThat(server.accept(LONG).remote()).isEqualTo(CLIENT);
    client.get(30, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "rdma4j\n0123456789",
        "\33[2J\0\1234567890123"
      })
  void anotherProtocolIsReportedWithWhatItSent(String sent) throws IOException {
    assertRefused(sent.getBytes(StandardCharsets.ISO_8859_1), "another protocol")
        .satisfies(failure -> assertThat(failure.getMessage()).matches("[ -~]*"));
  }

  @Test
  void anotherVersionIsReportedWithBothVersions() throws IOException {
    assertRefused(message("rdma4j\r\n", 1, 0, 1_000_000_000, new byte[0]), "version 1")
        .hasMessageContaining("version 2");
  }

  @Test
  void aMessageOfTheWrongKindIsRefused() throws IOException {
    assertRefused(message("rdma4j\r\n", 2, 1, 0, new byte[0]), "kind 1, must be ADDRESS");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, EndpointAddress.ENCODED_BYTES + 1, Integer.MAX_VALUE, -1})
  void aLengthIsCheckedBeforeItIsUsed(int length) throws IOException {
    assertRefused(
        message("rdma4j\r\n", 2, 0, length, new byte[0]),
        "has " + Integer.toUnsignedString(length) + " bytes, must have");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 16, 40})
  void anEarlyEndIsReported(int bytes) throws IOException {
    assertRefused(
        Arrays.copyOf(hello(), bytes),
        "closed the TCP connection after %d of %d bytes of its message ADDRESS"
            .formatted(
                bytes < 16 ? bytes : bytes - 16, bytes < 16 ? 16 : EndpointAddress.ENCODED_BYTES));
  }

  @Test
  void aClientThatDoesNotBecomeReadyIsReportedAndWhatWasMadeForItDiscarded() throws IOException {
    assertThatThrownBy(
            () -> {
              try (Socket client = connect(server)) {
                client.getOutputStream().write(hello());
                client.shutdownOutput();
                server.accept(LONG);
              }
            })
        .isInstanceOf(HandshakeException.class)
        .hasMessageContaining("after 0 of 16 bytes of its message READY");
    assertThat(answers.made).hasSize(1);
    assertThat(answers.discarded).isEqualTo(answers.made);
  }

  @Test
  void aClientThatGivesUpBeforeItIsAcceptedIsReportedAndWhatWasMadeForItDiscarded()
      throws IOException {
    assertThatThrownBy(
            () -> {
              try (Socket client = connect(server)) {
                client.getOutputStream().write(hello());
                client.getOutputStream().write(ready());
                client.shutdownOutput();
                server.accept(LONG);
              }
            })
        .isInstanceOf(HandshakeException.class)
        .hasMessageContaining("did not wait until it was accepted");
    assertThat(answers.discarded).isEqualTo(answers.made).hasSize(1);
  }

  @Test
  void aSilentPeerIsNotMistakenForNobody() throws Exception {
    server.close();
    server = listen(SHORT);
    try (Socket silent = connect(server)) {
      assertThatThrownBy(() -> server.accept(LONG))
          .isInstanceOf(HandshakeException.class)
          .hasMessageContaining("0 of 16 bytes of its message ADDRESS within PT0.3S")
          .hasMessageContaining(silent.getLocalSocketAddress().toString());
    }
    assertThatThrownBy(() -> server.accept(SHORT))
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessage("no endpoint connected to %s within PT0.3S".formatted(server.address()));
  }

  @Test
  void aWaitThatEndsBeforeASilentPeerIsLateTellsOfThePeer() throws Exception {
    try (Socket silent = connect(server)) {
      assertThatThrownBy(() -> server.accept(SHORT))
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessageEndingWith("; 1 came and did not complete the handshake so far");
      assertThat(silent.isConnected()).isTrue();
    }
  }

  @Test
  void aPeerThatSendsByteAfterByteIsLateToo() throws Exception {
    server.close();
    server = listen(Duration.ofMillis(500));
    try (Socket slow = connect(server)) {
      Future<Boolean> trickle =
          start(
              () -> {
                for (int i = 0; i < 10; i++) {
                  slow.getOutputStream().write(hello()[i]);
                  Thread.sleep(100);
                }
                return true;
              });
      assertThatThrownBy(() -> server.accept(LONG))
          .isInstanceOf(HandshakeException.class)
          .hasMessageContaining("of 16 bytes of its message ADDRESS within PT0.5S");
      assertThat(trickle.isDone()).isFalse();
    }
  }

  @Test
  void fiveHundredSilentPeersKeepNobodyWaitingAndGetNothing() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 500; i++) {
        Socket each = connect(server);
        each.getOutputStream().write(hello(), 0, i % 40);
        silent.add(each);
      }
      Future<EndpointAddress> client = start(() -> perform(server, remote -> {}));
      // Far less than their 30 seconds each, or even those of one.
      assertThat(server.accept(Duration.ofSeconds(15)).remote()).isEqualTo(CLIENT);
      client.get(30, TimeUnit.SECONDS);
      assertThat(answers.made).hasSize(1);
    } finally {
      closeAll(silent);
    }
  }

  @Test
  void ofTooManySilentPeersTheOldestAreDiscarded() throws Exception {
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 520; i++) {
        silent.add(connect(server));
      }
      assertThatThrownBy(() -> server.accept(SHORT))
          .hasMessageContaining("; 512 came and did not complete");
      silent.get(7).setSoTimeout(10_000);
      assertThat(silent.get(7).getInputStream().read()).isEqualTo(-1);
      silent.get(8).setSoTimeout(100);
      assertThatThrownBy(() -> silent.get(8).getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);
    } finally {
      closeAll(silent);
    }
  }

  @Test
  void ofTooManyPeersThatDoNotBecomeReadyTheOldestAreDiscarded() throws Exception {
    List<Socket> liars = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        Socket each = connect(server);
        each.getOutputStream().write(hello());
        liars.add(each);
      }
      Future<Made> accepted = start(() -> server.accept(LONG));
      // Among peers that come at the same moment, the client could be one of the oldest.
      while (answers.made.size() < 100) {
        Thread.sleep(1);
      }
      Future<EndpointAddress> client = start(() -> perform(server, remote -> {}));
      assertThat(accepted.get(60, TimeUnit.SECONDS).remote()).isEqualTo(CLIENT);
      client.get(30, TimeUnit.SECONDS);
      assertThatThrownBy(() -> server.accept(SHORT)).isInstanceOf(SocketTimeoutException.class);
      assertThat(answers.made).hasSize(101);
      // At most 64 are kept, one of which was the client.
      assertThat(answers.discarded).hasSize(37);
      server.close();
      assertThat(answers.discarded).hasSize(100);
    } finally {
      closeAll(liars);
    }
  }

  @Test
  void theTimeoutDoesNotIncludeWhatThisSideMakes() throws Exception {
    answers.duration = Duration.ofSeconds(3);
    // Otherwise its last message may have come before anyone looks at the time.
    Future<EndpointAddress> client = start(() -> perform(server, remote -> pause()));
    assertThat(server.accept(Duration.ofSeconds(2)).remote()).isEqualTo(CLIENT);
    client.get(30, TimeUnit.SECONDS);
  }

  private static void pause() {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
  }

  @Test
  void severalThreadsAcceptPeersOfTheirOwn() throws Exception {
    List<Future<Made>> accepted = new ArrayList<>();
    List<Future<EndpointAddress>> clients = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      accepted.add(start(() -> server.accept(LONG)));
      clients.add(start(() -> perform(server, remote -> {})));
    }
    Set<Made> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 32; i++) {
      distinct.add(accepted.get(i).get(60, TimeUnit.SECONDS));
      clients.get(i).get(60, TimeUnit.SECONDS);
    }
    assertThat(distinct).hasSize(32);
    assertThat(answers.discarded).isEmpty();
  }

  @Test
  void aCloseEndsAllWaits() throws Exception {
    List<Future<Made>> waits =
        List.of(start(() -> server.accept(LONG)), start(() -> server.accept(LONG)));
    Thread.sleep(200);
    server.close();
    for (Future<Made> wait : waits) {
      assertThatThrownBy(() -> wait.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is closed");
    }
    assertThatThrownBy(() -> server.accept(LONG)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whatIsMadeDuringACloseIsDiscarded() throws Exception {
    answers.duration = Duration.ofSeconds(1);
    Future<Made> wait = start(() -> server.accept(LONG));
    try (Socket client = connect(server)) {
      client.getOutputStream().write(hello());
      Thread.sleep(400);
      server.close();
      assertThatThrownBy(() -> wait.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(IllegalStateException.class);
    }
    assertThat(answers.made).hasSize(1);
    assertThat(answers.discarded).isEqualTo(answers.made);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInterruptEndsTheWaitAndNothingElse(boolean virtual) throws Exception {
    FutureTask<Made> wait = new FutureTask<>(() -> server.accept(LONG));
    Thread waiter = virtual ? Thread.ofVirtual().start(wait) : Thread.ofPlatform().start(wait);
    Thread.sleep(200);
    waiter.interrupt();
    assertThatThrownBy(() -> wait.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(InterruptedException.class);
    Future<EndpointAddress> client = start(() -> perform(server, remote -> {}));
    assertThat(server.accept(LONG).remote()).isEqualTo(CLIENT);
    client.get(30, TimeUnit.SECONDS);
  }

  /** Each changes some bytes of a valid message, and half of them its length. */
  @Test
  void tenThousandBrokenMessagesEndInHandshakeExceptionsOrInEndpoints() throws Exception {
    long seed = Long.getLong("org.rdma4j.handshake.seed", System.nanoTime());
    Random random = new Random(seed);
    int refused = 0;
    for (int i = 0; i < 10_000; i++) {
      byte[] sent = hello();
      for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
        sent[random.nextInt(sent.length)] = (byte) random.nextInt();
      }
      int length = random.nextBoolean() ? sent.length : random.nextInt(sent.length);
      try (Socket client = connect(server)) {
        client.setSoLinger(true, 0); // so that the ports of so many connections are free again
        client.getOutputStream().write(sent, 0, length);
        client.shutdownOutput();
        server.accept(LONG);
        throw new AssertionError("no peer became ready, seed " + seed);
      } catch (HandshakeException expected) {
        refused++;
      } catch (IOException | RuntimeException other) {
        throw new AssertionError("message %d of seed %d".formatted(i, seed), other);
      }
    }
    assertThat(refused).as("seed " + seed).isEqualTo(10_000);
    assertThat(answers.discarded).hasSameSizeAs(answers.made);
  }

  @Test
  void aClientReportsWhatAnotherProtocolSent() throws Exception {
    assertClientFails("220 mail.example ESMTP\r\n").hasMessageContaining("220 mail.example");
  }

  /** Otherwise it would send to a queue pair that does not exist. */
  @Test
  void aClientThatIsReadyButWasDiscardedIsTold() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(other.getInetAddress(), other.getLocalPort());
        Socket accepted = other.accept()) {
      accepted
          .getOutputStream()
          .write(IncomingMessage.Kind.ADDRESS.encode(SERVER.encode()).array());
      assertThatThrownBy(
              () ->
                  new ClientHandshake(client, Deadline.after(LONG))
                      .perform(CLIENT, remote -> shutdown(accepted)))
          .isInstanceOf(HandshakeException.class)
          .hasMessageContaining("after 0 of 16 bytes of its message ACCEPTED");
    }
  }

  private static void shutdown(Socket socket) {
    try {
      socket.shutdownOutput();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Test
  void aClientReportsAServerThatEndsEarly() throws Exception {
    assertClientFails("");
  }

  private AbstractThrowableAssert<?, ? extends Throwable> assertClientFails(String sent)
      throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(other.getInetAddress(), other.getLocalPort())) {
      try (Socket accepted = other.accept()) {
        accepted.getOutputStream().write(sent.getBytes(StandardCharsets.US_ASCII));
      }
      return assertThatThrownBy(
              () -> new ClientHandshake(client, Deadline.after(LONG)).perform(CLIENT, remote -> {}))
          .isInstanceOf(HandshakeException.class);
    }
  }

  @Test
  void aClientGivesUpASilentServer() throws Exception {
    try (Socket client = connect(server)) {
      assertThatThrownBy(
              () ->
                  new ClientHandshake(client, Deadline.after(SHORT)).perform(CLIENT, remote -> {}))
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessage("the peer sent 0 of 16 bytes of its message ADDRESS within PT0.3S");
    }
  }

  private AbstractThrowableAssert<?, ? extends Throwable> assertRefused(byte[] sent, String message)
      throws IOException {
    try (Socket client = connect(server)) {
      client.getOutputStream().write(sent);
      client.shutdownOutput();
      AbstractThrowableAssert<?, ? extends Throwable> thrown =
          assertThatThrownBy(() -> server.accept(LONG))
              .isInstanceOf(HandshakeException.class)
              .hasMessageContaining(message);
      assertThat(answers.made).isEmpty();
      return thrown;
    }
  }

  private static EndpointAddress perform(PendingPeers<Made> server, ClientHandshake.Connect connect)
      throws IOException {
    try (Socket client = connect(server)) {
      return new ClientHandshake(client, Deadline.after(LONG)).perform(CLIENT, connect);
    }
  }

  private static Socket connect(PendingPeers<Made> server) throws IOException {
    return new Socket(server.address().getAddress(), server.address().getPort());
  }

  private static void closeAll(List<Socket> sockets) throws IOException {
    for (Socket each : sockets) {
      each.close();
    }
  }

  private static byte[] hello() {
    return message("rdma4j\r\n", 2, 0, CLIENT.encode().length, CLIENT.encode());
  }

  private static byte[] ready() {
    return message("rdma4j\r\n", 2, 1, 0, new byte[0]);
  }

  private static byte[] message(String magic, int version, int kind, int length, byte[] content) {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    message.writeBytes(magic.getBytes(StandardCharsets.US_ASCII));
    message.writeBytes(
        ByteBuffer.allocate(8)
            .putShort((short) version)
            .putShort((short) kind)
            .putInt(length)
            .array());
    message.writeBytes(content);
    return message.toByteArray();
  }

  private static <T> Future<T> start(Callable<T> body) {
    FutureTask<T> task = new FutureTask<>(body);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }
}
