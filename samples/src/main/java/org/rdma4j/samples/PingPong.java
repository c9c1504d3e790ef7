package org.rdma4j.samples;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.rdma4j.memory.PageMemory;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * One side of the game: a queue pair, its memory, and the loop in which one message at a time goes
 * back and forth. All of it is closed with the device. It belongs to one thread.
 */
final class PingPong {
  /** The ids of requests; as bits, they tell which of the two an iteration still waits for. */
  private static final long RECEIVE = 1;

  private static final long SEND = 2;

  /** What C fills its buffer with; its -c puts a 0 at the start of each page. */
  private static final byte FILL = 0x7b;

  private static final int EMPTY_POLLS_PER_LOOK_AT_THE_CLOCK = 1024;
  private static final long LONGEST_ITERATION = Duration.ofHours(1).toNanos();

  private final Rules rules;
  private final @Nullable CompletionChannel channel;
  private final CompletionQueue queue;
  private final Completions completions;
  private final QueuePair queuePair;
  private final MemoryRegion outgoing;
  private final MemoryRegion incoming;
  private final MemorySegment outgoingBytes;
  private final MemorySegment incomingBytes;
  private final SendRequests sends;
  private final ReceiveRequests receives;
  private final boolean inline;
  private final @Nullable Histogram iterationTimes;

  private long sent;
  private long received;
  private int postedReceives;
  private long pending;
  private long iterationBegan;

  /**
   * What both sides agree on, and what this one does besides.
   *
   * @param port the port of the device
   * @param size the length of a message
   * @param receiveDepth how many receives are posted at a time
   * @param warmup how many iterations come before those that are measured
   * @param iterations how many iterations are measured
   * @param events whether to sleep until something completes
   * @param validate whether to look at each byte that arrives
   * @param measure whether to time each iteration
   * @param timeout how long nothing may happen
   */
  record Rules(
      int port,
      int size,
      int receiveDepth,
      long warmup,
      long iterations,
      boolean events,
      boolean validate,
      boolean measure,
      Duration timeout) {
    long total() {
      return warmup + iterations;
    }
  }

  /** Makes everything up to posted receives, so that the peer may send once it is connected. */
  PingPong(RdmaDevice device, Rules rules) {
    this.rules = rules;
    channel = rules.events() ? device.createCompletionChannel() : null;
    // All the receives and the one send may be complete and unpolled at once.
    queue = device.createCompletionQueue(rules.receiveDepth() + 1, channel);
    completions = queue.completions(2);

    ProtectionDomain domain = device.allocateProtectionDomain();
    outgoing = domain.register(rules.size());
    incoming = domain.register(rules.size(), AccessFlag.LOCAL_WRITE);
    outgoingBytes = outgoing.segment();
    incomingBytes = incoming.segment();
    outgoingBytes.fill(FILL);
    for (long page = 0; page < rules.size(); page += PageMemory.pageSize()) {
      outgoingBytes.set(ValueLayout.JAVA_BYTE, page, (byte) 0);
    }

    queuePair =
        domain.createQueuePair(
            QueuePairConfig.reliable(queue).sendDepth(1).receiveDepth(rules.receiveDepth()));
    inline = queuePair.capabilities().inlineBytes() >= rules.size();
    sends = queuePair.sendRequests(1);
    receives = queuePair.receiveRequests(rules.receiveDepth());
    iterationTimes = rules.measure() ? new Histogram(LONGEST_ITERATION, 3) : null;

    queuePair.initialize(rules.port(), 0);
    postReceives();
    if (channel != null) {
      queue.requestNotification(false);
    }
  }

  QueuePair queuePair() {
    return queuePair;
  }

  /** The times of the measured iterations in ns, where they were to be measured. */
  @Nullable Histogram iterationTimes() {
    return iterationTimes;
  }

  void connect(PathConfig path) {
    queuePair.connect(path);
    pending = RECEIVE;
  }

  /** The client's first message, which sets everything in motion. */
  void serve() {
    iterationBegan = System.nanoTime();
    postSend();
  }

  /** Plays until so many messages in all have been sent, and as many received. */
  void playUntil(long messages) {
    try {
      while (sent < messages || received < messages) {
        int polled = awaitCompletions();
        for (int i = 0; i < polled; i++) {
          completions.requireSuccess(i);
          long id = completions.workRequestId(i);
          if (id == SEND) {
            sent++;
          } else {
            receive(completions.byteLength(i));
          }
          pending &= ~id;
          if (pending == 0) {
            timeIteration();
            if (sent < rules.total()) {
              postSend();
            }
          }
        }
      }
    } catch (WorkCompletionException failed) {
      throw failure(failed);
    }
  }

  private void postSend() {
    if (inline) {
      sends.add(SEND).inline(outgoingBytes, 0, rules.size()).signaled();
    } else {
      sends.add(SEND).from(outgoing, 0, rules.size()).signaled();
    }
    sends.post();
    pending = RECEIVE | SEND;
  }

  private void receive(long bytes) {
    received++;
    if (bytes != rules.size()) {
      throw new Failure(
          "message %d has %d bytes, not %d: give both sides the same -s"
              .formatted(received, bytes, rules.size()));
    }
    if (rules.validate()) {
      validate();
    }
    postedReceives--;
    // Before the answer, which is what lets the peer send the next message.
    if (postedReceives <= 1) {
      postReceives();
    }
  }

  /** All receives write to the same place: there is only ever one message on its way. */
  private void postReceives() {
    for (int i = postedReceives; i < rules.receiveDepth(); i++) {
      receives.add(RECEIVE).into(incoming, 0, rules.size());
    }
    postedReceives += receives.post();
  }

  private void validate() {
    long wrong = incomingBytes.mismatch(outgoingBytes);
    if (wrong >= 0) {
      throw new Failure(
          ("message %d is wrong at byte %d of %d: give both sides -c; where they have it, data was"
                  + " corrupted on the way")
              .formatted(received, wrong, rules.size()));
    }
    // Lest the next message be found right because this one was.
    incomingBytes.fill((byte) ~FILL);
  }

  private void timeIteration() {
    if (iterationTimes != null) {
      long now = System.nanoTime();
      if (sent > rules.warmup()) {
        iterationTimes.recordValue(Math.min(now - iterationBegan, LONGEST_ITERATION));
      }
      iterationBegan = now;
    }
  }

  private int awaitCompletions() {
    int polled = completions.poll();
    if (polled != 0) {
      return polled;
    }
    return channel == null ? spin() : sleep(channel);
  }

  private int spin() {
    long began = System.nanoTime();
    while (true) {
      for (int i = 0; i < EMPTY_POLLS_PER_LOOK_AT_THE_CLOCK; i++) {
        int polled = completions.poll();
        if (polled != 0) {
          return polled;
        }
        Thread.onSpinWait();
      }
      if (System.nanoTime() - began > rules.timeout().toNanos()) {
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
        ("nothing came from the peer for %d s %s: does it still run, and with the same -n and"
                + " --warmup? A slow one needs a longer --timeout")
            .formatted(rules.timeout().toSeconds(), progress()));
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
                failed.workRequestId() == SEND ? "send" : "receive", status, progress(), advice),
        failed);
  }

  private String progress() {
    return "after %d of %d iterations".formatted(Math.min(sent, received), rules.total());
  }
}
