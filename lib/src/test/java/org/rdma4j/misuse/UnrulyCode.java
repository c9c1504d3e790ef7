package org.rdma4j.misuse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.rdma4j.LoggedFaults;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.MessageHandler;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RequestHandler;

/**
 * What users run wherever the library lets them. It returns, makes any call, waits, holds a lock,
 * interrupts its thread, or throws whatever can be thrown, at random.
 */
final class UnrulyCode {
  /** What it throws, as others that do the same. */
  static final class Mischief extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Mischief() {
      super(LoggedFaults.ON_PURPOSE);
    }
  }

  /** Makes any call. */
  interface AnyCall {
    /** Makes one; returns false if enough were made. */
    boolean make(Random random);

    /** Closes anything. */
    void close(Random random);

    /** Returns whether enough were made, so that all code behaves from now on. */
    boolean isOver();
  }

  private final UnrulyObjects objects;
  private final BoundedCalls bounded;
  private final AnyCall anyCall;
  private final long seed;
  private final boolean careless;
  private final AtomicLong created = new AtomicLong();
  private final Map<String, AtomicInteger> ran = new ConcurrentSkipListMap<>();

  /** A lock of the users, for which they wait in handlers, and which they hold while they close. */
  private final ReentrantLock common = new ReentrantLock();

  /**
   * Creates it.
   *
   * @param careless whether it drops messages now and then, which the library reports as leaks
   */
  UnrulyCode(
      long seed, boolean careless, UnrulyObjects objects, BoundedCalls bounded, AnyCall anyCall) {
    this.seed = seed;
    this.careless = careless;
    this.objects = objects;
    this.bounded = bounded;
    this.anyCall = anyCall;
  }

  /** Returns how often code ran at each place. */
  Map<String, AtomicInteger> ran() {
    return ran;
  }

  MessageHandler onMessage(String place) {
    Random random = newRandom();
    return message ->
        run(
            place,
            () -> {
              dispose(random, message);
              misbehave(random);
            });
  }

  Consumer<ByteBuffer> onBytes(String place) {
    Random random = newRandom();
    return bytes -> run(place, () -> misbehave(random));
  }

  LongConsumer onNotice(String place) {
    Random random = newRandom();
    return notice -> run(place, () -> misbehave(random));
  }

  RequestHandler onRequest(String place) {
    Random random = newRandom();
    return request ->
        run(
            place,
            () -> {
              dispose(random, request);
              misbehave(random);
            });
  }

  Consumer<RdmaConnection> onAccept(
      String place, UnrulyObjects.Member member, UnrulyObjects.Member peer) {
    Random random = newRandom();
    return connection ->
        run(
            place,
            () -> {
              keep(random, objects.connections, new UnrulyObjects.Held(member, peer, connection));
              misbehave(random);
            });
  }

  /** Runs what it gets in the calling thread or in another, sometimes after it has thrown. */
  Executor executor(String place) {
    Random random = newRandom();
    return userCode -> {
      run(place, () -> misbehave(random));
      if (random.nextBoolean()) {
        userCode.run();
      } else {
        Thread.ofVirtual().start(userCode);
      }
      run(place, () -> misbehave(random));
    };
  }

  OperationHandler onOperation(String place) {
    Random random = newRandom();
    return (token, failure) -> run(place, () -> misbehave(random));
  }

  /** Runs when a future completes, which some users cancel. */
  void after(String place, CompletableFuture<?> future) {
    Random random = newRandom();
    var unused =
        future.whenComplete(
            (value, failure) ->
                run(
                    place,
                    () -> {
                      if (value instanceof MessageBuffer message) {
                        dispose(random, message);
                      }
                      misbehave(random);
                    }));
    if (random.nextInt(32) == 0) {
      future.cancel(true);
    }
  }

  private Random newRandom() {
    return new Random(seed + 1_000_003 * created.incrementAndGet());
  }

  private void run(String place, Runnable code) {
    ran.computeIfAbsent(place, unused -> new AtomicInteger()).incrementAndGet();
    bounded.user(code);
  }

  /** Closes a message, keeps it for other calls, or drops it. */
  private void dispose(Random random, MessageBuffer message) {
    int kind = random.nextInt(32);
    if (kind < 8) {
      keep(random, objects.messages, message);
    } else if (kind > 8 || !careless) {
      message.close();
    }
  }

  private void dispose(Random random, IncomingRequest request) {
    int kind = random.nextInt(32);
    if (kind < 24) {
      keep(random, objects.requests, new UnrulyObjects.Asked(request));
    } else if (kind > 24 || !careless) {
      request.message().close();
    }
  }

  static <T> void keep(Random random, Pool<T> pool, T object) {
    try {
      pool.add(random, object);
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }

  /** Holds the lock of the users, which handlers wait for, during a call or a close. */
  void callWithLock(Random random) {
    common.lock();
    try {
      if (random.nextBoolean()) {
        anyCall.close(random);
      } else {
        anyCall.make(random);
      }
    } finally {
      common.unlock();
    }
  }

  private void misbehave(Random random) {
    if (anyCall.isOver()) {
      return;
    }
    switch (random.nextInt(48)) {
      case 0 -> throw new Mischief();
      case 1 -> throw new AssertionError(LoggedFaults.ON_PURPOSE);
      case 2 -> throw new OutOfMemoryError(LoggedFaults.ON_PURPOSE);
      case 3 ->
          throw UnrulyCode.<RuntimeException>unannounced(new IOException(LoggedFaults.ON_PURPOSE));
      case 4 ->
          throw UnrulyCode.<RuntimeException>unannounced(
              new InterruptedException(LoggedFaults.ON_PURPOSE));
      case 5 -> overflow(0);
      case 6, 7 -> Thread.currentThread().interrupt();
      case 8, 9 -> sleep(random.nextInt(5));
      case 10 -> callWithLock(random);
      case 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 -> anyCall.make(random);
      case 24 -> {
        anyCall.make(random);
        throw new Mischief();
      }
      default -> {}
    }
  }

  /** As Kotlin, Scala and Groovy do, which know no checked exceptions. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> RuntimeException unannounced(Throwable thrown) throws T {
    throw (T) thrown;
  }

  @SuppressWarnings("InfiniteRecursion")
  private static int overflow(int depth) {
    return 1 + overflow(depth + 1);
  }

  private static void sleep(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
