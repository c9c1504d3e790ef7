package org.rdma4j.connection;

import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.DaemonThreads;
import org.rdma4j.platform.LockOrder;
import org.rdma4j.platform.PollingTurn;
import org.rdma4j.platform.Spin;
import org.rdma4j.platform.WaitSet;

/**
 * Does the work of a node, or a part of it: polls sources, runs tasks in their order, and timers
 * when they are due. The thread that runs it has its turn meanwhile, so that one thread at a time
 * handles what its sources have.
 *
 * <ul>
 *   <li>A thread of the node runs it, and sleeps when there is nothing. While another platform
 *       thread waits for what a source brings, that thread takes the turn and polls itself for a
 *       moment, which saves a change of threads.
 *   <li>Or the program runs it: the thread that has called {@link #poll} or {@link #awaitReady}
 *       last. If that thread waits in another method, it runs the loop meanwhile; other threads
 *       wait for what it does.
 * </ul>
 */
final class Loop {
  /** How often a node looks after what is done at intervals. */
  static final Duration TICK = Duration.ofMillis(250);

  /** How late that may be because there is more to do all the time. */
  private static final long MAX_CATCH_UP_NANOS = Duration.ofSeconds(10).toNanos();

  /** How often a method that waits checks whether another thread has ended its wait. */
  private static final long SLICE_NANOS = Duration.ofMillis(20).toNanos();

  private static final long LONG_NANOS = Duration.ofMinutes(1).toNanos();

  private final boolean runByProgram;
  private final WaitSet ready = new WaitSet();

  /** Replaced as a whole, so that a poll allocates no iterator. This guards the replacement. */
  private volatile Source[] sources = {};

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Timers timers = new Timers();
  private final Spin spin = new Spin();
  private final PollingTurn turn = new PollingTurn(this::pollSources);
  private final IntSupplier ask = this::askAll;
  private final IntSupplier pollOnce = this::poll;
  private final IntSupplier pollUnlessWoken = this::pollUnlessWoken;
  private final BooleanSupplier isAwaited = this::isAwaited;

  /** Held by a thread that waits for descriptors, so that they stay open. */
  private final ReentrantLock waiting = LockOrder.LOOP.newLock();

  private volatile Thread runner = Thread.currentThread();

  /**
   * Whether the thread that has the turn runs the loop. A thread that closes something only polls.
   */
  private boolean running;

  /** Whether a thread may be waiting that has to be woken. */
  private volatile boolean asleep;

  /** Whether that thread was woken, after it was. */
  private volatile boolean alarmed;

  private final AtomicBoolean woken = new AtomicBoolean();
  private volatile boolean closed;

  /** What is done at intervals; null if nothing is. */
  private volatile @Nullable Runnable tick;

  private volatile long nextTick;

  /** What a poll of a limited number begins with, so that each kind of work has its turn. */
  private int begin;

  private Loop(boolean runByProgram) {
    this.runByProgram = runByProgram;
    turn.useful(false);
  }

  /** Creates a loop that the program runs. */
  static Loop ofProgram() {
    return new Loop(true);
  }

  /** Creates a loop for a thread, which {@link #start} starts. */
  static Loop ofThread() {
    return new Loop(false);
  }

  /** Starts the thread that runs this, and that sleeps as soon as there is nothing. */
  void start(String name) {
    start(name, this::poll);
  }

  /**
   * Starts the thread that runs this for threads that wait. It polls for a moment before it sleeps,
   * and stays away while one of them polls. Such a loop has sources only.
   */
  void startForOthers(String name) {
    start(name, () -> turn.pollAsOwner(ask));
  }

  private void start(String name, IntSupplier step) {
    DaemonThreads.named(name).start(() -> run(step));
  }

  private void run(IntSupplier step) {
    while (!closed) {
      try {
        if (step.getAsInt() == 0) {
          awaitReady(System.nanoTime() + LONG_NANOS);
        }
      } catch (InterruptedException byUserCode) {
        // User code has interrupted the thread that it ran in, which ends nothing.
      } catch (RuntimeException | Error broken) {
        fail(broken);
        return;
      }
    }
  }

  /** Ends all sources, because without the thread of this nothing of them would be found. */
  private void fail(Throwable thrown) {
    for (Source each : sources) {
      each.failed(thrown);
    }
  }

  /** Returns whether the program runs this. */
  boolean isRunByProgram() {
    return runByProgram;
  }

  /** Returns whose turn it is to poll, for a thread that polls with several. */
  PollingTurn turn() {
    return turn;
  }

  /** Makes this poll a source. */
  synchronized void add(Source source) {
    ready.add(source.descriptor());
    Source[] more = Arrays.copyOf(sources, sources.length + 1);
    more[sources.length] = source;
    sources = more;
  }

  synchronized void remove(Source source) {
    sources = Arrays.stream(sources).filter(each -> each != source).toArray(Source[]::new);
  }

  /** Sets what is done at intervals of {@link #TICK}. */
  void atIntervals(Runnable action) {
    nextTick = System.nanoTime() + TICK.toNanos();
    tick = action;
  }

  /**
   * Returns whether the calling thread has the turn, so that it runs a handler if it runs user
   * code.
   */
  boolean isMine() {
    return turn.isMine();
  }

  /** Returns whether the calling thread runs this, and does not run a handler. */
  boolean mayDrive() {
    return runByProgram && runner == Thread.currentThread() && !isMine();
  }

  /** Does pending work. Never waits. */
  int poll() {
    return poll(Integer.MAX_VALUE);
  }

  /** Does pending work, up to a number; returns how much that was. Never waits. */
  int poll(int most) {
    if (isMine()) {
      throw new IllegalStateException(
          "a handler must not drive its node: return, and the thread that called it goes on");
    }
    if (!turn.tryTake()) {
      return 0;
    }
    try {
      runner = Thread.currentThread();
      running = true;
      return most == Integer.MAX_VALUE ? pollAll() : pollSome(most);
    } finally {
      running = false;
      turn.leave();
    }
  }

  private int pollAll() {
    int found = pollSources();
    if (found == 0) {
      found = askAll();
    }
    int done = found + runTasks(Integer.MAX_VALUE) + timers.run(Integer.MAX_VALUE);
    tickIfDue(found > 0);
    return done;
  }

  private int pollSome(int most) {
    Source[] all = sources;
    int kinds = all.length + 2;
    begin = (begin + 1) % kinds;
    int done = 0;
    for (int i = 0; i < kinds && done < most; i++) {
      int kind = (begin + i) % kinds;
      if (kind == all.length) {
        done += runTasks(most - done);
      } else if (kind > all.length) {
        done += timers.run(most - done);
      } else {
        done += poll(all[kind], most - done);
      }
    }
    if (done == 0) {
      done = ask(most);
    }
    tickIfDue(done > 0);
    return done;
  }

  /** A peer is not late if this thread is, and what it has sent only waits to be polled. */
  private void tickIfDue(boolean found) {
    Runnable due = tick;
    long late = System.nanoTime() - nextTick;
    if (due != null && late >= 0 && (!found || late >= MAX_CATCH_UP_NANOS)) {
      due.run();
      nextTick = System.nanoTime() + TICK.toNanos();
    }
  }

  private int pollSources() {
    int done = 0;
    for (Source each : sources) {
      done += poll(each, Integer.MAX_VALUE);
    }
    return done;
  }

  private static int poll(Source source, int most) {
    try {
      return source.poll(most);
    } catch (Throwable thrown) {
      source.failed(thrown);
      return 0;
    }
  }

  private int askAll() {
    return ask(Integer.MAX_VALUE);
  }

  private int ask(int most) {
    int done = 0;
    for (Source each : sources) {
      try {
        done += each.ask(Math.max(1, most - done));
      } catch (Throwable thrown) {
        each.failed(thrown);
      }
    }
    return done;
  }

  /** Handles all that one source has, in any thread. */
  void drain(IntSupplier poll) {
    turn.pollAll(poll);
  }

  /** Runs what was there at the beginning, since a task may lead to another. */
  private int runTasks(int most) {
    int left = tasks.isEmpty() ? 0 : Math.min(most, tasks.size());
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

  /** Runs an action immediately if the calling thread runs this, otherwise as a task. */
  void executeInTurn(Runnable action) {
    if (isMine() && running) {
      action.run();
    } else {
      execute(action);
    }
  }

  /** Runs a task soon, after the tasks that were given before. It never throws an exception. */
  void execute(Runnable task) {
    tasks.add(task);
    wakeIfAsleep();
    if (closed) {
      // Not in this thread, which may hold locks.
      DaemonThreads.named("rdma4j-node").start(this::runLast);
    }
  }

  /** Runs an action at a time, on the scale of {@link System#nanoTime}. It never throws. */
  LoopTimer schedule(long due, Runnable action) {
    LoopTimer timer = timers.add(due, action);
    // The thread that waits must not wait longer.
    wakeIfAsleep();
    return timer;
  }

  /** Ends the wait of the thread that runs this, or its next wait. */
  void wakeup() {
    woken.set(true);
    wakeIfAsleep();
  }

  private void wakeIfAsleep() {
    if (asleep) {
      ready.wake();
      // Afterwards, so that it is not taken back before it was done.
      alarmed = true;
    }
  }

  /**
   * Waits until there is something to do, or {@link #wakeup} was called.
   *
   * @return false if time is up
   */
  boolean awaitReady(long end) throws InterruptedException {
    if (isMine()) {
      throw mustNotWait();
    }
    if (!waiting.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
      return false;
    }
    try {
      if (closed) {
        return true;
      }
      runner = Thread.currentThread();
      // Set before the look, so that what comes after it ends the wait.
      asleep = true;
      boolean ticks = tick != null;
      long tickDue = nextTick;
      long due = timers.before(ticks && tickDue - end < 0 ? tickDue : end);
      boolean found = hasWork() || ready.await(due, isAwaited);
      asleep = false;
      if (alarmed) {
        alarmed = false;
        ready.reset();
      }
      found |=
          woken.getAndSet(false)
              || hasWork()
              || timers.isDue()
              || (ticks && tickDue - System.nanoTime() <= 0);
      takeEvents();
      return found;
    } finally {
      asleep = false;
      waiting.unlock();
    }
  }

  static IllegalStateException mustNotWait() {
    return new IllegalStateException(
        "a handler must not wait, because nothing is delivered meanwhile: use a method that"
            + " returns a future or takes a handler");
  }

  private void takeEvents() {
    for (Source each : sources) {
      try {
        each.takeEvent();
      } catch (RuntimeException | Error thrown) {
        each.failed(thrown);
      }
    }
  }

  /**
   * Does pending work. If there is nothing, polls as long as that pays, and then waits until there
   * is something, or {@link #wakeup} was called.
   *
   * @return how much it did
   */
  int drive(long end, IdleStrategy idle) throws InterruptedException {
    int done = poll();
    if (done > 0) {
      return done;
    }
    if (idle == IdleStrategy.BUSY) {
      return pollUntil(end);
    }
    done = idle == IdleStrategy.SPIN ? spin.until(end, pollUnlessWoken) : 0;
    if (done > 0) {
      return done;
    }
    return awaitReady(end) ? poll() : 0;
  }

  /** Polls without a pause until there is something, time is up, or {@link #wakeup} was called. */
  private int pollUntil(long end) throws InterruptedException {
    int done = 0;
    while (done == 0 && !closed && !woken.getAndSet(false) && end - System.nanoTime() > 0) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      Thread.onSpinWait();
      done = poll();
    }
    return done;
  }

  /** Returns less than 0 if the thread that runs this was woken up. */
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
    for (Source each : sources) {
      if (!each.isAsked()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Runs this until a condition holds, if that is for the calling thread to do. Its caller waits
   * for what this does, and holds no lock of a connection.
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

  /**
   * Polls in a thread that waits, until a condition holds or that no longer pays: the thread that
   * runs this, or any platform thread if a thread of the node does. Its caller holds no lock of a
   * connection, and sleeps afterwards between {@link PollingTurn#relyOnOwner} and {@link
   * PollingTurn#relyNoMore}.
   */
  void assist(long end, BooleanSupplier done) throws InterruptedException {
    if (runByProgram) {
      driveUntil(end, done);
    } else {
      turn.pollUntil(end, done);
    }
  }

  /** Ends all waits and the thread, and runs the rest, since no thread runs this any more. */
  void close() {
    closed = true;
    ready.wake();
    turn.recallOwner();
    waiting.lock();
    try {
      ready.close();
    } finally {
      waiting.unlock();
    }
    if (!tasks.isEmpty()) {
      runLast();
    }
  }

  private void runLast() {
    if (isMine()) {
      // The poll goes on with it.
      return;
    }
    turn.pollAll(() -> runTasks(Integer.MAX_VALUE));
  }
}
