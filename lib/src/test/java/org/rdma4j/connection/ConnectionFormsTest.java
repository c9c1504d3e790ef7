package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.LocalAddress;
import org.rdma4j.RdmaException;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/** Messages of all lengths, futures, handlers, requests and streams. */
@Tag("device")
@Tag("protocol")
final class ConnectionFormsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BUFFER = 1024;
  private static final int MAX = 8 << 20;

  private RdmaNode node;
  private RdmaServer listener;
  private RdmaConnection client;
  private RdmaConnection server;

  @BeforeEach
  void connect() throws Exception {
    node = RdmaNode.open(NodeConfig.DEFAULT.bufferBytes(BUFFER).maxMessageBytes(MAX));
    listener = node.bind(RdmaConnectionTest.local());
    client = node.connect(listener.localAddress(), PATIENCE);
    server = listener.accept(PATIENCE);
  }

  @AfterEach
  void close() {
    node.close();
  }

  @Test
  @SuppressWarnings("NullAway")
  void aHandlerThatIsNullIsRefusedWhenItIsGiven() {
    MemoryRegion memory = client.register(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    RemoteMemory word = RemoteMemory.of(memory).slice(0, 8);
    List<ThrowingCallable> calls =
        List.of(
            () -> client.onMessage(null),
            () -> client.onMessageBytes(null),
            () -> client.memory().fetchAndAddAsync(word, 1, memory.slice(0, 8), 0, null),
            () -> client.memory().compareAndSwapAsync(word, 1, 2, memory.slice(0, 8), 0, null),
            () -> client.memory().writeAndNotifyAsync(memory.slice(0, 8), word, 1, 0, null),
            () -> client.onRequest(null),
            () -> client.sendAsync(text("x"), 0, null),
            () -> client.sendAsync(client.buffer(), 0, null),
            () -> client.memory().writeAsync(memory.slice(0, 64), RemoteMemory.of(memory), 0, null),
            () -> client.memory().readAsync(RemoteMemory.of(memory), memory.slice(0, 64), 0, null));
    assertThat(calls)
        .allSatisfy(
            call ->
                assertThatThrownBy(call)
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("handler"));
  }

  @Test
  @SuppressWarnings("NullAway")
  void aConfigurationThatIsNullIsRefusedWhenTheNodeIsOpened() {
    assertThatThrownBy(() -> RdmaNode.open(null))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("config");
  }

  private static ByteBuffer text(String text) {
    return StandardCharsets.US_ASCII.encode(text);
  }

  private static String text(MessageBuffer message) {
    try (message) {
      return StandardCharsets.US_ASCII.decode(message.byteBuffer()).toString();
    }
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private static ByteBuffer random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return ByteBuffer.wrap(bytes);
  }

  @Test
  void aQuietConnectionGivesBackTheCreditsThatItDoesNotUse() throws Exception {
    List<CompletableFuture<Void>> sent = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      sent.add(client.sendAsync(text("message")));
    }
    for (int i = 0; i < 400; i++) {
      assertThat(text(server.receive(PATIENCE).orElseThrow())).isEqualTo("message");
    }
    get(sent.getLast());
    assertThat(server.statistics().grantedCredits()).isGreaterThan(1);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (server.statistics().grantedCredits() > 1 && System.nanoTime() < end) {
      Thread.sleep(10);
    }
    assertThat(server.statistics().grantedCredits()).isEqualTo(1);
    assertThat(client.statistics().credits()).isEqualTo(1);
    client.send(text("one more"), PATIENCE);
    assertThat(text(server.receive(PATIENCE).orElseThrow())).isEqualTo("one more");
  }

  @Test
  void memoryThatIsClosedBeforeItsTurnFailsAlone() throws Exception {
    List<CompletableFuture<Void>> before = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      before.add(client.sendAsync(ByteBuffer.allocate(BUFFER))); // so long that none joins another
    }
    CompletableFuture<Void> late;
    try (MemoryRegion closed = client.register(64, AccessFlag.REMOTE_READ)) {
      // It waits until the peer has received some of those before.
      late = client.sendAsync(closed.slice(0, 64));
    }
    for (int i = 0; i < 100; i++) {
      server.receive(PATIENCE).orElseThrow().close();
    }
    assertThatThrownBy(() -> get(late)).hasCauseInstanceOf(IllegalStateException.class);
    for (CompletableFuture<Void> each : before) {
      get(each);
    }
    client.send(text("still open"), PATIENCE);
    assertThat(text(server.receive(PATIENCE).orElseThrow())).isEqualTo("still open");
  }

  @ParameterizedTest
  @ValueSource(ints = {1023, 1024, 1025, 65536, (1 << 20) + 1, 5_000_000})
  void aMessageOfAnyLengthArrivesAsItWasSent(int length) throws Exception {
    FutureTask<Boolean> sent =
        RdmaConnectionTest.start(
            () -> {
              client.send(random(length), PATIENCE);
              client.send(text("after it"), PATIENCE);
              return true;
            });
    try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
      assertThat(message.byteBuffer()).isEqualTo(random(length));
    }
    assertThat(text(server.receive(PATIENCE).orElseThrow())).isEqualTo("after it");
    assertThat(RdmaConnectionTest.get(sent)).isTrue();
  }

  @Test
  void manyLongMessagesArriveInOrderBetweenShortOnes() throws Exception {
    List<CompletableFuture<Void>> sent = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      sent.add(client.sendAsync(random(i % 2 == 0 ? 10 + i : 3000 + i)));
    }
    for (int i = 0; i < 100; i++) {
      try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
        assertThat(message.byteBuffer()).isEqualTo(random(i % 2 == 0 ? 10 + i : 3000 + i));
      }
    }
    for (CompletableFuture<Void> each : sent) {
      get(each);
    }
  }

  @Test
  void registeredMemoryIsSentWithoutACopy() throws Exception {
    MemoryRegion region = client.register(100_000);
    region.byteBuffer().put(random(100_000));
    CompletableFuture<Void> sent = client.sendAsync(region.slice(1, 99_999));
    try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
      assertThat(message.byteBuffer()).isEqualTo(random(100_000).position(1));
    }
    get(sent);
  }

  @Test
  void memoryThatIsSentNeedsNoAccessForPeers() throws Exception {
    MemoryRegion region = client.register(100);
    region.byteBuffer().put(random(100));
    CompletableFuture<Void> sent = client.sendAsync(region.slice(0, 100));
    try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
      assertThat(message.byteBuffer()).isEqualTo(random(100));
    }
    get(sent);
  }

  @Test
  void aReceivedMessageIsForwardedOnAnotherConnection() throws Exception {
    try (RdmaConnection other = node.connect(listener.localAddress(), PATIENCE);
        RdmaConnection otherServer = listener.accept(PATIENCE)) {
      for (int i = 0; i < 200; i++) {
        client.send(text("message " + i), PATIENCE);
        otherServer.send(server.receive(PATIENCE).orElseThrow(), PATIENCE);
        assertThat(text(other.receive(PATIENCE).orElseThrow())).isEqualTo("message " + i);
      }
    }
  }

  @Test
  void moreIsSentAsynchronouslyThanThePeerHasRoomFor() throws Exception {
    List<CompletableFuture<Void>> sent = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      sent.add(client.sendAsync(text("message " + i)));
    }
    assertThat(sent.getLast().isDone()).isFalse();
    for (int i = 0; i < 500; i++) {
      assertThat(text(server.receive(PATIENCE).orElseThrow())).isEqualTo("message " + i);
    }
    for (CompletableFuture<Void> each : sent) {
      get(each);
    }
  }

  @Test
  void operationsGoOnWhileThreadsWaitForThePeerToReceive() throws Exception {
    MemoryRegion memory = server.register(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    MemoryRegion source = client.register(64, AccessFlag.LOCAL_WRITE);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> unreceived = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        unreceived.add(
            threads.submit(
                () -> {
                  client.send(text("no one receives this"), PATIENCE);
                  return null;
                }));
      }
      List<Future<?>> written = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        written.add(
            threads.submit(
                () -> {
                  for (int k = 0; k < 10; k++) {
                    client.memory().write(source.slice(0, 64), RemoteMemory.of(memory), PATIENCE);
                  }
                  return null;
                }));
      }
      for (Future<?> each : written) {
        each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      assertThat(unreceived)
          .as("the waiting ones")
          .anySatisfy(each -> assertThat(each).isNotDone());
      node.close();
    }
  }

  @Test
  void whatIsSentOnToAPeerThatReceivesNothingDoesNotFillTheMemory() throws Exception {
    int buffers = 64;
    try (RdmaNode small = RdmaNode.open(NodeConfig.DEFAULT.maxBuffers(buffers));
        RdmaServer relay = small.bind(RdmaConnectionTest.local());
        RdmaConnection deaf = node.connect(relay.localAddress(), PATIENCE);
        RdmaConnection echoing = relay.accept(PATIENCE)) {
      echoing.onMessage(message -> echoing.sendAsync(message, 0, (token, failure) -> {}));
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 20 * buffers; i++) {
                  deaf.send(ByteBuffer.allocate(BUFFER), Duration.ofSeconds(5)); // none joins it
                }
              })
          .isInstanceOf(TimeoutException.class);
      assertThat(small.statistics().buffersInUse()).isBetween(buffers / 4, buffers);
    }
  }

  @Test
  void aLongBufferWaitsForMemoryOfTheNodeAndAnAllocatedOneDoesNot() throws Exception {
    int most = 2 << 20;
    try (RdmaNode small = RdmaNode.open(NodeConfig.DEFAULT.maxLargeBytes(most));
        RdmaConnection of = small.connect(listener.localAddress(), PATIENCE)) {
      MessageBuffer first = of.buffer(most, PATIENCE);
      assertThat(first.length()).isEqualTo(most);
      assertThatThrownBy(() -> of.buffer(most / 2, Duration.ofMillis(1)))
          .isInstanceOf(TimeoutException.class)
          .hasMessageContaining("no buffer for 1048576 bytes became free");
      of.allocateBuffer(4L * most).close();
      FutureTask<MessageBuffer> waiting = new FutureTask<>(() -> of.buffer(most / 2, PATIENCE));
      Thread.ofVirtual().start(waiting);
      of.send(first, PATIENCE);
      try (RdmaConnection in = listener.accept(PATIENCE)) {
        in.receive(PATIENCE).orElseThrow().close();
        RdmaConnectionTest.get(waiting).close();
      }
      assertThatThrownBy(() -> of.buffer(most + 1, PATIENCE))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("2097153")
          .hasMessageContaining("maxLargeBytes");
    }
  }

  @Test
  void aShortBufferHasTheLengthThatWasAskedFor() throws Exception {
    try (MessageBuffer buffer = client.buffer(5, PATIENCE)) {
      assertThat(buffer.length()).isEqualTo(5);
    }
    assertThatThrownBy(() -> client.buffer(-1, PATIENCE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bytes is -1");
  }

  @Test
  void trySendRefusesOnceThePeerHasNoRoomAndLeavesTheBufferToTheCaller() throws Exception {
    int sent = 0;
    MessageBuffer buffer = client.buffer();
    buffer.byteBuffer().limit(1);
    while (client.trySend(buffer)) {
      sent++;
      assertThat(sent).isLessThanOrEqualTo(node.config().receives());
      buffer = client.buffer();
      buffer.byteBuffer().limit(1);
    }
    assertThat(sent).isPositive();
    assertThat(buffer.byteBuffer().remaining()).isEqualTo(1);
    for (int i = 0; i < sent; i++) {
      server.receive(PATIENCE).orElseThrow().close();
    }
    buffer.close();
  }

  @Test
  void trySendOfACopyRefusesOnceThePeerHasNoRoomAndChangesNothing() throws Exception {
    ByteBuffer message = text("abc");
    int sent = 0;
    while (client.trySend(message.rewind())) {
      assertThat(message.hasRemaining()).isFalse();
      sent++;
      assertThat(sent).isLessThanOrEqualTo(node.config().receives());
    }
    assertThat(sent).isPositive();
    assertThat(message).isEqualTo(text("abc"));
    for (int i = 0; i < sent; i++) {
      try (MessageBuffer received = server.receive(PATIENCE).orElseThrow()) {
        assertThat(text(received)).isEqualTo("abc");
      }
    }
    client.send(text("next"), PATIENCE);
    try (MessageBuffer received = server.receive(PATIENCE).orElseThrow()) {
      assertThat(text(received))
          .as("what follows the requests that were not refused")
          .isEqualTo("next");
    }
  }

  @Test
  void aHandlerGetsAllMessagesInOrderAlsoThoseThatCameBefore() throws Exception {
    Queue<String> received = new ConcurrentLinkedQueue<>();
    CountDownLatch all = new CountDownLatch(300);
    client.send(text("0"), PATIENCE);
    Thread.sleep(50);
    server.onMessage(
        message -> {
          received.add(text(message));
          all.countDown();
        });
    for (int i = 1; i < 300; i++) {
      client.send(text(String.valueOf(i)), PATIENCE);
    }
    assertThat(all.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    int next = 0;
    for (String each : received) {
      assertThat(each).isEqualTo(String.valueOf(next++));
    }
  }

  @Test
  void aThreadThatSendsWithoutAPauseHoldsUpNothingThatArrives() throws Exception {
    Queue<String> received = new ConcurrentLinkedQueue<>();
    client.onMessage(message -> received.add(text(message)));
    server.onMessage(MessageBuffer::close);
    for (int i = 0; i < 20; i++) {
      String during = "during " + i;
      String after = "after " + i;
      var unused = server.sendAsync(text(during));
      long begin = System.nanoTime();
      while (System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(30)
          || !received.contains(during)) {
        client.send(text("stream"), PATIENCE);
        assertThat(System.nanoTime() - begin).isLessThan(PATIENCE.toNanos());
      }
      unused = server.sendAsync(text(after));
      while (!received.contains(after)) {
        Thread.sleep(1);
        assertThat(System.nanoTime() - begin).isLessThan(PATIENCE.toNanos());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 100, 1024, 5000})
  void aMessageIsCopiedIntoABuffer(int length) throws Exception {
    var unused = client.sendAsync(random(length));
    client.endOutput();
    ByteBuffer target = ByteBuffer.allocate(6000).position(10);
    assertThat(server.receive(target, PATIENCE)).isTrue();
    assertThat(target.position()).isEqualTo(10 + length);
    assertThat(target.flip().position(10)).isEqualTo(random(length));
    assertThat(server.receive(target)).isFalse();
  }

  @Test
  void copiedMessagesOccupyNoPlace() throws Exception {
    FutureTask<Boolean> sent =
        RdmaConnectionTest.start(
            () -> {
              for (int i = 0; i < 300; i++) {
                client.send(ByteBuffer.allocate(4).putInt(0, i), PATIENCE);
              }
              return true;
            });
    ByteBuffer target = ByteBuffer.allocateDirect(4);
    for (int i = 0; i < 300; i++) {
      assertThat(server.receive(target.clear(), PATIENCE)).isTrue();
      assertThat(target.getInt(0)).isEqualTo(i);
    }
    assertThat(RdmaConnectionTest.get(sent)).isTrue();
  }

  @Test
  void aMessageThatCannotBeCopiedIsStillTheNextOne() throws Exception {
    client.send(text("seven b"), PATIENCE);
    client.send(text("next"), PATIENCE);
    assertThatThrownBy(() -> server.receive(ByteBuffer.allocate(6), PATIENCE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("room for 6 bytes")
        .hasMessageContaining("has 7");
    assertThatThrownBy(() -> server.receive(ByteBuffer.allocate(8).asReadOnlyBuffer(), PATIENCE))
        .isInstanceOf(ReadOnlyBufferException.class);
    ByteBuffer closed;
    try (Arena arena = Arena.ofShared()) {
      closed = arena.allocate(8).asByteBuffer();
    }
    assertThatThrownBy(() -> server.receive(closed, PATIENCE))
        .isInstanceOf(IllegalStateException.class);
    assertThat(text(server.receive(PATIENCE).orElseThrow())).isEqualTo("seven b");
    assertThat(text(server.receive(PATIENCE).orElseThrow())).isEqualTo("next");
  }

  @Test
  void aHandlerOfBytesReadsAllMessagesAndOwnsNone() throws Exception {
    Queue<String> received = new ConcurrentLinkedQueue<>();
    CountDownLatch all = new CountDownLatch(300);
    client.send(text("0"), PATIENCE);
    server.onMessageBytes(
        bytes -> {
          assertThat(bytes.isReadOnly()).isTrue();
          received.add(StandardCharsets.US_ASCII.decode(bytes).toString());
          all.countDown();
        });
    for (int i = 1; i < 300; i++) {
      client.send(text(String.valueOf(i)), PATIENCE);
    }
    assertThat(all.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    int next = 0;
    for (String each : received) {
      assertThat(each).isEqualTo(String.valueOf(next++));
    }
    assertThatThrownBy(() -> server.receive(PATIENCE))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("handler");
  }

  @Test
  void aHandlerOfBytesNeedsMessagesThatABufferCanHold() {
    try (RdmaNode large = RdmaNode.open(NodeConfig.DEFAULT.maxMessageBytes(1L << 31))) {
      assertThatThrownBy(
              () -> large.connect(listener.localAddress(), PATIENCE).onMessageBytes(bytes -> {}))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("maxMessageBytes is 2147483648");
    }
  }

  @Test
  void aCopyIsSentAndAHandlerIsTold() throws Exception {
    CompletableFuture<Long> arrived = new CompletableFuture<>();
    ByteBuffer message = text("a copy");
    client.sendAsync(
        message,
        7,
        (token, failure) -> {
          assertThat(failure).isNull();
          arrived.complete(token);
        });
    assertThat(message.hasRemaining()).isFalse();
    message.clear().put(0, (byte) 'X');
    assertThat(text(server.receive(PATIENCE).orElseThrow())).isEqualTo("a copy");
    assertThat(get(arrived)).isEqualTo(7);
  }

  @Test
  void aHandlerThatWouldWaitGetsAnExceptionAndBreaksItsConnectionAlone() throws Exception {
    CompletableFuture<RuntimeException> thrown = new CompletableFuture<>();
    server.onMessage(
        message -> {
          message.close();
          try {
            server
                .memory()
                .read(
                    new RemoteMemory(0, 0, 8),
                    server.register(8, AccessFlag.LOCAL_WRITE).slice(0, 8),
                    PATIENCE);
          } catch (RuntimeException refused) {
            thrown.complete(refused);
            throw refused;
          } catch (Exception other) {
            thrown.completeExceptionally(other);
          }
        });
    client.send(text("x"), PATIENCE);
    assertThat(get(thrown)).isInstanceOf(IllegalStateException.class).hasMessageContaining("wait");
    assertThatThrownBy(() -> get(client.ended()))
        .cause()
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("handler");
    try (RdmaConnection other = node.connect(listener.localAddress(), PATIENCE)) {
      assertThat(other.isOpen()).isTrue();
    }
  }

  @Test
  void anOperationHandlerIsToldTheTokensInOrder() throws Exception {
    Queue<Long> tokens = new ConcurrentLinkedQueue<>();
    CountDownLatch all = new CountDownLatch(100);
    OperationHandler handler =
        (token, failure) -> {
          assertThat(failure).isNull();
          tokens.add(token);
          all.countDown();
        };
    server.onMessage(MessageBuffer::close);
    for (int i = 0; i < 100; i++) {
      MessageBuffer buffer = client.buffer();
      buffer.byteBuffer().limit(4);
      client.sendAsync(buffer, i, handler);
    }
    assertThat(all.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(List.copyOf(tokens)).isSorted().hasSize(100);
  }

  @Test
  void thousandsOfRequestsAreAnsweredInAnyOrder() throws Exception {
    Queue<IncomingRequest> held = new ConcurrentLinkedQueue<>();
    AtomicLong count = new AtomicLong();
    server.onRequest(
        request -> {
          if (count.incrementAndGet() % 7 == 0) {
            Thread.ofVirtual().start(() -> request.answer(text("late " + text(request.message()))));
          } else {
            request.answer(request.message());
          }
        });
    List<CompletableFuture<MessageBuffer>> answers = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      answers.add(client.request(text("request " + i)));
    }
    int late = 0;
    for (int i = 0; i < 2000; i++) {
      String answer = text(get(answers.get(i)));
      assertThat(answer).endsWith("request " + i);
      late += answer.startsWith("late ") ? 1 : 0;
    }
    assertThat(late).isEqualTo(2000 / 7);
    assertThat(held).isEmpty();
    assertThat(client.statistics().pendingRequests()).isZero();
  }

  @Test
  void longRequestsGetLongAnswers() throws Exception {
    server.onRequest(request -> request.answer(request.message()));
    try (MessageBuffer answer = get(client.request(random(200_000)))) {
      assertThat(answer.byteBuffer()).isEqualTo(random(200_000));
    }
  }

  @Test
  void aRequestIsRefusedWithTheReasonAndTheConnectionGoesOn() throws Exception {
    server.onRequest(
        request -> {
          throw new UnsupportedOperationException("not today");
        });
    assertThatThrownBy(() -> get(client.request(text("please"))))
        .cause()
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("not today");
    server.onRequest(
        request -> {
          throw new UnsupportedOperationException();
        });
    assertThatThrownBy(() -> get(client.request(text("please"))))
        .cause()
        .hasMessageContaining("UnsupportedOperationException");
    server.onRequest(request -> request.answer(text("now")));
    assertThat(text(get(client.request(text("please"))))).isEqualTo("now");
  }

  @Test
  void requestsThatArriveBeforeTheirHandlerWaitForIt() throws Exception {
    CompletableFuture<MessageBuffer> first = client.request(text("first"));
    CompletableFuture<MessageBuffer> second = client.request(text("second"));
    client.send(text("a message"), PATIENCE);
    // It was sent after the requests, so they are here too.
    assertThat(text(server.receive(PATIENCE).orElseThrow())).isEqualTo("a message");
    server.onRequest(request -> request.answer(request.message().byteBuffer()));
    assertThat(text(get(first))).isEqualTo("first");
    assertThat(text(get(second))).isEqualTo("second");
  }

  @Test
  void requestsThatWaitEndWithTheConnection() throws Exception {
    server.onRequest(request -> {});
    CompletableFuture<MessageBuffer> answer = client.request(text("for ever"));
    client.close();
    assertThatThrownBy(() -> get(answer)).cause().isInstanceOf(IllegalStateException.class);
  }

  @Test
  void bytesFlowThroughStreamsUntilOneDirectionEnds() throws Exception {
    FutureTask<Boolean> writing =
        RdmaConnectionTest.start(
            () -> {
              try (OutputStream out = client.outputStream()) {
                out.write(random(700_000).array());
                out.write(7);
              }
              return true;
            });
    InputStream in = server.inputStream();
    byte[] all = in.readAllBytes();
    assertThat(ByteBuffer.wrap(all, 0, 700_000)).isEqualTo(random(700_000));
    assertThat(all).hasSize(700_001).endsWith(7);
    assertThat(RdmaConnectionTest.get(writing)).isTrue();
    server.send(text("the other direction"), PATIENCE);
    assertThat(text(client.receive(PATIENCE).orElseThrow())).isEqualTo("the other direction");
    assertThatThrownBy(() -> client.send(text("too late"), PATIENCE))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aByteChannelReadsWhatTheOtherWrites() throws Exception {
    try (ByteChannel out = client.asByteChannel();
        ByteChannel in = server.asByteChannel()) {
      out.write(text("one and two"));
      ByteBuffer read = ByteBuffer.allocate(4);
      assertThat(in.read(read)).isEqualTo(4);
      assertThat(StandardCharsets.US_ASCII.decode(read.flip()).toString()).isEqualTo("one ");
      client.close();
      ByteBuffer rest = ByteBuffer.allocate(100);
      while (in.read(rest) >= 0) {}
      assertThat(StandardCharsets.US_ASCII.decode(rest.flip()).toString()).isEqualTo("and two");
    }
  }

  @Test
  void aByteChannelSplitsWhatIsLongerThanThePeerReceives() throws Exception {
    try (RdmaNode small = RdmaNode.open(NodeConfig.DEFAULT.maxMessageBytes(100));
        RdmaServer of = small.bind(RdmaConnectionTest.local());
        RdmaConnection out = node.connect(of.localAddress(), PATIENCE);
        RdmaConnection in = of.accept(PATIENCE)) {
      in.onMessage(
          message -> {
            assertThat(message.length()).isEqualTo(100);
            in.sendAsync(message, 0, (token, failure) -> {});
          });
      assertThat(out.asByteChannel().write(ByteBuffer.allocate(300))).isEqualTo(300);
      for (int i = 0; i < 3; i++) {
        out.receive(PATIENCE).orElseThrow().close();
      }
    }
  }

  @Test
  void theEndIsToldToBothSides() throws Exception {
    assertThat(client.isOpen()).isTrue();
    client.close();
    get(client.ended());
    get(server.ended());
    assertThat(client.isOpen()).isFalse();
    assertThat(server.isOpen()).isFalse();
  }

  @Test
  void anIdleConnectionThatLooksForItsPeerStaysOpen() throws Exception {
    try (RdmaNode watchful = RdmaNode.open(node.config().keepAlive(Duration.ofMillis(1)));
        RdmaConnection idle = watchful.connect(listener.localAddress(), PATIENCE);
        RdmaConnection peer = listener.accept(PATIENCE)) {
      Thread.sleep(1500);
      assertThat(idle.isOpen()).isTrue();
      idle.send(text("after a while"), PATIENCE);
      assertThat(text(peer.receive(PATIENCE).orElseThrow())).isEqualTo("after a while");
    }
  }

  @Test
  void theStatisticsCountMessagesAndBytes() throws Exception {
    client.send(text("12345"), PATIENCE);
    server.receive(PATIENCE).orElseThrow().close();
    assertThat(client.statistics().traffic().sentMessages()).isEqualTo(1);
    assertThat(client.statistics().traffic().sentBytes()).isEqualTo(5);
    assertThat(server.statistics().traffic().receivedMessages()).isEqualTo(1);
    assertThat(server.statistics().traffic().receivedBytes()).isEqualTo(5);
    assertThat(node.statistics().connections()).isEqualTo(2);
  }

  @Test
  void aServerOnAllAddressesAcceptsPeersOverIpv4AndIpv6() throws Exception {
    try (RdmaNode all = RdmaNode.open();
        RdmaServer listener = all.bind(new InetSocketAddress(0))) {
      for (InetAddress each : List.of(DeviceAddress.ipv4(), LocalAddress.linkLocal())) {
        InetSocketAddress to = new InetSocketAddress(each, listener.localAddress().getPort());
        try (RdmaConnection client = all.connect(to, PATIENCE);
            RdmaConnection server = listener.accept(PATIENCE)) {
          client.send(ByteBuffer.allocate(7), PATIENCE);
          try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
            assertThat(message.length()).isEqualTo(7);
          }
        }
      }
    }
  }
}
