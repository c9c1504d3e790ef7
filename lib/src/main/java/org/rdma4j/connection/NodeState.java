package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.PollingTurn;
import org.rdma4j.platform.TimeText;
import org.rdma4j.verbs.RdmaDevice;

/**
 * A node without the object that users hold, because its threads refer to it: its devices, its
 * events, and what has to be done at intervals.
 *
 * <p>What serves several connections goes on when one of them fails: whatever is thrown by what
 * belongs to one is logged, and ends that one at most.
 */
final class NodeState implements CmEvents.Owner {
  /** What a node looks after at intervals of a second or less. */
  interface Periodic {
    void tick();
  }

  private static final String SOON = "a deferred task";

  /** What a close may take at least, because the device and the kernel need some time. */
  private static final Duration MIN_CLOSE = Duration.ofSeconds(5);

  private final NodeConfig config;
  private final CmEvents events;
  private final BlockingWork blocking = new BlockingWork("rdma4j-blocking", 8);

  /** Runs what never waits. */
  private final BlockingWork soon = new BlockingWork("rdma4j-node", 4);

  /** Runs what ends the access of peers, also if all threads that close something are busy. */
  private final BlockingWork ending = new BlockingWork("rdma4j-ending", 4);

  /**
   * Runs user code that may wait, for ever perhaps: each in a thread of its own unless there is
   * very much. What peers cause without user code is not for this, or they could use all threads
   * up.
   */
  private final BlockingWork apart = new BlockingWork("rdma4j-apart", 256);

  private final Tally<Refusal> refused = new Tally<>(Refusal.class);
  private final Tally<Reason> broken = new Tally<>(Reason.class);
  private final PeerLog peerLog = new PeerLog(line -> log(Level.WARNING, line, null));
  private final Map<RdmaDevice, DeviceShare> shares = new HashMap<>();
  private final AcceptedPeers acceptedPeers;
  private final Set<Periodic> periodic = ConcurrentHashMap.newKeySet();
  private final Lifetime lifetime;
  private final Recording recording;

  /** What is done for all devices, or everything if the program runs it. */
  private final Loop loop;

  /** Whose turn it is to poll, for each completion queue. Made anew when a device comes or goes. */
  private volatile PollingTurn[] turns = {};

  /**
   * Opens a node.
   *
   * @param driven whether a thread of the program does what threads of the node do otherwise
   */
  NodeState(NodeConfig config, boolean driven) {
    this.config = config;
    this.acceptedPeers = new AcceptedPeers(config.maxConnectionsPerAddress());
    this.events = new CmEvents(this);
    this.lifetime = new Lifetime("the node", this::destroy);
    Loop opened = null;
    boolean done = false;
    try {
      opened = driven ? Loop.ofProgram() : Loop.ofThread();
      this.loop = opened;
      loop.add(events);
      loop.atIntervals(() -> guarded("what is done at intervals", this::tick));
      this.recording = Recording.of(this::statistics, this::eachConnection);
      done = true;
    } finally {
      if (!done) {
        if (opened != null) {
          opened.close();
        }
        events.close();
      }
    }
    if (!driven) {
      start();
    }
  }

  private void start() {
    boolean started = false;
    try {
      loop.start("rdma4j-connection-manager");
      started = true;
    } finally {
      if (!started) {
        lifetime.close();
      }
    }
  }

  /** Returns what does the work for all devices. */
  Loop loop() {
    return loop;
  }

  /** Returns a loop for a new completion queue: that of the node if the program runs it. */
  Loop newLoop() {
    return loop.isRunByProgram() ? loop : Loop.ofThread();
  }

  NodeConfig config() {
    return config;
  }

  AcceptedPeers acceptedPeers() {
    return acceptedPeers;
  }

  CmEvents events() {
    return events;
  }

  PeerLog peerLog() {
    return peerLog;
  }

  /** Returns the count of the peers that servers have refused. */
  Tally<Refusal> refused() {
    return refused;
  }

  /** Returns the count of the connections that broke. */
  Tally<Reason> broken() {
    return broken;
  }

  BlockingWork blocking() {
    return blocking;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** Returns this node's share of a device, which is created if there is none. */
  DeviceShare share(RdmaDevice device) {
    return lifetime.whileOpen(
        () -> {
          synchronized (shares) {
            DeviceShare known = shares.get(device);
            if (known == null || !known.isUsable()) {
              known = new DeviceShare(this, device);
              shares.put(device, known);
              collectTurns();
            }
            return known;
          }
        });
  }

  /** Creates the shares of all devices, so that the first connections do not wait for that. */
  void prepareAll() {
    for (RdmaDevice device : CmDevices.list()) {
      try {
        share(device);
      } catch (RdmaException unusable) {
        log(Level.WARNING, device.info().name() + " cannot be used for connections", unusable);
      }
    }
  }

  List<DeviceShare> shares() {
    synchronized (shares) {
      return List.copyOf(shares.values());
    }
  }

  /** Returns what the node has and uses, for all devices together. */
  NodeStatistics statistics() {
    Traffic traffic = Traffic.NONE;
    int connections = 0;
    int notWritable = 0;
    int buffers = 0;
    int buffersInUse = 0;
    int receives = 0;
    long largeBytes = 0;
    for (DeviceShare share : shares()) {
      traffic = traffic.plus(share.traffic());
      connections += share.connections();
      notWritable += share.notWritable();
      buffers += share.buffers().size();
      buffersInUse += share.buffers().inUse();
      receives += share.postedReceives();
      largeBytes += share.largeBuffers().registeredBytes();
    }
    return new NodeStatistics(
        traffic,
        connections,
        notWritable,
        refused.counts(),
        broken.counts(),
        buffers,
        config.maxBuffers(),
        buffersInUse,
        receives,
        largeBytes);
  }

  /** Gives the name of each connection and its statistics to a consumer. */
  private void eachConnection(BiConsumer<String, ConnectionStatistics> consumer) {
    for (DeviceShare share : shares()) {
      for (Link link : share.links()) {
        consumer.accept(link.toString(), link.statistics());
      }
    }
  }

  void forget(DeviceShare share) {
    synchronized (shares) {
      shares.remove(share.device(), share);
      collectTurns();
    }
  }

  /** Records that a share has one poller more. */
  void pollerAdded() {
    synchronized (shares) {
      collectTurns();
    }
  }

  /** Requires the monitor of the shares. */
  private void collectTurns() {
    turns =
        shares.values().stream()
            .flatMap(share -> share.pollers().stream())
            .map(poller -> poller.loop().turn())
            .toArray(PollingTurn[]::new);
  }

  /**
   * Polls in the calling thread as long as that pays, and then lets it sleep while the threads of
   * the node deliver.
   */
  void pollUntil(BooleanSupplier done, Runnable sleep) {
    if (loop.isRunByProgram()) {
      throw new IllegalStateException("the program drives this node: call DrivenNode.poll instead");
    }
    checkMayWait();
    PollingTurn[] all = turns;
    PollingTurn.pollUntil(all, done);
    if (done.getAsBoolean()) {
      return;
    }
    for (PollingTurn each : all) {
      each.relyOnOwner();
    }
    try {
      sleep.run();
    } finally {
      for (PollingTurn each : all) {
        each.relyNoMore();
      }
    }
  }

  void add(Periodic each) {
    periodic.add(each);
  }

  void remove(Periodic each) {
    periodic.remove(each);
  }

  /** Looks after what has to be done at intervals. */
  private void tick() {
    peerLog.tick(System.nanoTime());
    for (Periodic each : periodic) {
      guarded("what a server does at intervals", each::tick);
    }
    long keepAlive = config.keepAlive().toNanos();
    for (DeviceShare share : shares()) {
      guarded("the check for leaked buffers", share::freeDropped);
      guarded("giving memory back", share.buffers()::shrink);
      guarded("giving memory back", share.largeBuffers()::shrink);
      for (Link link : share.links()) {
        link.tick(keepAlive);
        if (!loop.isRunByProgram()) {
          link.telling().tellAgainIfDropped();
        }
      }
    }
  }

  @Override
  public void guarded(String what, Runnable action) {
    try {
      action.run();
    } catch (Throwable failed) {
      log(Level.WARNING, what + " failed", failed);
    }
  }

  /**
   * Runs something soon that never waits and may call users, in a thread that holds no lock: as a
   * task of the loop, if the program runs that.
   */
  void later(Runnable action) {
    if (loop.isRunByProgram()) {
      loop.execute(() -> guarded(SOON, action));
    } else {
      var unused = soon.run(() -> guarded(SOON, action));
    }
  }

  /**
   * Returns what runs user code; null if it runs in the thread that has something to tell. An
   * action may be run immediately.
   */
  @Nullable Executor elsewhere() {
    Executor handlers = config.handlers();
    if (handlers != NodeConfig.WHERE_IT_HAPPENS) {
      return userCode -> execute(handlers, userCode);
    }
    return loop.isRunByProgram() ? loop::executeInTurn : null;
  }

  /**
   * Runs user code soon, where the configuration says: never in a thread that connects, accepts or
   * ticks.
   */
  void tell(Runnable userCode) {
    Executor handlers = config.handlers();
    // The executor is user code as well.
    Runnable told =
        handlers == NodeConfig.WHERE_IT_HAPPENS ? userCode : () -> execute(handlers, userCode);
    if (loop.isRunByProgram()) {
      later(told);
    } else {
      apart(told);
    }
  }

  /** Runs user code in an executor of the user; in another thread if that refuses. */
  void execute(Executor handlers, Runnable userCode) {
    // An executor may run it and throw an exception all the same.
    FutureTask<Void> once = new FutureTask<>(() -> guarded("user code", userCode), null);
    try {
      handlers.execute(once);
    } catch (Throwable refused) {
      log(
          Level.WARNING,
          "NodeConfig.handlers has refused to run user code, which runs in a thread of the node now",
          refused);
      apart(once);
    }
  }

  /** Runs something soon that blocks in the kernel, and waits for no peer and no user code. */
  void ending(Runnable action) {
    var unused = ending.run(() -> guarded(SOON, action));
  }

  /** Runs something soon that may wait, in a thread that holds no lock. */
  void apart(Runnable action) {
    var unused = apart.run(() -> guarded(SOON, action));
  }

  /**
   * Returns whether the calling thread delivers for connections of this node, so that it runs a
   * handler if it runs user code.
   */
  boolean isDelivering() {
    if (loop.isMine()) {
      return true;
    }
    for (PollingTurn each : turns) {
      if (each.isMine()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Checks that the calling thread may wait.
   *
   * @throws IllegalStateException if it runs a handler of a connection of this node
   */
  void checkMayWait() {
    if (isDelivering()) {
      throw Loop.mustNotWait();
    }
  }

  /**
   * Closes the node, or a server or a device of it, in a thread of its own.
   *
   * @see #awaitClose
   */
  void close(Lifetime closed) {
    awaitClose(closed, BlockingWork.runApart("rdma4j-close", closed::close));
  }

  /**
   * Waits for a close that another thread performs: not at all in a handler, for which that thread
   * waits, and otherwise not for longer than {@link NodeConfig#closeTimeout}. The close goes on in
   * either case.
   */
  void awaitClose(Object closed, CompletableFuture<Void> close) {
    if (isDelivering()) {
      logFailure(closed, close);
      return;
    }
    Duration timeout =
        config.closeTimeout().compareTo(MIN_CLOSE) > 0 ? config.closeTimeout() : MIN_CLOSE;
    Deadline deadline = Deadline.after(timeout);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          loop.driveUntil(deadline.end(), close::isDone);
          close.get(Math.max(0, deadline.nanos()), TimeUnit.NANOSECONDS);
          return;
        } catch (InterruptedException again) {
          interrupted = true;
        }
      }
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof Error error) {
        throw error;
      }
      throw failed.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(failed.getCause());
    } catch (TimeoutException late) {
      // Very many connections may be closed at the same time.
      peerLog.warn(
          "a close goes on in another thread",
          closed
              + " is not closed after "
              + TimeText.of(timeout)
              + ": a handler is still running, or the device is slow");
      logFailure(closed, close);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Logs the failure of a close for which no thread waits. */
  void logFailure(Object closed, CompletableFuture<Void> close) {
    var unused =
        close.whenComplete(
            (done, failed) -> {
              if (failed != null) {
                log(Level.WARNING, closed + " could not be closed as a whole", failed);
              }
            });
  }

  /** Ends the node, unless the events cannot be read because it is closed. */
  @Override
  public void eventsFailed(Throwable cause) {
    if (!lifetime.isOpen()) {
      return;
    }
    String what = "the events of the connection manager can no longer be read";
    log(Level.ERROR, what + ", so the node is closed", cause);
    for (DeviceShare share : shares()) {
      share.breakAll(what, cause);
    }
    logFailure(lifetime, BlockingWork.runApart("rdma4j-close", lifetime::close));
  }

  private void destroy() {
    Attempts attempts = new Attempts();
    attempts.attempt(recording::close);
    for (DeviceShare share : shares()) {
      attempts.attempt(share::close);
    }
    attempts.attempt(events::close);
    attempts.attempt(blocking::close);
    attempts.attempt(soon::close);
    attempts.attempt(ending::close);
    attempts.attempt(apart::close);
    attempts.attempt(peerLog::finish);
    attempts.attempt(loop::close);
    attempts.finish();
  }

  @Override
  public void log(Level level, String message, @Nullable Throwable thrown) {
    System.getLogger("org.rdma4j").log(level, message, thrown);
  }
}
