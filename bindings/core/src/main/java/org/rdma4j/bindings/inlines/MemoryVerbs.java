package org.rdma4j.bindings.inlines;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.rdma4j.bindings.generated.rdma_h.C_POINTER;
import static org.rdma4j.bindings.generated.rdma_h.IBV_ACCESS_OPTIONAL_RANGE;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_context_ops;
import org.rdma4j.bindings.generated.ibv_dm;
import org.rdma4j.bindings.generated.ibv_mr;
import org.rdma4j.bindings.generated.ibv_mw;
import org.rdma4j.bindings.generated.ibv_mw_bind;
import org.rdma4j.bindings.generated.ibv_mw_bind_info;
import org.rdma4j.bindings.generated.ibv_pd;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.verbs_context;

/**
 * The static inline functions of verbs.h for memory regions, memory windows and device memory, and
 * the exported functions for them that report the reason of a failure only in {@link Errno}.
 */
public final class MemoryVerbs {
  private static final int EPERM = 1;
  private static final int EINVAL = 22;
  private static final int EOPNOTSUPP = 95;

  private MemoryVerbs() {}

  /**
   * {@code ibv_reg_mr_iova}: calls the exported function if no optional access flag is set, else
   * {@code ibv_reg_mr_iova2}. Returns NULL and sets {@link Errno} on failure.
   */
  public static MemorySegment ibv_reg_mr_iova(
      MemorySegment pd, MemorySegment addr, long length, long iova, int access) {
    MemorySegment function =
        (access & IBV_ACCESS_OPTIONAL_RANGE()) == 0
            ? rdma_h.ibv_reg_mr_iova$address()
            : rdma_h.ibv_reg_mr_iova2$address();
    return Calls.pointer(function, pd, addr, length, iova, access);
  }

  private static final class RegDmabufMr {
    static final MethodHandle CALL =
        Errno.downcall(
            FunctionDescriptor.of(
                C_POINTER, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
  }

  /**
   * {@code ibv_reg_dmabuf_mr}, an exported function: returns NULL and sets {@link Errno} on
   * failure.
   */
  public static MemorySegment ibv_reg_dmabuf_mr(
      MemorySegment pd, long offset, long length, long iova, int fd, int access) {
    return dmabuf(rdma_h.ibv_reg_dmabuf_mr$address(), pd, offset, length, iova, fd, access);
  }

  /** Calls a function of the shape of {@code ibv_reg_dmabuf_mr}. */
  public static MemorySegment dmabuf(
      MemorySegment function,
      MemorySegment pd,
      long offset,
      long length,
      long iova,
      int fd,
      int access) {
    try {
      return (MemorySegment)
          RegDmabufMr.CALL.invokeExact(
              function, Errno.state(), pd, offset, length, iova, fd, access);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class ReregMr {
    static final MethodHandle CALL =
        Errno.downcall(
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT));
  }

  /**
   * {@code ibv_rereg_mr}, an exported function: returns 0, or sets {@link Errno} and returns a
   * value of {@code enum ibv_rereg_mr_err_code}.
   */
  public static int ibv_rereg_mr(
      MemorySegment mr, int flags, MemorySegment pd, MemorySegment addr, long length, int access) {
    return rereg(rdma_h.ibv_rereg_mr$address(), mr, flags, pd, addr, length, access);
  }

  /** Calls a function of the shape of {@code ibv_rereg_mr}. */
  public static int rereg(
      MemorySegment function,
      MemorySegment mr,
      int flags,
      MemorySegment pd,
      MemorySegment addr,
      long length,
      int access) {
    try {
      return (int)
          ReregMr.CALL.invokeExact(function, Errno.state(), mr, flags, pd, addr, length, access);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class PointerOfPointerAndInt {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(C_POINTER, ADDRESS, JAVA_INT));
  }

  /** Calls {@code void *function(void *, int)}, the shape of ibv_import_pd and ibv_alloc_mw. */
  public static MemorySegment pointer(MemorySegment function, MemorySegment first, int second) {
    try {
      return (MemorySegment)
          PointerOfPointerAndInt.CALL.invokeExact(function, Errno.state(), first, second);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /**
   * {@code ibv_import_pd}, an exported function: returns NULL and sets {@link Errno} on failure.
   */
  public static MemorySegment ibv_import_pd(MemorySegment context, int pd_handle) {
    return pointer(rdma_h.ibv_import_pd$address(), context, pd_handle);
  }

  /**
   * {@code ibv_import_mr}, an exported function: returns NULL and sets {@link Errno} on failure.
   */
  public static MemorySegment ibv_import_mr(MemorySegment pd, int mr_handle) {
    return pointer(rdma_h.ibv_import_mr$address(), pd, mr_handle);
  }

  /**
   * {@code ibv_import_dm}, an exported function: returns NULL and sets {@link Errno} on failure.
   */
  public static MemorySegment ibv_import_dm(MemorySegment context, int dm_handle) {
    return pointer(rdma_h.ibv_import_dm$address(), context, dm_handle);
  }

  private static final class AllocBuf {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(C_POINTER, ADDRESS, JAVA_LONG, ADDRESS));
  }

  /**
   * {@code ibv_alloc_buf}, an exported function since rdma-core 64: returns NULL and sets {@link
   * Errno} on failure.
   */
  public static MemorySegment ibv_alloc_buf(MemorySegment pd, long size, MemorySegment buf) {
    return buffer(rdma_h.ibv_alloc_buf$address(), pd, size, buf);
  }

  /** Calls a function of the shape of {@code ibv_alloc_buf}. */
  public static MemorySegment buffer(
      MemorySegment function, MemorySegment pd, long size, MemorySegment buf) {
    try {
      return (MemorySegment) AllocBuf.CALL.invokeExact(function, Errno.state(), pd, size, buf);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class RegBufMr {
    static final MethodHandle CALL =
        Errno.downcall(
            FunctionDescriptor.of(C_POINTER, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT));
  }

  /**
   * {@code ibv_reg_buf_mr}, an exported function since rdma-core 64: returns NULL and sets {@link
   * Errno} on failure.
   */
  public static MemorySegment ibv_reg_buf_mr(
      MemorySegment pd, MemorySegment buf, MemorySegment addr, long length, int access) {
    return registration(rdma_h.ibv_reg_buf_mr$address(), pd, buf, addr, length, access);
  }

  /** Calls a function of the shape of {@code ibv_reg_buf_mr}. */
  public static MemorySegment registration(
      MemorySegment function,
      MemorySegment pd,
      MemorySegment buf,
      MemorySegment addr,
      long length,
      int access) {
    try {
      return (MemorySegment)
          RegBufMr.CALL.invokeExact(function, Errno.state(), pd, buf, addr, length, access);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_advise_mr}: returns 0 or the errno value. */
  public static int ibv_advise_mr(
      MemorySegment pd, int advice, int flags, MemorySegment sg_list, int num_sge) {
    MemorySegment extended =
        Verbs.verbs_get_ctx_op(ibv_pd.context(pd), verbs_context.advise_mr$offset());
    return extended.address() == 0
        ? EOPNOTSUPP
        : verbs_context.advise_mr.invoke(
            verbs_context.advise_mr(extended), pd, advice, flags, sg_list, num_sge);
  }

  /** {@code ibv_alloc_null_mr}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_alloc_null_mr(MemorySegment pd) {
    MemorySegment extended =
        Verbs.verbs_get_ctx_op(ibv_pd.context(pd), verbs_context.alloc_null_mr$offset());
    return extended.address() == 0
        ? unsupported()
        : Calls.pointer(verbs_context.alloc_null_mr(extended), pd);
  }

  /** {@code ibv_alloc_dm}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_alloc_dm(MemorySegment context, MemorySegment attr) {
    MemorySegment extended = Verbs.verbs_get_ctx_op(context, verbs_context.alloc_dm$offset());
    return extended.address() == 0
        ? unsupported()
        : Calls.pointer(verbs_context.alloc_dm(extended), context, attr);
  }

  /** {@code ibv_free_dm}: returns 0 or the errno value. */
  public static int ibv_free_dm(MemorySegment dm) {
    MemorySegment extended =
        Verbs.verbs_get_ctx_op(ibv_dm.context(dm), verbs_context.free_dm$offset());
    return extended.address() == 0
        ? EOPNOTSUPP
        : verbs_context.free_dm.invoke(verbs_context.free_dm(extended), dm);
  }

  /** {@code ibv_memcpy_to_dm}: returns 0 or the errno value. */
  public static int ibv_memcpy_to_dm(
      MemorySegment dm, long dm_offset, MemorySegment host_addr, long length) {
    return ibv_dm.memcpy_to_dm.invoke(ibv_dm.memcpy_to_dm(dm), dm, dm_offset, host_addr, length);
  }

  /** {@code ibv_memcpy_from_dm}: returns 0 or the errno value. */
  public static int ibv_memcpy_from_dm(
      MemorySegment host_addr, MemorySegment dm, long dm_offset, long length) {
    return ibv_dm.memcpy_from_dm.invoke(
        ibv_dm.memcpy_from_dm(dm), host_addr, dm, dm_offset, length);
  }

  /** {@code ibv_reg_dm_mr}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_reg_dm_mr(
      MemorySegment pd, MemorySegment dm, long dm_offset, long length, int access) {
    MemorySegment extended =
        Verbs.verbs_get_ctx_op(ibv_pd.context(pd), verbs_context.reg_dm_mr$offset());
    return extended.address() == 0
        ? unsupported()
        : Calls.pointer(verbs_context.reg_dm_mr(extended), pd, dm, dm_offset, length, access);
  }

  /** {@code ibv_alloc_mw}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_alloc_mw(MemorySegment pd, int type) {
    MemorySegment op = ibv_context_ops.alloc_mw(ops(ibv_pd.context(pd)));
    return op.address() == 0 ? unsupported() : pointer(op, pd, type);
  }

  /** {@code ibv_dealloc_mw}: returns 0 or the errno value. */
  public static int ibv_dealloc_mw(MemorySegment mw) {
    return ibv_context_ops.dealloc_mw.invoke(
        ibv_context_ops.dealloc_mw(ops(ibv_mw.context(mw))), mw);
  }

  /** {@code ibv_bind_mw}: returns 0 or the errno value. */
  public static int ibv_bind_mw(MemorySegment qp, MemorySegment mw, MemorySegment mw_bind) {
    MemorySegment info = ibv_mw_bind.bind_info(mw_bind);
    MemorySegment mr = ibv_mw_bind_info.mr(info);
    if (ibv_mw.type(mw) != rdma_h.IBV_MW_TYPE_1()) {
      return EINVAL;
    }
    if (mr.address() == 0
        && (ibv_mw_bind_info.addr(info) != 0 || ibv_mw_bind_info.length(info) != 0)) {
      return EINVAL;
    }
    if (mr.address() != 0
        && ibv_mw.pd(mw).address()
            != ibv_mr.pd(mr.reinterpret(ibv_mr.layout().byteSize())).address()) {
      return EPERM;
    }
    return ibv_context_ops.bind_mw.invoke(
        ibv_context_ops.bind_mw(ops(ibv_mw.context(mw))), qp, mw, mw_bind);
  }

  /** {@code ibv_inc_rkey}: returns the key with its tag, the lowest 8 bits, incremented by 1. */
  public static int ibv_inc_rkey(int rkey) {
    return (rkey & ~0xff) | ((rkey + 1) & 0xff);
  }

  private static MemorySegment ops(MemorySegment context) {
    return ibv_context.ops(context.reinterpret(ibv_context.layout().byteSize()));
  }

  private static MemorySegment unsupported() {
    Errno.errno(EOPNOTSUPP);
    return MemorySegment.NULL;
  }
}
