package org.rdma4j.samples;

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
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SharedReceiveQueue;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * One side of the game: queue pairs, their memory, and the loop in which one message at a time goes
 * back and forth on each. All of it is closed with the device. It belongs to one thread.
 */
final class PingPong {
  /** How far the number of its place stands in the id of a receive. */
  private static final int PLACE_SHIFT = 2;

  private static final int EMPTY_POLLS_PER_LOOK_AT_THE_CLOCK = 1024;
  private static final long LONGEST_ITERATION = Duration.ofHours(1).toNanos();

  private final Rules rules;
  private final @Nullable CompletionChannel channel;
  private final CompletionQueue queue;
  private final Completions completions;
  private final List<Player> players = new ArrayList<>();
  private final MemoryRegion outgoing;
  private final MemoryRegion incoming;
  private final MemorySegment outgoingBytes;
  private final MemorySegment incomingBytes;
  private final ReceiveRequests receives;
  private final @Nullable Histogram iterationTimes;
  private final @Nullable ReceiveTimes receiveTimes;

  /** The places that no posted receive has; of a single one all have it. */
  private final Deque<Integer> freePlaces = new ArrayDeque<>();

  private long sent;
  private long received;
  private int postedReceives;

  /**
   * What both sides agree on, and what this one does besides.
   *
   * @param kind how messages travel
   * @param queuePairs how many queue pairs each side has, more than one only with SRQ
   * @param port the port of the device
   * @param size the length of a message
   * @param receiveDepth how many receives are posted at a time
   * @param warmup how many iterations come before those that are measured
   * @param iterations how many iterations are measured
   * @param events whether to sleep until something completes
   * @param validate whether to look at each byte that arrives
   * @param measure whether to time each iteration
   * @param timeout how long nothing may happen
   * @param features what else is used
   */
  record Rules(
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
     * Messages that arrive at once must not overwrite each other where they are looked at; one
     * queue pair has only ever one on its way.
     */
    int places() {
      return validate && queuePairs > 1 ? receiveDepth : 1;
    }

    /** How many bytes a receive takes. */
    long placeBytes() {
      return (long) kind.headerBytes() + size;
    }
  }

  /** Makes everything up to posted receives, so that the peer may send once it is connected. */
  PingPong(RdmaDevice device, Rules rules) {
    this.rules = rules;
    channel = rules.events() ? device.createCompletionChannel() : null;
    ProtectionDomain domain = device.allocateProtectionDomain();
    SharedReceiveQueue shared =
        rules.kind() == PingPongKind.SRQ
            ? domain.createSharedReceiveQueue(rules.receiveDepth(), 1)
            : null;
    // All the receives and one send of each queue pair may be complete and unpolled at once.
    int receiveDepth = shared == null ? rules.receiveDepth() : shared.depth();
    CompletionQueueConfig config =
        CompletionQueueConfig.of(receiveDepth + rules.queuePairs()).channel(channel);
    queue = device.createCompletionQueue(rules.features().of(config));
    completions = queue.completions(2 * Math.min(rules.queuePairs(), rules.receiveDepth()));

    Set<AccessFlag> access = rules.features().access();
    outgoing = domain.register(rules.size(), access);
    incoming = domain.register(rules.places() * rules.placeBytes(), access);
    outgoingBytes = outgoing.segment();
    incomingBytes = incoming.segment();
    outgoingBytes.fill(rules.kind().fill());
    for (long page = 0; page < rules.size(); page += PageMemory.pageSize()) {
      outgoingBytes.set(ValueLayout.JAVA_BYTE, page, (byte) 0);
    }
    // Lest a message that was never written be found right.
    incomingBytes.fill((byte) ~rules.kind().fill());

    for (int i = 0; i < rules.queuePairs(); i++) {
      players.add(new Player(domain, queue, rules, shared));
    }
    receives =
        shared == null
            ? players.get(0).queuePair().receiveRequests(rules.receiveDepth())
            : shared.receiveRequests(rules.receiveDepth());
    iterationTimes = rules.measure() ? new Histogram(LONGEST_ITERATION, 3) : null;
    receiveTimes =
        rules.features().timestamps()
            ? new ReceiveTimes(device.extendedAttributes().completionTimestampMask())
            : null;
    for (int place = 0; place < rules.places(); place++) {
      freePlaces.add(place);
    }
    postReceives();
    if (channel != null) {
      queue.requestNotification(false);
    }
  }

  List<QueuePair> queuePairs() {
    return players.stream().map(Player::queuePair).toList();
  }

  /** The times of the measured iterations in ns, where they were to be measured. */
  @Nullable Histogram iterationTimes() {
    return iterationTimes;
  }

  /** What the device's clock said of the receives, where it was asked. */
  @Nullable ReceiveTimes receiveTimes() {
    return receiveTimes;
  }

  /** Connects the queue pairs, each by the path of its number. */
  void connect(List<PathConfig> paths) {
    for (int i = 0; i < players.size(); i++) {
      players.get(i).connect(paths.get(i));
    }
  }

  /** The client's first messages, which set everything in motion. */
  void serve() {
    players.forEach(player -> player.send(outgoing));
  }

  /** Plays until so many messages in all have been sent, and as many received. */
  void playUntil(long messages) {
    try {
      while (sent < messages || received < messages) {
        int polled = awaitCompletions();
        for (int i = 0; i < polled; i++) {
          completions.requireSuccess(i);
          take(i);
        }
      }
    } catch (WorkCompletionException failed) {
      throw failure(failed);
    }
  }

  private void take(int index) {
    long id = completions.workRequestId(index);
    boolean isSend = id == Player.SEND;
    if (isSend) {
      sent++;
    } else {
      receive((int) (id >>> PLACE_SHIFT), completions.byteLength(index));
      if (receiveTimes != null) {
        receiveTimes.add(completions.timestamp(index));
      }
    }
    Player player = player(completions.queuePairNumber(index));
    if (player.done(isSend ? Player.SEND : Player.RECEIVE)) {
      timeIteration(player);
      if (sent < rules.total()) {
        player.send(outgoing);
      }
    }
  }

  private Player player(int queuePairNumber) {
    for (Player player : players) {
      if (player.number() == queuePairNumber) {
        return player;
      }
    }
    throw new IllegalStateException("a completion of queue pair " + queuePairNumber);
  }

  private void receive(int place, long bytes) {
    received++;
    long length = bytes - rules.kind().headerBytes();
    if (length != rules.size()) {
      throw new Failure(
          "message %d has %d bytes, not %d: give both sides the same -s"
              .formatted(received, length, rules.size()));
    }
    if (rules.validate()) {
      validate(place);
    }
    if (rules.places() > 1) {
      freePlaces.add(place);
    }
    postedReceives--;
    // Before the answer, which is what lets the peer send the next message.
    if (postedReceives <= rules.queuePairs()) {
      postReceives();
    }
  }

  private void postReceives() {
    for (int i = postedReceives; i < rules.receiveDepth(); i++) {
      int place = rules.places() > 1 ? freePlaces.remove() : 0;
      receives
          .add(Player.RECEIVE | (long) place << PLACE_SHIFT)
          .into(incoming, place * rules.placeBytes(), rules.placeBytes());
    }
    postedReceives += receives.post();
  }

  private void validate(int place) {
    MemorySegment message =
        incomingBytes.asSlice(
            place * rules.placeBytes() + rules.kind().headerBytes(), rules.size());
    long wrong = message.mismatch(outgoingBytes);
    if (wrong >= 0) {
      throw new Failure(
          ("message %d is wrong at byte %d of %d: give both sides -c; where they have it, data was"
                  + " corrupted on the way")
              .formatted(received, wrong, rules.size()));
    }
    // Lest the next message be found right because this one was.
    message.fill((byte) ~rules.kind().fill());
  }

  private void timeIteration(Player player) {
    if (iterationTimes != null) {
      long time = player.iterationTime();
      if (sent > rules.warmup()) {
        iterationTimes.recordValue(Math.min(time, LONGEST_ITERATION));
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

  /** Polls as C does, without a pause and with a look at the clock only where it takes long. */
  private int spin() {
    long began = 0;
    while (true) {
      for (int i = 0; i < EMPTY_POLLS_PER_LOOK_AT_THE_CLOCK; i++) {
        int polled = completions.poll();
        if (polled != 0) {
          return polled;
        }
      }
      long now = System.nanoTime();
      if (began == 0) {
        began = now;
      } else if (now - began > rules.timeout().toNanos()) {
        throw silence();
      }
    }
  }

  private int sleep(CompletionChannel events) {
    while (true) {
      try {
        if (events.awaitEvent(rules.timeout()).isEmpty()) {
          throw silence();
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new Failure("interrupted " + progress(), interrupted);
      }
      // Before the poll: what completes after the poll, and was not asked for, raises no event.
      queue.requestNotification(false);
      int polled = completions.poll();
      if (polled != 0) {
        return polled;
      }
    }
  }

  private Failure silence() {
    return new Failure(
        "nothing came from the peer for %d s %s: does it still run, and with the same -n, --warmup and --rounds? %s"
            .formatted(
                rules.timeout().toSeconds(),
                progress(),
                rules.kind().losesMessages()
                    ? "A message that is lost on the way, or meets no receive, ends the game"
                    : "A slow one needs a longer --timeout"));
  }

  private Failure failure(WorkCompletionException failed) {
    CompletionStatus status = failed.status();
    String advice =
        switch (status) {
          case RETRY_EXCEEDED ->
              "the peer does not answer: it ended early, or packets to its GID are lost on the way";
          // Which one it is when a message is too long, devices do not agree on.
          case LOCAL_LENGTH_ERROR, REMOTE_INVALID_REQUEST, REMOTE_OPERATION_ERROR ->
              "give both the same -s; where they have it, see what the peer prints";
          case FLUSHED -> "the connection broke: what does the peer print?";
          default -> "vendor error 0x" + Integer.toHexString(failed.vendorError());
        };
    return new Failure(
        "a %s ended in %s %s: %s"
            .formatted(
                failed.workRequestId() == Player.SEND ? "send" : "receive",
                status,
                progress(),
                advice),
        failed);
  }

  private String progress() {
    return "after %d of %d iterations".formatted(Math.min(sent, received), rules.total());
  }
}
