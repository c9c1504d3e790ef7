package org.rdma4j.bindings.inlines;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * C's {@code errno}, one for each thread: the value that the last call through a handle of {@link
 * #downcall} left. After a plain downcall it is lost, because the JVM may overwrite it before Java
 * code can read it.
 *
 * <p>The generated methods make plain downcalls. To call such a function and keep errno, make a
 * handle from its generated parts:
 *
 * <pre>{@code
 * static final MethodHandle RSEND = Errno.downcall(rdma_h.rsend$descriptor());
 * ...
 * long sent = (long) RSEND.invokeExact(rdma_h.rsend$address(), Errno.state(), socket, buffer, size, 0);
 * }</pre>
 */
public final class Errno {
  private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
  private static final VarHandle VALUE = LAYOUT.varHandle(groupElement("errno"));
  private static final ThreadLocal<MemorySegment> STATE =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(LAYOUT));

  /** All memory of the process. */
  private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final MethodHandle LOCATION =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().find("__errno_location").orElseThrow(),
              FunctionDescriptor.of(ValueLayout.JAVA_LONG),
              Linker.Option.critical(false));

  private Errno() {}

  /** Returns the value that the last call of this thread left. */
  public static int errno() {
    return (int) VALUE.get(STATE.get(), 0L);
  }

  /** Sets the value of this thread, as {@code errno = value} does in C. */
  public static void errno(int value) {
    VALUE.set(STATE.get(), 0L, value);
  }

  /**
   * Returns a handle that takes the address of the function, then {@link #state()}, then the
   * arguments of the function. One handle serves every function of that shape.
   */
  public static MethodHandle downcall(FunctionDescriptor shape) {
    return Linker.nativeLinker().downcallHandle(shape, Linker.Option.captureCallState("errno"));
  }

  /**
   * Sets C's errno to 0, and returns the memory in which the next call through a handle of {@link
   * #downcall} leaves it for this thread. Some functions fail without setting errno, and would seem
   * to have failed for the reason of an earlier call.
   */
  public static MemorySegment state() {
    try {
      MEMORY.set(ValueLayout.JAVA_INT, (long) LOCATION.invokeExact(), 0);
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
    return STATE.get();
  }

  /**
   * Returns what to throw if a downcall handle threw: the exception itself if it is unchecked. An
   * Error is thrown as it is. C functions throw nothing, so it is an error of the JVM, or the
   * caller passed arguments of the wrong types.
   */
  public static RuntimeException unexpected(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    return thrown instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
  }
}
