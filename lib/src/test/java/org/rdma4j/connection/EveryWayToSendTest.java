package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.Offer;

/**
 * Every way to send, with messages of every length at which something changes, in both directions
 * concurrently and without a pause, to receivers of every pace. Each byte is compared.
 */
@Tag("device")
@Tag("protocol")
final class EveryWayToSendTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int BUFFER = NodeConfig.DEFAULT.bufferBytes();
  private static final int INLINE = 112 - MessageHeader.BYTES;
  private static final int MAX = 2 << 20;
  private static final int BATCH = 64;
  private static final NodeConfig CONFIG = NodeConfig.DEFAULT.maxMessageBytes(MAX);

  /** What all messages are parts of: message i begins at byte i modulo {@link #STARTS}. */
  private static final int STARTS = 4093;

  private static final ByteBuffer SOURCE = random(MAX + STARTS);

  private RdmaNode clients;
  private RdmaNode servers;
  private RdmaServer listener;

  @BeforeEach
  void listen() {
    clients = RdmaNode.open(CONFIG);
    servers = RdmaNode.open(CONFIG);
    listener = servers.bind(RdmaConnectionTest.local());
  }

  @AfterEach
  void close() {
    clients.close();
    servers.close();
  }

  private static ByteBuffer random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return ByteBuffer.allocateDirect(length).put(bytes).flip();
  }

  private static ByteBuffer message(int number, int length) {
    return SOURCE.slice(number % STARTS, length);
  }

  private static MessageBuffer filled(RdmaConnection connection, int number, int length) {
    MessageBuffer buffer = connection.allocateBuffer(length);
    buffer.byteBuffer().put(message(number, length)).flip();
    return buffer;
  }

  private static void check(ByteBuffer arrived, int number, int length) {
    if (arrived.mismatch(message(number, length)) != -1) {
      throw new AssertionError(
          "message %d is not what was sent: it has %d bytes, not %d, and differs from byte %d on"
              .formatted(
                  number, arrived.remaining(), length, arrived.mismatch(message(number, length))));
    }
  }

  /**
   * The lengths of the messages of one direction: first many of each length in a row, then all
   * lengths in a random order.
   */
  private static List<Integer> lengths(int few) {
    List<Integer> inARow = new ArrayList<>();
    for (int length : List.of(0, 1, INLINE - 1, INLINE, INLINE + 1)) {
      inARow.addAll(Collections.nCopies(40 * few, length));
    }
    int header = MessageHeader.BYTES;
    for (int length : List.of(BUFFER - header - 1, BUFFER - header, BUFFER - header + 1)) {
      inARow.addAll(Collections.nCopies(10 * few, length));
    }
    for (int length : List.of(BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER)) {
      inARow.addAll(Collections.nCopies(20 * few, length));
    }
    inARow.addAll(Collections.nCopies(10 * few, 64 << 10));
    inARow.addAll(Collections.nCopies(few / 4 + 1, 1 << 20));
    inARow.addAll(Collections.nCopies(few / 4 + 1, (1 << 20) + 1));
    inARow.addAll(List.of(MAX - 1, MAX));
    List<Integer> mixed = new ArrayList<>(inARow);
    Collections.shuffle(mixed, new Random(few));
    List<Integer> all = new ArrayList<>(inARow);
    all.addAll(mixed.subList(0, mixed.size() / 2));
    return all;
  }

  /** Sends one message. */
  interface SendingOne {
    void send(RdmaConnection connection, int number, int length) throws Exception;
  }

  private static void oneByOne(RdmaConnection to, List<Integer> lengths, SendingOne sending)
      throws Exception {
    for (int i = 0; i < lengths.size(); i++) {
      sending.send(to, i, lengths.get(i));
    }
  }

  /** A way to send, from which whole messages arrive. */
  enum Way {
    COPY,
    COPY_OF_THE_HEAP,
    BUFFER,
    TRY,
    TRY_A_COPY,
    FUTURE,
    FUTURE_OF_A_BUFFER,
    HANDLER
  }

  private static void sendAll(Way way, RdmaConnection to, List<Integer> lengths) throws Exception {
    switch (way) {
      case COPY ->
          oneByOne(to, lengths, (end, i, length) -> end.send(message(i, length), PATIENCE));
      case COPY_OF_THE_HEAP ->
          oneByOne(to, lengths, (end, i, length) -> end.send(onTheHeap(i, length), PATIENCE));
      case BUFFER ->
          oneByOne(to, lengths, (end, i, length) -> end.send(filled(end, i, length), PATIENCE));
      case TRY ->
          oneByOne(
              to,
              lengths,
              (end, i, length) -> {
                MessageBuffer buffer = filled(end, i, length);
                tryUntilSent(() -> end.trySend(buffer));
              });
      case TRY_A_COPY ->
          oneByOne(
              to,
              lengths,
              (end, i, length) -> {
                ByteBuffer message = message(i, length);
                tryUntilSent(() -> end.trySend(message));
              });
      case FUTURE -> {
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        oneByOne(to, lengths, (end, i, length) -> sent.add(end.sendAsync(message(i, length))));
        awaitAll(sent);
      }
      case FUTURE_OF_A_BUFFER -> {
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        oneByOne(to, lengths, (end, i, length) -> sent.add(end.sendAsync(filled(end, i, length))));
        awaitAll(sent);
      }
      case HANDLER -> sendWithAHandler(to, lengths);
    }
  }

  private static ByteBuffer onTheHeap(int number, int length) {
    return ByteBuffer.allocate(length).put(message(number, length)).flip();
  }

  private static void awaitAll(List<CompletableFuture<Void>> sent) throws Exception {
    for (CompletableFuture<Void> each : sent) {
      each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private static void tryUntilSent(BooleanSupplier trying) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!trying.getAsBoolean()) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.sleep(1);
    }
  }

  private static void sendWithAHandler(RdmaConnection to, List<Integer> lengths) throws Exception {
    CountDownLatch sent = new CountDownLatch(lengths.size());
    List<RuntimeException> failures = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < lengths.size(); i++) {
      to.sendAsync(
          message(i, lengths.get(i)),
          i,
          (number, failure) -> {
            if (failure != null) {
              failures.add(failure);
            }
            sent.countDown();
          });
    }
    assertThat(sent.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(failures).isEmpty();
  }

  /** How a receiver takes its messages. */
  enum Pace {
    FAST(5, 0, 0),
    SLOW(1, 10, 1),
    PAUSING(2, 200, 100),
    SILENT_AT_FIRST(2, Integer.MAX_VALUE, 500);

    private final int few;
    private final int messages;
    private final long millis;

    Pace(int few, int messages, long millis) {
      this.few = few;
      this.messages = messages;
      this.millis = millis;
    }

    void pauseBefore(int number) throws InterruptedException {
      if (messages > 0 && number % messages == 0) {
        Thread.sleep(millis);
      }
    }
  }

  private static Stream<Arguments> waysAndPaces() {
    return Stream.of(Way.values())
        .flatMap(way -> Stream.of(Pace.values()).map(pace -> Arguments.of(way, pace)));
  }

  @ParameterizedTest
  @MethodSource("waysAndPaces")
  void allMessagesArriveAsTheyWereSent(Way way, Pace pace) throws Exception {
    List<Integer> lengths = lengths(pace.few);
    bothWays(
        connection -> sendAll(way, connection, lengths),
        connection -> {
          for (int i = 0; i < lengths.size(); i++) {
            pace.pauseBefore(i);
            try (MessageBuffer message = connection.receive(PATIENCE).orElseThrow()) {
              check(message.byteBuffer(), i, lengths.get(i));
            }
          }
        });
  }

  /** What one side does with its end of the connection. */
  interface Side {
    void with(RdmaConnection connection) throws Exception;
  }

  /** Each side sends and receives at the same time. */
  private void bothWays(Side sender, Side receiver) throws Exception {
    try (RdmaConnection client = clients.connect(listener.localAddress(), PATIENCE);
        RdmaConnection server = listener.accept(PATIENCE)) {
      List<FutureTask<Boolean>> tasks =
          List.of(
              start(sender, client),
              start(receiver, client),
              start(sender, server),
              start(receiver, server));
      for (FutureTask<Boolean> task : tasks) {
        task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
    }
  }

  /** In a platform thread, because such a thread polls itself while it waits. */
  private static FutureTask<Boolean> start(Side side, RdmaConnection connection) {
    Callable<Boolean> call =
        () -> {
          side.with(connection);
          return true;
        };
    FutureTask<Boolean> task = new FutureTask<>(call);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  @ParameterizedTest
  @EnumSource
  void theBytesOfAChannelArriveAsTheyWereWritten(Pace pace) throws Exception {
    List<Integer> lengths = lengths(pace.few);
    bothWays(
        connection -> {
          ByteChannel channel = connection.asByteChannel();
          for (int i = 0; i < lengths.size(); i++) {
            channel.write(message(i, lengths.get(i)));
          }
        },
        connection -> {
          ByteChannel channel = connection.asByteChannel();
          ByteBuffer bytes = ByteBuffer.allocateDirect(MAX);
          for (int i = 0; i < lengths.size(); i++) {
            pace.pauseBefore(i);
            bytes.clear().limit(lengths.get(i));
            while (bytes.hasRemaining()) {
              assertThat(channel.read(bytes)).isPositive();
            }
            check(bytes.flip(), i, lengths.get(i));
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void theBytesOfAStreamArriveAsTheyWereWritten(Pace pace) throws Exception {
    List<Integer> lengths = lengths(pace.few);
    bothWays(
        connection -> {
          for (int i = 0; i < lengths.size(); i++) {
            byte[] bytes = new byte[lengths.get(i)];
            message(i, bytes.length).get(bytes);
            connection.outputStream().write(bytes);
          }
        },
        connection -> {
          InputStream stream = connection.inputStream();
          for (int i = 0; i < lengths.size(); i++) {
            pace.pauseBefore(i);
            check(ByteBuffer.wrap(stream.readNBytes(lengths.get(i))), i, lengths.get(i));
          }
        });
  }

  /** Both the request and its answer are what the matrix has as messages. */
  @ParameterizedTest
  @EnumSource
  void allRequestsAndAnswersArriveAsTheyWereSent(Pace pace) throws Exception {
    List<Integer> lengths = lengths(Math.max(1, pace.few / 2));
    bothWays(
        connection -> {
          for (int first = 0; first < lengths.size(); first += BATCH) {
            List<CompletableFuture<MessageBuffer>> answers = new ArrayList<>();
            int end = Math.min(lengths.size(), first + BATCH);
            for (int i = first; i < end; i++) {
              answers.add(connection.request(message(i, lengths.get(i))));
            }
            for (int i = first; i < end; i++) {
              try (MessageBuffer answer =
                  answers.get(i - first).get(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                check(answer.byteBuffer(), i, lengths.get(i));
              }
            }
          }
        },
        connection -> answerAll(connection, lengths, pace));
  }

  /** Sends each request back: they may arrive in another order than the one they were sent in. */
  private static void answerAll(RdmaConnection connection, List<Integer> lengths, Pace pace)
      throws Exception {
    CompletableFuture<Integer> all = new CompletableFuture<>();
    int[] answered = {0};
    pace.pauseBefore(0);
    connection.onRequest(
        request -> {
          try {
            request.answer(request.message().byteBuffer().duplicate());
            answered[0]++;
            pace.pauseBefore(answered[0]);
          } catch (InterruptedException | RuntimeException | Error failed) {
            all.completeExceptionally(failed);
          }
          if (answered[0] == lengths.size()) {
            all.complete(answered[0]);
          }
        });
    assertThat(all.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(lengths.size());
  }

  /** What most people try first: a thread sends what it has, another one receives it. */
  @ParameterizedTest
  @ValueSource(ints = {8 << 10, 64 << 10})
  void manyLongMessagesWithoutAPauseArrive(int length) throws Exception {
    try (RdmaNode defaults = RdmaNode.open();
        RdmaServer defaultListener = defaults.bind(RdmaConnectionTest.local());
        RdmaConnection client = defaults.connect(defaultListener.localAddress(), PATIENCE);
        RdmaConnection server = defaultListener.accept(PATIENCE)) {
      int messages = 1000;
      FutureTask<Boolean> received =
          start(
              to -> {
                ByteBuffer bytes = ByteBuffer.allocateDirect(length);
                for (int i = 0; i < messages; i++) {
                  assertThat(to.receive(bytes.clear())).isTrue();
                }
              },
              server);
      ByteBuffer bytes = ByteBuffer.allocateDirect(length);
      for (int i = 0; i < messages; i++) {
        client.send(bytes.clear(), PATIENCE);
      }
      assertThat(received.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  /** The receiver has memory for few of them, so it leaves the others where they are. */
  @Test
  void moreOffersThanThePeerMayHaveWaitUntilItHasFetchedSome() throws Exception {
    int messages = 4 * Offer.MAX_UNFETCHED;
    int length = 2 * BUFFER;
    try (RdmaNode small = RdmaNode.open(CONFIG.maxMessageBytes(4L * length));
        RdmaServer smallListener = small.bind(RdmaConnectionTest.local());
        RdmaConnection client = clients.connect(smallListener.localAddress(), PATIENCE);
        RdmaConnection server = smallListener.accept(PATIENCE)) {
      List<CompletableFuture<Void>> sent = new ArrayList<>();
      for (int i = 0; i < messages; i++) {
        sent.add(client.sendAsync(message(i, length)));
      }
      for (int i = 0; i < messages; i++) {
        try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
          check(message.byteBuffer(), i, length);
        }
      }
      awaitAll(sent);
      // A message that waited behind the offers finds nothing in its way.
      client.send(message(1, 1), PATIENCE);
      try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
        check(message.byteBuffer(), 1, 1);
      }
    }
  }

  /** A message that is longer than the peer receives is refused, and changes nothing. */
  @Test
  void messagesBeyondTheMaximumAreRefusedBeforeTheyAreSent() throws Exception {
    try (RdmaConnection client = clients.connect(listener.localAddress(), PATIENCE);
        RdmaConnection server = listener.accept(PATIENCE)) {
      ByteBuffer tooLong = ByteBuffer.allocate(MAX + 1);
      MessageBuffer buffer = client.allocateBuffer(MAX + 1);
      List<Callable<?>> ways =
          List.of(
              () -> {
                client.send(tooLong);
                return true;
              },
              () -> {
                client.send(buffer);
                return true;
              },
              () -> client.trySend(tooLong),
              () -> client.trySend(buffer),
              () -> client.sendAsync(tooLong).join(),
              () -> client.sendAsync(buffer).join(),
              () -> client.request(tooLong).join(),
              () -> client.request(buffer).join());
      for (Callable<?> way : ways) {
        assertThatThrownBy(way::call)
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("the length of the message is " + (MAX + 1));
      }
      buffer.close();
      client.send(message(3, 3), PATIENCE);
      try (MessageBuffer message = server.receive(PATIENCE).orElseThrow()) {
        check(message.byteBuffer(), 3, 3);
      }
    }
  }
}
