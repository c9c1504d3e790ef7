package org.rdma4j.bindings.inlines;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * C's {@code errno}, one for each thread: what the last call through a handle of {@link #downcall}
 * left. The JVM overwrites the real one between a plain downcall and the next look at it.
 */
public final class Errno {
  private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
  private static final VarHandle VALUE = LAYOUT.varHandle(groupElement("errno"));
  private static final ThreadLocal<MemorySegment> STATE =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(LAYOUT));

  private Errno() {}

  /** The value that the last call of this thread left. */
  public static int errno() {
    return (int) VALUE.get(STATE.get(), 0L);
  }

  /** Sets this thread's value, as C does with {@code errno = value}. */
  public static void errno(int value) {
    VALUE.set(STATE.get(), 0L, value);
  }

  /**
   * A handle that takes the function's address, then {@link #state()}, then the function's
   * arguments. One handle serves every function of that shape.
   */
  public static MethodHandle downcall(FunctionDescriptor shape) {
    return Linker.nativeLinker().downcallHandle(shape, Linker.Option.captureCallState("errno"));
  }

  /** Where a handle of {@link #downcall} leaves errno for this thread. */
  public static MemorySegment state() {
    return STATE.get();
  }

  /**
   * What to throw for what a downcall handle threw: a defect in the caller's types, or the JVM's
   * own error. C functions throw nothing.
   */
  public static RuntimeException unexpected(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    return thrown instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
  }
}
