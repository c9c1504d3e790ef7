package org.rdma4j.endpoint;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.WorkCompletionException;

/** A completion queue, on whose channel a thread sleeps until there is something to poll. */
final class CompletionSource implements Mailbox.Source {
  private static final int MOST_AT_ONCE = 16;

  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final Completions completions;

  CompletionSource(RdmaDevice device, int entries) {
    channel = device.createCompletionChannel();
    queue = device.createCompletionQueue(entries, channel);
    completions = queue.completions(Math.min(MOST_AT_ONCE, queue.capacity()));
  }

  CompletionQueue queue() {
    return queue;
  }

  @Override
  public List<Outcome> fetch(Deadline deadline) throws InterruptedException {
    while (true) {
      List<Outcome> outcomes = poll();
      if (!outcomes.isEmpty()) {
        return outcomes;
      }
      dropEvents();
      queue.requestNotification(false);
      // What arrived between the poll and the request has raised no event.
      outcomes = poll();
      if (!outcomes.isEmpty()) {
        return outcomes;
      }
      if (channel.awaitEvent(deadline.remaining()).isEmpty()) {
        return List.of();
      }
    }
  }

  /** Those that came after their completions had been polled, and would add up in the kernel. */
  private void dropEvents() throws InterruptedException {
    while (channel.awaitEvent(Duration.ZERO).isPresent()) {}
  }

  private List<Outcome> poll() {
    try {
      int polled = completions.poll();
      List<Outcome> outcomes = new ArrayList<>(polled);
      for (int i = 0; i < polled; i++) {
        outcomes.add(outcome(i));
      }
      return outcomes;
    } finally {
      // The next thread to fetch may be another one.
      completions.release();
    }
  }

  private Outcome outcome(int index) {
    try {
      completions.requireSuccess(index);
    } catch (WorkCompletionException failed) {
      return Outcome.of(failed);
    }
    CompletionOpcode opcode = completions.opcode(index);
    boolean arrived = opcode == CompletionOpcode.RECEIVE || opcode == CompletionOpcode.RDMA_READ;
    return Outcome.of(
        new Completion(
            completions.workRequestId(index), opcode, arrived ? completions.byteLength(index) : 0));
  }
}
