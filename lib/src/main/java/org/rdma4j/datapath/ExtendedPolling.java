package org.rdma4j.datapath;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.bindings.generated.ibv_poll_cq_attr;
import org.rdma4j.bindings.generated.ibv_wc_tm_info;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.ExtendedCompletions;

/**
 * Polls an extended completion queue: {@code ibv_start_poll}, {@code ibv_wc_read_*} and {@code
 * ibv_end_poll} for each completion. {@code ibv_next_poll} is not used, because providers disagree
 * on the state after it finds no completion: soft-RoCE has then ended the poll, and an {@code
 * ibv_end_poll} would drop a completion; other providers require the {@code ibv_end_poll}.
 *
 * <p>The provider holds a lock from start to end. So everything happens inside one {@link HotCall},
 * which copies the fields that are read; no code of the program runs in between, which could keep
 * other threads waiting.
 */
public final class ExtendedPolling extends QueuePolling {
  /**
   * The offsets in a row, which holds the fields that struct ibv_wc lacks: times, VLAN, flow tag,
   * struct ibv_wc_tm_info, and the address of the sender.
   */
  public static final long TIMESTAMP = 0;

  public static final long WALL_CLOCK = 8;
  public static final long VLAN = 16;
  public static final long FLOW_TAG = 20;
  public static final long TAG = 24;
  public static final long TAG_PRIVATE = TAG + ibv_wc_tm_info.priv$offset();
  public static final long HAS_SOURCE_GID = 40;
  public static final long SOURCE_GID = 48;
  public static final long ROW = 64;

  private static final long WR_ID = ExtendedCompletions.wr_id$offset();
  private static final long STATUS = ExtendedCompletions.status$offset();

  private final boolean critical;
  private final long queue;
  private final long start;
  private final long end;
  private final long opcode;
  private final long vendorError;
  private final long flags;
  private final long byteLength;
  private final long immediate;
  private final long queuePairNumber;
  private final long sourceQueuePairNumber;
  private final long sourceLid;
  private final long serviceLevel;
  private final long destinationLidPathBits;
  private final long timestamp;
  private final long wallClock;
  private final long vlan;
  private final long flowTag;
  private final long tagInformation;
  private final long sourceGid;

  /** The {@code struct efadv_cq} that {@link #sourceGid} reads. */
  private final long queueOfEfa;

  /**
   * The address of the struct of attributes that {@code ibv_start_poll} requires; it has none set.
   */
  private final long attributes;

  /** Its memory; referred to so that it stays allocated. */
  private final MemorySegment memory;

  /** Whether any field is read but the opcode and the length: one check instead of twelve. */
  private final boolean readsMore;

  /**
   * What reads the address of the sender of the current completion: {@code efadv_wc_read_sgid}.
   *
   * @param function {@code int (struct efadv_cq *, union ibv_gid *)}, which returns 0 if there is
   *     an address
   * @param queue the {@code struct efadv_cq *}
   */
  public record SourceReader(long function, long queue) {}

  /**
   * Creates the means to poll a {@code struct ibv_cq_ex}.
   *
   * @param fields the mask of {@code IBV_WC_EX_WITH_*} that the queue was created with
   * @param readsFlags whether to read the flags, which every queue has
   * @param source what reads the address of senders; null if it is not read
   * @param critical whether to call C functions as critical ones, without a change of the thread's
   *     state
   */
  public ExtendedPolling(
      MemorySegment queue,
      int fields,
      boolean readsFlags,
      @Nullable SourceReader source,
      boolean critical) {
    this.critical = critical;
    this.queue = queue.address();
    this.memory = Arena.ofAuto().allocate(ibv_poll_cq_attr.layout());
    this.attributes = memory.address();
    this.start = ExtendedCompletions.ibv_start_poll$op(queue);
    this.end = ExtendedCompletions.ibv_end_poll$op(queue);
    this.opcode = ExtendedCompletions.ibv_wc_read_opcode$op(queue);
    this.vendorError = ExtendedCompletions.ibv_wc_read_vendor_err$op(queue);
    this.flags = readsFlags ? ExtendedCompletions.ibv_wc_read_wc_flags$op(queue) : 0;
    this.byteLength =
        reader(
            fields,
            rdma_h.IBV_WC_EX_WITH_BYTE_LEN(),
            ExtendedCompletions.ibv_wc_read_byte_len$op(queue));
    this.immediate =
        reader(
            fields,
            rdma_h.IBV_WC_EX_WITH_IMM(),
            ExtendedCompletions.ibv_wc_read_imm_data$op(queue));
    this.queuePairNumber =
        reader(
            fields,
            rdma_h.IBV_WC_EX_WITH_QP_NUM(),
            ExtendedCompletions.ibv_wc_read_qp_num$op(queue));
    this.sourceQueuePairNumber =
        reader(
            fields,
            rdma_h.IBV_WC_EX_WITH_SRC_QP(),
            ExtendedCompletions.ibv_wc_read_src_qp$op(queue));
    this.sourceLid =
        reader(
            fields, rdma_h.IBV_WC_EX_WITH_SLID(), ExtendedCompletions.ibv_wc_read_slid$op(queue));
    this.serviceLevel =
        reader(fields, rdma_h.IBV_WC_EX_WITH_SL(), ExtendedCompletions.ibv_wc_read_sl$op(queue));
    this.destinationLidPathBits =
        reader(
            fields,
            rdma_h.IBV_WC_EX_WITH_DLID_PATH_BITS(),
            ExtendedCompletions.ibv_wc_read_dlid_path_bits$op(queue));
    this.timestamp =
        reader(
            fields,
            rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP(),
            ExtendedCompletions.ibv_wc_read_completion_ts$op(queue));
    this.wallClock =
        reader(
            fields,
            rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK(),
            ExtendedCompletions.ibv_wc_read_completion_wallclock_ns$op(queue));
    this.vlan =
        reader(
            fields, rdma_h.IBV_WC_EX_WITH_CVLAN(), ExtendedCompletions.ibv_wc_read_cvlan$op(queue));
    this.flowTag =
        reader(
            fields,
            rdma_h.IBV_WC_EX_WITH_FLOW_TAG(),
            ExtendedCompletions.ibv_wc_read_flow_tag$op(queue));
    this.tagInformation =
        reader(
            fields,
            rdma_h.IBV_WC_EX_WITH_TM_INFO(),
            ExtendedCompletions.ibv_wc_read_tm_info$op(queue));
    this.sourceGid = source == null ? 0 : source.function();
    this.queueOfEfa = source == null ? 0 : source.queue();
    this.readsMore =
        anyOf(
            sourceGid,
            flags,
            immediate,
            queuePairNumber,
            sourceQueuePairNumber,
            sourceLid,
            serviceLevel,
            destinationLidPathBits,
            timestamp,
            wallClock,
            vlan,
            flowTag,
            tagInformation);
  }

  /** Returns 0 if the field was not requested; also the provider returns 0 if it lacks it. */
  private static long reader(int fields, int field, long op) {
    return (fields & field) != 0 ? op : 0;
  }

  private static boolean anyOf(long... readers) {
    return LongStream.of(readers).anyMatch(op -> op != 0);
  }

  /**
   * Polls, and returns the number of completions, or a negative value.
   *
   * <p>All reads are in this method, because it is then too long for C2 to inline (325 bytecodes).
   * If it inlined this method into a loop, its limit of nodes would be reached somewhere in here,
   * and each call after that would take twice as long.
   */
  @Override
  public int poll(int max, long entries, long rows) {
    // In local variables, because a call into C cannot change them: the compiler then removes the
    // branches for the other style of calls.
    boolean critical = this.critical;
    long queue = RawMemory.base(this.queue);
    int polled = 0;
    while (polled < max) {
      int error =
          critical
              ? ExtendedCompletions.ibv_start_poll$critical(start, queue, attributes)
              : ExtendedCompletions.ibv_start_poll(start, queue, attributes);
      if (error != 0) {
        return polled == 0 && error != ErrorNumber.ENOENT.value() ? -error : polled;
      }
      long entry = RawMemory.base(entries + polled * CompletionLayout.SIZE);
      int status = RawMemory.getInt(queue + STATUS);
      RawMemory.putLong(entry + CompletionLayout.WR_ID, RawMemory.getLong(queue + WR_ID));
      RawMemory.putInt(entry + CompletionLayout.STATUS, status);
      boolean isSuccess = status == CompletionLayout.SUCCESS;
      if (isSuccess) {
        RawMemory.putInt(entry + CompletionLayout.OPCODE, number(critical, opcode, queue));
        if (byteLength != 0) {
          RawMemory.putInt(entry + CompletionLayout.BYTE_LEN, number(critical, byteLength, queue));
        }
      } else {
        RawMemory.putInt(entry + CompletionLayout.VENDOR_ERR, number(critical, vendorError, queue));
      }
      if (readsMore) {
        if (queuePairNumber != 0) {
          RawMemory.putInt(
              entry + CompletionLayout.QP_NUM, number(critical, queuePairNumber, queue));
        }
        if (isSuccess) {
          if (flags != 0) {
            RawMemory.putInt(entry + CompletionLayout.WC_FLAGS, number(critical, flags, queue));
          }
          if (immediate != 0) {
            RawMemory.putInt(entry + CompletionLayout.IMM_DATA, number(critical, immediate, queue));
          }
          if (sourceQueuePairNumber != 0) {
            RawMemory.putInt(
                entry + CompletionLayout.SRC_QP, number(critical, sourceQueuePairNumber, queue));
          }
          if (sourceLid != 0) {
            RawMemory.putShort(
                entry + CompletionLayout.SLID, (short) number(critical, sourceLid, queue));
          }
          if (serviceLevel != 0) {
            RawMemory.putByte(entry + CompletionLayout.SL, small(critical, serviceLevel, queue));
          }
          if (destinationLidPathBits != 0) {
            RawMemory.putByte(
                entry + CompletionLayout.DLID_PATH_BITS,
                small(critical, destinationLidPathBits, queue));
          }
          readRow(critical, queue, entry, RawMemory.base(rows + polled * ROW));
        }
      }
      polled++;
      if (critical) {
        ExtendedCompletions.ibv_end_poll$critical(end, queue);
      } else {
        ExtendedCompletions.ibv_end_poll(end, queue);
      }
    }
    return polled;
  }

  private void readRow(boolean critical, long queue, long entry, long row) {
    if (timestamp != 0) {
      RawMemory.putLong(row + TIMESTAMP, time(critical, timestamp, queue));
    }
    if (wallClock != 0) {
      RawMemory.putLong(row + WALL_CLOCK, time(critical, wallClock, queue));
    }
    if (vlan != 0) {
      RawMemory.putInt(
          row + VLAN,
          Short.toUnsignedInt(
              critical
                  ? ExtendedCompletions.ibv_wc_read_cvlan$critical(vlan, queue)
                  : ExtendedCompletions.ibv_wc_read_cvlan(vlan, queue)));
    }
    if (flowTag != 0) {
      RawMemory.putInt(row + FLOW_TAG, number(critical, flowTag, queue));
    }
    if (sourceGid != 0) {
      readSource(critical, entry, row);
    }
    if (tagInformation != 0) {
      if (critical) {
        ExtendedCompletions.ibv_wc_read_tm_info$critical(tagInformation, queue, row + TAG);
      } else {
        ExtendedCompletions.ibv_wc_read_tm_info(tagInformation, queue, row + TAG);
      }
    }
  }

  /** Completions of sends have other things where libefa looks for the address. */
  private void readSource(boolean critical, long entry, long row) {
    boolean isReceive =
        (RawMemory.getInt(entry + CompletionLayout.OPCODE) & CompletionLayout.RECEIVE) != 0;
    // The function has the signature of ibv_start_poll.
    boolean isUnknown =
        isReceive
            && (critical
                    ? ExtendedCompletions.ibv_start_poll$critical(
                        sourceGid, queueOfEfa, row + SOURCE_GID)
                    : ExtendedCompletions.ibv_start_poll(sourceGid, queueOfEfa, row + SOURCE_GID))
                == 0;
    RawMemory.putInt(row + HAS_SOURCE_GID, isUnknown ? 1 : 0);
  }

  /**
   * Calls a function that returns a 32-bit number: all have the signature of {@code
   * ibv_wc_read_qp_num}.
   */
  private static int number(boolean critical, long op, long queue) {
    return critical
        ? ExtendedCompletions.ibv_wc_read_qp_num$critical(op, queue)
        : ExtendedCompletions.ibv_wc_read_qp_num(op, queue);
  }

  private static byte small(boolean critical, long op, long queue) {
    return critical
        ? ExtendedCompletions.ibv_wc_read_sl$critical(op, queue)
        : ExtendedCompletions.ibv_wc_read_sl(op, queue);
  }

  private static long time(boolean critical, long op, long queue) {
    return critical
        ? ExtendedCompletions.ibv_wc_read_completion_ts$critical(op, queue)
        : ExtendedCompletions.ibv_wc_read_completion_ts(op, queue);
  }
}
