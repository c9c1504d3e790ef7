package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_wc;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.CompletionLayout;
import org.rdma4j.datapath.ExtendedPolling;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.PollPause;
import org.rdma4j.datapath.QueuePolling;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NetworkOrder;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.Spin;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/**
 * A batch of polled work completions, {@code struct ibv_wc}, which are read in place. A work
 * completion reports that a work request has ended, and how. {@link #poll} takes completions from
 * the completion queue without waiting, {@link #await} waits for one:
 *
 * <pre>{@code
 * Completions completions = completionQueue.completions(16);
 * int polled = completions.poll();
 * for (int i = 0; i < polled; i++) {
 *   completions.requireSuccess(i);
 *   handle(completions.workRequestId(i), completions.byteLength(i));
 * }
 * }</pre>
 *
 * <p>Each poll replaces the completions of the poll before it. Until then, any thread can read
 * them, also after the completion queue is closed. The methods that read take the index of a
 * completion, from 0 to {@link #size} - 1.
 *
 * <p>No method allocates, except {@link #await}, {@link #pollBeforeWait} and {@link #sourceGid}.
 * Only one thread may poll: the first thread that does, until it calls {@link #release}. A poll by
 * another thread throws IllegalStateException, as does a poll after the completion queue was
 * closed. If the queue is closed during a poll, the close waits until the poll returns.
 *
 * @see CompletionQueue#completions
 * @see CompletionStatus
 * @see CompletionOpcode
 * @see SendRequests
 * @see ReceiveRequests
 */
// Users cannot name the superclass, nor call it: its members are protected, and this is final.
public final class Completions extends HotCall {
  /** The result of a poll that was not made, because polls are paused. */
  private static final int PAUSED = Integer.MIN_VALUE;

  /** No limit in addition to that of {@link Spin}. */
  private static final long LONGEST_SPIN_NANOS = 1_000_000_000;

  private final CompletionQueue queue;
  private final int max;

  /** The native memory of the completions; referred to so that it stays allocated. */
  private final MemorySegment memory;

  private final long entries;
  private final @Nullable QueuePolling polling;
  private final @Nullable PollPause pause;

  /** The fields that only an extended completion queue has, one row for each completion. */
  private final MemorySegment rows;

  private final long rowsAddress;

  private final Spin spin = new Spin();

  private int count;

  Completions(CompletionQueue queue, int max, HotCalls polls) {
    super(
        new Target(
            polls,
            "Completions",
            queue.device().callsCritically(),
            queue.polling() == null ? DataPath.ibv_poll_cq$op(queue.device().context()) : 0,
            queue.queue()));
    this.queue = queue;
    this.max = max;
    this.memory = Arena.ofAuto().allocate(CompletionLayout.SIZE * max, 64);
    this.entries = memory.address();
    this.polling = queue.polling();
    this.pause = queue.pause();
    this.rows =
        queue.isExtended()
            ? Arena.ofAuto().allocate(ExtendedPolling.ROW * max, 64)
            : MemorySegment.NULL;
    this.rowsAddress = rows.address();
    for (int i = 0; i < max; i++) {
      // Polls overwrite this, unless the queue is an extended one without the flags.
      RawMemory.putInt(
          entries + i * CompletionLayout.SIZE + CompletionLayout.WC_FLAGS,
          CompletionLayout.NO_FLAGS);
    }
  }

  /**
   * Takes completions from the queue: {@code ibv_poll_cq}. They replace those of the last poll.
   * This method does not wait.
   *
   * @return the number of completions, from 0 to the maximum that this batch was created with
   * @throws IllegalStateException if the queue is closed, or another thread owns this batch
   * @throws RdmaException if the poll fails, for example because the queue has overrun
   */
  public int poll() {
    int polled = poll(max, entries);
    if (polled < 0) {
      polled = pollAfterPause(polled, max);
    }
    count = polled;
    return polled;
  }

  /**
   * Takes a limited number of completions from the queue, as {@link #poll()} does.
   *
   * @param most the maximum number, from 1 to that of this batch
   * @return the number of completions, from 0 to that maximum
   * @throws IllegalArgumentException if the maximum is out of range
   * @throws IllegalStateException if the queue is closed, or another thread owns this batch
   * @throws RdmaException if the poll fails, for example because the queue has overrun
   */
  public int poll(int most) {
    int polled = poll(Range.check("most", most, 1, max), entries);
    if (polled < 0) {
      polled = pollAfterPause(polled, most);
    }
    count = polled;
    return polled;
  }

  private int pollAfterPause(int result, int most) {
    int polled = result;
    while (polled == PAUSED) {
      Objects.requireNonNull(pause).awaitEnd();
      polled = poll(most, entries);
    }
    if (polled < 0) {
      throw new RdmaException("ibv_poll_cq of " + queue, 0, "");
    }
    return polled;
  }

  /**
   * Takes completions from the queue, and if there are none waits until there are: {@code
   * ibv_req_notify_cq}, {@code ibv_get_cq_event}. They replace those of the last poll. The
   * completion queue needs a completion channel that no other queue uses, because events of other
   * queues are dropped.
   *
   * <p>A platform thread polls for up to 1 ms before it sleeps. After several waits in a row that
   * took longer it polls less often, at the least in every 65th wait. At any time, the number of
   * threads that poll in this way is at most half the number of processors.
   *
   * @param timeout the maximum time to wait
   * @return the number of completions; 0 if none came within that time
   * @throws InterruptedException if the thread is interrupted while it waits; it notices the
   *     interrupt within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the queue or its channel is closed, also while waiting, the
   *     queue has no channel, or another thread owns this batch
   * @throws RdmaException if the poll fails, for example because the queue has overrun
   */
  public int await(Duration timeout) throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    CompletionChannel channel = channel();
    boolean hasEvent = false;
    while (true) {
      int polled = poll();
      if (polled == 0) {
        polled = spin.until(deadline.end(), this::poll);
      }
      if (polled != 0) {
        // The event stays in the channel until a thread finds no completion: there may be more of
        // them than this thread has taken, and it may not come back soon.
        return polled;
      }
      if (hasEvent) {
        channel.awaitEvent(Duration.ZERO);
      }
      int eventsTaken = queue.eventsTaken();
      polled = pollAfterRequest();
      if (polled != 0) {
        return polled;
      }
      hasEvent =
          channel.awaitReady(
              deadline.remaining(), queue.lifetime(), () -> queue.eventsTaken() != eventsTaken);
      if (!hasEvent && deadline.isOver()) {
        return poll();
      }
    }
  }

  /**
   * Takes completions from the queue, and if there are none requests an event: {@code
   * ibv_req_notify_cq}. They replace those of the last poll. It is for a thread that waits for
   * other things too, in a {@link org.rdma4j.cm.ChannelSet} or with poll or epoll of its own, and
   * does all of {@link #await} but the wait: a platform thread polls for up to 1 ms first, and an
   * event of an earlier request is taken from the channel. If this returns 0, the next completion
   * raises an event, which makes the {@linkplain CompletionQueue#channel channel} ready:
   *
   * <pre>{@code
   * int polled = completions.pollBeforeWait();
   * if (polled == 0 && channels.awaitReady(timeout)) {
   *   polled = completions.poll();
   * }
   * }</pre>
   *
   * <p>This method does not wait for an event and ignores interrupts. The completion queue needs a
   * completion channel that no other queue uses, because events of other queues are dropped.
   *
   * @return the number of completions; 0 if there were none, and an event is requested
   * @throws IllegalStateException if the queue or its channel is closed, the queue has no channel,
   *     or another thread owns this batch
   * @throws RdmaException if the poll or the request fails
   */
  public int pollBeforeWait() {
    CompletionChannel channel = channel();
    int polled = poll();
    if (polled == 0) {
      polled = spin.until(System.nanoTime() + LONGEST_SPIN_NANOS, this::poll);
    }
    if (polled != 0) {
      return polled;
    }
    if (!queue.isNotified()) {
      channel.pollEvent();
    }
    return pollAfterRequest();
  }

  private CompletionChannel channel() {
    return queue
        .channel()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    queue + " has no completion channel; create it with one, or call poll"));
  }

  private int pollAfterRequest() {
    // Request no second event: the event of an earlier request may still come, even if its
    // completion has been polled.
    if (queue.isNotified()) {
      queue.requestNotification(false);
    }
    // A completion that arrived between the last poll and the request caused no event.
    return poll();
  }

  /**
   * Returns the number of completions that the last poll took from the queue.
   *
   * @return the number of completions
   */
  public int size() {
    return count;
  }

  /**
   * Returns the id of the request that completed.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the id that the request was posted with
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public long workRequestId(int index) {
    return RawMemory.getLong(entry(index) + CompletionLayout.WR_ID);
  }

  /**
   * Returns whether the request succeeded.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return true if the status is SUCCESS
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isSuccess(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.STATUS) == CompletionLayout.SUCCESS;
  }

  /**
   * Returns how the request ended. If the status is not SUCCESS, only the id of the request, the
   * number of the queue pair and the vendor's error code are valid as well.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the status
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public CompletionStatus status(int index) {
    return Codes.status(RawMemory.getInt(entry(index) + CompletionLayout.STATUS));
  }

  /**
   * Returns the kind of operation that completed.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the opcode; DRIVER1 if rdma4j does not know it
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public CompletionOpcode opcode(int index) {
    return Codes.opcode(RawMemory.getInt(entry(index) + CompletionLayout.OPCODE));
  }

  /**
   * Returns the provider's own error code.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code vendor_err}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int vendorError(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.VENDOR_ERR);
  }

  /**
   * Returns the number of bytes that were received or read. It is not valid for sends.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the number of bytes, 0 to 4 GiB - 1
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public long byteLength(int index) {
    return Integer.toUnsignedLong(RawMemory.getInt(entry(index) + CompletionLayout.BYTE_LEN));
  }

  /**
   * Returns whether the message carried immediate data.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return true if {@code IBV_WC_WITH_IMM} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean hasImmediate(int index) {
    return (flags(index) & CompletionLayout.WITH_IMM) != 0;
  }

  /**
   * Returns the immediate data of the message. It is valid only if {@link #hasImmediate} returns
   * true.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the number that the sender passed, {@code ntohl(imm_data)} in C
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int immediate(int index) {
    return NetworkOrder.of(RawMemory.getInt(entry(index) + CompletionLayout.IMM_DATA));
  }

  /**
   * Returns the number of the queue pair whose request completed.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the queue pair number, {@code qp_num}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int queuePairNumber(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.QP_NUM);
  }

  /**
   * Returns the number of the queue pair that sent the datagram.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the queue pair number, {@code src_qp}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int sourceQueuePairNumber(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.SRC_QP);
  }

  /**
   * Returns whether the first 40 bytes of the received datagram are its {@link
   * GlobalRoutingHeader}.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return true if {@code IBV_WC_GRH} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean hasGlobalRoutingHeader(int index) {
    return (flags(index) & CompletionLayout.GRH) != 0;
  }

  /**
   * Returns whether the message was sent with invalidate and invalidated a key of this side.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return true if {@code IBV_WC_WITH_INV} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean hasInvalidatedKey(int index) {
    return (flags(index) & CompletionLayout.WITH_INV) != 0;
  }

  /**
   * Returns the key that the message invalidated. It is valid only if {@link #hasInvalidatedKey}
   * returns true.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the remote key, {@code invalidated_rkey}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int invalidatedKey(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.IMM_DATA);
  }

  /**
   * Returns whether the device found the checksums of IP, TCP and UDP of a raw packet to be
   * correct.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return true if {@code IBV_WC_IP_CSUM_OK} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isChecksumOk(int index) {
    return (flags(index) & CompletionLayout.CSUM_OK) != 0;
  }

  /**
   * Returns the index of the partition key of the received datagram. It is valid only on special
   * queue pairs.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code pkey_index}, 0 to 65535
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int partitionKeyIndex(int index) {
    return Short.toUnsignedInt(RawMemory.getShort(entry(index) + CompletionLayout.PKEY_INDEX));
  }

  /**
   * Returns the local identifier (LID) that the datagram came from, on InfiniBand; on EFA, the
   * {@link AddressHandle#number} of the address handle for the sender, 65535 if there is none.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code slid}, 0 to 65535
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int sourceLid(int index) {
    return Short.toUnsignedInt(RawMemory.getShort(entry(index) + CompletionLayout.SLID));
  }

  /**
   * Returns the address of the sender of a message, if the protection domain of the receiving queue
   * pair has no address handle for it; of others, {@link #sourceLid} is the {@link
   * AddressHandle#number} of that handle. The completion queue must be an extended one with {@link
   * CompletionField#SOURCE_GID}. This method allocates.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code efadv_wc_read_sgid}; empty if the sender is known, or the completion is that of
   *     a send or of a failed request
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the completion queue is not extended
   */
  public Optional<Gid> sourceGid(int index) {
    long row = row(index);
    return isSuccess(index)
            && rows.get(ValueLayout.JAVA_INT, row + ExtendedPolling.HAS_SOURCE_GID) != 0
        ? Optional.of(Gid.read(rows.asSlice(row + ExtendedPolling.SOURCE_GID)))
        : Optional.empty();
  }

  /**
   * Returns the service level of the received datagram, on InfiniBand.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code sl}, 0 to 15
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int serviceLevel(int index) {
    return RawMemory.getByte(entry(index) + CompletionLayout.SL);
  }

  /**
   * Returns the path bits of the local identifier that the datagram was sent to, on InfiniBand:
   * they say which of the port's identifiers it was.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code dlid_path_bits}, 0 to 127
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int destinationLidPathBits(int index) {
    return RawMemory.getByte(entry(index) + CompletionLayout.DLID_PATH_BITS);
  }

  /**
   * Returns when the device completed the request, by its own clock. The completion queue must be
   * an extended one with {@link CompletionField#TIMESTAMP}.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code ibv_wc_read_completion_ts}, in ticks of the device's clock
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the completion queue is not extended
   */
  public long timestamp(int index) {
    return rows.get(ValueLayout.JAVA_LONG, row(index) + ExtendedPolling.TIMESTAMP);
  }

  /**
   * Returns when the device completed the request, by the wall clock. The completion queue must be
   * an extended one with {@link CompletionField#WALL_CLOCK}.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code ibv_wc_read_completion_wallclock_ns}, in nanoseconds since 1970
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the completion queue is not extended
   */
  public long wallClock(int index) {
    return rows.get(ValueLayout.JAVA_LONG, row(index) + ExtendedPolling.WALL_CLOCK);
  }

  /**
   * Returns the VLAN of the received packet. The completion queue must be an extended one with
   * {@link CompletionField#VLAN}.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code ibv_wc_read_cvlan}, 0 to 65535
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the completion queue is not extended
   */
  public int vlan(int index) {
    return rows.get(ValueLayout.JAVA_INT, row(index) + ExtendedPolling.VLAN);
  }

  /**
   * Returns the tag of the flow rule that the packet matched. The completion queue must be an
   * extended one with {@link CompletionField#FLOW_TAG}.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code ibv_wc_read_flow_tag}
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the completion queue is not extended
   */
  public int flowTag(int index) {
    return rows.get(ValueLayout.JAVA_INT, row(index) + ExtendedPolling.FLOW_TAG);
  }

  /**
   * Returns the tag of the message. The completion queue must be an extended one with {@link
   * CompletionField#TAG}, and the opcode must be TAG_MATCHING_RECEIVE.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code tag} of {@code ibv_wc_read_tm_info}
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the completion queue is not extended
   */
  public long tag(int index) {
    return rows.get(ValueLayout.JAVA_LONG, row(index) + ExtendedPolling.TAG);
  }

  /**
   * Returns the private data that the sender added to the tag of the message. It is valid only if
   * {@link #tag} is.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code priv} of {@code ibv_wc_read_tm_info}
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the completion queue is not extended
   */
  public int tagPrivateData(int index) {
    return rows.get(ValueLayout.JAVA_INT, row(index) + ExtendedPolling.TAG_PRIVATE);
  }

  /**
   * Returns whether the message matched a tagged receive.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return true if {@code IBV_WC_TM_MATCH} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isTagMatched(int index) {
    return (flags(index) & CompletionLayout.TM_MATCH) != 0;
  }

  /**
   * Returns whether the memory of the receive contains the whole message.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return true if {@code IBV_WC_TM_DATA_VALID} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isTaggedDataValid(int index) {
    return (flags(index) & CompletionLayout.TM_DATA_VALID) != 0;
  }

  /**
   * Returns whether the device has stopped matching tags until the program calls {@link
   * TagOperations#synchronize}, which says how many messages were not matched.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return true if {@code IBV_WC_TM_SYNC_REQ} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isTagSynchronizationWanted(int index) {
    return (flags(index) & CompletionLayout.TM_SYNC_REQ) != 0;
  }

  private int flags(int index) {
    int flags = RawMemory.getInt(entry(index) + CompletionLayout.WC_FLAGS);
    if (flags == CompletionLayout.NO_FLAGS) {
      throw new IllegalStateException(
          queue + " does not read the flags of completions; create it with CompletionField.FLAGS");
    }
    return flags;
  }

  private long row(int index) {
    if (!queue.isExtended()) {
      throw new IllegalStateException(
          queue + " is not extended; create it with CompletionQueueConfig.extended");
    }
    return Objects.checkIndex(index, count) * ExtendedPolling.ROW;
  }

  @Override
  protected int pollExtended(int max, long completions) {
    if (polling == null) {
      return super.pollExtended(max, completions);
    }
    return pause != null && pause.isPaused() ? PAUSED : polling.poll(max, completions, rowsAddress);
  }

  /** Returns a copy of the completion. */
  MemorySegment copy(int index, Arena arena) {
    return arena
        .allocate(ibv_wc.layout())
        .copyFrom(memory.asSlice(entry(index) - entries, CompletionLayout.SIZE));
  }

  /**
   * Throws an exception if the request did not succeed.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @throws WorkCompletionException if its status is not SUCCESS
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public void requireSuccess(int index) {
    if (!isSuccess(index)) {
      throw new WorkCompletionException(
          status(index), vendorError(index), workRequestId(index), queuePairNumber(index));
    }
  }

  /**
   * Ends the ownership of this batch by the current thread. The next thread that polls becomes its
   * owner.
   *
   * @throws IllegalStateException if the queue is closed, or another thread owns this batch
   */
  public void release() {
    releaseOwnership();
  }

  private long entry(int index) {
    return RawMemory.base(entries + Objects.checkIndex(index, count) * CompletionLayout.SIZE);
  }

  /**
   * The enum constants, indexed by their values. The values begin at 0; those of the opcodes have a
   * gap.
   */
  private static final class Codes {
    private static final CompletionStatus[] STATUSES = new CompletionStatus[32];
    private static final CompletionOpcode[] OPCODES = new CompletionOpcode[256];

    static {
      for (int i = 0; i < STATUSES.length; i++) {
        STATUSES[i] = NativeConstants.of(CompletionStatus.class, i, CompletionStatus.GENERAL_ERROR);
      }
      for (int i = 0; i < OPCODES.length; i++) {
        OPCODES[i] = NativeConstants.of(CompletionOpcode.class, i, CompletionOpcode.DRIVER1);
      }
    }

    static CompletionStatus status(int value) {
      return value >= 0 && value < STATUSES.length
          ? STATUSES[value]
          : CompletionStatus.GENERAL_ERROR;
    }

    static CompletionOpcode opcode(int value) {
      return value >= 0 && value < OPCODES.length ? OPCODES[value] : CompletionOpcode.DRIVER1;
    }
  }
}
