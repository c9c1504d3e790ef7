package org.rdma4j.tools.pingpong;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.PageMemory;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SharedReceiveQueue;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * One side of the ping-pong: the queue pairs, their memory, and the loop in which each queue pair
 * sends and receives one message at a time. Closing the device closes all of it. Only one thread
 * may use it.
 */
final class PingPong {
  /** The id of a receive is RECEIVE plus the number of its place, shifted by this many bits. */
  private static final int PLACE_SHIFT = 2;

  private static final int EMPTY_POLLS_PER_CLOCK_READ = 1024;
  private static final long MAX_ITERATION_NANOS = Duration.ofHours(1).toNanos();

  private final Settings settings;
  private final @Nullable CompletionChannel channel;
  private final CompletionQueue queue;
  private final Completions completions;
  private final List<PingPongQueuePair> members = new ArrayList<>();
  private final MemoryRegion outgoing;
  private final MemoryRegion incoming;
  private final MemorySegment outgoingBytes;
  private final MemorySegment incomingBytes;
  private final PreparedReceives receives;
  private final @Nullable Histogram iterationTimes;
  private final @Nullable ReceiveTimes receiveTimes;

  /** The places without a posted receive. If there is only one place, all receives share it. */
  private final Deque<Integer> freePlaces = new ArrayDeque<>();

  private long sent;
  private long received;
  private int postedReceives;

  /**
   * What both sides must agree on, and what concerns this side only.
   *
   * @param kind the kind of queue pair
   * @param queuePairs the number of queue pairs on each side, 1 except for SRQ
   * @param port the port of the device
   * @param size the length of a message in bytes
   * @param receiveDepth the number of receives that are kept posted
   * @param warmup the number of iterations before the measured ones
   * @param iterations the number of measured iterations
   * @param events whether to sleep until a request completes, rather than poll
   * @param validate whether to check each byte that arrives
   * @param measure whether to measure the time of each iteration
   * @param timeout the longest time without a completion
   * @param features the optional features to use
   */
  record Settings(
      PingPongKind kind,
      int queuePairs,
      int port,
      int size,
      int receiveDepth,
      long warmup,
      long iterations,
      boolean events,
      boolean validate,
      boolean measure,
      Duration timeout,
      Features features) {
    long total() {
      return warmup + iterations;
    }

    /**
     * Returns the number of places for received messages. Messages that are validated and can
     * arrive concurrently must not overwrite each other; a single queue pair receives one at a
     * time.
     */
    int places() {
      return validate && queuePairs > 1 ? receiveDepth : 1;
    }

    /** Returns the length of a place in bytes. */
    long placeBytes() {
      return (long) kind.headerBytes() + size;
    }
  }

  /** Creates everything and posts the receives, so that the peer may send once it is connected. */
  PingPong(RdmaDevice device, Settings settings) {
    this.settings = settings;
    channel = settings.events() ? device.createCompletionChannel() : null;
    ProtectionDomain domain = device.allocateProtectionDomain();
    SharedReceiveQueue shared =
        settings.kind() == PingPongKind.SRQ
            ? domain.createSharedReceiveQueue(settings.receiveDepth(), 1)
            : null;
    // The queue must hold the completions of all receives and of one send of each queue pair.
    int receiveDepth = shared == null ? settings.receiveDepth() : shared.depth();
    CompletionQueueConfig config =
        CompletionQueueConfig.of(receiveDepth + settings.queuePairs()).channel(channel);
    queue = device.createCompletionQueue(settings.features().of(config));
    completions = queue.completions(2 * Math.min(settings.queuePairs(), settings.receiveDepth()));

    Set<AccessFlag> access = settings.features().access();
    outgoing = domain.register(settings.size(), access);
    incoming = domain.register(settings.places() * settings.placeBytes(), access);
    outgoingBytes = outgoing.segment();
    incomingBytes = incoming.segment();
    outgoingBytes.fill(settings.kind().fill());
    for (long page = 0; page < settings.size(); page += PageMemory.pageSize()) {
      outgoingBytes.set(ValueLayout.JAVA_BYTE, page, (byte) 0);
    }
    // Otherwise a message that was never written could pass the check.
    incomingBytes.fill((byte) ~settings.kind().fill());

    for (int i = 0; i < settings.queuePairs(); i++) {
      members.add(new PingPongQueuePair(domain, queue, settings, shared));
    }
    receives =
        prepare(
            shared == null
                ? members.get(0).queuePair().receiveRequests(settings.receiveDepth())
                : shared.receiveRequests(settings.receiveDepth()));
    iterationTimes = settings.measure() ? new Histogram(MAX_ITERATION_NANOS, 3) : null;
    receiveTimes =
        settings.features().timestamps()
            ? new ReceiveTimes(device.extendedAttributes().completionTimestampMask())
            : null;
    for (int place = 0; place < settings.places(); place++) {
      freePlaces.add(place);
    }
    postReceives();
    if (channel != null) {
      queue.requestNotification(false);
    }
  }

  List<QueuePair> queuePairs() {
    return members.stream().map(PingPongQueuePair::queuePair).toList();
  }

  /** Returns the times of the measured iterations in nanoseconds, or null without --latency. */
  @Nullable Histogram iterationTimes() {
    return iterationTimes;
  }

  /** Returns the times of the receives by the device's clock, or null without -t. */
  @Nullable ReceiveTimes receiveTimes() {
    return receiveTimes;
  }

  /** Connects the queue pairs, in the order of the paths. */
  void connect(List<PathConfig> paths) {
    for (int i = 0; i < members.size(); i++) {
      members.get(i).connect(paths.get(i));
    }
  }

  /** Sends the client's first message on each queue pair, which starts the exchange. */
  void start() {
    members.forEach(queuePair -> queuePair.send(outgoing));
  }

  /** Runs until that many messages in total have been sent, and as many received. */
  void runUntil(long messages) {
    try {
      while (sent < messages || received < messages) {
        int polled = awaitCompletions();
        for (int i = 0; i < polled; i++) {
          completions.requireSuccess(i);
          handle(i);
        }
      }
    } catch (WorkCompletionException failed) {
      throw failure(failed);
    }
  }

  private void handle(int index) {
    long id = completions.workRequestId(index);
    boolean isSend = id == PingPongQueuePair.SEND;
    if (isSend) {
      sent++;
    } else {
      receive((int) (id >>> PLACE_SHIFT), completions.byteLength(index));
      if (receiveTimes != null) {
        receiveTimes.add(completions.timestamp(index));
      }
    }
    PingPongQueuePair queuePair = member(completions.queuePairNumber(index));
    if (queuePair.complete(isSend ? PingPongQueuePair.SEND : PingPongQueuePair.RECEIVE)) {
      timeIteration(queuePair);
      if (sent < settings.total()) {
        queuePair.send(outgoing);
      }
    }
  }

  private PingPongQueuePair member(int queuePairNumber) {
    for (PingPongQueuePair queuePair : members) {
      if (queuePair.number() == queuePairNumber) {
        return queuePair;
      }
    }
    throw new IllegalStateException("completion of unknown queue pair " + queuePairNumber);
  }

  private void receive(int place, long bytes) {
    received++;
    long length = bytes - settings.kind().headerBytes();
    if (length != settings.size()) {
      throw new Failure(
          "message %d has %d bytes instead of %d; give both sides the same -s"
              .formatted(received, length, settings.size()));
    }
    if (settings.validate()) {
      validate(place);
    }
    if (settings.places() > 1) {
      freePlaces.add(place);
    }
    postedReceives--;
    // Before the answer: as soon as the peer has that, it sends the next message.
    if (postedReceives <= settings.queuePairs()) {
      postReceives();
    }
  }

  /** Builds the receives once: they are all the same, but for their places if there are several. */
  private PreparedReceives prepare(ReceiveRequests requests) {
    for (int i = 0; i < settings.receiveDepth(); i++) {
      requests.add(PingPongQueuePair.RECEIVE).into(incoming, 0, settings.placeBytes());
    }
    return requests.prepare();
  }

  private void postReceives() {
    int count = settings.receiveDepth() - postedReceives;
    if (settings.places() > 1) {
      for (int i = 0; i < count; i++) {
        int place = freePlaces.remove();
        receives
            .id(i, PingPongQueuePair.RECEIVE | (long) place << PLACE_SHIFT)
            .offset(i, place * settings.placeBytes());
      }
    }
    postedReceives += receives.post(0, count);
  }

  private void validate(int place) {
    MemorySegment message =
        incomingBytes.asSlice(
            place * settings.placeBytes() + settings.kind().headerBytes(), settings.size());
    long wrong = message.mismatch(outgoingBytes);
    if (wrong >= 0) {
      throw new Failure(
          ("message %d differs at byte %d of %d; give both sides -c, or, if they have it, suspect"
                  + " corrupted data")
              .formatted(received, wrong, settings.size()));
    }
    // Otherwise the next message could pass the check because of this one.
    message.fill((byte) ~settings.kind().fill());
  }

  private void timeIteration(PingPongQueuePair queuePair) {
    if (iterationTimes != null) {
      long time = queuePair.endIteration();
      if (sent > settings.warmup()) {
        iterationTimes.recordValue(Math.min(time, MAX_ITERATION_NANOS));
      }
    }
  }

  private int awaitCompletions() {
    int polled = completions.poll();
    if (polled != 0) {
      return polled;
    }
    return channel == null ? spin() : sleep(channel);
  }

  /** Polls without a pause, as C does, and reads the clock only if that takes long. */
  private int spin() {
    long began = 0;
    while (true) {
      for (int i = 0; i < EMPTY_POLLS_PER_CLOCK_READ; i++) {
        int polled = completions.poll();
        if (polled != 0) {
          return polled;
        }
      }
      long now = System.nanoTime();
      if (began == 0) {
        began = now;
      } else if (now - began > settings.timeout().toNanos()) {
        throw silent();
      }
    }
  }

  private int sleep(CompletionChannel events) {
    while (true) {
      try {
        if (events.awaitEvent(settings.timeout()).isEmpty()) {
          throw silent();
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new Failure("interrupted " + progress(), interrupted);
      }
      // Before the poll: a request that completes after it would otherwise raise no event.
      queue.requestNotification(false);
      int polled = completions.poll();
      if (polled != 0) {
        return polled;
      }
    }
  }

  private Failure silent() {
    return new Failure(
        ("nothing arrived from the peer for %d s %s; check that it is running, with the same -n,"
                + " --warmup and --rounds. %s")
            .formatted(
                settings.timeout().toSeconds(),
                progress(),
                settings.kind().losesMessages()
                    ? "A message that is lost, or finds no posted receive, is not sent again"
                    : "If it is slow, use a longer --timeout"));
  }

  private Failure failure(WorkCompletionException failed) {
    CompletionStatus status = failed.status();
    String advice =
        switch (status) {
          case RETRY_EXCEEDED ->
              "the peer does not answer; it exited early, or packets to its GID are lost";
          // Which of these a message that is too long causes depends on the device.
          case LOCAL_LENGTH_ERROR, REMOTE_INVALID_REQUEST, REMOTE_OPERATION_ERROR ->
              "give both sides the same -s, or, if they have it, check the peer's output";
          case FLUSHED -> "the connection broke; check the peer's output";
          default -> "vendor error 0x" + Integer.toHexString(failed.vendorError());
        };
    return new Failure(
        "a %s failed with %s %s: %s"
            .formatted(
                failed.workRequestId() == PingPongQueuePair.SEND ? "send" : "receive",
                status,
                progress(),
                advice),
        failed);
  }

  private String progress() {
    return "after %d of %d iterations".formatted(Math.min(sent, received), settings.total());
  }
}
