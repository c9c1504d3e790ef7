package org.rdma4j.bindings.inlines;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_context_ops;
import org.rdma4j.bindings.generated.ibv_wq;
import org.rdma4j.bindings.generated.verbs_context;

/**
 * The static inline functions of verbs.h that post and poll. C reads the pointer of the function
 * from {@code context->ops} at each call. Here the caller reads it once, with {@code
 * ibv_post_send$op} or the corresponding method, and passes it to each call. Pointers are longs,
 * because a MemorySegment argument costs a check of its scope at each call.
 *
 * <p>Each function is linked twice. A <em>critical</em> call does not change the state of the
 * thread: it costs only about 5 cycles, but the garbage collector waits until it returns. Use it if
 * the provider never enters the kernel in that function. C2 also leaves no safepoint in a loop that
 * makes only critical calls, so such a loop has to call {@link #safepoint} from time to time.
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
    return byAddress(Linker.nativeLinker().downcallHandle(shape));
  }

  static MethodHandle critical(FunctionDescriptor shape) {
    return byAddress(Linker.nativeLinker().downcallHandle(shape, Linker.Option.critical(false)));
  }

  /**
   * Makes a handle take the pointer of the function as a long. The handle creates the segment
   * itself, which the compiler then never allocates, because it always inlines what belongs to a
   * handle.
   */
  private static MethodHandle byAddress(MethodHandle call) {
    return MethodHandles.filterArguments(call, 0, Pointer.OF_ADDRESS);
  }

  private static final class Pointer {
    static final MethodHandle OF_ADDRESS;

    static {
      try {
        OF_ADDRESS =
            MethodHandles.lookup()
                .findStatic(
                    MemorySegment.class,
                    "ofAddress",
                    MethodType.methodType(MemorySegment.class, long.class));
      } catch (ReflectiveOperationException impossible) {
        throw new ExceptionInInitializerError(impossible);
      }
    }
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

  /** Returns {@code context->ops.post_send}. */
  public static long ibv_post_send$op(MemorySegment context) {
    return ibv_context_ops.post_send(ibv_context.ops(context)).address();
  }

  /** Returns {@code context->ops.post_recv}. */
  public static long ibv_post_recv$op(MemorySegment context) {
    return ibv_context_ops.post_recv(ibv_context.ops(context)).address();
  }

  /** Returns {@code context->ops.poll_cq}. */
  public static long ibv_poll_cq$op(MemorySegment context) {
    return ibv_context_ops.poll_cq(ibv_context.ops(context)).address();
  }

  /** Returns {@code context->ops.req_notify_cq}. */
  public static long ibv_req_notify_cq$op(MemorySegment context) {
    return ibv_context_ops.req_notify_cq(ibv_context.ops(context)).address();
  }

  /** Returns {@code context->ops.post_srq_recv}. */
  public static long ibv_post_srq_recv$op(MemorySegment context) {
    return ibv_context_ops.post_srq_recv(ibv_context.ops(context)).address();
  }

  /** Returns {@code wq->post_recv}. */
  public static long ibv_post_wq_recv$op(MemorySegment wq) {
    return ibv_wq.post_recv(wq).address();
  }

  /** Returns {@code verbs_context.post_srq_ops}, or 0 if the provider does not have it. */
  public static long ibv_post_srq_ops$op(MemorySegment context) {
    return Verbs.operation(context, verbs_context.post_srq_ops$offset()).address();
  }

  /**
   * {@code ibv_post_send}, and the functions of the same shape: {@code ibv_post_recv}, {@code
   * ibv_post_srq_recv}, {@code ibv_post_wq_recv} and {@code ibv_post_srq_ops}. Returns 0 or the
   * errno value.
   */
  public static int ibv_post(long op, long qp, long wr, long bad_wr) {
    try {
      return (int) PlainPost.CALL.invokeExact(op, qp, wr, bad_wr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_post$critical(long op, long qp, long wr, long bad_wr) {
    try {
      return (int) CriticalPost.CALL.invokeExact(op, qp, wr, bad_wr);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_poll_cq}: returns the number of completions, or a negative value. */
  public static int ibv_poll_cq(long op, long cq, int num_entries, long wc) {
    try {
      return (int) PlainPoll.CALL.invokeExact(op, cq, num_entries, wc);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** The same function, as a critical call. */
  public static int ibv_poll_cq$critical(long op, long cq, int num_entries, long wc) {
    try {
      return (int) CriticalPoll.CALL.invokeExact(op, cq, num_entries, wc);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** {@code ibv_req_notify_cq}: returns 0 or the errno value. */
  public static int ibv_req_notify_cq(long op, long cq, int solicited_only) {
    try {
      return (int) Notify.CALL.invokeExact(op, cq, solicited_only);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /**
   * Makes a plain call of a function that has no effect, so that a waiting garbage collector can
   * start.
   */
  public static void safepoint() {
    try {
      Safepoint.CALL.invokeExact(0);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }
}
