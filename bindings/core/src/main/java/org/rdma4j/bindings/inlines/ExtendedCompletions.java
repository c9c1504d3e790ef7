package org.rdma4j.bindings.inlines;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.rdma4j.bindings.generated.ibv_cq_ex;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The static inline functions of verbs.h that poll an extended completion queue and read its
 * current completion, {@code ibv_start_poll} and {@code ibv_wc_read_*}. Each calls a function
 * pointer in the {@code ibv_cq_ex}. The caller reads the pointer once and passes it to each call.
 * Each function is linked twice, as in {@link DataPath}. The pointer of a {@code ibv_wc_read_*}
 * function is NULL if the queue was created without its bit in {@code wc_flags}.
 *
 * <p>{@code wr_id} and {@code status} of the current completion are plain fields.
 */
public final class ExtendedCompletions {
  private ExtendedCompletions() {}

  /** {@code ibv_cq_ex_to_cq}: returns the same pointer. */
  public static MemorySegment ibv_cq_ex_to_cq(MemorySegment cq) {
    return cq;
  }

  /** Returns the offset of {@code ibv_cq_ex.status} on this architecture. */
  public static long status$offset() {
    return ibv_cq_ex.status$offset() + Verbs.MUTEX_GROWTH;
  }

  /** Returns the offset of {@code ibv_cq_ex.wr_id} on this architecture. */
  public static long wr_id$offset() {
    return ibv_cq_ex.wr_id$offset() + Verbs.MUTEX_GROWTH;
  }

  private static long op(MemorySegment cq, long offset) {
    return cq.reinterpret(ibv_cq_ex.layout().byteSize() + Verbs.MUTEX_GROWTH)
        .get(rdma_h.C_POINTER, offset + Verbs.MUTEX_GROWTH)
        .address();
  }

  private static final class PlainStartPoll {
    static final MethodHandle CALL =
        DataPath.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  }

  private static final class CriticalStartPoll {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  }

  private static final class PlainInt {
    static final MethodHandle CALL = DataPath.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  }

  private static final class CriticalInt {
    static final MethodHandle CALL = DataPath.critical(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  }

  private static final class PlainNothing {
    static final MethodHandle CALL = DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG));
  }

  private static final class CriticalNothing {
    static final MethodHandle CALL = DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG));
  }

  private static final class PlainByte {
    static final MethodHandle CALL = DataPath.plain(FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  }

  private static final class CriticalByte {
    static final MethodHandle CALL = DataPath.critical(FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG));
  }

  private static final class PlainShort {
    static final MethodHandle CALL = DataPath.plain(FunctionDescriptor.of(JAVA_SHORT, JAVA_LONG));
  }

  private static final class CriticalShort {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.of(JAVA_SHORT, JAVA_LONG));
  }

  private static final class PlainLong {
    static final MethodHandle CALL = DataPath.plain(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  }

  private static final class CriticalLong {
    static final MethodHandle CALL = DataPath.critical(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  }

  private static final class PlainReadTmInfo {
    static final MethodHandle CALL =
        DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  }

  private static final class CriticalReadTmInfo {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  }

  /** Returns {@code cq->start_poll}. */
  public static long ibv_start_poll$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.start_poll$offset());
  }

  /** Returns {@code cq->next_poll}. */
  public static long ibv_next_poll$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.next_poll$offset());
  }

  /** Returns {@code cq->end_poll}. */
  public static long ibv_end_poll$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.end_poll$offset());
  }

  /** Returns {@code cq->read_opcode}. */
  public static long ibv_wc_read_opcode$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_opcode$offset());
  }

  /** Returns {@code cq->read_vendor_err}. */
  public static long ibv_wc_read_vendor_err$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_vendor_err$offset());
  }

  /** Returns {@code cq->read_byte_len}. */
  public static long ibv_wc_read_byte_len$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_byte_len$offset());
  }

  /** Returns {@code cq->read_imm_data}. */
  public static long ibv_wc_read_imm_data$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_imm_data$offset());
  }

  /** Returns {@code cq->read_imm_data}, which also reads the immediate value. */
  public static long ibv_wc_read_invalidated_rkey$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_imm_data$offset());
  }

  /** Returns {@code cq->read_qp_num}. */
  public static long ibv_wc_read_qp_num$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_qp_num$offset());
  }

  /** Returns {@code cq->read_src_qp}. */
  public static long ibv_wc_read_src_qp$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_src_qp$offset());
  }

  /** Returns {@code cq->read_wc_flags}. */
  public static long ibv_wc_read_wc_flags$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_wc_flags$offset());
  }

  /** Returns {@code cq->read_slid}. */
  public static long ibv_wc_read_slid$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_slid$offset());
  }

  /** Returns {@code cq->read_sl}. */
  public static long ibv_wc_read_sl$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_sl$offset());
  }

  /** Returns {@code cq->read_dlid_path_bits}. */
  public static long ibv_wc_read_dlid_path_bits$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_dlid_path_bits$offset());
  }

  /** Returns {@code cq->read_completion_ts}. */
  public static long ibv_wc_read_completion_ts$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_completion_ts$offset());
  }

  /** Returns {@code cq->read_completion_wallclock_ns}. */
  public static long ibv_wc_read_completion_wallclock_ns$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_completion_wallclock_ns$offset());
  }

  /** Returns {@code cq->read_cvlan}. */
  public static long ibv_wc_read_cvlan$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_cvlan$offset());
  }

  /** Returns {@code cq->read_flow_tag}. */
  public static long ibv_wc_read_flow_tag$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_flow_tag$offset());
  }

  /** Returns {@code cq->read_tm_info}. */
  public static long ibv_wc_read_tm_info$op(MemorySegment cq) {
    return op(cq, ibv_cq_ex.read_tm_info$offset());
  }

  /**
   * {@code ibv_start_poll}: returns 0, ENOENT if the queue is empty, or another errno value. Call
   * {@code ibv_end_poll} only if it returned 0.
   */
  public static int ibv_start_poll(long op, long cq, long attr) {
    try {
      return (int) PlainStartPoll.CALL.invokeExact(op, cq, attr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_start_poll$critical(long op, long cq, long attr) {
    try {
      return (int) CriticalStartPoll.CALL.invokeExact(op, cq, attr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /**
   * {@code ibv_next_poll}: returns 0, ENOENT if there is no other completion, or another errno
   * value.
   */
  public static int ibv_next_poll(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_next_poll$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_end_poll}. */
  public static void ibv_end_poll(long op, long cq) {
    try {
      PlainNothing.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_end_poll$critical(long op, long cq) {
    try {
      CriticalNothing.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_opcode}. */
  public static int ibv_wc_read_opcode(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_opcode$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_vendor_err}. */
  public static int ibv_wc_read_vendor_err(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_vendor_err$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_byte_len}. */
  public static int ibv_wc_read_byte_len(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_byte_len$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_imm_data}, in network byte order. */
  public static int ibv_wc_read_imm_data(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_imm_data$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_invalidated_rkey}. */
  public static int ibv_wc_read_invalidated_rkey(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_invalidated_rkey$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_qp_num}. */
  public static int ibv_wc_read_qp_num(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_qp_num$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_src_qp}. */
  public static int ibv_wc_read_src_qp(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_src_qp$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_wc_flags}. */
  public static int ibv_wc_read_wc_flags(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_wc_flags$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_slid}. */
  public static int ibv_wc_read_slid(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_slid$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_sl}. */
  public static byte ibv_wc_read_sl(long op, long cq) {
    try {
      return (byte) PlainByte.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static byte ibv_wc_read_sl$critical(long op, long cq) {
    try {
      return (byte) CriticalByte.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_dlid_path_bits}. */
  public static byte ibv_wc_read_dlid_path_bits(long op, long cq) {
    try {
      return (byte) PlainByte.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static byte ibv_wc_read_dlid_path_bits$critical(long op, long cq) {
    try {
      return (byte) CriticalByte.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_completion_ts}, in ticks of the device's clock. */
  public static long ibv_wc_read_completion_ts(long op, long cq) {
    try {
      return (long) PlainLong.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static long ibv_wc_read_completion_ts$critical(long op, long cq) {
    try {
      return (long) CriticalLong.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_completion_wallclock_ns}. */
  public static long ibv_wc_read_completion_wallclock_ns(long op, long cq) {
    try {
      return (long) PlainLong.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static long ibv_wc_read_completion_wallclock_ns$critical(long op, long cq) {
    try {
      return (long) CriticalLong.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_cvlan}. */
  public static short ibv_wc_read_cvlan(long op, long cq) {
    try {
      return (short) PlainShort.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static short ibv_wc_read_cvlan$critical(long op, long cq) {
    try {
      return (short) CriticalShort.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_flow_tag}. */
  public static int ibv_wc_read_flow_tag(long op, long cq) {
    try {
      return (int) PlainInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wc_read_flow_tag$critical(long op, long cq) {
    try {
      return (int) CriticalInt.CALL.invokeExact(op, cq);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wc_read_tm_info}. */
  public static void ibv_wc_read_tm_info(long op, long cq, long tm_info) {
    try {
      PlainReadTmInfo.CALL.invokeExact(op, cq, tm_info);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wc_read_tm_info$critical(long op, long cq, long tm_info) {
    try {
      CriticalReadTmInfo.CALL.invokeExact(op, cq, tm_info);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }
}
