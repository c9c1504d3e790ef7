package org.rdma4j.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.WorkCompletionException;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;

/** Two endpoints of one JVM, connected over the machine's RDMA device. */
@Tag("device")
@Tag("needs-connecting-by-address")
final class EndpointTest {
  /** An emulated guest may pause for seconds, and starts slowly. */
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private static final Duration SHORT = Duration.ofMillis(200);
  private static final EndpointConfig CONFIG =
      EndpointConfig.DEFAULT.bufferBytes(1 << 20).sendDepth(16).receiveDepth(16);

  private EndpointListener listener;
  private Endpoint a;
  private Endpoint b;

  @BeforeEach
  void connect() throws Exception {
    listener = Endpoint.listen(loopback(0), CONFIG);
    Future<Endpoint> accepted = start(() -> listener.accept(PATIENCE));
    a = Endpoint.connect(listener.address(), CONFIG, PATIENCE);
    b = accepted.get(100, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() throws Exception {
    a.close();
    b.close();
    listener.close();
  }

  @Test
  void messagesGoBothWays() throws Exception {
    for (long round = 0; round < 100; round++) {
      exchange(a, b, round);
      exchange(b, a, round);
    }
  }

  private static void exchange(Endpoint from, Endpoint to, long id) throws Exception {
    String text = "message " + id + " from " + from.local().queuePair().queuePairNumber();
    to.postReceive(id, 4096, 100);
    from.buffer().segment().setString(64, text);
    from.postSend(id, 64, text.length() + 1L);
    assertThat(from.await(id, PATIENCE)).isEqualTo(new Completion(id, CompletionOpcode.SEND, 0));
    assertThat(to.await(id, PATIENCE))
        .isEqualTo(new Completion(id, CompletionOpcode.RECEIVE, text.length() + 1L));
    assertThat(to.buffer().segment().getString(4096)).isEqualTo(text);
  }

  @Test
  void bothSidesKnowTheAddressOfTheOther() {
    assertThat(a.remote()).isEqualTo(b.local());
    assertThat(b.remote()).isEqualTo(a.local());
    assertThat(a.local().bufferBytes()).isEqualTo(1 << 20);
    assertThat(a.local().bufferAddress()).isEqualTo(a.buffer().remoteAddress());
  }

  @Test
  void aSendWaitsForItsReceive() throws Exception {
    a.postSend(1, 0, 64);
    assertThatThrownBy(() -> a.await(1, SHORT)).isInstanceOf(TimeoutException.class);
    b.postReceive(1, 0, 64);
    assertThat(b.await(1, PATIENCE).bytes()).isEqualTo(64);
    a.await(1, PATIENCE);
  }

  @Test
  void requestsAreAwaitedInAnyOrder() throws Exception {
    for (long id = 0; id < 16; id++) {
      b.postReceive(id, id * 64, 64);
    }
    for (long id = 0; id < 16; id++) {
      a.postSend(id, 0, id);
    }
    for (long id = 15; id >= 0; id--) {
      assertThat(b.await(id, PATIENCE).bytes()).isEqualTo(id);
      assertThat(a.await(id, PATIENCE).id()).isEqualTo(id);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void manyThreadsAwaitTheirOwnRequests(boolean virtual) throws Exception {
    List<Future<Long>> received = new ArrayList<>();
    for (long i = 0; i < 16; i++) {
      long id = i;
      b.postReceive(id, id * 64, 64);
      received.add(start(virtual, () -> b.await(id, PATIENCE).bytes()));
    }
    List<Future<Long>> sent = new ArrayList<>();
    for (long i = 0; i < 16; i++) {
      long id = 100 + i;
      sent.add(
          start(
              virtual,
              () -> {
                a.postSend(id, 0, 8);
                return a.await(id, PATIENCE).id();
              }));
    }
    for (int i = 0; i < 16; i++) {
      assertThat(sent.get(i).get(100, TimeUnit.SECONDS)).isEqualTo(100 + i);
      assertThat(received.get(i).get(100, TimeUnit.SECONDS)).isEqualTo(8);
    }
  }

  @Test
  void anUnfinishedWaitLeavesTheRequestAsItWas() throws Exception {
    b.postReceive(1, 0, 64);
    assertThatThrownBy(() -> b.await(1, Duration.ZERO)).isInstanceOf(TimeoutException.class);
    assertThatThrownBy(() -> b.await(1, SHORT))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("id 1");
    a.postSend(1, 0, 3);
    assertThat(b.await(1, PATIENCE).bytes()).isEqualTo(3);
  }

  @Test
  void anInterruptEndsTheWait() throws Exception {
    b.postReceive(1, 0, 64);
    FutureTask<Completion> wait = new FutureTask<>(() -> b.await(1, PATIENCE));
    Thread waiter = Thread.ofPlatform().daemon().start(wait);
    Thread.sleep(200);
    waiter.interrupt();
    assertThatThrownBy(() -> wait.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(InterruptedException.class);
    a.postSend(1, 0, 3);
    assertThat(b.await(1, PATIENCE).bytes()).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCloseEndsTheWaitsOfOtherThreads(boolean virtual) throws Exception {
    List<Future<Completion>> waits = new ArrayList<>();
    for (long i = 0; i < 3; i++) {
      long id = i;
      b.postReceive(id, 0, 64);
      waits.add(start(virtual, () -> b.await(id, PATIENCE)));
    }
    Thread.sleep(200);
    b.close();
    for (Future<Completion> wait : waits) {
      assertThatThrownBy(() -> wait.get(30, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(IllegalStateException.class)
          .hasMessageContaining(b + " is closed");
    }
  }

  @Test
  void aClosedEndpointRefusesEverything() throws Exception {
    a.postReceive(1, 0, 64);
    MemorySegment view = a.buffer().segment();
    a.close();
    a.close();
    assertThatThrownBy(() -> a.postSend(2, 0, 64)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> a.postReceive(2, 0, 64)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> a.await(1, PATIENCE)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> a.buffer().segment()).isInstanceOf(IllegalStateException.class);
    assertThat(view.get(ValueLayout.JAVA_BYTE, 0)).isZero();
  }

  @Test
  void closingWhileThreadsPostAndAwaitEndsThemAll() throws Exception {
    List<Future<Boolean>> loads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      long mine = 1000L * i;
      loads.add(
          start(
              () -> {
                for (long id = mine; ; id++) {
                  b.postReceive(id, 0, 64);
                  a.postSend(id, 0, 64);
                  a.await(id, PATIENCE);
                  b.await(id, PATIENCE);
                }
              }));
    }
    Thread.sleep(500);
    assertThat(loads).noneMatch(Future::isDone);
    a.close();
    b.close();
    for (Future<Boolean> load : loads) {
      assertThatThrownBy(() -> load.get(100, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .satisfies(
              failure ->
                  assertThat(failure.getCause())
                      .isInstanceOfAny(IllegalStateException.class, WorkCompletionException.class));
    }
  }

  @Test
  void aMessageThatDoesNotFitBreaksTheConnectionAndIsReported() throws Exception {
    b.postReceive(1, 0, 8);
    b.postReceive(2, 0, 8);
    a.postSend(1, 0, 64);
    assertThatThrownBy(() -> a.await(1, PATIENCE))
        .isInstanceOf(WorkCompletionException.class)
        .satisfies(
            failure ->
                assertThat(((WorkCompletionException) failure).workRequestId()).isEqualTo(1));
    a.postSend(2, 0, 4);
    assertThatThrownBy(() -> a.await(2, PATIENCE))
        .isInstanceOf(WorkCompletionException.class)
        .hasMessageContaining(CompletionStatus.FLUSHED.name());
    assertThatThrownBy(() -> b.await(1, PATIENCE)).isInstanceOf(WorkCompletionException.class);
  }

  @Test
  void theBufferOfThePeerIsReadAndWritten() throws Exception {
    EndpointConfig open =
        CONFIG.remoteAccess(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE).bufferBytes(8192);
    try (EndpointListener other = Endpoint.listen(loopback(0), open)) {
      Future<Endpoint> accepted = start(() -> other.accept(PATIENCE));
      try (Endpoint client = Endpoint.connect(other.address(), CONFIG, PATIENCE);
          Endpoint server = accepted.get(100, TimeUnit.SECONDS)) {
        server.buffer().segment().setString(4096, "to be read");
        client.postRead(1, 64, 11, 4096);
        assertThat(client.await(1, PATIENCE))
            .isEqualTo(new Completion(1, CompletionOpcode.RDMA_READ, 11));
        assertThat(client.buffer().segment().getString(64)).isEqualTo("to be read");

        client.buffer().segment().setString(0, "written");
        client.postWrite(2, 0, 8, 8184);
        assertThat(client.await(2, PATIENCE))
            .isEqualTo(new Completion(2, CompletionOpcode.RDMA_WRITE, 0));
        assertThat(server.buffer().segment().getString(8184)).isEqualTo("written");

        assertThatThrownBy(() -> client.postRead(3, 0, 1, 8192))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> client.postWrite(3, 0, 2, 8191))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
  }

  @Test
  void theBufferOfAPeerThatDoesNotAllowItIsNotRead() throws Exception {
    b.buffer().segment().setString(0, "secret");
    a.postRead(1, 0, 6, 0);
    assertThatThrownBy(() -> a.await(1, PATIENCE))
        .isInstanceOf(WorkCompletionException.class)
        .satisfies(
            failure ->
                assertThat(((WorkCompletionException) failure).status())
                    .isIn(
                        CompletionStatus.REMOTE_ACCESS_ERROR,
                        CompletionStatus.REMOTE_INVALID_REQUEST));
    assertThat(a.buffer().segment().getString(0)).isEmpty();
  }

  @Test
  void aSendToAPeerThatIsGoneFails() throws Exception {
    b.close();
    a.postSend(1, 0, 4);
    assertThatThrownBy(() -> a.await(1, PATIENCE))
        .isInstanceOf(WorkCompletionException.class)
        .hasMessageContaining(CompletionStatus.RETRY_EXCEEDED.name());
  }

  @Test
  void aRequestThatIsRefusedLeavesNothingBehind() throws Exception {
    assertThatThrownBy(() -> a.postSend(1, 1 << 20, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> b.postReceive(1, -1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> a.await(1, SHORT)).isInstanceOf(IllegalStateException.class);
    exchange(a, b, 1);
  }

  @Test
  void noMoreRequestsThanConfiguredArePosted() {
    for (long id = 0; id < 16; id++) {
      b.postReceive(id, 0, 64);
    }
    assertThatThrownBy(() -> b.postReceive(16, 0, 64))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the receive queue is full");
    assertThatThrownBy(() -> b.postReceive(3, 0, 64)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anotherProgramDoesNotKeepTheNextEndpointFromConnecting() throws Exception {
    try (Socket other = new Socket()) {
      other.connect(listener.address());
      other.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThatThrownBy(() -> listener.accept(PATIENCE))
          .isInstanceOf(HandshakeException.class)
          .hasMessageContaining("GET / HTTP/1.1");
    }
    Future<Endpoint> accepted = start(() -> listener.accept(PATIENCE));
    try (Endpoint client = Endpoint.connect(listener.address(), CONFIG, PATIENCE);
        Endpoint server = accepted.get(100, TimeUnit.SECONDS)) {
      exchange(client, server, 1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 0xffff})
  void anAddressThatCannotBeUsedIsTheFaultOfThePeerThatSentIt(int lid) throws Exception {
    QueuePairAddress nowhere = new QueuePairAddress(lid, 0x123456, 0, Gid.ZERO);
    try (Socket liar = sendAddress(nowhere)) {
      assertThatThrownBy(() -> listener.accept(PATIENCE))
          .isInstanceOf(HandshakeException.class)
          .hasMessageContaining("the address that the peer sent cannot be used")
          .hasMessageContaining(nowhere.toString());
      assertThat(liar.getInputStream().read()).isEqualTo(-1);
    }
    acceptAnother();
  }

  /** Some of them silent, others with the address of a queue pair that does not exist. */
  @Test
  void peersThatDoNotCompleteTheHandshakeKeepNobodyWaiting() throws Exception {
    QueuePairAddress own = a.local().queuePair();
    QueuePairAddress missing = new QueuePairAddress(own.lid(), 0xfffff0, 0, own.gid());
    List<Socket> hostile = new ArrayList<>();
    try {
      for (int i = 0; i < 500; i++) {
        hostile.add(i % 25 == 0 ? sendAddress(missing) : connectSocket());
      }
      acceptAnother();
    } finally {
      for (Socket each : hostile) {
        each.close();
      }
    }
  }

  private void acceptAnother() throws Exception {
    Future<Endpoint> accepted = start(() -> listener.accept(PATIENCE));
    try (Endpoint client = Endpoint.connect(listener.address(), CONFIG, PATIENCE);
        Endpoint server = accepted.get(100, TimeUnit.SECONDS)) {
      exchange(client, server, 1);
    }
  }

  private Socket sendAddress(QueuePairAddress queuePair) throws Exception {
    EndpointAddress real = a.local();
    EndpointAddress sent =
        new EndpointAddress(
            queuePair,
            real.mtu(),
            real.remoteReads(),
            real.bufferAddress(),
            real.bufferKey(),
            real.bufferBytes());
    Socket socket = connectSocket();
    socket.getOutputStream().write(IncomingMessage.Kind.ADDRESS.encode(sent.encode()).array());
    return socket;
  }

  private Socket connectSocket() throws Exception {
    return new Socket(listener.address().getAddress(), listener.address().getPort());
  }

  @Test
  void aClientReportsAServerThatIsNotAnEndpoint() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Future<Boolean> answer =
          start(
              () -> {
                try (Socket client = other.accept()) {
                  client
                      .getOutputStream()
                      .write("SSH-2.0-OpenSSH_9.2p1\r\n".getBytes(StandardCharsets.US_ASCII));
                  return client.getInputStream().readNBytes(64).length == 64;
                }
              });
      assertThatThrownBy(() -> Endpoint.connect(loopback(other.getLocalPort()), PATIENCE))
          .isInstanceOf(HandshakeException.class)
          .hasMessageContaining("SSH-2.0");
      assertThat(answer.get(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aMissingPeerIsReported() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    assertThatThrownBy(() -> Endpoint.connect(loopback(port), PATIENCE))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("start that side first");
    assertThatThrownBy(
            () -> Endpoint.connect(InetSocketAddress.createUnresolved("nowhere", 1), PATIENCE))
        .isInstanceOf(UnknownHostException.class);
    assertThatThrownBy(() -> listener.accept(SHORT))
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessageContaining("no endpoint connected");
  }

  @Test
  void aWaitForASilentServerTimesOut() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(
              () -> Endpoint.connect(loopback(silent.getLocalPort()), Duration.ofSeconds(1)))
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessageContaining("0 of 16 bytes");
    }
  }

  @Test
  void closingTheListenerEndsItsWaitsAndKeepsItsEndpoints() throws Exception {
    Future<Endpoint> accepting = start(() -> listener.accept(PATIENCE));
    Thread.sleep(200);
    listener.close();
    assertThatThrownBy(() -> accepting.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is closed");
    assertThatThrownBy(() -> listener.accept(PATIENCE)).isInstanceOf(IllegalStateException.class);
    exchange(a, b, 1);
  }

  @Test
  void theConfigurationIsUsed() throws Exception {
    String device = RdmaDevice.list().getFirst().name();
    int gid;
    try (RdmaDevice opened = RdmaDevice.open(device)) {
      gid =
          opened.port(1).gids().stream()
              .filter(entry -> entry.gid().equals(a.local().queuePair().gid()))
              .reduce((first, last) -> last)
              .orElseThrow()
              .index();
    }
    EndpointConfig config = CONFIG.device(device).port(1).gidIndex(gid).bufferBytes(12_345);
    Future<Endpoint> accepted = start(() -> listener.accept(PATIENCE));
    try (Endpoint client = Endpoint.connect(listener.address(), config, PATIENCE);
        Endpoint server = accepted.get(100, TimeUnit.SECONDS)) {
      assertThat(client.buffer().byteSize()).isEqualTo(12_345);
      assertThat(server.remote().bufferBytes()).isEqualTo(12_345);
      assertThat(client.buffer().access()).containsExactly(AccessFlag.LOCAL_WRITE);
    }
  }

  @Test
  void whatTheMachineDoesNotHaveIsReported() {
    assertThatThrownBy(() -> connectWith(CONFIG.device("nosuchdevice0")))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("nosuchdevice0")
        .hasMessageContaining("ENODEV");
    assertThatThrownBy(() -> connectWith(CONFIG.port(99)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("99");
    assertThatThrownBy(() -> connectWith(CONFIG.gidIndex(200)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no GID with index 200");
    assertThatThrownBy(() -> connectWith(CONFIG.receiveDepth(1 << 24)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private void connectWith(EndpointConfig config) throws Exception {
    Endpoint.connect(listener.address(), config, PATIENCE).close();
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  private static <T> Future<T> start(Callable<T> body) {
    return start(false, body);
  }

  private static <T> Future<T> start(boolean virtual, Callable<T> body) {
    FutureTask<T> task = new FutureTask<>(body);
    (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(task);
    return task;
  }
}
