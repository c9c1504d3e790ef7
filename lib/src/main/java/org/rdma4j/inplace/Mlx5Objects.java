package org.rdma4j.inplace;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Errno;

/**
 * Asks libmlx5 where the queues of an object are: {@code mlx5dv_init_obj}.
 *
 * <p>The four structs that it fills are described here, and not taken from the bindings of mlx5,
 * because those are in an artifact of their own, which a program need not have.
 */
final class Mlx5Objects {
  private static final String FUNCTION = "mlx5dv_init_obj";

  private static final long QUEUE_PAIR = 1;
  private static final long COMPLETION_QUEUE = 1 << 1;
  private static final long SHARED_RECEIVE_QUEUE = 1 << 2;
  private static final long ADDRESS_HANDLE = 1 << 5;

  /** In {@code struct mlx5dv_obj}, a pair of pointers for each kind of object. */
  private static final long PAIR = 2 * ADDRESS.byteSize();

  private static final long OBJECTS = 7 * PAIR;

  /** More than any of the structs has. */
  private static final long ROOM = 256;

  /** Calls {@code int mlx5dv_init_obj(struct mlx5dv_obj *, uint64_t)}. */
  private static final MethodHandle INITIALIZE =
      Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));

  private final MemorySegment function;

  /**
   * Finds the function.
   *
   * @param library the file of libmlx5 that the process has loaded
   * @throws IllegalArgumentException if it cannot be loaded, or does not have the function
   */
  Mlx5Objects(String library) {
    this.function =
        SymbolLookup.libraryLookup(library, Arena.global())
            .find(FUNCTION)
            .orElseThrow(
                () -> new IllegalArgumentException(library + " does not have " + FUNCTION));
  }

  /**
   * The queues of a queue pair, {@code struct mlx5dv_qp}.
   *
   * @param record the address of the two doorbell records: of receives, then of sends
   * @param sends the address of the send queue
   * @param sendBlocks its length, in blocks
   * @param sendStride the size of a block
   * @param receives the address of the receive queue
   * @param receiveCount its length, in requests
   * @param receiveStride the size of a request
   * @param register the address of the BlueFlame register
   * @param registerSize the size of each of its two halves; 0 if it takes no requests
   */
  record QueuePairMemory(
      long record,
      long sends,
      int sendBlocks,
      int sendStride,
      long receives,
      int receiveCount,
      int receiveStride,
      long register,
      int registerSize) {}

  /**
   * A completion queue, {@code struct mlx5dv_cq}.
   *
   * @param entries the address of the queue
   * @param record the address of the two doorbell records: of the consumer, then of events
   * @param count its length, in completions
   * @param stride the size of a completion
   * @param register the address of the page of the doorbell
   * @param number the number of the queue
   */
  record CompletionMemory(
      long entries, long record, int count, int stride, long register, int number) {}

  /**
   * A shared receive queue, {@code struct mlx5dv_srq}.
   *
   * @param requests the address of the queue
   * @param record the address of the doorbell record
   * @param stride the size of a request
   * @param head the first free request
   * @param tail the last free request
   */
  record SharedMemory(long requests, long record, int stride, int head, int tail) {}

  QueuePairMemory queuePair(MemorySegment queuePair) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = initialize(arena, QUEUE_PAIR, 0, queuePair);
      return new QueuePairMemory(
          out.get(JAVA_LONG, 0),
          out.get(JAVA_LONG, 8),
          out.get(JAVA_INT, 16),
          out.get(JAVA_INT, 20),
          out.get(JAVA_LONG, 24),
          out.get(JAVA_INT, 32),
          out.get(JAVA_INT, 36),
          out.get(JAVA_LONG, 40),
          out.get(JAVA_INT, 48));
    }
  }

  /** Also makes libmlx5 leave the queue alone. */
  CompletionMemory completionQueue(MemorySegment queue) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = initialize(arena, COMPLETION_QUEUE, 1, queue);
      return new CompletionMemory(
          out.get(JAVA_LONG, 0),
          out.get(JAVA_LONG, 8),
          out.get(JAVA_INT, 16),
          out.get(JAVA_INT, 20),
          out.get(JAVA_LONG, 24),
          out.get(JAVA_INT, 32));
    }
  }

  SharedMemory sharedReceiveQueue(MemorySegment queue) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = initialize(arena, SHARED_RECEIVE_QUEUE, 2, queue);
      return new SharedMemory(
          out.get(JAVA_LONG, 0),
          out.get(JAVA_LONG, 8),
          out.get(JAVA_INT, 16),
          out.get(JAVA_INT, 20),
          out.get(JAVA_INT, 24));
    }
  }

  /** Returns the address of the address vector of an address handle, {@code struct mlx5dv_ah}. */
  long addressVector(long handle) {
    try (Arena arena = Arena.ofConfined()) {
      return initialize(arena, ADDRESS_HANDLE, 5, MemorySegment.ofAddress(handle))
          .get(JAVA_LONG, 0);
    }
  }

  private MemorySegment initialize(Arena arena, long kind, int index, MemorySegment object) {
    MemorySegment objects = arena.allocate(OBJECTS, 8);
    MemorySegment out = arena.allocate(ROOM, 8);
    objects.set(ADDRESS, index * PAIR, object);
    objects.set(ADDRESS, index * PAIR + ADDRESS.byteSize(), out);
    int result;
    try {
      result = (int) INITIALIZE.invokeExact(function, Errno.state(), objects, kind);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
    if (result != 0) {
      throw new RdmaException(FUNCTION, Math.abs(result));
    }
    return out;
  }
}
