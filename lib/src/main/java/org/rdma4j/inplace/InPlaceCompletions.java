package org.rdma4j.inplace;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.datapath.CompletionLayout;
import org.rdma4j.datapath.QueuePolling;
import org.rdma4j.datapath.QueueUse;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.inplace.Mlx5Objects.CompletionMemory;

/**
 * A completion queue, as {@code mlx5_poll_cq} reads it.
 *
 * <p>The queue is a ring. The adapter writes a completion and then its last byte, which says in
 * which round over the queue it was written; so the first completion with the byte of another round
 * is where the queue ends. All queue pairs of the queue are used in place, because a poll looks up
 * in their queues which request has completed.
 */
public final class InPlaceCompletions extends QueuePolling {
  /** In the record of the consumer and the doorbell of events. */
  private static final int SOLICITED_ONLY = 1 << 24;

  private static final int SEQUENCE_SHIFT = 28;

  /** The offset of the record of events. */
  private static final int EVENT_RECORD = 4;

  /** The offset of the doorbell of events in its page. */
  private static final int EVENT_DOORBELL = 0x20;

  /** In the flags of a received message: it has a global routing header. */
  private static final int GLOBAL_ROUTE = 3 << 28;

  private static final int RECEIVE = rdma_h.IBV_WC_RECV();
  private static final int RECEIVE_WRITE = rdma_h.IBV_WC_RECV_RDMA_WITH_IMM();

  private static final VarHandle CONSUMED;

  static {
    try {
      CONSUMED =
          MethodHandles.lookup().findVarHandle(InPlaceCompletions.class, "consumed", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final SpinLock lock = new SpinLock();
  private final QueueUse use;
  private final long queue;
  private final int count;
  private final long record;
  private final long doorbell;
  private final int number;

  /** How many completions were taken. Read without the lock by {@link #isEmpty}. */
  private int consumed;

  /**
   * Whether the last poll found no completion, so that the next one looks without the lock first.
   */
  private boolean wasEmpty;

  /** How many events were raised, which the adapter must receive with a request for the next. */
  private final AtomicInteger events = new AtomicInteger();

  /** The queue pairs, by their numbers: the one of a number is in a place of it or after that. */
  private @Nullable InPlaceQueuePair[] table = new InPlaceQueuePair[2];

  /** The queue pair of the completion before; one of no number at first. */
  private @Nullable InPlaceQueuePair last;

  private InPlaceCompletions(CompletionMemory memory, QueueUse use) {
    this.use = use;
    this.queue = memory.entries();
    this.count = memory.count();
    this.record = memory.record();
    this.doorbell = memory.register() + EVENT_DOORBELL;
    this.number = memory.number();
  }

  /**
   * Takes over a queue, in which there are no completions.
   *
   * @param use whether several threads poll
   * @throws IllegalArgumentException if its completions are not of the size that is known here
   */
  public static InPlaceCompletions of(InPlaceSupport support, MemorySegment queue, QueueUse use) {
    CompletionMemory memory = support.objects().completionQueue(queue);
    if (memory.stride() != CompletionEntry.SIZE) {
      throw new IllegalArgumentException(
          "completions have "
              + memory.stride()
              + " bytes, must have "
              + CompletionEntry.SIZE
              + "; start java with MLX5_CQE_SIZE=64");
    }
    return new InPlaceCompletions(memory, use);
  }

  @Override
  public int poll(int max, long entries, long rows) {
    if (wasEmpty && isEmpty()) {
      return 0;
    }
    if (!use.isShared()) {
      return takeUpTo(max, entries);
    }
    lock.lock();
    try {
      return takeUpTo(max, entries);
    } finally {
      lock.unlock();
    }
  }

  private int takeUpTo(int max, long entries) {
    return max == 1 && takeSend(entries) ? 1 : take(max, entries);
  }

  /**
   * Returns whether there is no completion, without the lock, which is most of the cost of a poll
   * that finds none. Another thread may take completions meanwhile; then the entry that was looked
   * at may be one of the next round already, so this says nothing.
   */
  private boolean isEmpty() {
    int index = (int) CONSUMED.getAcquire(this);
    return !isWritten(CompletionEntry.owner(entry(index)), index)
        && index == (int) CONSUMED.getAcquire(this);
  }

  /** Returns whether a last byte says that the adapter wrote the completion of an index. */
  private boolean isWritten(int owner, int index) {
    return CompletionEntry.kind(owner) != CompletionEntry.INVALID
        && CompletionEntry.isOfRound(owner, isOdd(index));
  }

  /**
   * Takes the first completion if it is one of a send that succeeded, of the same queue pair as the
   * completion before. Returns whether it was: otherwise {@link #take} takes it.
   */
  private boolean takeSend(long entries) {
    int index = consumed;
    long from = entry(index);
    int owner = CompletionEntry.owner(from);
    InPlaceQueuePair of = last;
    if (CompletionEntry.kind(owner) != CompletionEntry.REQUESTER
        || !CompletionEntry.isOfRound(owner, isOdd(index))
        || of == null) {
      return false;
    }
    long origin = CompletionEntry.origin(from);
    int queuePair = CompletionEntry.queuePair(origin);
    if (of.number() != queuePair) {
      return false;
    }
    long to = RawMemory.base(entries);
    putSend(from, to, origin, of);
    RawMemory.putInt(to + CompletionLayout.QP_NUM, queuePair);
    CONSUMED.setRelease(this, index + 1);
    RawMemory.putIntRelease(
        RawMemory.base(record), Integer.reverseBytes(index + 1 & CompletionEntry.NUMBER));
    wasEmpty = false;
    return true;
  }

  private int take(int max, long entries) {
    int taken = 0;
    int index = consumed;
    while (taken < max) {
      long from = entry(index);
      int owner = CompletionEntry.owner(from);
      int kind = CompletionEntry.kind(owner);
      if (kind == CompletionEntry.INVALID || !CompletionEntry.isOfRound(owner, isOdd(index))) {
        break;
      }
      index++;
      long origin = CompletionEntry.origin(from);
      int queuePair = CompletionEntry.queuePair(origin);
      InPlaceQueuePair of = last;
      if (of == null || of.number() != queuePair) {
        of = find(queuePair);
        if (of == null) {
          continue;
        }
        last = of;
      }
      long to = RawMemory.base(entries + taken * CompletionLayout.SIZE);
      if (kind == CompletionEntry.REQUESTER) {
        putSend(from, to, origin, of);
      } else if (kind <= CompletionEntry.RESPONDER_SEND_INVALIDATE) {
        putReceive(from, to, origin, of, kind);
      } else if (!putError(from, to, origin, of, kind)) {
        continue;
      }
      RawMemory.putInt(to + CompletionLayout.QP_NUM, queuePair);
      taken++;
    }
    if (index != consumed) {
      CONSUMED.setRelease(this, index);
      RawMemory.putIntRelease(
          RawMemory.base(record), Integer.reverseBytes(index & CompletionEntry.NUMBER));
    }
    wasEmpty = taken == 0;
    return taken;
  }

  private long entry(int index) {
    return RawMemory.base(queue + ((long) (index & count - 1) << CompletionEntry.SIZE_SHIFT));
  }

  /** Returns whether an index is in a round over the queue with an odd number, from 0. */
  private boolean isOdd(int index) {
    return (index & count) != 0;
  }

  private static void putSend(long from, long to, long origin, InPlaceQueuePair of) {
    int request = CompletionEntry.requestOpcode(origin);
    RawMemory.putLong(
        to + CompletionLayout.WR_ID, of.sends().complete(CompletionEntry.position(origin)));
    RawMemory.putInt(to + CompletionLayout.STATUS, CompletionLayout.SUCCESS);
    RawMemory.putInt(to + CompletionLayout.OPCODE, CompletionEntry.opcode(request));
    RawMemory.putInt(to + CompletionLayout.WC_FLAGS, 0);
    if (request != RequestSegments.SEND && request != RequestSegments.RDMA_WRITE) {
      putSendDetails(from, to, request);
    }
  }

  private static void putSendDetails(long from, long to, int request) {
    switch (request) {
      case RequestSegments.RDMA_READ ->
          RawMemory.putInt(to + CompletionLayout.BYTE_LEN, CompletionEntry.byteCount(from));
      case RequestSegments.COMPARE_AND_SWAP, RequestSegments.FETCH_AND_ADD ->
          RawMemory.putInt(to + CompletionLayout.BYTE_LEN, Long.BYTES);
      case RequestSegments.SEND_IMMEDIATE, RequestSegments.RDMA_WRITE_IMMEDIATE ->
          RawMemory.putInt(to + CompletionLayout.WC_FLAGS, CompletionLayout.WITH_IMM);
      default -> {}
    }
  }

  private static void putReceive(long from, long to, long origin, InPlaceQueuePair of, int kind) {
    RawMemory.putLong(
        to + CompletionLayout.WR_ID, of.completeReceive(CompletionEntry.position(origin)));
    RawMemory.putInt(to + CompletionLayout.STATUS, CompletionLayout.SUCCESS);
    RawMemory.putInt(to + CompletionLayout.BYTE_LEN, CompletionEntry.byteCount(from));
    RawMemory.putInt(
        to + CompletionLayout.OPCODE,
        kind == CompletionEntry.RESPONDER_WRITE_IMMEDIATE ? RECEIVE_WRITE : RECEIVE);
    int immediate = CompletionEntry.immediate(from);
    int flags = 0;
    if (kind != CompletionEntry.RESPONDER_SEND) {
      boolean isKey = kind == CompletionEntry.RESPONDER_SEND_INVALIDATE;
      flags = isKey ? CompletionLayout.WITH_INV : CompletionLayout.WITH_IMM;
      RawMemory.putInt(
          to + CompletionLayout.IMM_DATA, isKey ? Integer.reverseBytes(immediate) : immediate);
    }
    int source = CompletionEntry.flagsAndSource(from);
    RawMemory.putInt(
        to + CompletionLayout.WC_FLAGS,
        (source & GLOBAL_ROUTE) == 0 ? flags : flags | CompletionLayout.GRH);
    RawMemory.putInt(to + CompletionLayout.SRC_QP, source & CompletionEntry.NUMBER);
    RawMemory.putByte(to + CompletionLayout.SL, (byte) (source >> 24 & 0xf));
    RawMemory.putShort(to + CompletionLayout.SLID, CompletionEntry.sourceLid(from));
    RawMemory.putByte(
        to + CompletionLayout.DLID_PATH_BITS, (byte) (CompletionEntry.path(from) & 0x7f));
    RawMemory.putShort(to + CompletionLayout.PKEY_INDEX, (short) Integer.reverseBytes(immediate));
  }

  /** Returns whether the completion is one for the program. */
  private static boolean putError(long from, long to, long origin, InPlaceQueuePair of, int kind) {
    if (kind < CompletionEntry.REQUESTER_ERROR) {
      // The adapter writes no other kinds for such queue pairs.
      return false;
    }
    int position = CompletionEntry.position(origin);
    InPlaceSharedReceives shared = of.shared();
    if (kind == CompletionEntry.RESPONDER_ERROR
        && shared != null
        && CompletionEntry.isPageFault(from)) {
      shared.repost(position);
      return false;
    }
    RawMemory.putLong(
        to + CompletionLayout.WR_ID,
        kind == CompletionEntry.REQUESTER_ERROR
            ? of.sends().complete(position)
            : of.completeReceive(position));
    RawMemory.putInt(to + CompletionLayout.STATUS, CompletionEntry.status(from));
    RawMemory.putInt(to + CompletionLayout.VENDOR_ERR, CompletionEntry.vendorSyndrome(from));
    RawMemory.putInt(to + CompletionLayout.WC_FLAGS, 0);
    return true;
  }

  /**
   * Requests an event for the next completion, as {@code mlx5_arm_cq} does.
   *
   * @param solicitedOnly whether only for a solicited or failed one
   */
  public void requestEvent(boolean solicitedOnly) {
    int request =
        (events.get() & 3) << SEQUENCE_SHIFT
            | (solicitedOnly ? SOLICITED_ONLY : 0)
            | (consumed & CompletionEntry.NUMBER);
    RawMemory.exchangeInt(RawMemory.base(record) + EVENT_RECORD, Integer.reverseBytes(request));
    RawMemory.putLongRelease(
        RawMemory.base(doorbell),
        Long.reverseBytes((long) request << 32 | Integer.toUnsignedLong(number)));
    VarHandle.fullFence();
  }

  /** Records that an event was raised, as {@code mlx5_cq_event} does. */
  public void countEvent() {
    events.incrementAndGet();
  }

  /** Adds a queue pair that completes here. */
  public void add(InPlaceQueuePair added) {
    change(
        () -> {
          List<InPlaceQueuePair> all = all();
          if (!all.contains(added)) {
            all.add(added);
            table = tableOf(all);
          }
        });
  }

  /**
   * Removes a queue pair, and its completions that were not polled. To be called after the queue
   * pair was destroyed.
   */
  public void remove(InPlaceQueuePair removed) {
    change(
        () -> {
          forgetAll(removed);
          List<InPlaceQueuePair> all = all();
          all.remove(removed);
          table = tableOf(all);
          last = null;
        });
  }

  /**
   * Removes the completions of a queue pair that were not polled. To be called after the queue pair
   * was reset.
   */
  public void forget(InPlaceQueuePair forgotten) {
    change(() -> forgetAll(forgotten));
  }

  private void change(Runnable change) {
    use.whileShared(
        () -> {
          lock.lock();
          try {
            change.run();
          } finally {
            lock.unlock();
          }
        });
  }

  private void forgetAll(InPlaceQueuePair forgotten) {
    for (int index = consumed; index - consumed < count; index++) {
      long entry = entry(index);
      int owner = CompletionEntry.owner(entry);
      if (!isWritten(owner, index)) {
        return;
      }
      int kind = CompletionEntry.kind(owner);
      long origin = CompletionEntry.origin(entry);
      if (CompletionEntry.queuePair(origin) == forgotten.number()) {
        InPlaceSharedReceives shared = forgotten.shared();
        boolean isReceive =
            kind != CompletionEntry.REQUESTER && kind != CompletionEntry.REQUESTER_ERROR;
        if (shared != null && isReceive) {
          var unused = shared.complete(CompletionEntry.position(origin));
        }
        CompletionEntry.forget(entry);
      }
    }
  }

  private List<InPlaceQueuePair> all() {
    List<InPlaceQueuePair> all = new ArrayList<>();
    for (InPlaceQueuePair each : table) {
      if (each != null) {
        all.add(each);
      }
    }
    return all;
  }

  /** At most half of the places are used, so each search ends at a free one. */
  private static @Nullable InPlaceQueuePair[] tableOf(List<InPlaceQueuePair> all) {
    @Nullable InPlaceQueuePair[] made =
        new InPlaceQueuePair[2 * Integer.highestOneBit(2 * all.size() + 1)];
    for (InPlaceQueuePair each : all) {
      int place = each.number() & made.length - 1;
      while (made[place] != null) {
        place = place + 1 & made.length - 1;
      }
      made[place] = each;
    }
    return made;
  }

  private @Nullable InPlaceQueuePair find(int number) {
    @Nullable InPlaceQueuePair[] all = table;
    int place = number & all.length - 1;
    InPlaceQueuePair found = all[place];
    while (found != null && found.number() != number) {
      place = place + 1 & all.length - 1;
      found = all[place];
    }
    return found;
  }
}
