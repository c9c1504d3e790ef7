package org.rdma4j.connection;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.SharedPolling.Waiters;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.WorkCompletionException;

/** The reads and writes of the peer's memory that threads wait for. */
final class RemoteOperations {
  /** The number of operations that may be outstanding; further ones wait for a place. */
  static final int MAX = 16;

  private final ConnectionState state;
  private final ConnectionQueues queues;
  private final Map<Integer, Operation> outstanding = new HashMap<>();
  private final Waiters forPlace;
  private int nextNumber;

  private static final class Operation {
    final Waiters waiters;
    boolean done;
    @Nullable WorkCompletionException failure;

    Operation(Waiters waiters) {
      this.waiters = waiters;
    }
  }

  RemoteOperations(ConnectionState state, ConnectionQueues queues) {
    this.state = state;
    this.queues = queues;
    this.forPlace = state.newWaiters();
  }

  /**
   * Posts an operation and waits until it is done. If the thread stops waiting before that, the
   * connection is broken.
   *
   * @throws WorkCompletionException if the operation failed
   */
  void perform(Consumer<SendRequests> description, Deadline deadline)
      throws InterruptedException, TimeoutException {
    state.lock();
    try {
      state.awaitUsable(
          forPlace,
          () -> outstanding.size() < MAX,
          deadline,
          "none of the outstanding reads and writes completed");
      int number = nextNumber++;
      Operation operation = new Operation(state.newWaiters());
      queues.post(RequestKind.OPERATION.id(number), description);
      outstanding.put(number, operation);
      await(operation, deadline);
    } finally {
      state.unlock();
    }
  }

  private void await(Operation operation, Deadline deadline)
      throws InterruptedException, TimeoutException {
    boolean awaited = false;
    try {
      state.await(
          operation.waiters, () -> operation.done, deadline, "the read or write did not complete");
      awaited = true;
    } finally {
      // A close waits for the operation, as it does for all that was sent.
      if (!awaited && !operation.done && !state.isClosing()) {
        state.breakUp("a thread stopped waiting for a read or write");
      }
    }
    if (operation.failure != null) {
      throw operation.failure;
    }
  }

  /**
   * Handles the completion of an operation.
   *
   * @param failure how it failed; null if it succeeded
   */
  void completed(int number, @Nullable WorkCompletionException failure) {
    Operation operation = outstanding.remove(number);
    if (operation != null) {
      operation.done = true;
      operation.failure = failure;
      operation.waiters.wakeOne();
      forPlace.wakeOne();
    }
  }
}
