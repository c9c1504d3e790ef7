package org.rdma4j.connection;

import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.rdma4j.platform.DaemonThreads;
import org.rdma4j.platform.Spin;
import org.rdma4j.platform.WaitSet;

/**
 * Does the work of a node's threads for a node that has none: polls the completion queues, reads
 * the events of the connection manager, and runs what is to be done soon, in the thread that drives
 * the node.
 *
 * <p>The thread that has called {@link #poll} or {@link #awaitReady} last drives. If it waits in
 * another method, it drives meanwhile; other threads wait for what it does.
 */
final class Driving implements Executor {
  /** How often a thread that polls without a pause looks for events, which takes a system call. */
  private static final long LOOK_NANOS = 100_000;

  /** How often a method that waits checks whether another thread has ended its wait. */
  private static final long SLICE_NANOS = Duration.ofMillis(20).toNanos();

  /** How late what is done at intervals may be because there is more to do all the time. */
  private static final long MAX_CATCH_UP_NANOS = CmEvents.MAX_CATCH_UP.toNanos();

  private final NodeState node;
  private final WaitSet ready = new WaitSet();

  /** Replaced as a whole, so that a poll allocates no iterator. This guards the replacement. */
  private volatile Poller[] pollers = {};

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Spin spin = new Spin();
  private final IntSupplier pollOnce = this::poll;
  private final IntSupplier pollUnlessWoken = this::pollUnlessWoken;

  /** Held by the thread that polls, also while it runs user code. */
  private final ReentrantLock turn = new ReentrantLock();

  /** Held by a thread that waits for descriptors, so that they stay open. */
  private final ReentrantLock waiting = new ReentrantLock();

  private volatile Thread driver = Thread.currentThread();

  /** Whether a thread may be waiting that has to be woken. */
  private volatile boolean asleep;

  private final AtomicBoolean woken = new AtomicBoolean();
  private volatile boolean closed;

  /** When events were last looked at, and when what is done at intervals is due. */
  private long lastLook = System.nanoTime();

  private long nextTick = System.nanoTime() + CmEvents.TICK.toNanos();

  /** Whether there may be events. */
  private boolean eventsReady = true;

  Driving(NodeState node) {
    this.node = node;
  }

  /** Makes this read the events that come to a descriptor. */
  void add(int eventDescriptor) {
    ready.add(eventDescriptor);
  }

  /** Makes this poll a queue. */
  synchronized void add(Poller poller) {
    ready.add(poller.eventDescriptor());
    Poller[] more = Arrays.copyOf(pollers, pollers.length + 1);
    more[pollers.length] = poller;
    pollers = more;
  }

  synchronized void remove(Poller poller) {
    pollers = Arrays.stream(pollers).filter(each -> each != poller).toArray(Poller[]::new);
  }

  /** Returns whether the calling thread drives at this moment. */
  private boolean isPolling() {
    return turn.isHeldByCurrentThread();
  }

  /**
   * Returns whether the calling thread drives or delivers at this moment, so that it runs a handler
   * if it runs user code. A thread that closes delivers without driving.
   */
  boolean isDelivering() {
    if (isPolling()) {
      return true;
    }
    for (Poller poller : pollers) {
      if (poller.isDelivering()) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the calling thread drives, and does not run a handler. */
  boolean mayDrive() {
    return driver == Thread.currentThread() && !isDelivering();
  }

  /** Does pending work, and returns how much that was. Never waits. */
  int poll() {
    if (isDelivering()) {
      throw new IllegalStateException(
          "a handler must not drive its node: return, and the thread that called it goes on");
    }
    if (!turn.tryLock()) {
      return 0;
    }
    try {
      driver = Thread.currentThread();
      int done = 0;
      for (Poller poller : pollers) {
        done += poller.pollAndAsk();
      }
      boolean arrived = done > 0;
      long now = System.nanoTime();
      boolean tickDue = now - nextTick >= 0;
      if (tickDue || eventsReady || now - lastLook >= LOOK_NANOS) {
        lastLook = now;
        int events = node.events().dispatchAll();
        eventsReady = events == CmEvents.MAX_AT_ONCE;
        done += events;
        arrived |= eventsReady;
      }
      done += runTasks();
      // A peer is not late if this thread is, and what it has sent only waits to be polled.
      if (tickDue && (!arrived || now - nextTick >= MAX_CATCH_UP_NANOS)) {
        node.tick();
        nextTick = System.nanoTime() + CmEvents.TICK.toNanos();
      }
      return done;
    } finally {
      turn.unlock();
    }
  }

  /** Runs what was there at the beginning, since a task may lead to another. */
  private int runTasks() {
    int left = tasks.isEmpty() ? 0 : tasks.size();
    int done = 0;
    while (done < left) {
      Runnable task = tasks.poll();
      if (task == null) {
        break;
      }
      task.run();
      done++;
    }
    return done;
  }

  /** Runs an action immediately if the calling thread is polling, otherwise soon. */
  @Override
  public void execute(Runnable action) {
    if (isPolling()) {
      action.run();
    } else {
      later(action);
    }
  }

  /** Runs an action soon, in the thread that drives. */
  void later(Runnable action) {
    tasks.add(action);
    if (asleep) {
      ready.wake();
    }
    if (closed) {
      // Not in this thread, which may hold locks.
      DaemonThreads.named("rdma4j-node").start(this::runLast);
    }
  }

  /** Ends the wait of the thread that drives, or its next wait. */
  void wakeup() {
    woken.set(true);
    if (asleep) {
      ready.wake();
    }
  }

  /**
   * Waits until there is something to poll, or {@link #wakeup} was called.
   *
   * @return false if time is up
   */
  boolean awaitReady(long end) throws InterruptedException {
    if (isDelivering()) {
      throw NodeState.mustNotWait();
    }
    if (!waiting.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
      return false;
    }
    try {
      if (closed) {
        return true;
      }
      driver = Thread.currentThread();
      // Set before the look, so that what comes after it ends the wait.
      asleep = true;
      long tick = nextTick;
      boolean found = hasWork() || ready.await(tick - end < 0 ? tick : end, this::isAwaited);
      asleep = false;
      ready.reset();
      found |= woken.getAndSet(false) || hasWork() || tick - System.nanoTime() <= 0;
      eventsReady = true;
      for (Poller poller : pollers) {
        poller.takeEvent();
      }
      return found;
    } finally {
      asleep = false;
      waiting.unlock();
    }
  }

  /**
   * Does pending work. If there is nothing, polls as long as that pays, and then waits until there
   * is something, or {@link #wakeup} was called.
   *
   * @return how much it did
   */
  int drive(long end) throws InterruptedException {
    int done = poll();
    if (done == 0) {
      done = spin.until(end, pollUnlessWoken);
    }
    if (done > 0) {
      return done;
    }
    return awaitReady(end) ? poll() : 0;
  }

  /** Returns less than 0 if the thread that drives was woken up. */
  private int pollUnlessWoken() {
    return woken.get() ? -1 : poll();
  }

  private boolean isAwaited() {
    return closed || woken.get() || !tasks.isEmpty();
  }

  /** Returns whether a poll would do something, or is needed before a wait makes sense. */
  private boolean hasWork() {
    if (isAwaited()) {
      return true;
    }
    for (Poller poller : pollers) {
      if (!poller.isAsked()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Drives until a condition holds, if the calling thread drives. Its caller waits for what this
   * does, and holds no lock of a connection.
   *
   * @param end when to stop at the latest, on the scale of {@link System#nanoTime}
   */
  void driveUntil(long end, BooleanSupplier done) throws InterruptedException {
    if (!mayDrive()) {
      return;
    }
    while (!done.getAsBoolean() && !closed && end - System.nanoTime() > 0) {
      if (poll() == 0 && spin.until(end, pollOnce) == 0 && !done.getAsBoolean()) {
        long slice = System.nanoTime() + SLICE_NANOS;
        awaitReady(slice - end < 0 ? slice : end);
      }
    }
  }

  /** Ends all waits, and runs the rest, since no thread polls any more. */
  void close() {
    closed = true;
    ready.wake();
    waiting.lock();
    try {
      ready.close();
    } finally {
      waiting.unlock();
    }
    runLast();
  }

  private void runLast() {
    if (isPolling()) {
      // The poll goes on with it.
      return;
    }
    turn.lock();
    try {
      while (runTasks() > 0) {
        // One may have led to another.
      }
    } finally {
      turn.unlock();
    }
  }
}
