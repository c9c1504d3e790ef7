package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_wc;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.CompletionLayout;
import org.rdma4j.datapath.ExtendedPolling;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NetworkOrder;
import org.rdma4j.platform.Spin;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/**
 * Room for polled work completions, {@code struct ibv_wc}, read in place:
 *
 * <pre>{@code
 * int polled = completions.poll();
 * for (int i = 0; i < polled; i++) {
 *   completions.requireSuccess(i);
 *   handle(completions.workRequestId(i), completions.byteLength(i));
 * }
 * }</pre>
 *
 * <p>Nothing here but {@link #await} allocates. Polling belongs to the first thread that polls,
 * until that calls {@link #release}: a poll by another throws IllegalStateException, as does one
 * after the completion queue was closed; a close in the middle of a poll waits until that returns.
 * What was polled can be read by any thread, also after the queue was closed, until the next poll.
 */
// Users cannot name the superclass, nor call it: its members are protected, and this is final.
@SuppressWarnings("exports")
public final class Completions extends HotCall {
  private final CompletionQueue queue;
  private final int max;

  /** Keeps the native memory for as long as this lives. */
  private final MemorySegment memory;

  private final long entries;
  private final @Nullable ExtendedPolling extended;

  /** What an extended queue tells beside. */
  private final MemorySegment rows;

  private final Spin spin = new Spin();

  private int count;

  Completions(CompletionQueue queue, int max, HotCalls polls) {
    super(
        new Target(
            polls,
            "Completions",
            queue.device().callStyle().isCritical(),
            queue.extended() == null ? DataPath.ibv_poll_cq$op(queue.device().context()) : 0,
            queue.queue()));
    this.queue = queue;
    this.max = max;
    this.memory = Arena.ofAuto().allocate(CompletionLayout.SIZE * max, 64);
    this.entries = memory.address();
    this.extended = queue.extended();
    this.rows =
        extended == null
            ? MemorySegment.NULL
            : Arena.ofAuto().allocate(ExtendedPolling.ROW * max, 64);
  }

  /**
   * Takes completions off the queue, {@code ibv_poll_cq}, in place of those polled before. It does
   * not wait.
   *
   * @return how many there were, 0 to the most this has room for
   * @throws IllegalStateException if the queue is closed, or another thread owns this batch
   * @throws RdmaException if the poll fails, as on a queue that overran
   */
  public int poll() {
    int polled = poll(max, entries);
    if (polled < 0) {
      throw new RdmaException("ibv_poll_cq of " + queue, 0, "");
    }
    count = polled;
    return polled;
  }

  /**
   * Takes completions off the queue, in place of those polled before, and where there are none
   * waits until there are: {@code ibv_req_notify_cq}, {@code ibv_get_cq_event}. For a queue with a
   * channel of its own: events of other queues on the channel are dropped.
   *
   * <p>A platform thread polls for up to 200 us before it sleeps, as long as that is worth it:
   * after waits that took longer it does so more and more seldom, down to each 65th time. Of all
   * threads of the JVM at most half as many do so at a time as there are processors.
   *
   * @param timeout how long to wait at most
   * @return how many there were; 0 where none came within that time
   * @throws InterruptedException if the thread is interrupted while it waits, which it notices
   *     within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the queue or its channel is closed, also while waiting, the
   *     queue has no channel, or another thread owns this batch
   * @throws RdmaException if the poll fails, as on a queue that overran
   */
  public int await(Duration timeout) throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    CompletionChannel channel =
        queue
            .channel()
            .orElseThrow(() -> new IllegalStateException(queue + " has no completion channel"));
    while (true) {
      int polled = poll();
      if (polled == 0) {
        polled = spin.until(deadline.end(), this::poll);
      }
      if (polled != 0) {
        return polled;
      }
      // One that was asked for earlier may come, or have come, after its completion was polled.
      if (queue.isNotified()) {
        queue.requestNotification(false);
        // What arrived between the poll and the request has raised no event.
        polled = poll();
        if (polled != 0) {
          return polled;
        }
      }
      if (channel.awaitEvent(deadline.remaining()).isEmpty()) {
        return 0;
      }
    }
  }

  /**
   * How many completions the last poll took.
   *
   * @return the number
   */
  public int size() {
    return count;
  }

  /**
   * The id of the request that completed.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the id that it was posted with
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public long workRequestId(int index) {
    return RawMemory.getLong(entry(index) + CompletionLayout.WR_ID);
  }

  /**
   * Whether the request succeeded.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether its status is SUCCESS
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isSuccess(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.STATUS) == CompletionLayout.SUCCESS;
  }

  /**
   * How the request ended. Where it did not end in SUCCESS, only its id, the queue pair's number
   * and the vendor's error mean anything besides.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the status
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public CompletionStatus status(int index) {
    return Codes.status(RawMemory.getInt(entry(index) + CompletionLayout.STATUS));
  }

  /**
   * What the completion completes.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the opcode; DRIVER1 where the library knows one that this does not
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public CompletionOpcode opcode(int index) {
    return Codes.opcode(RawMemory.getInt(entry(index) + CompletionLayout.OPCODE));
  }

  /**
   * The provider's own code of what went wrong.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code vendor_err}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int vendorError(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.VENDOR_ERR);
  }

  /**
   * How many bytes were received, or read. Of sends it says nothing.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the length in bytes, 0 to 4 GiB - 1
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public long byteLength(int index) {
    return Integer.toUnsignedLong(RawMemory.getInt(entry(index) + CompletionLayout.BYTE_LEN));
  }

  /**
   * Whether the message carried immediate data.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether {@code IBV_WC_WITH_IMM} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean hasImmediate(int index) {
    return (RawMemory.getInt(entry(index) + CompletionLayout.WC_FLAGS) & CompletionLayout.WITH_IMM)
        != 0;
  }

  /**
   * The immediate data of the message, where it {@link #hasImmediate has} any.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the number that the sender gave, {@code ntohl(imm_data)} in C
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int immediate(int index) {
    return NetworkOrder.of(RawMemory.getInt(entry(index) + CompletionLayout.IMM_DATA));
  }

  /**
   * The queue pair whose request completed.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return its number
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int queuePairNumber(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.QP_NUM);
  }

  /**
   * The queue pair that sent the datagram.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return its number, {@code src_qp}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int sourceQueuePairNumber(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.SRC_QP);
  }

  /**
   * Whether the first 40 bytes of the received datagram are its {@link GlobalRoutingHeader}.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether {@code IBV_WC_GRH} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean hasGlobalRoutingHeader(int index) {
    return (RawMemory.getInt(entry(index) + CompletionLayout.WC_FLAGS) & CompletionLayout.GRH) != 0;
  }

  /**
   * Whether the message, sent with invalidation, invalidated a key of this side.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether {@code IBV_WC_WITH_INV} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean hasInvalidatedKey(int index) {
    return (RawMemory.getInt(entry(index) + CompletionLayout.WC_FLAGS) & CompletionLayout.WITH_INV)
        != 0;
  }

  /**
   * The key that the message invalidated, where it {@link #hasInvalidatedKey has} one.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the remote key, {@code invalidated_rkey}
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int invalidatedKey(int index) {
    return RawMemory.getInt(entry(index) + CompletionLayout.IMM_DATA);
  }

  /**
   * Whether the device found the checksums of IP, TCP and UDP of a raw packet right.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether {@code IBV_WC_IP_CSUM_OK} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isChecksumOk(int index) {
    return (RawMemory.getInt(entry(index) + CompletionLayout.WC_FLAGS) & CompletionLayout.CSUM_OK)
        != 0;
  }

  /**
   * The index of the partition key of the received datagram, on special queue pairs only.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code pkey_index}, 0 to 65535
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int partitionKeyIndex(int index) {
    return Short.toUnsignedInt(RawMemory.getShort(entry(index) + CompletionLayout.PKEY_INDEX));
  }

  /**
   * The local identifier that the datagram came from, on InfiniBand.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code slid}, 0 to 65535
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int sourceLid(int index) {
    return Short.toUnsignedInt(RawMemory.getShort(entry(index) + CompletionLayout.SLID));
  }

  /**
   * The service level of the received datagram, on InfiniBand.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code sl}, 0 to 15
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int serviceLevel(int index) {
    return RawMemory.getByte(entry(index) + CompletionLayout.SL);
  }

  /**
   * Which of the port's local identifiers the datagram was sent to, on InfiniBand.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code dlid_path_bits}, 0 to 127
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public int destinationLidPathBits(int index) {
    return RawMemory.getByte(entry(index) + CompletionLayout.DLID_PATH_BITS);
  }

  /**
   * When the device completed the request, where an extended queue was asked for TIMESTAMP.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code ibv_wc_read_completion_ts}, in ticks of the device's clock
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the queue is not an extended one
   */
  public long timestamp(int index) {
    return rows.get(ValueLayout.JAVA_LONG, row(index) + ExtendedPolling.TIMESTAMP);
  }

  /**
   * When the device completed the request, where an extended queue was asked for WALL_CLOCK.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code ibv_wc_read_completion_wallclock_ns}, in nanoseconds since 1970
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the queue is not an extended one
   */
  public long wallClock(int index) {
    return rows.get(ValueLayout.JAVA_LONG, row(index) + ExtendedPolling.WALL_CLOCK);
  }

  /**
   * The VLAN that the packet came by, where an extended queue was asked for VLAN.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code ibv_wc_read_cvlan}, 0 to 65535
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the queue is not an extended one
   */
  public int vlan(int index) {
    return rows.get(ValueLayout.JAVA_INT, row(index) + ExtendedPolling.VLAN);
  }

  /**
   * The tag of the flow rule that the packet met, where an extended queue was asked for FLOW_TAG.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code ibv_wc_read_flow_tag}
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the queue is not an extended one
   */
  public int flowTag(int index) {
    return rows.get(ValueLayout.JAVA_INT, row(index) + ExtendedPolling.FLOW_TAG);
  }

  /**
   * The tag of the message, where an extended queue was asked for TAG and the opcode is
   * TAG_MATCHING_RECEIVE.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code tag} of {@code ibv_wc_read_tm_info}
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the queue is not an extended one
   */
  public long tag(int index) {
    return rows.get(ValueLayout.JAVA_LONG, row(index) + ExtendedPolling.TAG);
  }

  /**
   * What the sender added to the tag of the message, where {@link #tag} is there.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code priv} of {@code ibv_wc_read_tm_info}
   * @throws IndexOutOfBoundsException if there is no such completion
   * @throws IllegalStateException if the queue is not an extended one
   */
  public int tagPrivateData(int index) {
    return rows.get(ValueLayout.JAVA_INT, row(index) + ExtendedPolling.TAG_PRIVATE);
  }

  /**
   * Whether the message was matched to a tagged receive.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether {@code IBV_WC_TM_MATCH} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isTagMatched(int index) {
    return (RawMemory.getInt(entry(index) + CompletionLayout.WC_FLAGS) & CompletionLayout.TM_MATCH)
        != 0;
  }

  /**
   * Whether all of the message is in the memory of its receive.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether {@code IBV_WC_TM_DATA_VALID} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isTaggedDataValid(int index) {
    return (RawMemory.getInt(entry(index) + CompletionLayout.WC_FLAGS)
            & CompletionLayout.TM_DATA_VALID)
        != 0;
  }

  /**
   * Whether the device matches no more until it is told of the messages that were not matched, see
   * {@link TagOperations#synchronize}.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether {@code IBV_WC_TM_SYNC_REQ} is set
   * @throws IndexOutOfBoundsException if there is no such completion
   */
  public boolean isTagSynchronizationWanted(int index) {
    return (RawMemory.getInt(entry(index) + CompletionLayout.WC_FLAGS)
            & CompletionLayout.TM_SYNC_REQ)
        != 0;
  }

  private long row(int index) {
    if (extended == null) {
      throw new IllegalStateException(
          queue + " is plain: create it with CompletionQueueConfig.extended");
    }
    return Objects.checkIndex(index, count) * ExtendedPolling.ROW;
  }

  @Override
  protected int pollExtended(int max, long completions) {
    return extended == null
        ? super.pollExtended(max, completions)
        : extended.poll(max, completions, rows.address());
  }

  /** A copy of the completion. */
  MemorySegment copy(int index, Arena arena) {
    return arena
        .allocate(ibv_wc.layout())
        .copyFrom(memory.asSlice(entry(index) - entries, CompletionLayout.SIZE));
  }

  /**
   * Throws where the request did not succeed.
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
   * Gives polling up, so that the next thread that polls owns it.
   *
   * @throws IllegalStateException if the queue is closed, or another thread owns this batch
   */
  public void release() {
    releaseOwnership();
  }

  private long entry(int index) {
    return RawMemory.base(entries + Objects.checkIndex(index, count) * CompletionLayout.SIZE);
  }

  /** The enum constants by their value, which count from 0 with a gap among the opcodes. */
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
