package org.rdma4j.bench.posts;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.PostException;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.SendRequests;

/**
 * Repeatedly closes a queue pair, a completion queue, a memory region or a device at a random
 * moment while two threads post and poll; prints the number of closes.
 */
final class CloseUnderLoad {
  private static final int USERS = 2;
  private static final int LONGEST_USE_MICROS = 60;
  private static final long STEPS_BEFORE_POST = 0x1_1000;

  private final Random random;
  private final CyclicBarrier begin = new CyclicBarrier(USERS + 1);

  private CloseUnderLoad(long seed) {
    this.random = new Random(seed);
  }

  public static void main(String[] arguments) throws Exception {
    CallStyle style = CallStyle.valueOf(arguments[0]);
    int closes = Integer.parseInt(arguments[1]);
    long seed = Long.parseLong(arguments[2]);
    CloseUnderLoad load = new CloseUnderLoad(seed);
    int closed = 0;
    try (ExecutorService users = Executors.newFixedThreadPool(USERS)) {
      while (closed < closes) {
        load.round(users, style);
        closed++;
      }
    }
    System.out.println(closed);
  }

  private void round(ExecutorService users, CallStyle style) throws Exception {
    try (SelfConnectedQueuePair adapter = new SelfConnectedQueuePair(style, QueuesOfJava.PLAIN)) {
      List<Future<?>> uses =
          List.of(users.submit(() -> use(adapter)), users.submit(() -> use(adapter)));
      begin.await();
      waitAWhile();
      List<AutoCloseable> closeables =
          List.of(adapter, adapter.completionQueue(), adapter.queuePair(), adapter.region());
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
  private Void use(SelfConnectedQueuePair adapter) throws Exception {
    SendRequests requests = adapter.queuePair().sendRequests(1);
    PreparedSends prepared =
        requests
            .add(0)
            .inline(adapter.region(), 0, SelfConnectedQueuePair.MESSAGE)
            .signaled()
            .prepare();
    Completions completions = adapter.completionQueue().completions(4);
    begin.await();
    try {
      while (true) {
        postAndPoll(adapter, requests, completions);
        postLate(adapter, requests);
        postPrepared(prepared);
      }
    } catch (IllegalStateException closed) {
      if (!String.valueOf(closed.getMessage()).contains("closed")) {
        throw closed;
      }
      return null;
    }
  }

  private static void postAndPoll(
      SelfConnectedQueuePair adapter, SendRequests requests, Completions completions) {
    try {
      requests.add(0).from(adapter.region(), 0, SelfConnectedQueuePair.MESSAGE).signaled();
      requests.post();
    } catch (PostException full) {
      requests.clear();
    }
    completions.poll();
  }

  /** The provider reads the memory of the region in this call. */
  private static void postPrepared(PreparedSends prepared) {
    try {
      prepared.id(0, 1).post();
    } catch (PostException full) {
      // The next poll makes room.
    }
  }

  /**
   * Posts after a loop between adding the request and posting it. The compiler may reuse, for the
   * post, the check of the owner from before the loop; but in the loop the thread may be stopped
   * and the queue closed.
   */
  private static void postLate(SelfConnectedQueuePair adapter, SendRequests requests) {
    try {
      SendRequests request =
          requests.add(0).from(adapter.region(), 0, SelfConnectedQueuePair.MESSAGE);
      long bits = adapter.region().byteSize();
      for (long i = bits & 0xffff; i < STEPS_BEFORE_POST; i++) {
        bits = bits * 31 + i;
      }
      if (bits != 0) {
        request.signaled();
      }
      request.post();
    } catch (PostException full) {
      requests.clear();
    }
  }
}
