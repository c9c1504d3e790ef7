package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.rdma4j.ConnectionException;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.ReceiveWindow;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offered;

/** The user of one end: sends and receives messages, requests and answers, and checks each. */
final class User {
  /** What a user that does not wait has outstanding at most. */
  private static final int MAX_OUTSTANDING = 60;

  private final End end;
  private final Host host;
  private final Session session;
  private final CallOrder order;
  final Operations operations;
  private final List<Sender> senders = new ArrayList<>();
  private final Deque<Buffer> held = new ArrayDeque<>();
  private int nextExpected;
  private int nextOfferNumber;

  /** For each message that was sent, how many writes were called before. */
  private final List<Integer> writesBefore = new ArrayList<>();

  /** The messages that may never arrive, because their memory was closed before they were sent. */
  private final Set<Integer> lost = new HashSet<>();

  private int asked;
  private long lastRequest;
  private int answered;
  private int sent;
  private int packed;
  private int done;
  private int failed;
  private int received;
  private boolean ended;

  /** Whether this knows that it may send more. */
  private boolean mayGoOn = true;

  /** How often this was notified that the peer sends nothing more. */
  int inputEnds;

  /** Whether the peer does not follow the protocol, so that nothing is expected of its messages. */
  boolean peerLies;

  User(End end, CallOrder order) {
    this.end = end;
    this.host = end.host;
    this.session = end.session;
    this.order = order;
    this.operations = new Operations(end, order);
    senders.add(new Sender(end));
    senders.add(new Sender(end));
  }

  List<Sender> senders() {
    return senders;
  }

  /** Wakes a thread that waits to send, if there is room; it wakes the next. */
  void wakeNext() {
    if (senders.stream().noneMatch(Sender::isAsleep)) {
      return;
    }
    if (session.hasRoomForMessage() || session.lifecycle().isUseless()) {
      for (Sender each : senders) {
        if (each.wake()) {
          return;
        }
      }
    }
  }

  void wakeAll() {
    senders.forEach(Sender::wake);
  }

  boolean canSend() {
    try {
      session.lifecycle().checkOutputOpen();
      return true;
    } catch (IllegalStateException | ConnectionException ended) {
      return false;
    }
  }

  private boolean mayCall() {
    return canSend() && session.outstanding() <= MAX_OUTSTANDING;
  }

  /** Sends a message of a length, whose bytes follow from its number. */
  boolean send(int bytes) {
    if (!mayCall()) {
      return false;
    }
    int length = Math.max(bytes, 4);
    sendFrom(
        length > host.pool.bufferBytes() ? host.largeBuffers.take(length) : host.pool.take(),
        length);
    return true;
  }

  /** Sends the next message from this buffer, or together with a waiting message. */
  void sendFrom(Buffer buffer, int bytes) {
    write(buffer, bytes, writesBefore.size());
    boolean isShort = bytes <= session.shortBytes();
    if (isShort && session.tryJoin(buffer.message(), false, this, 0)) {
      buffer.free();
      sent++;
      packed++;
    } else {
      add(MessageKind.MESSAGE, 0, buffer);
    }
    nextMessage();
  }

  /** Takes the number of the next message. */
  int nextMessage() {
    writesBefore.add(operations.writes());
    return writesBefore.size() - 1;
  }

  /** Sends a notice, whose value is its number. It keeps its place among the messages. */
  boolean sendNotice() {
    if (!mayCall()) {
      return false;
    }
    Buffer empty = host.pool.take();
    empty.become(MessageKind.NOTICE, 0, 0);
    add(MessageKind.NOTICE, writesBefore.size(), empty);
    nextMessage();
    return true;
  }

  private void write(Buffer message, int length, int number) {
    host.checkPrivate(message);
    message.become(MessageKind.MESSAGE, 0, length);
    write(message.message(), number);
  }

  /** Writes a message of the user. */
  static void write(ByteBuffer content, int number) {
    content.putInt(number);
    while (content.hasRemaining()) {
      content.put(pattern(number, content.position()));
    }
  }

  private static byte pattern(int number, int at) {
    return (byte) (number + at);
  }

  private void add(MessageKind kind, long number, Buffer message) {
    Request request = session.newRequest();
    if (message.length() > session.shortBytes()) {
      Buffer carrier = takeCarrier(message);
      Range range = expose(message);
      carrier.fill(MessageKind.MESSAGE, offer(range).write());
      request.offer(kind, number, carrier, message, range);
    } else {
      request.send(kind, 0, number, message);
      if (kind == MessageKind.MESSAGE && !message.hasArrived()) {
        request.joinable();
      }
    }
    request.tell(this, 0);
    request.isAnswer(message.hasArrived());
    sent++;
    submit(request);
  }

  /** Sends the first half of a message, which is long enough to be fetched. */
  void sendFirstHalf(int bytes) {
    Buffer message = host.largeBuffers.take(bytes);
    message.become(MessageKind.MESSAGE, 0, bytes);
    sendPiece(message, nextOfferNumber++, 2L * bytes, 0, host.pool.take());
  }

  /** Sends a long message in three pieces, of which the first is the shortest. */
  boolean sendInPieces(int bytes) {
    if (!mayCall() || host.outOfMemory) {
      return false;
    }
    ByteBuffer content = ByteBuffer.allocate(bytes);
    write(content, nextMessage());
    int number = nextOfferNumber++;
    int offset = 0;
    for (int pieceEnd : new int[] {bytes / 40 + 4, bytes / 2, bytes}) {
      Buffer piece = host.largeBuffers.take(pieceEnd - offset);
      host.checkPrivate(piece);
      piece.fill(MessageKind.MESSAGE, content.slice(offset, pieceEnd - offset));
      sendPiece(piece, number, bytes, offset, host.pool.take());
      offset = pieceEnd;
    }
    return true;
  }

  private void sendPiece(Buffer message, int number, long total, long offset, Buffer carrier) {
    Range range = expose(message);
    carrier.fill(
        MessageKind.MESSAGE,
        new Offered(number, total, offset, message.length(), range.address(), range.key()).write());
    Request request = session.newRequest();
    request.offer(MessageKind.MESSAGE, 0, carrier, message, range);
    request.tell(this, 0);
    sent++;
    submit(request);
  }

  private Range expose(Buffer message) {
    return host.expose(message.segment().asSlice(message.payload(), message.length()), end.device);
  }

  Offered offer(Range range) {
    long bytes = range.segment.byteSize();
    return new Offered(nextOfferNumber++, bytes, 0, bytes, range.address(), range.key());
  }

  private Buffer takeCarrier(Buffer message) {
    try {
      return host.pool.take();
    } catch (RdmaException none) {
      message.free();
      throw none;
    }
  }

  private void submit(Request request) {
    order.called(request);
    session.add(request);
    end.submitted();
  }

  /** Begins an operation on the memory of the peer, or a message from memory of the user. */
  boolean begin(Operation.Kind kind, boolean waits) {
    boolean isPlain = kind == Operation.Kind.READ || kind == Operation.Kind.WRITE;
    boolean allowed = isPlain ? canOperate() : mayCall();
    return allowed && operations.begin(kind, waits);
  }

  private boolean canOperate() {
    try {
      session.lifecycle().checkCanSend();
    } catch (IllegalStateException | ConnectionException ended) {
      return false;
    }
    return session.outstanding() <= MAX_OUTSTANDING;
  }

  /** Records that a message may never arrive. */
  void mayLose(int message) {
    lost.add(message);
  }

  /** Sends a request, which the peer answers. */
  boolean ask(int bytes) {
    if (!mayCall() || asked - answered == 2) {
      return false;
    }
    int length = Math.max(bytes, 4);
    Buffer message =
        length > host.pool.bufferBytes() ? host.largeBuffers.take(length) : host.pool.take();
    write(message, length, 1);
    long number = session.addPending(this);
    lastRequest = number;
    asked++;
    try {
      add(MessageKind.REQUEST, number, message);
    } catch (RdmaException none) {
      asked--;
      session.cancelPending(number);
      throw none;
    }
    return true;
  }

  /** Gives up the last request; returns whether the peer is to be notified. */
  boolean cancel() {
    boolean cancelled = session.cancelRequest(lastRequest);
    if (cancelled) {
      end.submitted();
    }
    return cancelled;
  }

  /** Takes the next message, and holds it. No user can once a close has begun. */
  boolean take() {
    Buffer next = session.lifecycle().isClosing() ? null : session.pollMessage();
    if (next == null) {
      return false;
    }
    if (!peerLies) {
      check(next);
    }
    nextExpected++;
    received++;
    held.addLast(next);
    checkHeld();
    end.settle();
    return true;
  }

  private void check(Buffer message) {
    User from = end.peer().user;
    ByteBuffer content = message.message();
    int number = message.kind() == MessageKind.NOTICE ? (int) message.number() : content.getInt();
    while (nextExpected < number && from.lost.contains(nextExpected)) {
      nextExpected++;
    }
    assertThat(number).as("messages of %s in their order", from.end.name).isEqualTo(nextExpected);
    while (content.hasRemaining()) {
      int at = content.position();
      assertThat(content.get())
          .as("byte %d of message %d", at, number)
          .isEqualTo(pattern(number, at));
    }
    from.operations.checkWritten(from.writesBefore.get(number), number);
  }

  /** Checks that the peer has sent no more than the limits allow while messages are held. */
  private void checkHeld() {
    int messages = 0;
    long bytes = 0;
    for (Buffer each : held) {
      boolean isLong = each.isLong();
      messages += isLong ? 0 : 1;
      bytes += isLong ? each.length() : 0;
    }
    assertThat(messages).as("messages held").isLessThanOrEqualTo(2 * end.limits.receives());
    assertThat(bytes).as("bytes of long messages held").isLessThanOrEqualTo(Limits.MAX_MESSAGE);
  }

  /** Frees the message that was taken first. */
  boolean free() {
    Buffer first = held.pollFirst();
    if (first == null) {
      return false;
    }
    first.free();
    return true;
  }

  /** Sends the message that was taken first on to the peer, in its buffer. */
  boolean forward() {
    if (!canSend() || held.isEmpty() || !mayForward(held.getFirst())) {
      return false;
    }
    Buffer first = held.removeFirst();
    int length = (int) first.length();
    ReceiveWindow window = first.leaveWindow();
    if (window != null) {
      session.left(first);
    }
    sendFrom(first, length);
    return true;
  }

  private boolean mayForward(Buffer message) {
    // What is sent on counts against no limit of long messages.
    return message.length() >= 4 && !message.isLong();
  }

  /** Notifies the user of what there is. */
  boolean tell() {
    Delivery next = session.nextForUser();
    switch (next) {
      case NOTHING, MESSAGE -> {
        return false;
      }
      case DONE -> {
        Request request = session.takeDone();
        if (request.listener() instanceof Operation operation) {
          operations.ended(operation, request.failure());
        } else if (request.failure() == null) {
          done++;
        } else {
          failed++;
        }
        session.recycle(request);
      }
      case ANSWER -> {
        Answer answer = session.takeAnswer();
        answered++;
        if (answer.buffer() != null) {
          answer.buffer().free();
        }
      }
      case WRITABILITY -> mayGoOn = session.takeWritability();
      case REQUEST -> answer(session.takeRequest());
      case INPUT_END -> {
        session.takeInputEnd();
        inputEnds++;
        assertThat(ended).as("the input of %s ends after all", end.name).isFalse();
      }
      case END -> {
        session.takeEnd();
        ended = true;
      }
    }
    end.settle();
    return true;
  }

  private void answer(Buffer request) {
    long number = request.number();
    try {
      session.lifecycle().checkCanSend();
    } catch (IllegalStateException | ConnectionException cannot) {
      request.free();
      return;
    }
    if (request.leaveWindow() != null) {
      session.left(request);
    }
    add(MessageKind.ANSWER, number, request);
  }

  /** Frees what it holds, after the end. */
  void closeAll() {
    List<Buffer> left = new ArrayList<>(held);
    held.clear();
    left.forEach(Buffer::free);
  }

  boolean isIdle() {
    return held.isEmpty() && senders.stream().allMatch(Sender::isIdle);
  }

  /** Checks that all that the user has sent was done, and that all has arrived at the peer. */
  void checkComplete(String state) {
    operations.checkAllEnded(state);
    checkHoldsNothing(state);
    assertThat(done).as("requests done: " + state).isEqualTo(sent);
    assertThat(failed).as("requests failed: " + state).isZero();
    assertThat(answered).as("requests answered: " + state).isEqualTo(asked);
    assertThat(end.peer().user.received)
        .as("messages received: " + state)
        .isEqualTo(writesBefore.size() - operations.lostMessages());
  }

  private void checkHoldsNothing(String state) {
    assertThat(session.heldBytes()).as("held by messages: " + state).isZero();
    assertThat(mayGoOn).as("knows that it may send: " + state).isTrue();
  }

  /** Checks that all has ended, once and in some way. */
  void checkAllEnded(String state) {
    operations.checkAllEnded(state);
    checkHoldsNothing(state);
    assertThat(ended).as("told of the end: " + state).isTrue();
    assertThat(inputEnds).as("ends of the input: " + state).isLessThanOrEqualTo(peerLies ? 99 : 1);
    assertThat(done + failed).as("requests ended: " + state).isEqualTo(sent);
    assertThat(answered).as("requests answered or failed: " + state).isEqualTo(asked);
    assertThat(senders).as("threads that send: " + state).allMatch(Sender::isIdle);
  }

  @Override
  public String toString() {
    return "sent %d (%d with others), done %d, failed %d, received %d, held %d, %s, senders %s"
        .formatted(sent, packed, done, failed, received, held.size(), operations, senders);
  }
}
