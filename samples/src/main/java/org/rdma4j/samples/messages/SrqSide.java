package org.rdma4j.samples.messages;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SharedReceiveQueue;

/**
 * One side of srq's connections: their shared receive queue, its memory, and the steps of a
 * message. Only one thread may use it.
 */
final class SrqSide implements AutoCloseable {
  static final int CONNECTIONS = 2;

  /** More than the messages that can be outstanding, so that each finds a posted receive. */
  private static final int RECEIVES = 2 * CONNECTIONS;

  /** The number of different messages. It is prime, so that messages in a row differ. */
  private static final int TEXTS = 251;

  private final Srq options;
  private final CompletionChannel channel;
  private final ProtectionDomain domain;
  private final CompletionQueue queue;
  private final Completions completions;
  private final SharedReceiveQueue shared;
  private final PreparedReceives receive;

  /** A message for each receive, then a message to send for each connection. */
  private final MemoryRegion messages;

  /** Each message is a part of this text; its number and its connection determine the start. */
  private final MemorySegment text;

  private final List<Connection> connections = new ArrayList<>();

  /** A connection, with the number of messages received, posted and sent. */
  private final class Connection {
    final int index = connections.size();
    final SynchronousCmId id;
    final QueuePair queuePair;
    final PreparedSends answer;
    int received;
    int posted;
    int sent;

    Connection(SynchronousCmId id) {
      this.id = id;
      queuePair =
          id.id()
              .createQueuePair(
                  domain,
                  QueuePairConfig.reliable(queue).sendDepth(RECEIVES).sharedReceiveQueue(shared));
      answer = queuePair.sendRequests(1).add(0).send().from(slice(0)).signaled().prepare();
    }

    MemorySegment message(int number) {
      return text.asSlice((index + CONNECTIONS * (long) number) % TEXTS, options.length);
    }

    void send(int slot) {
      answer.id(0, slot).offset(0, slice(slot).offset()).post();
      posted++;
    }

    /** Sends the client's next message, if the last one is sent and answered. */
    void ask() {
      if (received == posted && sent == posted && posted < options.count) {
        int slot = RECEIVES + index;
        slice(slot).segment().copyFrom(message(posted));
        send(slot);
      }
    }

    boolean isDone() {
      return received == options.count && sent == options.count;
    }

    void check(int slot, long bytes) {
      if (bytes != options.length || slice(slot).segment().mismatch(message(received)) >= 0) {
        throw new Failure(
            "message %d of connection %d has other content; give both sides the same -l"
                .formatted(received, index));
      }
      received++;
    }
  }

  /** What a side does when it has received or sent a message. */
  private interface Step {
    void take(Connection connection, int slot);
  }

  SrqSide(Srq options, RdmaDevice device) {
    this.options = options;
    text = text(options.length);
    domain = device.allocateProtectionDomain();
    Deque<Runnable> undo = new ArrayDeque<>();
    undo.push(domain::close);
    try {
      channel = device.createCompletionChannel();
      undo.push(channel::close);
      queue = device.createCompletionQueue(RECEIVES * (1 + CONNECTIONS), channel);
      completions = queue.completions(RECEIVES);
      shared = domain.createSharedReceiveQueue(RECEIVES, 1);
      messages =
          domain.register((long) (RECEIVES + CONNECTIONS) * options.length, AccessFlag.LOCAL_WRITE);
      receive = shared.receiveRequests(1).add(0).into(slice(0)).prepare();
      for (int slot = 0; slot < RECEIVES; slot++) {
        receive(slot);
      }
    } catch (RuntimeException failed) {
      undo.forEach(Runnable::run);
      throw failed;
    }
  }

  private static MemorySegment text(int length) {
    byte[] text = new byte[length + TEXTS];
    for (int i = 0; i < text.length; i++) {
      text[i] = (byte) (i % TEXTS);
    }
    return MemorySegment.ofArray(text);
  }

  private MemorySlice slice(int slot) {
    return messages.slice((long) slot * options.length, options.length);
  }

  private void receive(int slot) {
    receive.id(0, slot).offset(0, slice(slot).offset()).post();
  }

  void accept(SynchronousCmId id) throws InterruptedException {
    connections.add(new Connection(id));
    id.accept(ConnectionParameters.DEFAULT, options.common.timeout());
  }

  void connect(SynchronousCmId id) throws InterruptedException {
    connections.add(new Connection(id));
    id.connect(ConnectionParameters.DEFAULT, options.common.timeout());
  }

  /** Sends the client's messages and receives the answers. */
  void ask() throws InterruptedException {
    connections.forEach(Connection::ask);
    run(
        (connection, slot) -> {
          receive(slot);
          connection.ask();
        },
        (connection, slot) -> connection.ask());
  }

  /** Answers each message, directly from the memory where it arrived. */
  void answer() throws InterruptedException {
    run(Connection::send, (connection, slot) -> receive(slot));
  }

  private void run(Step received, Step sent) throws InterruptedException {
    while (!connections.stream().allMatch(Connection::isDone)) {
      await();
      for (int i = 0; i < completions.size(); i++) {
        Connection connection = of(completions.queuePairNumber(i));
        int slot = (int) completions.workRequestId(i);
        if (completions.opcode(i) == CompletionOpcode.RECEIVE) {
          connection.check(slot, completions.byteLength(i));
          received.take(connection, slot);
        } else {
          connection.sent++;
          sent.take(connection, slot);
        }
      }
    }
  }

  private Connection of(int queuePairNumber) {
    return connections.stream()
        .filter(each -> each.queuePair.number() == queuePairNumber)
        .findFirst()
        .orElseThrow();
  }

  /** Waits for completions. Receives of a shared queue are not flushed when a peer disconnects. */
  private void await() throws InterruptedException {
    if (!options.common.await("a message", this::poll, this::isAnyDisconnected)) {
      throw new Failure("the peer disconnected early; check its output");
    }
  }

  private boolean poll(Duration timeout) throws InterruptedException {
    int taken = completions.await(timeout);
    for (int i = 0; i < taken; i++) {
      completions.requireSuccess(i);
    }
    return taken != 0;
  }

  private boolean isAnyDisconnected(Duration timeout) throws InterruptedException {
    for (Connection each : connections) {
      if (each.id.awaitDisconnected(timeout)) {
        return true;
      }
    }
    return false;
  }

  /** Returns a line with the counts of each connection. */
  List<String> counts() {
    return connections.stream()
        .map(
            each ->
                "connection %d: %d messages sent, %d received"
                    .formatted(each.index, each.sent, each.received))
        .toList();
  }

  @Override
  public void close() {
    channel.close();
    domain.close();
  }
}
