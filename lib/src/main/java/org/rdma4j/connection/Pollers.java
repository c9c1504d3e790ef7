package org.rdma4j.connection;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.lifetime.Attempts;

/** The pollers of one device, between which its connections are spread, and their loops. */
final class Pollers {
  private final Poller.Owner owner;
  private final Supplier<Loop> loops;
  private final Runnable whenAdded;
  private final int receiveDepth;
  private final List<Poller> all = new CopyOnWriteArrayList<>();
  private final AtomicInteger next = new AtomicInteger();

  /**
   * Creates it, without a poller.
   *
   * @param loops returns the loop of a new poller
   * @param receiveDepth the number of receives that each shared receive queue holds
   * @param whenAdded is called after {@link #add}
   */
  Pollers(Poller.Owner owner, Supplier<Loop> loops, int receiveDepth, Runnable whenAdded) {
    this.owner = owner;
    this.loops = loops;
    this.receiveDepth = receiveDepth;
    this.whenAdded = whenAdded;
  }

  /** Returns all pollers. */
  List<Poller> all() {
    return all;
  }

  /** Creates the first pollers. */
  void create(int count) {
    for (int i = 0; i < count; i++) {
      all.add(create(loops.get()));
    }
  }

  private Poller create(Loop loop) {
    boolean done = false;
    try {
      Poller created = new Poller(owner, loop, receiveDepth);
      done = true;
      return created;
    } finally {
      if (!done) {
        close(loop);
      }
    }
  }

  /** Lets the first pollers deliver. */
  void start() {
    for (int i = 0; i < all.size(); i++) {
      start(all.get(i), i);
    }
  }

  private void start(Poller poller, int number) {
    Loop loop = poller.loop();
    loop.add(poller);
    if (!loop.isRunByProgram()) {
      loop.startForOthers("rdma4j-poller-" + owner.device().info().name() + "-" + number);
    }
  }

  /**
   * Adds a poller, because the queues of the others are full. A device has room in further queues:
   * a shared receive queue of soft-RoCE is enough for 1170 connections, its completion queue for
   * 682.
   */
  void add() {
    Poller added = create(loops.get());
    boolean started = false;
    try {
      start(added, all.size());
      started = true;
    } finally {
      if (!started) {
        close(added);
        added.receiveQueue().close();
      }
    }
    all.add(added);
    whenAdded.run();
  }

  /**
   * Does something with the next poller that has room for it.
   *
   * @param attempt returns null if a poller has no room
   * @return what this returned; null if no poller has room
   */
  <T> @Nullable T next(Function<Poller, @Nullable T> attempt) {
    int first = next.getAndIncrement();
    for (int i = 0; i < all.size(); i++) {
      T made = attempt.apply(all.get(Math.floorMod(first + i, all.size())));
      if (made != null) {
        return made;
      }
    }
    return null;
  }

  /** Returns the number of receives that are posted. */
  int postedReceives() {
    return all.stream().mapToInt(poller -> poller.receives().posted()).sum();
  }

  /** Closes all pollers. */
  void close(Attempts attempts) {
    for (Poller poller : all) {
      attempts.attempt(() -> close(poller));
    }
  }

  private static void close(Poller poller) {
    poller.loop().remove(poller);
    poller.close();
    close(poller.loop());
  }

  /** Closes the loop of a poller, unless it is that of the node. */
  private static void close(Loop loop) {
    if (!loop.isRunByProgram()) {
      loop.close();
    }
  }
}
