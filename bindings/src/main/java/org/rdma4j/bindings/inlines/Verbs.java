package org.rdma4j.bindings.inlines;

import static org.rdma4j.bindings.generated.rdma_h.IBV_ACCESS_OPTIONAL_RANGE;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_gid_entry;
import org.rdma4j.bindings.generated.ibv_port_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.verbs_context;

/**
 * The static inline functions and macros of verbs.h on the control path, under the names that a C
 * program calls them by.
 */
public final class Verbs {
  /** {@code __VERBS_ABI_IS_EXTENDED}: what abi_compat holds in a context inside a verbs_context. */
  private static final long VERBS_ABI_IS_EXTENDED = -1;

  /**
   * The generated layouts are those of x86-64. On AArch64 glibc's pthread_mutex_t has 48 bytes and
   * not 40, which moves what stands behind it: abi_compat, and so the ends of both structs.
   */
  private static final long MUTEX_GROWTH = System.getProperty("os.arch").equals("aarch64") ? 8 : 0;

  private static final long ABI_COMPAT = ibv_context.abi_compat$offset() + MUTEX_GROWTH;
  private static final long CONTEXT_SIZE = ibv_context.layout().byteSize() + MUTEX_GROWTH;
  private static final long VERBS_CONTEXT_SIZE = verbs_context.layout().byteSize() + MUTEX_GROWTH;

  private Verbs() {}

  /** The verbs_context that the context is the last field of, or NULL. */
  public static MemorySegment verbs_get_ctx(MemorySegment context) {
    long abi = context.reinterpret(CONTEXT_SIZE).get(rdma_h.C_POINTER, ABI_COMPAT).address();
    if (abi != VERBS_ABI_IS_EXTENDED) {
      return MemorySegment.NULL;
    }
    return MemorySegment.ofAddress(context.address() - verbs_context.context$offset())
        .reinterpret(VERBS_CONTEXT_SIZE);
  }

  /**
   * {@code verbs_get_ctx_op}: the verbs_context where it has the operation at that offset, else
   * NULL. The struct grows at its front, so that its size tells how far towards the front it goes.
   */
  public static MemorySegment verbs_get_ctx_op(MemorySegment context, long offset) {
    MemorySegment extended = verbs_get_ctx(context);
    boolean present =
        extended.address() != 0
            && Long.compareUnsigned(verbs_context.sz(extended), VERBS_CONTEXT_SIZE - offset) >= 0
            && extended.get(rdma_h.C_POINTER, offset).address() != 0;
    return present ? extended : MemorySegment.NULL;
  }

  /** {@code ibv_query_port}: 0 or the errno value. */
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
   * {@code ibv_reg_mr}: the exported function where no optional access flag is set, else {@code
   * ibv_reg_mr_iova2}, which drops those that the kernel does not know. NULL and {@link Errno} on
   * failure.
   */
  public static MemorySegment ibv_reg_mr(
      MemorySegment pd, MemorySegment addr, long length, int access) {
    if ((access & IBV_ACCESS_OPTIONAL_RANGE()) == 0) {
      return Calls.pointer(rdma_h.ibv_reg_mr$address(), pd, addr, length, access);
    }
    return Calls.pointer(
        rdma_h.ibv_reg_mr_iova2$address(), pd, addr, length, addr.address(), access);
  }

  /** {@code ibv_query_gid_table}: the number of entries, or minus the errno value. */
  public static long ibv_query_gid_table(
      MemorySegment context, MemorySegment entries, long max_entries, int flags) {
    return rdma_h._ibv_query_gid_table(
        context, entries, max_entries, flags, ibv_gid_entry.layout().byteSize());
  }
}
