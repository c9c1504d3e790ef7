package org.rdma4j.bindings.inlines;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_context_ops;
import org.rdma4j.bindings.generated.ibv_wq;
import org.rdma4j.bindings.generated.verbs_context;

/**
 * The static inline functions of verbs.h that post and poll. C reads the function's pointer from
 * {@code context->ops} at each call; here the caller reads it once, with {@code ibv_post_send$op}
 * and its like, and passes it on. Pointers are longs, since a MemorySegment argument costs a check
 * of its scope at each call.
 *
 * <p>Each function is linked twice. A <em>critical</em> call leaves out the change of the thread's
 * state: it costs some 5 cycles, but the garbage collector waits until it returns. It is for a
 * provider that never enters the kernel in that function. C2 leaves no safepoint in a bare loop of
 * critical calls either, so who makes one has to call {@link #safepoint} every so often.
 */
public final class DataPath {
  private static final FunctionDescriptor POST =
      FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final FunctionDescriptor POLL =
      FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final FunctionDescriptor NOTIFY =
      FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT);

  private DataPath() {}

  static MethodHandle plain(FunctionDescriptor shape) {
    return Linker.nativeLinker().downcallHandle(shape);
  }

  static MethodHandle critical(FunctionDescriptor shape) {
    return Linker.nativeLinker().downcallHandle(shape, Linker.Option.critical(false));
  }

  private static final class PlainPost {
    static final MethodHandle CALL = plain(POST);
  }

  private static final class CriticalPost {
    static final MethodHandle CALL = critical(POST);
  }

  private static final class PlainPoll {
    static final MethodHandle CALL = plain(POLL);
  }

  private static final class CriticalPoll {
    static final MethodHandle CALL = critical(POLL);
  }

  private static final class Notify {
    static final MethodHandle CALL = plain(NOTIFY);
  }

  private static final class Safepoint {
    static final MethodHandle CALL =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().find("abs").orElseThrow(),
                FunctionDescriptor.ofVoid(JAVA_INT));
  }

  /** {@code context->ops.post_send}. */
  public static long ibv_post_send$op(MemorySegment context) {
    return ibv_context_ops.post_send(ibv_context.ops(context)).address();
  }

  /** {@code context->ops.post_recv}. */
  public static long ibv_post_recv$op(MemorySegment context) {
    return ibv_context_ops.post_recv(ibv_context.ops(context)).address();
  }

  /** {@code context->ops.poll_cq}. */
  public static long ibv_poll_cq$op(MemorySegment context) {
    return ibv_context_ops.poll_cq(ibv_context.ops(context)).address();
  }

  /** {@code context->ops.req_notify_cq}. */
  public static long ibv_req_notify_cq$op(MemorySegment context) {
    return ibv_context_ops.req_notify_cq(ibv_context.ops(context)).address();
  }

  /** {@code context->ops.post_srq_recv}. */
  public static long ibv_post_srq_recv$op(MemorySegment context) {
    return ibv_context_ops.post_srq_recv(ibv_context.ops(context)).address();
  }

  /** {@code wq->post_recv}. */
  public static long ibv_post_wq_recv$op(MemorySegment wq) {
    return ibv_wq.post_recv(wq).address();
  }

  /** {@code verbs_context.post_srq_ops}, or 0 where the provider has none. */
  public static long ibv_post_srq_ops$op(MemorySegment context) {
    return Verbs.operation(context, verbs_context.post_srq_ops$offset()).address();
  }

  /**
   * {@code ibv_post_send} and, of the same shape, {@code ibv_post_recv}, {@code ibv_post_srq_recv},
   * {@code ibv_post_wq_recv} and {@code ibv_post_srq_ops}: 0 or the errno value.
   */
  public static int ibv_post(long op, long qp, long wr, long bad_wr) {
    try {
      return (int) PlainPost.CALL.invokeExact(MemorySegment.ofAddress(op), qp, wr, bad_wr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same by a critical call. */
  public static int ibv_post$critical(long op, long qp, long wr, long bad_wr) {
    try {
      return (int) CriticalPost.CALL.invokeExact(MemorySegment.ofAddress(op), qp, wr, bad_wr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_poll_cq}: the number of completions, or a negative value. */
  public static int ibv_poll_cq(long op, long cq, int num_entries, long wc) {
    try {
      return (int) PlainPoll.CALL.invokeExact(MemorySegment.ofAddress(op), cq, num_entries, wc);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same by a critical call. */
  public static int ibv_poll_cq$critical(long op, long cq, int num_entries, long wc) {
    try {
      return (int) CriticalPoll.CALL.invokeExact(MemorySegment.ofAddress(op), cq, num_entries, wc);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_req_notify_cq}: 0 or the errno value. */
  public static int ibv_req_notify_cq(long op, long cq, int solicited_only) {
    try {
      return (int) Notify.CALL.invokeExact(MemorySegment.ofAddress(op), cq, solicited_only);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** A plain call of a function that does nothing: lets a waiting garbage collector begin. */
  public static void safepoint() {
    try {
      Safepoint.CALL.invokeExact(0);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }
}
