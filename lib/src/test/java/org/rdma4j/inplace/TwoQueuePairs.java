package org.rdma4j.inplace;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.CompletionLayout;
import org.rdma4j.datapath.QueueUse;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.inplace.Mlx5Objects.CompletionMemory;
import org.rdma4j.inplace.Mlx5Objects.QueuePairMemory;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.Loopback;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueueAccess;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairCapabilities;
import org.rdma4j.verbs.QueuePairChange;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ThreadDomain;

/**
 * Two queue pairs of the same shape, of which one is used by libmlx5 and one in place, and which
 * get the same requests. They are in the state ERROR: the adapter flushes all requests, so that
 * these may contain anything.
 */
final class TwoQueuePairs implements AutoCloseable {
  static final int DEPTH = 16;
  private static final int NUMBER_AT = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  final RdmaDevice device = Loopback.openDevice();
  final ProtectionDomain domain = device.allocateProtectionDomain();
  final InPlaceSupport support =
      Objects.requireNonNull(
          InPlaceSupport.of(DataPath.ibv_post_send$op(device.handle())).support());
  final End byLibrary;
  final End inPlace;

  private int outstandingSends;
  private int outstandingReceives;

  /** One of them, with a completion queue. */
  final class End {
    final CompletionQueue queue =
        device.createCompletionQueue(
            CompletionQueueConfig.of(8 * DEPTH).access(QueueAccess.BY_PROVIDER));
    private final ThreadDomain threads = device.allocateThreadDomain();
    private final ProtectionDomain own;
    final QueuePair queuePair;
    final int number;
    final QueuePairMemory memory;
    final CompletionMemory completions;
    final MemorySegment entries = Arena.ofAuto().allocate(CompletionLayout.SIZE * 32, 64);

    private End(QueuePairType type) {
      own = domain.allocateParentDomain(threads);
      queuePair =
          own.createQueuePair(
              QueuePairConfig.of(type, queue, queue)
                  .sendDepth(DEPTH)
                  .receiveDepth(DEPTH)
                  .sendSges(RandomRequests.PIECES)
                  .receiveSges(RandomRequests.PIECES)
                  .inlineBytes(RandomRequests.INLINE_BYTES));
      number = queuePair.number();
      memory = support.objects().queuePair(queuePair.handle());
      completions = support.objects().completionQueue(queue.handle());
    }

    /** Connects the queue pair to itself, or starts it, and moves it to ERROR. */
    private void fail() {
      if (queuePair.type() == QueuePairType.UNRELIABLE_DATAGRAM) {
        queuePair.startDatagrams(1, 0, 1);
      } else {
        int gid = Loopback.gidIndex(device);
        queuePair.connect(PathConfig.to(queuePair.address(1, gid)).gidIndex(gid));
      }
      queuePair.modify(QueuePairChange.none().state(QueuePairState.ERROR));
    }

    byte[] bytes(long address, long length) {
      return MemorySegment.ofAddress(address).reinterpret(length).toArray(JAVA_BYTE);
    }
  }

  final InPlaceQueuePair queues;
  final InPlaceCompletions polls;

  TwoQueuePairs(QueuePairType type) {
    byLibrary = new End(type);
    inPlace = new End(type);
    byLibrary.fail();
    inPlace.fail();
    polls = InPlaceCompletions.of(support, inPlace.queue.handle(), new QueueUse(null));
    QueuePairCapabilities capabilities = inPlace.queuePair.capabilities();
    queues =
        InPlaceQueuePair.of(
            support,
            inPlace.queuePair.handle(),
            new InPlaceQueuePair.Shape(
                capabilities.sendDepth(),
                capabilities.receiveDepth(),
                type == QueuePairType.UNRELIABLE_DATAGRAM,
                false),
            new QueueUse(null),
            null,
            polls,
            polls);
    queues.join();
  }

  /** Posts sends in both ways and compares everything that the adapter can see of them. */
  void compareSends(RandomRequests requests) {
    RawMemory.putLong(requests.refused(), 0);
    int expected =
        DataPath.ibv_post(
            DataPath.ibv_post_send$op(device.handle()),
            byLibrary.queuePair.handle().address(),
            requests.first(),
            requests.refused());
    int refused = requests.refusedIndex();
    RawMemory.putLong(requests.refused(), 0);
    assertThat(queues.sends().post(requests.first(), requests.refused())).isEqualTo(expected);
    assertThat(requests.refusedIndex()).isEqualTo(refused);
    assertThat(record(inPlace, 4)).isEqualTo(record(byLibrary, 4));
    assertSame("send queue", sendQueue(inPlace), sendQueue(byLibrary));
    assertThat(inPlace.memory.registerSize()).isPositive();
    assertSame("register", register(inPlace), register(byLibrary));
    outstandingSends += refused < 0 ? requests.count() : refused;
  }

  /** Posts receives in both ways and compares everything that the adapter can see of them. */
  void compareReceives(RandomRequests requests) {
    RawMemory.putLong(requests.refused(), 0);
    int expected =
        DataPath.ibv_post(
            DataPath.ibv_post_recv$op(device.handle()),
            byLibrary.queuePair.handle().address(),
            requests.first(),
            requests.refused());
    int refused = requests.refusedIndex();
    RawMemory.putLong(requests.refused(), 0);
    ChainPosting receives = Objects.requireNonNull(queues.receives());
    assertThat(receives.post(requests.first(), requests.refused())).isEqualTo(expected);
    assertThat(requests.refusedIndex()).isEqualTo(refused);
    assertThat(record(inPlace, 0)).isEqualTo(record(byLibrary, 0));
    assertSame("receive queue", receiveQueue(inPlace), receiveQueue(byLibrary));
    outstandingReceives += refused < 0 ? requests.count() : refused;
  }

  /**
   * Compares memory, block by block, apart from the numbers of the queue pairs: the numbers may
   * also be the rest of an earlier request in a block, in part.
   */
  private void assertSame(String what, byte[] written, byte[] expected) {
    for (int at = 0; at < written.length; at += RequestSegments.BLOCK) {
      for (int i = NUMBER_AT; i < NUMBER_AT + 3; i++) {
        int shift = 8 * (NUMBER_AT + 2 - i);
        if (written[at + i] == (byte) (inPlace.number >> shift)
            && expected[at + i] == (byte) (byLibrary.number >> shift)) {
          expected[at + i] = written[at + i];
        }
      }
    }
    int first = Arrays.mismatch(written, expected);
    if (first >= 0) {
      int from = first & -RequestSegments.BLOCK;
      HexFormat hex = HexFormat.ofDelimiter(" ");
      assertThat(hex.formatHex(written, from, from + RequestSegments.BLOCK))
          .as("%s, block %d, byte %d", what, from / RequestSegments.BLOCK, first - from)
          .isEqualTo(hex.formatHex(expected, from, from + RequestSegments.BLOCK));
    }
  }

  private static int record(End end, int offset) {
    return Integer.reverseBytes(RawMemory.getInt(end.memory.record() + offset));
  }

  private static byte[] sendQueue(End end) {
    return end.bytes(end.memory.sends(), (long) end.memory.sendBlocks() * RequestSegments.BLOCK);
  }

  private static byte[] receiveQueue(End end) {
    return end.bytes(
        end.memory.receives(), (long) end.memory.receiveCount() * end.memory.receiveStride());
  }

  /** Returns both halves of the register. */
  private static byte[] register(End end) {
    return end.bytes(end.memory.register(), 2L * end.memory.registerSize());
  }

  /** Polls in both ways until all requests are flushed, and compares the completions. */
  void drain() {
    int outstanding = outstandingSends + outstandingReceives;
    assertThat(ids(polledInPlace(outstanding), outstanding))
        .isEqualTo(ids(polledByLibrary(outstanding), outstanding));
    outstandingSends = 0;
    outstandingReceives = 0;
  }

  private static long[] ids(long[] ids, int count) {
    assertThat(ids).hasSize(count);
    // Sends and receives are flushed independently.
    Arrays.sort(ids);
    return ids;
  }

  private interface Poll {
    int poll(int max, long entries);
  }

  private long[] polledByLibrary(int count) {
    long op = DataPath.ibv_poll_cq$op(device.handle());
    return polled(
        byLibrary,
        count,
        (max, entries) ->
            DataPath.ibv_poll_cq(op, byLibrary.queue.handle().address(), max, entries));
  }

  private long[] polledInPlace(int count) {
    return polled(inPlace, count, (max, entries) -> polls.poll(max, entries, 0));
  }

  private static long[] polled(End end, int count, Poll poll) {
    long[] ids = new long[count];
    int done = 0;
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (done < count) {
      int polled = poll.poll(Math.min(32, count - done), end.entries.address());
      for (int i = 0; i < polled; i++) {
        long entry = end.entries.address() + i * CompletionLayout.SIZE;
        ids[done++] = RawMemory.getLong(entry + CompletionLayout.WR_ID);
      }
      if (System.nanoTime() - deadline > 0) {
        fail("%d of %d completions came within %s", done, count, PATIENCE);
      }
      Thread.onSpinWait();
    }
    return ids;
  }

  @Override
  public void close() {
    device.close();
  }
}
