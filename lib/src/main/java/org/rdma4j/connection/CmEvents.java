package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.platform.DaemonThreads;
import org.rdma4j.platform.Readiness;

/**
 * The events of the connection manager for all connections of a node, which one thread reads. It
 * waits for no peer: each step of a handshake is made when the event of the step before comes. It
 * runs no user code, and goes on if the handling of an event fails.
 */
final class CmEvents {
  /** Handles the events of one identifier. */
  interface Handler {
    void handle(CmEvent event);

    /** Told when the identifier is closed, so that no more events come. */
    default void closed() {}
  }

  /** How often a node looks after what is done at intervals. */
  static final Duration TICK = Duration.ofMillis(250);

  static final Duration MAX_CATCH_UP = Duration.ofSeconds(10);

  /** The kernel may lack memory for a moment. After that many failures in a row, it is not that. */
  private static final int MAX_FAILURES = 20;

  /** How many events are handled before completions are polled again. */
  static final int MAX_AT_ONCE = 64;

  private static final Duration PAUSE = Duration.ofMillis(50);

  private final NodeState node;
  private final EventChannel channel = EventChannel.open();
  private final int descriptor = channel.fileDescriptor();
  private final Map<CmId, Handler> handlers = new ConcurrentHashMap<>();

  /** How often in a row an event could not be read. Only the thread that reads them uses it. */
  private int failures;

  /** When a thread that drives reads the next event. */
  private long nextTry = System.nanoTime();

  CmEvents(NodeState node) {
    this.node = node;
  }

  /** Starts the thread that reads the events, which a driven node does not need. */
  void start() {
    DaemonThreads.named("rdma4j-connection-manager").start(this::run);
  }

  /** Returns the descriptor that can be read when there is an event. */
  int descriptor() {
    return descriptor;
  }

  /** Handles the events that have come, in a thread that drives; returns how many. */
  int dispatchAll() {
    // Most often there is none, and this question allocates nothing.
    if (System.nanoTime() - nextTry < 0 || !Readiness.isReady(descriptor)) {
      return 0;
    }
    int count = 0;
    try {
      Optional<CmEvent> event = channel.pollEvent();
      while (event.isPresent()) {
        count++;
        dispatch(event.get());
        event = count < MAX_AT_ONCE ? channel.pollEvent() : Optional.empty();
      }
      failures = 0;
    } catch (RdmaException failed) {
      if (isFinal(failed)) {
        failed(failed);
      }
      nextTry = System.nanoTime() + PAUSE.toNanos();
    } catch (IllegalStateException closed) {
      failed(closed);
    }
    return count;
  }

  /** Records that an event could not be read; returns whether that has happened too often. */
  private boolean isFinal(RdmaException failed) {
    failures++;
    if (failures == MAX_FAILURES) {
      return true;
    }
    node.log(Level.WARNING, "could not read an event, will try again", failed);
    return false;
  }

  /** Creates an identifier whose events a handler gets. */
  CmId create(Handler handler) {
    CmId id = channel.createId(PortSpace.TCP);
    handlers.put(id, handler);
    return id;
  }

  /** Sets who gets the events of an identifier from now on. */
  void handle(CmId id, Handler handler) {
    handlers.put(id, handler);
  }

  /** Closes an identifier, and notifies threads that wait for its events. */
  void close(CmId id) {
    Handler last = handlers.remove(id);
    try {
      id.close();
    } finally {
      if (last != null) {
        last.closed();
      }
    }
  }

  private void run() {
    long tick = System.nanoTime();
    try {
      while (true) {
        awaitEvent(TICK).ifPresent(this::dispatch);
        if (System.nanoTime() - tick >= TICK.toNanos()) {
          // A peer is not late if this thread is, and its event is only waiting to be read.
          catchUp();
          tick = System.nanoTime();
          node.tick();
        }
      }
    } catch (InterruptedException interrupted) {
      failed(interrupted);
    } catch (RuntimeException | Error failed) {
      failed(failed);
    }
  }

  /** Ends the node if its events cannot be read, unless that is because the node is closed. */
  private void failed(Throwable failure) {
    if (node.lifetime().isOpen()) {
      node.fail("the events of the connection manager can no longer be read", failure);
    }
  }

  /** Handles the events that have come; not forever, because more may come all the time. */
  private void catchUp() throws InterruptedException {
    long began = System.nanoTime();
    Optional<CmEvent> event = awaitEvent(Duration.ZERO);
    while (event.isPresent()) {
      dispatch(event.get());
      event =
          System.nanoTime() - began < MAX_CATCH_UP.toNanos()
              ? awaitEvent(Duration.ZERO)
              : Optional.empty();
    }
  }

  /** Waits for an event. Returns nothing if none came, or if it could not be read this time. */
  private Optional<CmEvent> awaitEvent(Duration timeout) throws InterruptedException {
    try {
      Optional<CmEvent> event = channel.awaitEvent(timeout);
      failures = 0;
      return event;
    } catch (RdmaException failed) {
      if (isFinal(failed)) {
        throw failed;
      }
      Thread.sleep(PAUSE);
      return Optional.empty();
    }
  }

  private void dispatch(CmEvent event) {
    CmId addressee =
        event instanceof CmEvent.ConnectRequest request ? request.listener() : event.id();
    @Nullable Handler handler = handlers.get(addressee);
    if (handler == null) {
      if (event instanceof CmEvent.ConnectRequest) {
        // Its server is being closed. The peer would wait for an answer.
        node.guarded("the close of a request to a closed server", event.id()::close);
      }
      return;
    }
    node.guarded("the handling of " + event, () -> handler.handle(event));
  }

  /** Ends the thread, closes all identifiers, and notifies threads that wait for events. */
  void close() {
    Attempts attempts = new Attempts();
    attempts.attempt(channel::close);
    for (Handler handler : handlers.values()) {
      attempts.attempt(handler::closed);
    }
    attempts.finish();
  }
}
