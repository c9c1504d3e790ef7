package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.wire.MessageHeader;

/**
 * The device of one end: does the requests in the order in which they were posted, each when a test
 * asks for it, and keeps what has arrived and completed until it is asked for.
 */
final class Device {
  /** What became of a request. */
  enum Outcome {
    DONE,
    /** The device of the peer refused it, or the local one. */
    REFUSED,
    /** The device of the peer does not answer. */
    UNREACHABLE,
    /** It was given back, because one before it has failed. */
    FLUSHED
  }

  /** A message in flight to this end. */
  record Arrival(Buffer buffer, long bytes) {}

  /** A request that is done. */
  record Done(long number, Outcome outcome) {}

  private final String name;
  private final Host host;
  private final CallOrder order;
  private @Nullable Device peer;
  private final Deque<Request> requests = new ArrayDeque<>();
  private final Deque<Arrival> arrivals = new ArrayDeque<>();
  private final Deque<Done> completions = new ArrayDeque<>();
  private boolean stopped;

  /** Whether the next access to memory is refused. */
  boolean refuses;

  /** Whether a message may find no receive, because others take receives that are not theirs. */
  boolean isRobbed;

  Device(String name, Host host, CallOrder order) {
    this.name = name;
    this.host = host;
    this.order = order;
  }

  void connect(Device to) {
    peer = to;
  }

  private Device peer() {
    if (peer == null) {
      throw new AssertionError("not connected");
    }
    return peer;
  }

  void post(Collection<Request> chain) {
    chain.forEach(order::posted);
    requests.addAll(chain);
  }

  /** Returns whether it has nothing to do, and nothing has arrived or completed. */
  boolean isIdle() {
    return requests.isEmpty() && arrivals.isEmpty() && completions.isEmpty();
  }

  int requests() {
    return requests.size();
  }

  /** Returns the messages among them, in hexadecimal digits, with their headers. */
  List<String> messages() {
    return requests.stream()
        .filter(each -> each.operation() == Request.Operation.SEND)
        .map(each -> HexFormat.of().formatHex(bytes(each.buffer())))
        .toList();
  }

  private static byte[] bytes(Buffer message) {
    return message
        .segment()
        .asSlice(message.payload() - MessageHeader.BYTES, MessageHeader.BYTES + message.length())
        .toArray(ValueLayout.JAVA_BYTE);
  }

  int arrivals() {
    return arrivals.size();
  }

  /** Takes no more requests, and gives those back that it has. */
  void stop() {
    stopped = true;
  }

  boolean isStopped() {
    return stopped;
  }

  /** Does the request that was posted first; returns whether anything has moved. */
  boolean execute() {
    Request next = requests.peekFirst();
    if (next == null) {
      return false;
    }
    Outcome outcome = stopped ? Outcome.FLUSHED : execute(next);
    if (outcome == null) {
      return false;
    }
    requests.removeFirst();
    completions.addLast(new Done(next.postNumber(), outcome));
    stopped |= outcome != Outcome.DONE;
    return true;
  }

  /** Returns what became of a request; null if it has to wait. */
  private @Nullable Outcome execute(Request request) {
    if (peer().stopped) {
      return Outcome.UNREACHABLE;
    }
    if (request.operation() == Request.Operation.SEND) {
      return send(request);
    }
    if (request.operation() == Request.Operation.PING) {
      return Outcome.DONE;
    }
    if (request.operation() == Request.Operation.BIND) {
      return ((Range) request.exposure()).bind() ? Outcome.DONE : Outcome.REFUSED;
    }
    if (request.operation() == Request.Operation.INVALIDATE) {
      return ((Range) request.exposure()).invalidate() ? Outcome.DONE : Outcome.REFUSED;
    }
    if (!refuses && access(request)) {
      return Outcome.DONE;
    }
    // A device that refuses an access stops as well.
    peer().stop();
    return Outcome.REFUSED;
  }

  private @Nullable Outcome send(Request request) {
    Buffer from = request.buffer();
    Buffer into = peer().host.posted.pollFirst();
    if (into == null && peer().isRobbed) {
      return null;
    }
    assertThat(into).as("%s sends, but the peer has no receive", name).isNotNull();
    long bytes = MessageHeader.BYTES + from.length();
    if (bytes > MessageHeader.BYTES + into.capacity()) {
      throw new AssertionError(name + " sends a message longer than the buffers of the peer");
    }
    into.segment()
        .asSlice(into.header(), bytes)
        .copyFrom(from.segment().asSlice(from.payload() - MessageHeader.BYTES, bytes));
    peer().arrivals.addLast(new Arrival(into, bytes));
    return Outcome.DONE;
  }

  /** Accesses memory of the peer; returns whether it may. */
  private boolean access(Request request) {
    long address = request.remoteAddress();
    MemorySegment remote =
        peer().host.access(peer(), address, request.remoteKey(), request.bytes());
    MemorySegment local =
        request.operation() == Request.Operation.FETCH
            ? target(request)
            : ((UserRegion) request.local()).accessible();
    if (remote == null || local == null) {
      return false;
    }
    switch (request.operation()) {
      case WRITE -> remote.copyFrom(local);
      case COMPARE_AND_SWAP -> {
        long before = remote.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        local.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, before);
        if (before == request.first()) {
          remote.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, request.second());
        }
      }
      case FETCH_AND_ADD -> {
        long before = remote.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        local.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, before);
        remote.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, before + request.first());
      }
      default -> local.copyFrom(remote);
    }
    return true;
  }

  private static MemorySegment target(Request fetch) {
    Buffer target = fetch.target();
    assertThat(fetch.targetOffset() + fetch.bytes())
        .as("the end of what is fetched, in memory that is registered")
        .isLessThanOrEqualTo(target.registeredBytes());
    return target.segment().asSlice(target.start() + fetch.targetOffset(), fetch.bytes());
  }

  /** Changes a byte of the message that has arrived last, as an untrue peer would. */
  boolean lie(int which, int value) {
    Arrival last = arrivals.peekLast();
    if (last == null) {
      return false;
    }
    long at = Math.min(which % (MessageHeader.BYTES + 8L), last.bytes - 1);
    last.buffer.segment().set(ValueLayout.JAVA_BYTE, last.buffer.header() + at, (byte) value);
    return true;
  }

  /** Sends whatever an untrue peer thinks of, without asking its session for a credit. */
  boolean forge(byte[] message) {
    if (stopped || peer().stopped) {
      return false;
    }
    Buffer into = peer().host.posted.pollFirst();
    if (into == null) {
      return false;
    }
    int bytes = (int) Math.min(message.length, MessageHeader.BYTES + into.capacity());
    into.segment()
        .asSlice(into.header(), bytes)
        .copyFrom(MemorySegment.ofArray(message).asSlice(0, bytes));
    peer().arrivals.addLast(new Arrival(into, bytes));
    return true;
  }

  /** Takes what has arrived first; null if nothing has. */
  @Nullable Arrival pollArrival() {
    return arrivals.pollFirst();
  }

  /** Takes the first completion; null if there is none. */
  @Nullable Done pollCompletion() {
    return completions.pollFirst();
  }

  /** Takes the last completion of a chain, because only it is reported. */
  @Nullable Done pollLastOfChain() {
    Done last = completions.pollFirst();
    while (last != null && last.outcome == Outcome.DONE && isDone(completions.peekFirst())) {
      last = completions.pollFirst();
    }
    return last;
  }

  private static boolean isDone(@Nullable Done done) {
    return done != null && done.outcome == Outcome.DONE;
  }

  /** Takes all that has arrived and that no end will ask for. */
  List<Arrival> takeArrivals() {
    List<Arrival> all = List.copyOf(arrivals);
    arrivals.clear();
    return all;
  }
}
