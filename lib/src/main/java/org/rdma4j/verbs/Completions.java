package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_wc;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.DataPath;

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
 * <p>Nothing here allocates. Polling belongs to the first thread that polls, until that calls
 * {@link #release}: a poll by another throws IllegalStateException, as does one after the
 * completion queue was closed; a close in the middle of a poll waits until that returns. What was
 * polled can be read by any thread, also after the queue was closed, until the next poll.
 */
public final class Completions extends HotCall {
  private static final long SIZE = ibv_wc.layout().byteSize();
  private static final long WR_ID = ibv_wc.wr_id$offset();
  private static final long STATUS = ibv_wc.status$offset();
  private static final long OPCODE = ibv_wc.opcode$offset();
  private static final long VENDOR_ERR = ibv_wc.vendor_err$offset();
  private static final long BYTE_LEN = ibv_wc.byte_len$offset();
  private static final long IMM_DATA = ibv_wc.imm_data$offset();
  private static final long QP_NUM = ibv_wc.qp_num$offset();
  private static final long WC_FLAGS = ibv_wc.wc_flags$offset();
  private static final int SUCCESS = rdma_h.IBV_WC_SUCCESS();
  private static final int WITH_IMM = rdma_h.IBV_WC_WITH_IMM();

  private final CompletionQueue queue;
  private final int most;

  /** Keeps the native memory for as long as this lives. */
  private final MemorySegment memory;

  private final long entries;
  private int count;

  Completions(CompletionQueue queue, int most, HotCalls polls) {
    super(
        polls,
        "Completions",
        queue.device().callStyle(),
        DataPath.ibv_poll_cq$op(queue.device().context()),
        queue.queue());
    this.queue = queue;
    this.most = most;
    this.memory = Arena.ofAuto().allocate(SIZE * most, 64);
    this.entries = memory.address();
  }

  /**
   * Takes completions off the queue, {@code ibv_poll_cq}, in place of those polled before. It does
   * not wait.
   *
   * @return how many there were, 0 to the most this has room for
   * @throws IllegalStateException where the queue is closed, or the thread is the wrong one
   * @throws RdmaException where the poll fails, as on a queue that overran
   */
  public int poll() {
    int polled = poll(most, entries);
    if (polled < 0) {
      throw new RdmaException("ibv_poll_cq of " + queue, 0, "");
    }
    count = polled;
    return polled;
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
   * @throws IndexOutOfBoundsException where there is no such completion
   */
  public long workRequestId(int index) {
    return RawMemory.getLong(entry(index) + WR_ID);
  }

  /**
   * Whether the request succeeded.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether its status is SUCCESS
   * @throws IndexOutOfBoundsException where there is no such completion
   */
  public boolean isSuccess(int index) {
    return RawMemory.getInt(entry(index) + STATUS) == SUCCESS;
  }

  /**
   * How the request ended. Where it did not end in SUCCESS, only its id, the queue pair's number
   * and the vendor's error mean anything besides.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the status
   * @throws IndexOutOfBoundsException where there is no such completion
   */
  public CompletionStatus status(int index) {
    return Codes.status(RawMemory.getInt(entry(index) + STATUS));
  }

  /**
   * What the completion completes.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the opcode; DRIVER1 where the library knows one that this does not
   * @throws IndexOutOfBoundsException where there is no such completion
   */
  public CompletionOpcode opcode(int index) {
    return Codes.opcode(RawMemory.getInt(entry(index) + OPCODE));
  }

  /**
   * The provider's own code of what went wrong.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return {@code vendor_err}
   * @throws IndexOutOfBoundsException where there is no such completion
   */
  public int vendorError(int index) {
    return RawMemory.getInt(entry(index) + VENDOR_ERR);
  }

  /**
   * How many bytes were received, or read. Of sends it says nothing.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the length in bytes, 0 to 4 GiB - 1
   * @throws IndexOutOfBoundsException where there is no such completion
   */
  public long byteLength(int index) {
    return Integer.toUnsignedLong(RawMemory.getInt(entry(index) + BYTE_LEN));
  }

  /**
   * Whether the message carried immediate data.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return whether {@code IBV_WC_WITH_IMM} is set
   * @throws IndexOutOfBoundsException where there is no such completion
   */
  public boolean hasImmediate(int index) {
    return (RawMemory.getInt(entry(index) + WC_FLAGS) & WITH_IMM) != 0;
  }

  /**
   * The immediate data of the message, where it {@link #hasImmediate has} any.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return the number that the sender gave, {@code ntohl(imm_data)} in C
   * @throws IndexOutOfBoundsException where there is no such completion
   */
  public int immediate(int index) {
    return NetworkOrder.of(RawMemory.getInt(entry(index) + IMM_DATA));
  }

  /**
   * The queue pair whose request completed.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @return its number
   * @throws IndexOutOfBoundsException where there is no such completion
   */
  public int queuePairNumber(int index) {
    return RawMemory.getInt(entry(index) + QP_NUM);
  }

  /**
   * Throws where the request did not succeed.
   *
   * @param index which completion, from 0 to {@link #size} - 1
   * @throws WorkCompletionException where its status is not SUCCESS
   * @throws IndexOutOfBoundsException where there is no such completion
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
   * @throws IllegalStateException where the queue is closed, or the thread is the wrong one
   */
  public void release() {
    disown();
  }

  private long entry(int index) {
    return RawMemory.base(entries + Objects.checkIndex(index, count) * SIZE);
  }

  /** The enum constants by their value, which count from 0 with a gap among the opcodes. */
  private static final class Codes {
    private static final CompletionStatus[] STATUSES = new CompletionStatus[32];
    private static final CompletionOpcode[] OPCODES = new CompletionOpcode[256];

    static {
      for (int i = 0; i < STATUSES.length; i++) {
        STATUSES[i] = NativeConstant.of(CompletionStatus.class, i, CompletionStatus.GENERAL_ERROR);
      }
      for (int i = 0; i < OPCODES.length; i++) {
        OPCODES[i] = NativeConstant.of(CompletionOpcode.class, i, CompletionOpcode.DRIVER1);
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
