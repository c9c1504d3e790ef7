package org.rdma4j.endpoint;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.WorkCompletionException;

/** A completion queue with a channel, on which a thread sleeps until there is a completion. */
final class CompletionSource implements Mailbox.Source {
  private static final int MAX_POLLED = 16;

  private final CompletionQueue queue;
  private final Completions completions;

  CompletionSource(RdmaDevice device, int entries) {
    queue = device.createCompletionQueue(entries, device.createCompletionChannel());
    completions = queue.completions(Math.min(MAX_POLLED, queue.capacity()));
  }

  CompletionQueue queue() {
    return queue;
  }

  @Override
  public List<Outcome> fetch(Deadline deadline) throws InterruptedException {
    try {
      int polled = completions.await(deadline.remaining());
      List<Outcome> outcomes = new ArrayList<>(polled);
      for (int i = 0; i < polled; i++) {
        outcomes.add(outcome(i));
      }
      return outcomes;
    } finally {
      // Another thread may make the next fetch.
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
