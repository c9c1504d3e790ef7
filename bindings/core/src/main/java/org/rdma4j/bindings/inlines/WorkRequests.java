package org.rdma4j.bindings.inlines;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.rdma4j.bindings.generated.ibv_qp_ex;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The static inline functions of verbs.h that build work requests in an extended queue pair, {@code
 * ibv_wr_*}. Each calls a function pointer in the {@code ibv_qp_ex}. The caller reads the pointer
 * once and passes it to each call, as a long. Each function is linked twice, as in {@link
 * DataPath}. A pointer is NULL if the queue pair was created without that operation in its {@code
 * send_ops_flags}, or if the provider does not have it.
 *
 * <p>{@code wr_id} and {@code wr_flags} are plain fields, which the caller sets before each
 * request.
 */
public final class WorkRequests {
  private WorkRequests() {}

  /** Returns the offset of {@code ibv_qp_ex.wr_id} on this architecture. */
  public static long wr_id$offset() {
    return ibv_qp_ex.wr_id$offset() + Verbs.MUTEX_GROWTH;
  }

  /** Returns the offset of {@code ibv_qp_ex.wr_flags} on this architecture. */
  public static long wr_flags$offset() {
    return ibv_qp_ex.wr_flags$offset() + Verbs.MUTEX_GROWTH;
  }

  private static long op(MemorySegment qp, long offset) {
    return qp.reinterpret(ibv_qp_ex.layout().byteSize() + Verbs.MUTEX_GROWTH)
        .get(rdma_h.C_POINTER, offset + Verbs.MUTEX_GROWTH)
        .address();
  }

  private static final class PlainIntLongLongLong {
    static final MethodHandle CALL =
        DataPath.plain(
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  }

  private static final class CriticalIntLongLongLong {
    static final MethodHandle CALL =
        DataPath.critical(
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  }

  private static final class PlainIntLongLong {
    static final MethodHandle CALL =
        DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  }

  private static final class CriticalIntLongLong {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  }

  private static final class PlainFlush {
    static final MethodHandle CALL =
        DataPath.plain(
            FunctionDescriptor.ofVoid(
                JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_BYTE, JAVA_BYTE));
  }

  private static final class CriticalFlush {
    static final MethodHandle CALL =
        DataPath.critical(
            FunctionDescriptor.ofVoid(
                JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_BYTE, JAVA_BYTE));
  }

  private static final class PlainLongIntLong {
    static final MethodHandle CALL =
        DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
  }

  private static final class CriticalLongIntLong {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
  }

  private static final class PlainInt {
    static final MethodHandle CALL = DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
  }

  private static final class CriticalInt {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
  }

  private static final class PlainIntLong {
    static final MethodHandle CALL =
        DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG));
  }

  private static final class CriticalIntLong {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG));
  }

  private static final class PlainIntLongInt {
    static final MethodHandle CALL =
        DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
  }

  private static final class CriticalIntLongInt {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
  }

  private static final class PlainNothing {
    static final MethodHandle CALL = DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG));
  }

  private static final class CriticalNothing {
    static final MethodHandle CALL = DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG));
  }

  private static final class PlainLongShortShort {
    static final MethodHandle CALL =
        DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_SHORT, JAVA_SHORT));
  }

  private static final class CriticalLongShortShort {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_SHORT, JAVA_SHORT));
  }

  private static final class PlainLongIntInt {
    static final MethodHandle CALL =
        DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
  }

  private static final class CriticalLongIntInt {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
  }

  private static final class PlainLongLong {
    static final MethodHandle CALL =
        DataPath.plain(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  }

  private static final class CriticalLongLong {
    static final MethodHandle CALL =
        DataPath.critical(FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  }

  private static final class PlainComplete {
    static final MethodHandle CALL = DataPath.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  }

  private static final class CriticalComplete {
    static final MethodHandle CALL = DataPath.critical(FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
  }

  /** Returns {@code qp->wr_atomic_cmp_swp}. */
  public static long ibv_wr_atomic_cmp_swp$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_atomic_cmp_swp$offset());
  }

  /** Returns {@code qp->wr_atomic_fetch_add}. */
  public static long ibv_wr_atomic_fetch_add$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_atomic_fetch_add$offset());
  }

  /** Returns {@code qp->wr_atomic_write}. */
  public static long ibv_wr_atomic_write$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_atomic_write$offset());
  }

  /**
   * Returns {@code qp->wr_flush}. Call this only for a queue pair that was created with {@code
   * IBV_QP_EX_WITH_FLUSH}: in rdma-core 44, an {@code ibv_qp_ex} ends before this field.
   */
  public static long ibv_wr_flush$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_flush$offset());
  }

  /** Returns {@code qp->wr_bind_mw}. */
  public static long ibv_wr_bind_mw$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_bind_mw$offset());
  }

  /** Returns {@code qp->wr_local_inv}. */
  public static long ibv_wr_local_inv$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_local_inv$offset());
  }

  /** Returns {@code qp->wr_rdma_read}. */
  public static long ibv_wr_rdma_read$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_rdma_read$offset());
  }

  /** Returns {@code qp->wr_rdma_write}. */
  public static long ibv_wr_rdma_write$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_rdma_write$offset());
  }

  /** Returns {@code qp->wr_rdma_write_imm}. */
  public static long ibv_wr_rdma_write_imm$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_rdma_write_imm$offset());
  }

  /** Returns {@code qp->wr_send}. */
  public static long ibv_wr_send$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_send$offset());
  }

  /** Returns {@code qp->wr_send_imm}. */
  public static long ibv_wr_send_imm$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_send_imm$offset());
  }

  /** Returns {@code qp->wr_send_inv}. */
  public static long ibv_wr_send_inv$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_send_inv$offset());
  }

  /** Returns {@code qp->wr_send_tso}. */
  public static long ibv_wr_send_tso$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_send_tso$offset());
  }

  /** Returns {@code qp->wr_set_ud_addr}. */
  public static long ibv_wr_set_ud_addr$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_set_ud_addr$offset());
  }

  /** Returns {@code qp->wr_set_xrc_srqn}. */
  public static long ibv_wr_set_xrc_srqn$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_set_xrc_srqn$offset());
  }

  /** Returns {@code qp->wr_set_inline_data}. */
  public static long ibv_wr_set_inline_data$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_set_inline_data$offset());
  }

  /** Returns {@code qp->wr_set_inline_data_list}. */
  public static long ibv_wr_set_inline_data_list$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_set_inline_data_list$offset());
  }

  /** Returns {@code qp->wr_set_sge}. */
  public static long ibv_wr_set_sge$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_set_sge$offset());
  }

  /** Returns {@code qp->wr_set_sge_list}. */
  public static long ibv_wr_set_sge_list$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_set_sge_list$offset());
  }

  /** Returns {@code qp->wr_start}. */
  public static long ibv_wr_start$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_start$offset());
  }

  /** Returns {@code qp->wr_complete}. */
  public static long ibv_wr_complete$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_complete$offset());
  }

  /** Returns {@code qp->wr_abort}. */
  public static long ibv_wr_abort$op(MemorySegment qp) {
    return op(qp, ibv_qp_ex.wr_abort$offset());
  }

  /** {@code ibv_wr_atomic_cmp_swp}. */
  public static void ibv_wr_atomic_cmp_swp(
      long op, long qp, int rkey, long remote_addr, long compare, long swap) {
    try {
      PlainIntLongLongLong.CALL.invokeExact(op, qp, rkey, remote_addr, compare, swap);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_atomic_cmp_swp$critical(
      long op, long qp, int rkey, long remote_addr, long compare, long swap) {
    try {
      CriticalIntLongLongLong.CALL.invokeExact(op, qp, rkey, remote_addr, compare, swap);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_atomic_fetch_add}. */
  public static void ibv_wr_atomic_fetch_add(
      long op, long qp, int rkey, long remote_addr, long add) {
    try {
      PlainIntLongLong.CALL.invokeExact(op, qp, rkey, remote_addr, add);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_atomic_fetch_add$critical(
      long op, long qp, int rkey, long remote_addr, long add) {
    try {
      CriticalIntLongLong.CALL.invokeExact(op, qp, rkey, remote_addr, add);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_atomic_write}. */
  public static void ibv_wr_atomic_write(
      long op, long qp, int rkey, long remote_addr, long atomic_wr) {
    try {
      PlainIntLongLong.CALL.invokeExact(op, qp, rkey, remote_addr, atomic_wr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_atomic_write$critical(
      long op, long qp, int rkey, long remote_addr, long atomic_wr) {
    try {
      CriticalIntLongLong.CALL.invokeExact(op, qp, rkey, remote_addr, atomic_wr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_flush}. */
  public static void ibv_wr_flush(
      long op, long qp, int rkey, long remote_addr, long len, byte type, byte level) {
    try {
      PlainFlush.CALL.invokeExact(op, qp, rkey, remote_addr, len, type, level);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_flush$critical(
      long op, long qp, int rkey, long remote_addr, long len, byte type, byte level) {
    try {
      CriticalFlush.CALL.invokeExact(op, qp, rkey, remote_addr, len, type, level);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_bind_mw}. */
  public static void ibv_wr_bind_mw(long op, long qp, long mw, int rkey, long bind_info) {
    try {
      PlainLongIntLong.CALL.invokeExact(op, qp, mw, rkey, bind_info);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_bind_mw$critical(long op, long qp, long mw, int rkey, long bind_info) {
    try {
      CriticalLongIntLong.CALL.invokeExact(op, qp, mw, rkey, bind_info);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_local_inv}. */
  public static void ibv_wr_local_inv(long op, long qp, int invalidate_rkey) {
    try {
      PlainInt.CALL.invokeExact(op, qp, invalidate_rkey);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_local_inv$critical(long op, long qp, int invalidate_rkey) {
    try {
      CriticalInt.CALL.invokeExact(op, qp, invalidate_rkey);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_rdma_read}. */
  public static void ibv_wr_rdma_read(long op, long qp, int rkey, long remote_addr) {
    try {
      PlainIntLong.CALL.invokeExact(op, qp, rkey, remote_addr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_rdma_read$critical(long op, long qp, int rkey, long remote_addr) {
    try {
      CriticalIntLong.CALL.invokeExact(op, qp, rkey, remote_addr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_rdma_write}. */
  public static void ibv_wr_rdma_write(long op, long qp, int rkey, long remote_addr) {
    try {
      PlainIntLong.CALL.invokeExact(op, qp, rkey, remote_addr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_rdma_write$critical(long op, long qp, int rkey, long remote_addr) {
    try {
      CriticalIntLong.CALL.invokeExact(op, qp, rkey, remote_addr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_rdma_write_imm}: {@code imm_data} in network byte order. */
  public static void ibv_wr_rdma_write_imm(
      long op, long qp, int rkey, long remote_addr, int imm_data) {
    try {
      PlainIntLongInt.CALL.invokeExact(op, qp, rkey, remote_addr, imm_data);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_rdma_write_imm$critical(
      long op, long qp, int rkey, long remote_addr, int imm_data) {
    try {
      CriticalIntLongInt.CALL.invokeExact(op, qp, rkey, remote_addr, imm_data);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_send}. */
  public static void ibv_wr_send(long op, long qp) {
    try {
      PlainNothing.CALL.invokeExact(op, qp);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_send$critical(long op, long qp) {
    try {
      CriticalNothing.CALL.invokeExact(op, qp);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_send_imm}: {@code imm_data} in network byte order. */
  public static void ibv_wr_send_imm(long op, long qp, int imm_data) {
    try {
      PlainInt.CALL.invokeExact(op, qp, imm_data);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_send_imm$critical(long op, long qp, int imm_data) {
    try {
      CriticalInt.CALL.invokeExact(op, qp, imm_data);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_send_inv}. */
  public static void ibv_wr_send_inv(long op, long qp, int invalidate_rkey) {
    try {
      PlainInt.CALL.invokeExact(op, qp, invalidate_rkey);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_send_inv$critical(long op, long qp, int invalidate_rkey) {
    try {
      CriticalInt.CALL.invokeExact(op, qp, invalidate_rkey);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_send_tso}. */
  public static void ibv_wr_send_tso(long op, long qp, long hdr, short hdr_sz, short mss) {
    try {
      PlainLongShortShort.CALL.invokeExact(op, qp, hdr, hdr_sz, mss);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_send_tso$critical(long op, long qp, long hdr, short hdr_sz, short mss) {
    try {
      CriticalLongShortShort.CALL.invokeExact(op, qp, hdr, hdr_sz, mss);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_set_ud_addr}. */
  public static void ibv_wr_set_ud_addr(
      long op, long qp, long ah, int remote_qpn, int remote_qkey) {
    try {
      PlainLongIntInt.CALL.invokeExact(op, qp, ah, remote_qpn, remote_qkey);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_set_ud_addr$critical(
      long op, long qp, long ah, int remote_qpn, int remote_qkey) {
    try {
      CriticalLongIntInt.CALL.invokeExact(op, qp, ah, remote_qpn, remote_qkey);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_set_xrc_srqn}. */
  public static void ibv_wr_set_xrc_srqn(long op, long qp, int remote_srqn) {
    try {
      PlainInt.CALL.invokeExact(op, qp, remote_srqn);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_set_xrc_srqn$critical(long op, long qp, int remote_srqn) {
    try {
      CriticalInt.CALL.invokeExact(op, qp, remote_srqn);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_set_inline_data}. */
  public static void ibv_wr_set_inline_data(long op, long qp, long addr, long length) {
    try {
      PlainLongLong.CALL.invokeExact(op, qp, addr, length);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_set_inline_data$critical(long op, long qp, long addr, long length) {
    try {
      CriticalLongLong.CALL.invokeExact(op, qp, addr, length);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_set_inline_data_list}. */
  public static void ibv_wr_set_inline_data_list(long op, long qp, long num_buf, long buf_list) {
    try {
      PlainLongLong.CALL.invokeExact(op, qp, num_buf, buf_list);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_set_inline_data_list$critical(
      long op, long qp, long num_buf, long buf_list) {
    try {
      CriticalLongLong.CALL.invokeExact(op, qp, num_buf, buf_list);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_set_sge}. */
  public static void ibv_wr_set_sge(long op, long qp, int lkey, long addr, int length) {
    try {
      PlainIntLongInt.CALL.invokeExact(op, qp, lkey, addr, length);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_set_sge$critical(long op, long qp, int lkey, long addr, int length) {
    try {
      CriticalIntLongInt.CALL.invokeExact(op, qp, lkey, addr, length);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_set_sge_list}. */
  public static void ibv_wr_set_sge_list(long op, long qp, long num_sge, long sg_list) {
    try {
      PlainLongLong.CALL.invokeExact(op, qp, num_sge, sg_list);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_set_sge_list$critical(long op, long qp, long num_sge, long sg_list) {
    try {
      CriticalLongLong.CALL.invokeExact(op, qp, num_sge, sg_list);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_start}. */
  public static void ibv_wr_start(long op, long qp) {
    try {
      PlainNothing.CALL.invokeExact(op, qp);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_start$critical(long op, long qp) {
    try {
      CriticalNothing.CALL.invokeExact(op, qp);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_complete}: returns 0 or the errno value. */
  public static int ibv_wr_complete(long op, long qp) {
    try {
      return (int) PlainComplete.CALL.invokeExact(op, qp);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_wr_complete$critical(long op, long qp) {
    try {
      return (int) CriticalComplete.CALL.invokeExact(op, qp);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_wr_abort}. */
  public static void ibv_wr_abort(long op, long qp) {
    try {
      PlainNothing.CALL.invokeExact(op, qp);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static void ibv_wr_abort$critical(long op, long qp) {
    try {
      CriticalNothing.CALL.invokeExact(op, qp);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }
}
