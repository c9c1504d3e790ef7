package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.PromisedReceives;
import org.rdma4j.connection.buffers.ReceiveWindow;
import org.rdma4j.connection.wire.Credits;
import org.rdma4j.connection.wire.Hello;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.connection.wire.Offer;

/**
 * One end of a simulated connection: a session, a device that does what it is told when it is told,
 * and a user. It calls the session as a link does, and posts at the same moments.
 */
final class End implements ReceiveWindow {
  /** A message on its way to this end. */
  private record Arrival(Buffer buffer, long bytes) {}

  /** A request that the device has done. */
  private record Done(long number, boolean failed) {}

  final Host host;
  final Session session;
  final String name;
  private final int maxMessageBytes;
  private @Nullable End peer;

  private final Deque<Request> device = new ArrayDeque<>();
  private final Deque<Arrival> arrivals = new ArrayDeque<>();
  private final Deque<Done> completions = new ArrayDeque<>();
  private final Deque<Buffer> held = new ArrayDeque<>();
  private long memoryNeed;
  private boolean awaitsReceives;
  private boolean stopped;

  private int nextSent;
  private int nextExpected;
  private int nextOfferNumber;

  /** Whether the peer does not follow the protocol, so that nothing is expected of its messages. */
  boolean peerLies;

  int asked;
  int answered;
  int sent;
  int done;
  int failed;
  int received;
  boolean ended;
  @Nullable RuntimeException endReason;

  End(String name, Host host, int receives, int sends, int maxMessageBytes) {
    this.name = name;
    this.host = host;
    this.maxMessageBytes = maxMessageBytes;
    PromisedReceives promises = new PromisedReceives(host.supply);
    assertThat(promises.add(Credits.FIRST_WINDOW + Session.CONTROL_RECEIVES))
        .as("receives of a new connection")
        .isTrue();
    this.session =
        new Session(
            name,
            new SessionLimits(receives, sends, maxMessageBytes),
            host.pool,
            host.largeBuffers,
            promises,
            this,
            () -> new IllegalStateException(name + " is closed"));
  }

  /** Returns the hello of this end. */
  Hello hello(int receives, boolean sendsFirst) {
    return new Hello(
        host.pool.bufferBytes(), sendsFirst ? 0 : Credits.FIRST_WINDOW, receives, maxMessageBytes);
  }

  void connect(End to, Hello hello, boolean grantsFirst) {
    peer = to;
    session.connected(hello);
    session.wantRequests();
    if (grantsFirst) {
      session.grantFirstCredits();
    }
    flush();
  }

  private End peer() {
    if (peer == null) {
      throw new AssertionError("not connected");
    }
    return peer;
  }

  // What the link does.

  private void settle() {
    long need = session.takeMemoryNeed();
    memoryNeed = need > 0 ? need : memoryNeed;
    if (session.lifecycle().takeChanged()) {
      post();
    }
  }

  private void post() {
    while (postChain()) {
      // There may be more now.
    }
  }

  private boolean postChain() {
    List<Request> chain = new ArrayList<>();
    session.beginChain();
    try {
      Request next = session.nextToPost();
      while (next != null) {
        chain.add(next);
        next = session.nextToPost();
      }
      device.addAll(chain);
    } catch (RdmaException noMemory) {
      session.notAccepted(chain.size(), noMemory);
      session.breakUp("requests could not be posted", noMemory);
    }
    return !chain.isEmpty();
  }

  private void flush() {
    post();
    if (!awaitsReceives && lacksReceives()) {
      awaitsReceives = true;
      host.supply.whenPossible(() -> receivesThere = true);
    }
    settle();
  }

  private boolean lacksReceives() {
    try {
      return session.lacksReceives();
    } catch (RdmaException refused) {
      session.breakUp("receives could not be posted", refused);
      return false;
    }
  }

  private boolean receivesThere;

  private void submitted() {
    if (!session.shouldCollect()) {
      flush();
    }
    settle();
  }

  @Override
  public void left(Buffer buffer) {
    session.left(buffer);
    if (!session.lifecycle().isClosing() && (session.isCreditDue() || session.outstanding() > 0)) {
      flush();
    }
    settle();
  }

  // What the device does, one step at a time. Each returns whether there was anything to do.

  /** Does the request that was posted first. */
  boolean execute() {
    if (stopped) {
      return flushDevice();
    }
    Request next = device.pollFirst();
    if (next == null) {
      return false;
    }
    boolean ok = execute(next);
    completions.addLast(new Done(next.postNumber(), !ok));
    stopped |= !ok;
    return true;
  }

  private boolean execute(Request request) {
    return switch (request.operation()) {
      case SEND -> send(request);
      case FETCH ->
          peer()
              .host
              .read(
                  request.remoteAddress(),
                  request.remoteKey(),
                  request.target(),
                  request.targetOffset(),
                  request.bytes());
      default -> !peer().stopped;
    };
  }

  private boolean flushDevice() {
    Request next = device.pollFirst();
    if (next != null) {
      completions.addLast(new Done(next.postNumber(), true));
    }
    return next != null;
  }

  private boolean send(Request request) {
    if (peer().stopped) {
      return false;
    }
    Buffer from = request.buffer();
    Buffer into = peer().host.posted.pollFirst();
    assertThat(into).as(name + " sends, but the peer has no receive").isNotNull();
    long bytes = MessageHeader.BYTES + from.length();
    if (bytes > MessageHeader.BYTES + into.capacity()) {
      throw new AssertionError(name + " sends a message longer than the buffers of the peer");
    }
    into.segment()
        .asSlice(into.header(), bytes)
        .copyFrom(from.segment().asSlice(from.payload() - MessageHeader.BYTES, bytes));
    peer().arrivals.addLast(new Arrival(into, bytes));
    return true;
  }

  /** Changes a byte in the header of the message that arrives last, as an untrue peer would. */
  boolean lie(int which, int value) {
    Arrival last = arrivals.peekLast();
    if (last == null) {
      return false;
    }
    peerLies = true;
    long length = which % (MessageHeader.BYTES + 8L);
    last.buffer
        .segment()
        .set(
            ValueLayout.JAVA_BYTE,
            last.buffer.header() + Math.min(length, last.bytes - 1),
            (byte) value);
    return true;
  }

  /** Delivers the message that has arrived first. */
  boolean deliver() {
    Arrival next = arrivals.pollFirst();
    if (next == null) {
      return false;
    }
    try {
      session.received(next.buffer, true, true, next.bytes);
    } catch (RdmaException noMemory) {
      session.breakUp("what has arrived could not be handled", noMemory);
    }
    settle();
    flush();
    return true;
  }

  /** Delivers the completion of the request that was done first. */
  boolean complete() {
    Done next = completions.pollFirst();
    if (next == null) {
      return false;
    }
    if (next.failed) {
      session.failed(next.number, Reason.RESET, new IllegalStateException("flushed"));
    } else {
      session.completed(next.number);
    }
    settle();
    flush();
    return true;
  }

  /** Gets the memory that the session needs. */
  boolean supply() {
    if (memoryNeed == 0) {
      return false;
    }
    long bytes = memoryNeed;
    memoryNeed = 0;
    Buffer memory;
    try {
      memory = host.largeBuffers.take(bytes);
    } catch (RuntimeException none) {
      session.breakUp("there is no memory", none);
      settle();
      return true;
    }
    if (!session.supplied(memory)) {
      memory.free();
    }
    flush();
    return true;
  }

  /** Does what was put off until there are receives. */
  boolean flushAgain() {
    if (!receivesThere) {
      return false;
    }
    receivesThere = false;
    awaitsReceives = false;
    flush();
    return true;
  }

  void tick(long quietNanos) {
    session.tick(quietNanos, Long.MAX_VALUE);
    flush();
    session.ping();
    flush();
  }

  /** Two quiet seconds pass; returns whether this end does anything then. */
  boolean giveBack() {
    session.tick(2_000_000_000, Long.MAX_VALUE);
    flush();
    return !device.isEmpty();
  }

  /** The device stops, as it does when the connection below is disconnected. */
  void stopDevice() {
    stopped = true;
    session.stopped();
  }

  boolean isStopped() {
    return stopped;
  }

  // What the user does.

  private boolean canSend() {
    try {
      session.lifecycle().checkOutputOpen();
      return true;
    } catch (IllegalStateException | ConnectionException ended) {
      return false;
    }
  }

  /** Sends a message of a length, whose bytes follow from its number. */
  boolean send(int bytes) {
    if (!canSend() || session.outstanding() > 60) {
      return false;
    }
    Buffer message = newMessage(bytes, nextSent);
    add(MessageKind.MESSAGE, 0, message);
    nextSent++;
    return true;
  }

  /** Sends a notice, whose value is its number. It keeps its place among the messages. */
  boolean sendNotice() {
    if (!canSend() || session.outstanding() > 60) {
      return false;
    }
    Buffer empty = host.pool.take();
    empty.become(MessageKind.NOTICE, 0, 0);
    add(MessageKind.NOTICE, nextSent, empty);
    nextSent++;
    return true;
  }

  private Buffer newMessage(int bytes, int number) {
    int length = Math.max(bytes, 4);
    Buffer message =
        length > host.pool.bufferBytes() ? host.largeBuffers.take(length) : host.pool.take();
    message.become(MessageKind.MESSAGE, 0, length);
    ByteBuffer content = message.message();
    content.putInt(number);
    while (content.hasRemaining()) {
      content.put((byte) (number + content.position()));
    }
    return message;
  }

  private void add(MessageKind kind, long number, Buffer message) {
    Request request = session.newRequest();
    if (message.length() > session.shortBytes()) {
      Buffer carrier = takeCarrier(message);
      carrier.fill(
          MessageKind.MESSAGE,
          new Offer(
                  nextOfferNumber++,
                  message.length(),
                  0,
                  message.length(),
                  message.remoteAddress(),
                  message.memory().remoteKey())
              .write());
      request.offer(kind, number, carrier, message);
    } else {
      request.send(kind, 0, number, message);
    }
    request.tell(this, 0);
    sent++;
    session.add(request);
    submitted();
  }

  private Buffer takeCarrier(Buffer message) {
    try {
      return host.pool.take();
    } catch (RdmaException none) {
      message.free();
      throw none;
    }
  }

  /** Sends a request, which the peer answers. */
  boolean ask(int bytes) {
    if (!canSend() || asked - answered == 2) {
      return false;
    }
    Buffer message = newMessage(bytes, 1);
    long number = session.addPending(this);
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

  /** Takes the next message, and holds it. */
  boolean take() {
    Buffer next = session.pollMessage();
    if (next == null) {
      return false;
    }
    if (!peerLies) {
      ByteBuffer content = next.message();
      long number = next.kind() == MessageKind.NOTICE ? next.number() : content.getInt();
      assertThat(number)
          .as("messages of " + peer().name + " in their order")
          .isEqualTo(nextExpected);
      while (content.hasRemaining()) {
        int at = content.position();
        assertThat(content.get())
            .as("byte %d of message %d", at, number)
            .isEqualTo((byte) (number + at));
      }
    }
    nextExpected++;
    received++;
    held.addLast(next);
    settle();
    return true;
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

  /** Tells the user what there is to tell. */
  boolean tell() {
    Delivery next = session.nextForUser();
    switch (next) {
      case NOTHING, MESSAGE -> {
        return false;
      }
      case DONE -> {
        Request request = session.takeDone();
        if (request.failure() == null) {
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
      case REQUEST -> answer(session.takeRequest());
      case END -> {
        RuntimeException reason = session.takeEnd();
        endReason = ended ? endReason : reason;
        ended = true;
      }
    }
    settle();
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

  void endOutput() {
    if (canSend()) {
      session.endOutput();
      flush();
    }
  }

  void close() {
    session.beginClose();
    flush();
  }

  void breakUp() {
    session.breakUp("its user breaks it", null);
    settle();
  }

  /** Returns the number of messages that were sent, without requests and answers. */
  int sentMessages() {
    return nextSent;
  }

  /** Returns whether nothing is on its way to or from this end. */
  boolean isIdle() {
    return session.isIdle() && arrivals.isEmpty() && held.isEmpty();
  }

  /** Ends everything, as the last step of a close does. */
  void discard() {
    session.stop();
    settle();
    session.discard(new IllegalStateException("closed"));
    session.closed();
    List<Buffer> left = new ArrayList<>(held);
    held.clear();
    left.forEach(Buffer::free);
    while (!arrivals.isEmpty()) {
      host.supply.lost();
      arrivals.removeFirst().buffer.free();
    }
  }

  @Override
  public String toString() {
    return "%s: sent %d, done %d, failed %d, received %d, outstanding %d, posted %d, credits %d, granted %d, device %d, arrivals %d, held %d, need %d%s%s"
        .formatted(
            name,
            sent,
            done,
            failed,
            received,
            session.outstanding(),
            session.postedCount(),
            session.credits(),
            session.grantedCredits(),
            device.size(),
            arrivals.size(),
            held.size(),
            memoryNeed,
            session.lifecycle().isClosing() ? ", closing" : "",
            session.lifecycle().failure() == null
                ? ""
                : ", broken: " + session.lifecycle().failure().getMessage());
  }
}
