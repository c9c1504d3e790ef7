package org.rdma4j.verbs;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Repeatedly closes a queue pair, its completion queue, its memory region, its domain or its device
 * at a random moment, while two threads post and poll in place; prints the number of closes.
 */
final class CloseInPlace {
  private static final int USERS = 2;
  private static final int LONGEST_USE_MICROS = 100;
  private static final int MESSAGE = 64;

  private final Random random;
  private final CyclicBarrier begin = new CyclicBarrier(USERS + 1);

  private CloseInPlace(long seed) {
    this.random = new Random(seed);
  }

  public static void main(String[] arguments) throws Exception {
    int closes = Integer.parseInt(arguments[0]);
    CloseInPlace load = new CloseInPlace(Long.parseLong(arguments[1]));
    try (ExecutorService users = Executors.newFixedThreadPool(USERS)) {
      for (int i = 0; i < closes; i++) {
        load.round(users);
      }
    }
    System.out.println(closes);
  }

  private void round(ExecutorService users) throws Exception {
    try (Loopback loopback = Loopback.connectedInPlace(config -> config.sendDepth(4))) {
      List<Future<?>> uses =
          List.of(users.submit(() -> use(loopback)), users.submit(() -> use(loopback)));
      begin.await();
      waitAWhile();
      Loopback.End end = loopback.a;
      List<AutoCloseable> closeables =
          List.of(end.queuePair, end.queue, end.region, loopback.domain, loopback.device);
      closeables.get(random.nextInt(closeables.size())).close();
      for (Future<?> use : uses) {
        use.get();
      }
    }
  }

  private void waitAWhile() {
    long end =
        System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(random.nextInt(LONGEST_USE_MICROS));
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  /** Posts and polls until the exception for use after close; throws any other exception. */
  private Void use(Loopback loopback) throws Exception {
    MemoryRegion region = loopback.a.region;
    long address = loopback.b.region.remoteAddress();
    int key = loopback.b.region.remoteKey();
    SendRequests requests = loopback.a.queuePair.sendRequests(2);
    ReceiveRequests receives = loopback.a.queuePair.receiveRequests(1);
    PreparedSends prepared =
        loopback
            .a
            .queuePair
            .sendRequests(1)
            .add(0)
            .write(address, key)
            .inline(region, 0, MESSAGE)
            .signaled()
            .prepare();
    Completions completions = loopback.a.queue.completions(4);
    begin.await();
    try {
      while (true) {
        unlessFull(
            () -> {
              requests.clear();
              requests.add(1).write(address, key).from(region, 0, MESSAGE);
              requests.add(2).write(address, key).inline(region, 0, MESSAGE).signaled();
              requests.post();
            });
        unlessFull(() -> prepared.id(0, 3).post());
        unlessFull(
            () -> {
              receives.clear();
              receives.add(4).into(region, 0, MESSAGE).post();
            });
        completions.poll();
      }
    } catch (IllegalStateException closed) {
      if (!String.valueOf(closed.getMessage()).contains("closed")) {
        throw closed;
      }
      return null;
    }
  }

  /** The next poll makes room in a queue that is full. */
  private static void unlessFull(Runnable post) {
    try {
      post.run();
    } catch (PostException full) {
      if (!String.valueOf(full.getMessage()).contains("ENOMEM")) {
        throw full;
      }
    }
  }
}
