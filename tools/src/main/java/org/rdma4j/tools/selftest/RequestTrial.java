package org.rdma4j.tools.devices;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueueAccess;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/**
 * Two connected queue pairs of a device, whose queues are used in one way, and requests of each
 * kind between them. The data and the completions of each are checked.
 */
final class InPlaceTrial {
  private static final int BYTES = 1 << 16;
  private static final int INLINE_BYTES = 64;
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  /** What is posted. */
  enum Kind {
    SEND,
    SEND_INLINE,
    SEND_WITH_IMMEDIATE,
    WRITE,
    READ,
    COMPARE_AND_SWAP,
    FETCH_AND_ADD;

    boolean isReceived() {
      return this == SEND || this == SEND_INLINE || this == SEND_WITH_IMMEDIATE;
    }

    boolean isAtomic() {
      return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
    }

    CompletionOpcode opcode() {
      return switch (this) {
        case SEND, SEND_INLINE, SEND_WITH_IMMEDIATE -> CompletionOpcode.SEND;
        case WRITE -> CompletionOpcode.RDMA_WRITE;
        case READ -> CompletionOpcode.RDMA_READ;
        case COMPARE_AND_SWAP -> CompletionOpcode.COMPARE_AND_SWAP;
        case FETCH_AND_ADD -> CompletionOpcode.FETCH_AND_ADD;
      };
    }
  }

  /**
   * What came of the requests of one kind.
   *
   * @param postNanos the median time of a post
   * @param doneNanos the median time from the beginning of a post to its completion
   */
  record Result(long postNanos, long doneNanos) {}

  private final MemoryRegion source;
  private final MemoryRegion target;
  private final SendRequests sends;
  private final ReceiveRequests receives;
  private final Completions sent;
  private final Completions received;

  InPlaceTrial(RdmaDevice device, int port, QueueAccess access) {
    ProtectionDomain domain = device.allocateProtectionDomain();
    source = domain.register(BYTES, AccessFlag.LOCAL_WRITE);
    target =
        domain.register(
            BYTES,
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_ATOMIC);
    CompletionQueueConfig config = CompletionQueueConfig.of(64).access(access);
    CompletionQueue queueOfSends = device.createCompletionQueue(config);
    CompletionQueue queueOfReceives = device.createCompletionQueue(config);
    QueuePair from =
        domain.createQueuePair(
            QueuePairConfig.reliable(queueOfSends).sendDepth(16).inlineBytes(INLINE_BYTES));
    QueuePair to =
        domain.createQueuePair(QueuePairConfig.reliable(queueOfReceives).receiveDepth(16));
    from.connect(path(to, port));
    to.connect(path(from, port));
    sends = from.sendRequests(1);
    receives = to.receiveRequests(1);
    sent = queueOfSends.completions(1);
    received = queueOfReceives.completions(1);
  }

  private static PathConfig path(QueuePair peer, int port) {
    return PathConfig.to(peer.address(port, PathConfig.PREFERRED_GID))
        .port(port)
        .access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);
  }

  /**
   * Posts that many requests, one after the other.
   *
   * @throws Failure if something is not as it should be
   */
  Result run(Kind kind, int count) {
    // Both ways get the same requests.
    Random random = new Random(count);
    long[] posts = new long[count];
    long[] done = new long[count];
    for (int i = 0; i < count; i++) {
      int length =
          kind.isAtomic()
              ? Long.BYTES
              : 1 + random.nextInt(kind == Kind.SEND_INLINE ? INLINE_BYTES : BYTES);
      byte[] here = bytes(random, length);
      byte[] there = bytes(random, length);
      put(source, here);
      put(target, there);
      if (kind.isReceived()) {
        receives.add(i).into(target, 0, length).post();
      }
      long begin = System.nanoTime();
      post(kind, i, length, here, there);
      posts[i] = System.nanoTime() - begin;
      await(sent, kind, i);
      done[i] = System.nanoTime() - begin;
      require(kind, i, "opcode", sent.opcode(0), kind.opcode());
      if (kind.isReceived()) {
        await(received, kind, i);
        require(kind, i, "length", received.byteLength(0), (long) length);
        if (kind == Kind.SEND_WITH_IMMEDIATE) {
          require(kind, i, "immediate data", received.immediate(0), i);
        }
      }
      checkBytes(kind, i, here, there);
    }
    Arrays.sort(posts);
    Arrays.sort(done);
    return new Result(posts[count / 2], done[count / 2]);
  }

  private static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static void put(MemoryRegion region, byte[] bytes) {
    MemorySegment.copy(bytes, 0, region.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
  }

  private static byte[] get(MemoryRegion region, int length) {
    return region.segment().asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  private void post(Kind kind, int id, int length, byte[] here, byte[] there) {
    long address = target.remoteAddress();
    int key = target.remoteKey();
    sends.add(id).signaled();
    switch (kind) {
      case SEND -> sends.from(source, 0, length);
      case SEND_INLINE -> sends.inline(source, 0, length);
      case SEND_WITH_IMMEDIATE -> sends.sendWithImmediate(id).from(source, 0, length);
      case WRITE -> sends.write(address, key).from(source, 0, length);
      case READ -> sends.read(address, key).into(source, 0, length);
      case COMPARE_AND_SWAP ->
          sends.compareAndSwap(address, key, number(there), number(here)).into(source, 0, length);
      case FETCH_AND_ADD -> sends.fetchAndAdd(address, key, number(here)).into(source, 0, length);
    }
    sends.post();
  }

  private static long number(byte[] bytes) {
    return MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
  }

  private static void await(Completions completions, Kind kind, int id) {
    long begin = System.nanoTime();
    while (completions.poll() == 0) {
      if (System.nanoTime() - begin > PATIENCE_NANOS) {
        throw new Failure("%s %d did not complete within 10 s".formatted(kind, id));
      }
    }
    completions.requireSuccess(0);
    require(kind, id, "id", completions.workRequestId(0), (long) id);
  }

  private void checkBytes(Kind kind, int id, byte[] here, byte[] there) {
    byte[] inSource = get(source, here.length);
    byte[] inTarget = get(target, here.length);
    switch (kind) {
      case READ -> require(kind, id, inSource, there);
      case COMPARE_AND_SWAP -> {
        require(kind, id, inSource, there);
        require(kind, id, inTarget, here);
      }
      case FETCH_AND_ADD -> {
        require(kind, id, inSource, there);
        require(kind, id, "sum", number(inTarget), number(here) + number(there));
      }
      default -> require(kind, id, inTarget, here);
    }
  }

  private static void require(Kind kind, int id, byte[] found, byte[] expected) {
    int first = Arrays.mismatch(found, expected);
    if (first >= 0) {
      throw new Failure(
          "%s %d of %d bytes arrived with other data from byte %d on"
              .formatted(kind, id, expected.length, first));
    }
  }

  private static void require(Kind kind, int id, String what, Object found, Object expected) {
    if (!found.equals(expected)) {
      throw new Failure(
          "%s %d has the %s %s, must have %s".formatted(kind, id, what, found, expected));
    }
  }
}
