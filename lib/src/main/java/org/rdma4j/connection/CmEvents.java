package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.platform.Readiness;

/**
 * The events of the connection manager for all connections of a node. It waits for no peer: each
 * step of a handshake is made when the event of the step before comes. It runs no user code, and
 * goes on if the handling of an event fails.
 */
final class CmEvents implements Source {
  /** Handles the events of one identifier. */
  interface Handler {
    void handle(CmEvent event);

    /** Told when the identifier is closed, so that no more events come. */
    default void closed() {}
  }

  /** What the connections belong to. */
  interface Owner {
    /** Runs something that belongs to one connection, and logs what it throws. */
    void guarded(String what, Runnable action);

    void log(Level level, String message, @Nullable Throwable thrown);

    /** Ends everything, because no event can be read any more. */
    void eventsFailed(Throwable cause);
  }

  /** The kernel may lack memory for a moment. After that many failures in a row, it is not that. */
  private static final int MAX_FAILURES = 20;

  /** How many events are handled before completions are polled again. */
  private static final int MAX_AT_ONCE = 64;

  /** How often a thread that polls without a pause looks for events, which takes a system call. */
  private static final long LOOK_NANOS = 100_000;

  private static final long PAUSE_NANOS = 50_000_000;

  private final Owner owner;
  private final EventChannel channel = EventChannel.open();
  private final int descriptor = channel.fileDescriptor();
  private final Map<CmId, Handler> handlers = new ConcurrentHashMap<>();

  /** Whether the events cannot be read any more: the channel is closed, or that has failed. */
  private volatile boolean ended;

  /** Whether there may be events. */
  private volatile boolean mayBeReady = true;

  private long lastLook = System.nanoTime();

  /** How often in a row an event could not be read. */
  private int failures;

  /** When the next event is read. */
  private volatile long nextTry = System.nanoTime();

  CmEvents(Owner owner) {
    this.owner = owner;
  }

  @Override
  public int descriptor() {
    return descriptor;
  }

  @Override
  public int poll(int most) {
    long now = System.nanoTime();
    if (ended || now - nextTry < 0 || !(mayBeReady || now - lastLook >= LOOK_NANOS)) {
      return 0;
    }
    lastLook = now;
    // Most often there is none, and this question allocates nothing.
    mayBeReady = Readiness.isReady(descriptor);
    return mayBeReady ? dispatchAll(Math.min(most, MAX_AT_ONCE)) : 0;
  }

  private int dispatchAll(int most) {
    int count = 0;
    try {
      Optional<CmEvent> event = channel.pollEvent();
      while (event.isPresent()) {
        count++;
        dispatch(event.get());
        event = count < most ? channel.pollEvent() : Optional.empty();
      }
      failures = 0;
    } catch (RdmaException failed) {
      failures++;
      if (failures == MAX_FAILURES) {
        throw failed;
      }
      owner.log(Level.WARNING, "could not read an event, will try again", failed);
      nextTry = System.nanoTime() + PAUSE_NANOS;
    }
    return count;
  }

  /** The kernel reports an event as long as it was not read. */
  @Override
  public int ask(int most) {
    return 0;
  }

  @Override
  public boolean isAsked() {
    return true;
  }

  @Override
  public void takeEvent() {
    mayBeReady = true;
    long pause = nextTry - System.nanoTime();
    if (pause > 0) {
      // The descriptor can be read all the time.
      LockSupport.parkNanos(pause);
    }
  }

  @Override
  public void failed(Throwable thrown) {
    ended = true;
    owner.eventsFailed(thrown);
  }

  /** Creates an identifier whose events a handler gets. */
  CmId create(Handler handler) {
    CmId id = channel.createId(PortSpace.TCP);
    handlers.put(id, handler);
    return id;
  }

  /** Makes the events of an identifier come to this node, rather than to another. */
  void adopt(CmId id) {
    id.migrate(channel);
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

  private void dispatch(CmEvent event) {
    CmId addressee =
        event instanceof CmEvent.ConnectRequest request ? request.listener() : event.id();
    @Nullable Handler handler = handlers.get(addressee);
    if (handler == null) {
      if (event instanceof CmEvent.ConnectRequest) {
        // Its server is being closed. The peer would wait for an answer.
        owner.guarded("the close of a request to a closed server", event.id()::close);
      }
      return;
    }
    owner.guarded("the handling of " + event, () -> handler.handle(event));
  }

  /** Closes all identifiers, and notifies threads that wait for events. */
  void close() {
    ended = true;
    Attempts attempts = new Attempts();
    attempts.attempt(channel::close);
    for (Handler handler : handlers.values()) {
      attempts.attempt(handler::closed);
    }
    attempts.finish();
  }
}
