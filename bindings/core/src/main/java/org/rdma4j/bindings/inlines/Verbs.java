package org.rdma4j.bindings.inlines;

import static org.rdma4j.bindings.generated.rdma_h.IBV_ACCESS_OPTIONAL_RANGE;
import static org.rdma4j.bindings.generated.rdma_h.IBV_QP_INIT_ATTR_PD;
import static org.rdma4j.bindings.generated.rdma_h.IBV_SRQT_BASIC;
import static org.rdma4j.bindings.generated.rdma_h.IBV_SRQ_INIT_ATTR_PD;
import static org.rdma4j.bindings.generated.rdma_h.IBV_SRQ_INIT_ATTR_TYPE;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_comp_cntr_caps;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_cq;
import org.rdma4j.bindings.generated.ibv_device_attr_ex;
import org.rdma4j.bindings.generated.ibv_gid_entry;
import org.rdma4j.bindings.generated.ibv_port_attr;
import org.rdma4j.bindings.generated.ibv_qp;
import org.rdma4j.bindings.generated.ibv_qp_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_query_device_ex_input;
import org.rdma4j.bindings.generated.ibv_srq;
import org.rdma4j.bindings.generated.ibv_srq_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_td;
import org.rdma4j.bindings.generated.ibv_xrcd;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.verbs_context;

/**
 * The static inline functions and macros of verbs.h on the control path, under the names by which a
 * C program calls them.
 */
public final class Verbs {
  /** {@code __VERBS_ABI_IS_EXTENDED}: the abi_compat of a context that is in a verbs_context. */
  private static final long VERBS_ABI_IS_EXTENDED = -1;

  /**
   * By how many bytes a pthread_mutex_t exceeds that of the generated layouts, which are those of
   * x86-64: glibc's has 48 bytes on AArch64 instead of 40. The fields behind a mutex, such as
   * abi_compat, have a larger offset there, and their structs are larger.
   */
  static final long MUTEX_GROWTH = System.getProperty("os.arch").equals("aarch64") ? 8 : 0;

  private static final int EINVAL = 22;
  private static final int ENOSYS = 38;
  private static final int EOPNOTSUPP = 95;

  private static final long ABI_COMPAT = ibv_context.abi_compat$offset() + MUTEX_GROWTH;
  private static final long CONTEXT_SIZE = ibv_context.layout().byteSize() + MUTEX_GROWTH;
  private static final long VERBS_CONTEXT_SIZE = verbs_context.layout().byteSize() + MUTEX_GROWTH;

  private Verbs() {}

  /** Returns the verbs_context whose last field is the context, or NULL if it is in none. */
  public static MemorySegment verbs_get_ctx(MemorySegment context) {
    long abi = context.reinterpret(CONTEXT_SIZE).get(rdma_h.C_POINTER, ABI_COMPAT).address();
    if (abi != VERBS_ABI_IS_EXTENDED) {
      return MemorySegment.NULL;
    }
    return MemorySegment.ofAddress(context.address() - verbs_context.context$offset())
        .reinterpret(VERBS_CONTEXT_SIZE);
  }

  /**
   * {@code verbs_get_ctx_op}: returns the verbs_context if it has the operation at that offset,
   * else NULL. New versions of the struct have new fields at its front, so its size shows which
   * operations it has.
   */
  public static MemorySegment verbs_get_ctx_op(MemorySegment context, long offset) {
    MemorySegment extended = verbs_get_ctx(context);
    boolean present =
        extended.address() != 0
            && Long.compareUnsigned(verbs_context.sz(extended), VERBS_CONTEXT_SIZE - offset) >= 0
            && extended.get(rdma_h.C_POINTER, offset).address() != 0;
    return present ? extended : MemorySegment.NULL;
  }

  /** Returns the operation at that offset of the verbs_context, or NULL if there is none. */
  static MemorySegment operation(MemorySegment context, long offset) {
    MemorySegment extended = verbs_get_ctx_op(context, offset);
    return extended.address() == 0 ? MemorySegment.NULL : extended.get(rdma_h.C_POINTER, offset);
  }

  /** Calls an operation that creates something: returns NULL and sets EOPNOTSUPP if it is NULL. */
  static MemorySegment create(MemorySegment operation, MemorySegment first, MemorySegment second) {
    if (operation.address() == 0) {
      Errno.errno(EOPNOTSUPP);
      return MemorySegment.NULL;
    }
    return Calls.pointer(operation, first, second);
  }

  /** Calls an operation with one pointer: returns EOPNOTSUPP if it is NULL. */
  static int call(MemorySegment operation, MemorySegment first) {
    return operation.address() == 0 ? EOPNOTSUPP : Calls.integer(operation, first);
  }

  /** Calls an operation with two pointers: returns EOPNOTSUPP if it is NULL. */
  static int call(MemorySegment operation, MemorySegment first, MemorySegment second) {
    return operation.address() == 0 ? EOPNOTSUPP : Calls.integer(operation, first, second);
  }

  /** Calls an operation with three pointers: returns EOPNOTSUPP if it is NULL. */
  static int call(
      MemorySegment operation, MemorySegment first, MemorySegment second, MemorySegment third) {
    return operation.address() == 0 ? EOPNOTSUPP : Calls.integer(operation, first, second, third);
  }

  /** {@code ibv_query_port}: returns 0 or the errno value. */
  public static int ibv_query_port(MemorySegment context, byte port_num, MemorySegment port_attr) {
    MemorySegment extended = verbs_get_ctx_op(context, verbs_context.query_port$offset());
    if (extended.address() == 0) {
      port_attr.asSlice(0, ibv_port_attr.layout().byteSize()).fill((byte) 0);
      return rdma_h.ibv_query_port(context, port_num, port_attr);
    }
    return verbs_context.query_port.invoke(
        verbs_context.query_port(extended),
        context,
        port_num,
        port_attr,
        ibv_port_attr.layout().byteSize());
  }

  /**
   * {@code ibv_reg_mr}: calls the exported function if no optional access flag is set, else {@code
   * ibv_reg_mr_iova2}, which drops the optional flags that the kernel does not know. Returns NULL
   * and sets {@link Errno} on failure.
   */
  public static MemorySegment ibv_reg_mr(
      MemorySegment pd, MemorySegment addr, long length, int access) {
    if ((access & IBV_ACCESS_OPTIONAL_RANGE()) == 0) {
      return Calls.pointer(rdma_h.ibv_reg_mr$address(), pd, addr, length, access);
    }
    return Calls.pointer(
        rdma_h.ibv_reg_mr_iova2$address(), pd, addr, length, addr.address(), access);
  }

  /** {@code ibv_query_gid_table}: returns the number of entries, or the negative errno value. */
  public static long ibv_query_gid_table(
      MemorySegment context, MemorySegment entries, long max_entries, int flags) {
    return rdma_h._ibv_query_gid_table(
        context, entries, max_entries, flags, ibv_gid_entry.layout().byteSize());
  }

  /** {@code ibv_query_gid_ex}: returns 0 or the errno value. */
  public static int ibv_query_gid_ex(
      MemorySegment context, int port_num, int gid_index, MemorySegment entry, int flags) {
    return rdma_h._ibv_query_gid_ex(
        context, port_num, gid_index, entry, flags, ibv_gid_entry.layout().byteSize());
  }

  /**
   * {@code ibv_query_device_ex}: returns 0 or the errno value. If the provider does not have the
   * operation, or the operation is not supported, {@code ibv_query_device} fills the first part and
   * the rest is zero.
   */
  public static int ibv_query_device_ex(
      MemorySegment context, MemorySegment input, MemorySegment attr) {
    if (input.address() != 0 && ibv_query_device_ex_input.comp_mask(input) != 0) {
      return EINVAL;
    }
    MemorySegment operation = operation(context, verbs_context.query_device_ex$offset());
    if (operation.address() != 0) {
      int result =
          verbs_context.query_device_ex.invoke(
              operation, context, input, attr, ibv_device_attr_ex.layout().byteSize());
      if (result != EOPNOTSUPP && result != ENOSYS) {
        return result;
      }
    }
    attr.asSlice(0, ibv_device_attr_ex.layout().byteSize()).fill((byte) 0);
    return rdma_h.ibv_query_device(context, ibv_device_attr_ex.orig_attr(attr));
  }

  /** {@code ibv_query_comp_cntr_caps}, since rdma-core 65: returns 0 or the errno value. */
  public static int ibv_query_comp_cntr_caps(MemorySegment context, MemorySegment caps) {
    return rdma_h._ibv_query_comp_cntr_caps(context, caps, ibv_comp_cntr_caps.layout().byteSize());
  }

  /** {@code ibv_query_rt_values_ex}: returns 0 or the errno value. */
  public static int ibv_query_rt_values_ex(MemorySegment context, MemorySegment values) {
    return call(operation(context, verbs_context.query_rt_values$offset()), context, values);
  }

  /** {@code ibv_create_cq_ex}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_create_cq_ex(MemorySegment context, MemorySegment cq_attr) {
    return create(operation(context, verbs_context.create_cq_ex$offset()), context, cq_attr);
  }

  /** {@code ibv_modify_cq}: returns 0 or the errno value. */
  public static int ibv_modify_cq(MemorySegment cq, MemorySegment attr) {
    return call(operation(ibv_cq.context(cq), verbs_context.modify_cq$offset()), cq, attr);
  }

  /**
   * {@code ibv_create_srq_ex}: calls the exported {@code ibv_create_srq} if that can do what the
   * attributes ask for. Returns NULL and sets {@link Errno} on failure.
   */
  public static MemorySegment ibv_create_srq_ex(
      MemorySegment context, MemorySegment srq_init_attr_ex) {
    int mask = ibv_srq_init_attr_ex.comp_mask(srq_init_attr_ex);
    boolean onlyBasicFields = (mask & ~(IBV_SRQ_INIT_ATTR_PD() | IBV_SRQ_INIT_ATTR_TYPE())) == 0;
    boolean basicType =
        (mask & IBV_SRQ_INIT_ATTR_TYPE()) == 0
            || ibv_srq_init_attr_ex.srq_type(srq_init_attr_ex) == IBV_SRQT_BASIC();
    if (onlyBasicFields && (mask & IBV_SRQ_INIT_ATTR_PD()) != 0 && basicType) {
      return Calls.pointer(
          rdma_h.ibv_create_srq$address(),
          ibv_srq_init_attr_ex.pd(srq_init_attr_ex),
          srq_init_attr_ex);
    }
    return create(
        operation(context, verbs_context.create_srq_ex$offset()), context, srq_init_attr_ex);
  }

  /** {@code ibv_get_srq_num}: returns 0 or the errno value. */
  public static int ibv_get_srq_num(MemorySegment srq, MemorySegment srq_num) {
    return call(operation(ibv_srq.context(srq), verbs_context.get_srq_num$offset()), srq, srq_num);
  }

  /**
   * {@code ibv_post_srq_ops}: returns 0 or the errno value. If the provider does not have the
   * operation, the first request is the bad one. On the data path, use {@link
   * DataPath#ibv_post_srq_ops$op}.
   */
  public static int ibv_post_srq_ops(MemorySegment srq, MemorySegment op, MemorySegment bad_op) {
    MemorySegment operation = operation(ibv_srq.context(srq), verbs_context.post_srq_ops$offset());
    if (operation.address() == 0) {
      bad_op.set(rdma_h.C_POINTER, 0, op);
    }
    return call(operation, srq, op, bad_op);
  }

  /**
   * {@code ibv_create_qp_ex}: calls the exported {@code ibv_create_qp} if the attributes name the
   * protection domain and nothing else. Returns NULL and sets {@link Errno} on failure.
   */
  public static MemorySegment ibv_create_qp_ex(
      MemorySegment context, MemorySegment qp_init_attr_ex) {
    if (ibv_qp_init_attr_ex.comp_mask(qp_init_attr_ex) == IBV_QP_INIT_ATTR_PD()) {
      return Calls.pointer(
          rdma_h.ibv_create_qp$address(), ibv_qp_init_attr_ex.pd(qp_init_attr_ex), qp_init_attr_ex);
    }
    return create(
        operation(context, verbs_context.create_qp_ex$offset()), context, qp_init_attr_ex);
  }

  /** {@code ibv_open_qp}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_open_qp(MemorySegment context, MemorySegment qp_open_attr) {
    return create(operation(context, verbs_context.open_qp$offset()), context, qp_open_attr);
  }

  /** {@code ibv_modify_qp_rate_limit}: returns 0 or the errno value. */
  public static int ibv_modify_qp_rate_limit(MemorySegment qp, MemorySegment attr) {
    return call(
        operation(ibv_qp.context(qp), verbs_context.modify_qp_rate_limit$offset()), qp, attr);
  }

  /** {@code ibv_is_qpt_supported}: returns 1 if the bit of the queue pair type is set, else 0. */
  public static int ibv_is_qpt_supported(int caps, int qpt) {
    return (caps & (1 << qpt)) != 0 ? 1 : 0;
  }

  /** {@code ibv_open_xrcd}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_open_xrcd(MemorySegment context, MemorySegment xrcd_init_attr) {
    return create(operation(context, verbs_context.open_xrcd$offset()), context, xrcd_init_attr);
  }

  /**
   * {@code ibv_close_xrcd}: returns 0 or the errno value. As in C, there is no check for the
   * operation.
   */
  public static int ibv_close_xrcd(MemorySegment xrcd) {
    MemorySegment extended = verbs_get_ctx(ibv_xrcd.context(xrcd));
    return Calls.integer(verbs_context.close_xrcd(extended), xrcd);
  }

  /** {@code ibv_alloc_td}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_alloc_td(MemorySegment context, MemorySegment init_attr) {
    return create(operation(context, verbs_context.alloc_td$offset()), context, init_attr);
  }

  /** {@code ibv_dealloc_td}: returns 0 or the errno value. */
  public static int ibv_dealloc_td(MemorySegment td) {
    return call(operation(ibv_td.context(td), verbs_context.dealloc_td$offset()), td);
  }

  /** {@code ibv_alloc_parent_domain}: returns NULL and sets {@link Errno} on failure. */
  public static MemorySegment ibv_alloc_parent_domain(MemorySegment context, MemorySegment attr) {
    return create(operation(context, verbs_context.alloc_parent_domain$offset()), context, attr);
  }

  /** {@code ibv_inc_rkey}: returns the key with its tag, the lowest 8 bits, incremented by 1. */
  public static int ibv_inc_rkey(int rkey) {
    return (rkey & ~0xFF) | ((rkey + 1) & 0xFF);
  }

  /** {@code ibv_flow_label_to_udp_sport}: returns the unsigned port, from 0xC000 to 0xFFFF. */
  public static int ibv_flow_label_to_udp_sport(int fl) {
    return ((fl & 0x03FFF) ^ ((fl & 0xFC000) >>> 14)) | 0xC000;
  }
}
