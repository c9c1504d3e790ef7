package org.rdma4j.samples.loops;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.IncomingConnection;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.RdmaConnection;

/**
 * An event loop with the connections that belong to it. Its thread runs all handlers, timers and
 * tasks, so nothing here needs a lock. They must not wait: the other connections would wait too.
 */
final class Worker {
  /** How often the loop publishes a tick. */
  static final Duration PERIOD = Duration.ofMillis(10);

  static final int TICK_BYTES = 4096;

  /** The most memory that the ticks for a slow client may hold, in bytes. */
  private static final long MOST_BYTES = 64 << 10;

  /** How long clients have to ask their last questions when the server ends. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  /** More than the connections that are still open then need. */
  private static final Duration LAST_CLOSES = Duration.ofSeconds(20);

  /** What a client gets when the server ends: a message without bytes. */
  private static final ByteBuffer GOODBYE = ByteBuffer.allocate(0);

  private final DrivenNode loop = DrivenNode.open();
  private final Set<RdmaConnection> clients = new HashSet<>();
  private final Thread thread;
  private long ticks;
  private long skipped;
  private boolean ending;

  /** Starts the loop. */
  Worker(int number) {
    // The node was opened before, so that its threads may run on other processors than this one if
    // a program pins it.
    this.thread = Thread.ofPlatform().name("loop-" + number).start(this::run);
  }

  DrivenNode loop() {
    return loop;
  }

  private void run() {
    try (loop) {
      publish();
      while (!ending || !clients.isEmpty()) {
        // Polls, and sleeps if there is nothing. It returns at the latest for the next timer.
        loop.drive(Duration.ofSeconds(1));
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Accepts a peer with the node of this loop, in any thread. */
  void accept(IncomingConnection incoming) {
    // The future completes in the thread of this loop, whichever thread calls this.
    var unused = incoming.accept(loop).thenAccept(this::serve);
  }

  private void serve(RdmaConnection client) {
    clients.add(client);
    client.watermarks(MOST_BYTES / 2, MOST_BYTES);
    client.onRequest(this::answer);
    // The future of the end completes after the handlers of all that came before. If a thread
    // waited for the close, all others would, so this does not wait.
    var unused = client.ended().whenComplete((end, failure) -> leave(client));
    if (ending) {
      sayGoodbye(client);
    }
  }

  /** Closes a connection that has ended, or that is to end, and forgets it then. */
  private void leave(RdmaConnection client) {
    var unused = client.closeAsync().thenRun(() -> clients.remove(client));
  }

  /** Answers a question, which is a number, with its square. */
  private void answer(IncomingRequest request) {
    long asked = request.message().byteBuffer().getLong();
    request.answer(ByteBuffer.allocate(Long.BYTES).putLong(0, asked * asked));
  }

  /** Sends each client the tick, and sets the timer for the next one. */
  private void publish() {
    if (!ending) {
      loop.schedule(PERIOD, this::publish);
    }
    ticks++;
    for (RdmaConnection client : clients) {
      // A client that does not keep up misses ticks. Otherwise they would wait here, in memory
      // that the others need.
      if (!client.isWritable()) {
        skipped++;
      } else if (client.isOpen()) {
        ByteBuffer tick = ByteBuffer.allocate(TICK_BYTES).putLong(0, ticks);
        client.sendAsync(tick, 0, (token, failure) -> {});
      }
    }
  }

  /**
   * Begins to end the loop, in any thread: notifies the clients, which close their connections when
   * they have all answers. Connections that are open after the grace period are closed here, which
   * still sends what was answered.
   */
  void end() {
    loop.execute(
        () -> {
          ending = true;
          clients.forEach(Worker::sayGoodbye);
          loop.schedule(GRACE, () -> List.copyOf(clients).forEach(this::leave));
        });
  }

  private static void sayGoodbye(RdmaConnection client) {
    if (client.isOpen()) {
      client.sendAsync(GOODBYE.duplicate(), 0, (token, failure) -> {});
    }
  }

  /** Waits until the loop has ended: not for longer than it needs to close its connections. */
  void await() throws InterruptedException {
    thread.join(GRACE.plus(LAST_CLOSES));
  }

  /** Returns how many ticks slow clients have missed, when the loop has ended. */
  long skipped() {
    return skipped;
  }
}
