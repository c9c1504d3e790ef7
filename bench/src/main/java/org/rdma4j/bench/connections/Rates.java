package org.rdma4j.bench.connections;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.RemoteMemory;

/** The measured loops: what a client does with its connections for some time. */
final class Rates {
  /** How many operations are outstanding. */
  static final int OUTSTANDING = 64;

  private Rates() {}

  /** What was done in some time. */
  record Result(long operations, long nanos) {
    double perSecond() {
      return operations * 1e9 / nanos;
    }

    double micros() {
      return nanos / 1e3 / operations;
    }
  }

  /** Tells the peer what to do with a connection. */
  static void ask(RdmaConnection connection, String what) throws InterruptedException {
    connection.send(StandardCharsets.UTF_8.encode(what));
  }

  /** Sends copies of a message, blocking, until the time is over and all have arrived. */
  static Result sends(RdmaConnection connection, int bytes, Duration time) throws Exception {
    ByteBuffer message = ByteBuffer.allocate(bytes);
    long begin = System.nanoTime();
    long end = begin + time.toNanos();
    long count = 0;
    while (System.nanoTime() - end < 0) {
      for (int i = 0; i < 16; i++) {
        connection.send(message.clear());
        count++;
      }
    }
    connection.sendAsync(message.clear()).get();
    return new Result(count + 1, System.nanoTime() - begin);
  }

  /** Sends copies of a message by futures, of which as many are outstanding as with jucx. */
  static Result copies(RdmaConnection connection, ByteBuffer message, Duration time)
      throws Exception {
    Deque<CompletableFuture<Void>> outstanding = new ArrayDeque<>(JucxPeer.OUTSTANDING);
    long begin = System.nanoTime();
    long end = begin + time.toNanos();
    long count = 0;
    while (System.nanoTime() - end < 0) {
      if (outstanding.size() == JucxPeer.OUTSTANDING) {
        outstanding.remove().get();
      }
      outstanding.add(connection.sendAsync(message.clear()));
      count++;
    }
    for (CompletableFuture<Void> each : outstanding) {
      each.get();
    }
    return new Result(count, System.nanoTime() - begin);
  }

  /** Sends registered memory as messages, which the peer fetches. */
  static Result offers(RdmaConnection connection, int bytes, Duration time) throws Exception {
    try (MemoryRegion region = connection.register(bytes)) {
      MemorySlice message = region.slice(0, bytes);
      return repeat(
          time,
          done -> {
            var unused =
                connection
                    .sendAsync(message)
                    .whenComplete((nothing, failure) -> done.completed(0, failure(failure)));
          });
    }
  }

  private static @Nullable RuntimeException failure(@Nullable Throwable thrown) {
    return thrown == null ? null : new IllegalStateException(thrown);
  }

  /** Writes to memory of the peer. */
  static Result writes(RdmaConnection connection, RemoteMemory memory, Duration time)
      throws Exception {
    try (MemoryRegion region = connection.register(memory.length())) {
      MemorySlice local = region.slice(0, memory.length());
      return repeat(time, done -> connection.memory().writeAsync(local, memory, 0, done));
    }
  }

  /** Reads memory of the peer. */
  static Result reads(RdmaConnection connection, RemoteMemory memory, Duration time)
      throws Exception {
    try (MemoryRegion region = connection.register(memory.length(), AccessFlag.LOCAL_WRITE)) {
      MemorySlice local = region.slice(0, memory.length());
      return repeat(time, done -> connection.memory().readAsync(memory, local, 0, done));
    }
  }

  /** An operation that does not wait. */
  private interface Operation {
    void start(OperationHandler done);
  }

  private static Result repeat(Duration time, Operation operation) throws InterruptedException {
    Semaphore room = new Semaphore(OUTSTANDING);
    AtomicReference<RuntimeException> failed = new AtomicReference<>();
    OperationHandler done =
        (token, failure) -> {
          if (failure != null) {
            failed.compareAndSet(null, failure);
          }
          room.release();
        };
    long begin = System.nanoTime();
    long end = begin + time.toNanos();
    long count = 0;
    while (System.nanoTime() - end < 0 && failed.get() == null) {
      room.acquire();
      operation.start(done);
      count++;
    }
    room.acquire(OUTSTANDING);
    RuntimeException failure = failed.get();
    if (failure != null) {
      throw failure;
    }
    return new Result(count, System.nanoTime() - begin);
  }

  /** Sends a message and waits until it is back, again and again. */
  static EchoTimes echoes(RdmaConnection connection, int bytes, Duration time)
      throws InterruptedException {
    ByteBuffer message = ByteBuffer.allocate(bytes);
    long end = System.nanoTime() + time.toNanos();
    EchoTimes times = new EchoTimes();
    while (System.nanoTime() - end < 0) {
      connection.send(message.clear());
      connection.receive().orElseThrow().close();
      times.isBack();
    }
    return times;
  }

  /** As {@link #echoes}, but copies the messages out of the connection. */
  static Result copiedEchoes(RdmaConnection connection, int bytes, Duration time)
      throws InterruptedException {
    ByteBuffer message = ByteBuffer.allocate(bytes);
    long begin = System.nanoTime();
    long end = begin + time.toNanos();
    long count = 0;
    while (System.nanoTime() - end < 0) {
      connection.send(message.clear());
      connection.receive(message.clear());
      count++;
    }
    return new Result(count, System.nanoTime() - begin);
  }

  /** As {@link #echoes}, but a handler sends each message again. */
  static Result handledEchoes(RdmaConnection connection, int bytes, Duration time)
      throws InterruptedException {
    ByteBuffer message = ByteBuffer.allocate(bytes);
    AtomicLong count = new AtomicLong();
    Semaphore stopped = new Semaphore(0);
    OperationHandler ignore = (token, failure) -> {};
    long begin = System.nanoTime();
    long end = begin + time.toNanos();
    connection.onMessageBytes(
        back -> {
          count.incrementAndGet();
          if (System.nanoTime() - end < 0) {
            connection.sendAsync(message.clear().put(back).flip(), 0, ignore);
          } else {
            stopped.release();
          }
        });
    connection.sendAsync(message, 0, ignore);
    stopped.acquire();
    return new Result(count.get(), System.nanoTime() - begin);
  }

  /**
   * Sends a message over each of the connections, which the peer answers, as soon as it is back.
   */
  static Result echoesOfAll(List<RdmaConnection> connections, int bytes, Duration time)
      throws InterruptedException, ExecutionException {
    AtomicLong count = new AtomicLong();
    Semaphore stopped = new Semaphore(0);
    long begin = System.nanoTime();
    long end = begin + time.toNanos();
    OperationHandler ignore = (token, failure) -> {};
    for (RdmaConnection connection : connections) {
      connection.onMessage(
          message -> {
            count.incrementAndGet();
            if (System.nanoTime() - end < 0) {
              connection.sendAsync(message, 0, ignore);
            } else {
              message.close();
              stopped.release();
            }
          });
    }
    for (RdmaConnection connection : connections) {
      connection.sendAsync(connection.allocateBuffer(bytes), 0, ignore);
    }
    stopped.acquire(connections.size());
    return new Result(count.get(), System.nanoTime() - begin);
  }

  /** Asks the peer for memory, and returns its name. */
  static RemoteMemory memoryOf(RdmaConnection connection, int bytes) throws InterruptedException {
    ask(connection, "memory " + bytes);
    try (MessageBuffer name = connection.receive().orElseThrow()) {
      return RemoteMemory.read(name.byteBuffer());
    }
  }
}
