package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferPool;
import org.rdma4j.connection.buffers.ReceiveSupply;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueueAccess;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SharedReceiveQueue;
import org.rdma4j.verbs.SharedReceiveQueueConfig;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * Polls one completion queue, and delivers what it finds to the connections that use the queue, and
 * that have a shared receive queue in common as well.
 */
final class Poller implements Source {
  /** What all pollers of a device share. */
  interface Owner {
    RdmaDevice device();

    ProtectionDomain domain();

    BufferPool buffers();

    /** Returns the maximum number of entries that a completion queue of the device has. */
    int maxEntries();

    boolean isUsable();

    /** Ends everything, because nothing more can be polled. */
    void pollingFailed(Throwable cause);

    void log(Level level, String message, @Nullable Throwable thrown);
  }

  private static final int BATCH = 32;

  /** The entries of a new completion queue for sends, in addition to those for receives. */
  private static final int FIRST_SENDS = 1 << 12;

  /** How long a thread sends without a pause until it helps, and what is a pause. */
  private static final long STREAM_NANOS = 4_000_000;

  private final Owner owner;
  private final Loop loop;
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final SharedReceiveQueue receiveQueue;
  private final ReceiveSupply receives;
  private final Completions completions;
  private final ClientTable clients = new ClientTable();
  private final IntSupplier deliver = this::deliverBatch;

  /**
   * The connections to which the batch that is being delivered belongs, or that have more to do.
   */
  private CompletionClient[] touched = new CompletionClient[2 * BATCH];

  private int touchedCount;

  /** Whether the queue cannot be polled any more: it is closed, or a poll has failed. */
  private volatile boolean ended;

  /**
   * When a thread last sent so much that the device was busy, and for how long that has gone on.
   * Several threads may write them at the same time; then this is off by a little.
   */
  private long lastBusy = System.nanoTime();

  private long streamed;

  /** Whether an event is outstanding. Only the thread that runs the loop uses it. */
  private boolean asked;

  /**
   * Creates what polls.
   *
   * @param loop what it is to belong to
   * @param receiveDepth the number of receives that its shared receive queue holds
   */
  Poller(Owner owner, Loop loop, int receiveDepth) {
    this.owner = owner;
    this.loop = loop;
    this.channel = owner.device().createCompletionChannel();
    try {
      this.queue =
          owner
              .device()
              .createCompletionQueue(
                  // It grows with the connections, which a queue in place cannot.
                  CompletionQueueConfig.of(Math.min(owner.maxEntries(), receiveDepth + FIRST_SENDS))
                      .channel(channel)
                      .access(QueueAccess.BY_PROVIDER));
      this.receiveQueue =
          owner
              .domain()
              .createSharedReceiveQueue(
                  SharedReceiveQueueConfig.of(receiveDepth)
                      .sges(1)
                      .access(QueueAccess.BY_PROVIDER));
    } catch (RuntimeException failed) {
      channel.close();
      throw failed;
    }
    this.receives =
        new ReceiveSupply(
            owner.buffers(), new SharedReceives(receiveQueue, owner.buffers().ahead()));
    this.completions = queue.completions(BATCH);
  }

  /** Returns what this belongs to. */
  Loop loop() {
    return loop;
  }

  CompletionQueue queue() {
    return queue;
  }

  SharedReceiveQueue receiveQueue() {
    return receiveQueue;
  }

  /** Returns what is posted to the shared receive queue. */
  ReceiveSupply receives() {
    return receives;
  }

  @Override
  public int descriptor() {
    return channel.fileDescriptor();
  }

  @Override
  public boolean isAsked() {
    return asked || ended;
  }

  @Override
  public void takeEvent() {
    if (asked && !ended && channel.pollEvent().isPresent()) {
      asked = false;
    }
  }

  /** Makes the completions of a queue pair go to a connection. */
  void add(CompletionClient client) {
    synchronized (clients) {
      clients.add(client);
      loop.turn().useful(true);
    }
  }

  /** Returns the number of connections whose completions come here. */
  int connections() {
    return clients.size();
  }

  /**
   * Delivers what has completed of a connection whose queue pair takes no more requests, and
   * forgets it.
   */
  void remove(CompletionClient client) {
    drain();
    synchronized (clients) {
      clients.remove(client);
      loop.turn().useful(!clients.isEmpty());
    }
  }

  /** Delivers all that has completed. */
  void drain() {
    loop.drain(deliver);
  }

  /** Returns whether the calling thread is delivering, and therefore must not wait. */
  boolean isDelivering() {
    return loop.isMine();
  }

  /**
   * Delivers what has completed in a thread that sends without a pause, so that the thread of the
   * loop need not run as well. A short burst is left to the thread of the loop, which then also
   * finds the answers. The caller holds no lock of a connection.
   */
  void help() {
    if (loop.isRunByProgram()) {
      // Only the thread that runs it may run handlers.
      return;
    }
    long now = System.nanoTime();
    long pause = now - lastBusy;
    lastBusy = now;
    // One pause does not end a long stream: the thread may only have lost its processor.
    streamed = pause < STREAM_NANOS ? Math.min(streamed + pause, 4 * STREAM_NANOS) : streamed / 2;
    if (streamed < STREAM_NANOS || !loop.turn().tryBorrow()) {
      return;
    }
    try {
      int polled;
      do {
        polled = deliverBatch();
      } while (polled >= BATCH);
    } finally {
      loop.turn().giveBack();
    }
  }

  /**
   * Makes the thread of the loop deliver again, because the calling thread began something and does
   * not poll for it.
   */
  void attend() {
    loop.turn().attend();
  }

  @Override
  public int poll(int most) {
    return deliverSome(Math.min(most, BATCH));
  }

  @Override
  public int ask(int most) {
    if (asked || ended) {
      return 0;
    }
    // One event at a time, and a last look, because what came before the request causes none.
    asked = true;
    queue.requestNotification(false);
    return deliverSome(Math.min(most, BATCH));
  }

  /** Ends all delivery, after a failure of what all connections share. */
  @Override
  public void failed(Throwable thrown) {
    ended = true;
    if (owner.isUsable()) {
      owner.pollingFailed(thrown);
    }
  }

  private int deliverBatch() {
    return deliverSome(BATCH);
  }

  /**
   * Takes a batch of completions and delivers them; returns their number, and that of connections
   * that have more to do. The failure of one connection is not that of the others.
   */
  private int deliverSome(int most) {
    if (ended) {
      return 0;
    }
    int polled = 0;
    try {
      polled = completions.poll(most);
      for (int i = 0; i < polled; i++) {
        deliver(i);
      }
      completions.release();
    } catch (Throwable thrown) {
      failed(thrown);
    }
    int more = finishBatch();
    return polled + more;
  }

  private int finishBatch() {
    int more = 0;
    for (int i = 0; i < touchedCount; i++) {
      CompletionClient client = touched[i];
      touched[i] = null;
      try {
        if (client.batchDone()) {
          touched[more++] = client;
        }
      } catch (Throwable failed) {
        failed(client, failed);
      }
    }
    touchedCount = more;
    if (more > 0) {
      // The thread that polls now may have borrowed the turn, and give it back.
      loop.turn().recallOwner();
    }
    return more;
  }

  private void deliver(int index) {
    CompletionClient client = clients.get(completions.queuePairNumber(index));
    try {
      deliver(index, client);
    } catch (Throwable failed) {
      failed(client, failed);
    }
    if (client != null && client.touch()) {
      if (touchedCount == touched.length) {
        touched = Arrays.copyOf(touched, 2 * touched.length);
      }
      touched[touchedCount++] = client;
    }
  }

  private void deliver(int index, @Nullable CompletionClient client) {
    long id = completions.workRequestId(index);
    if (WorkRequestId.isReceive(id)) {
      Buffer buffer = owner.buffers().get(WorkRequestId.bufferIndex(id));
      if (client == null) {
        receives.lost();
        buffer.free();
      } else {
        boolean succeeded = completions.isSuccess(index);
        boolean isSend = succeeded && completions.opcode(index) == CompletionOpcode.RECEIVE;
        client.received(buffer, succeeded, isSend, completions.byteLength(index));
      }
    } else if (client != null) {
      client.completed(id, failure(index));
    }
  }

  private void failed(@Nullable CompletionClient client, Throwable thrown) {
    try {
      if (client != null) {
        client.deliveryFailed(thrown);
        return;
      }
    } catch (Throwable again) {
      thrown.addSuppressed(again);
    }
    if (owner.isUsable()) {
      owner.log(Level.WARNING, "a completion could not be delivered", thrown);
    }
  }

  private @Nullable WorkCompletionException failure(int index) {
    try {
      completions.requireSuccess(index);
      return null;
    } catch (WorkCompletionException failure) {
      return failure;
    }
  }

  /** Ends all delivery, and the waits for it. */
  void close() {
    ended = true;
    channel.close();
  }
}
