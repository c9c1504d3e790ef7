package org.rdma4j.bindings.inlines;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.rdma4j.bindings.generated.rdma_h.C_POINTER;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls by address that preserve {@link Errno}, for functions that report the reason of a failure
 * only in errno. The methods that jextract generates lose it. There is one method for each shape,
 * so that functions share handles, and one holder class for each handle, so that only the shapes in
 * use are linked.
 */
public final class Calls {
  private Calls() {}

  private static final class PointerOfNothing {
    static final MethodHandle CALL = Errno.downcall(FunctionDescriptor.of(C_POINTER));
  }

  /** Calls {@code void *function(void)}. */
  public static MemorySegment pointer(MemorySegment function) {
    try {
      return (MemorySegment) PointerOfNothing.CALL.invokeExact(function, Errno.state());
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class PointerOfPointer {
    static final MethodHandle CALL = Errno.downcall(FunctionDescriptor.of(C_POINTER, ADDRESS));
  }

  /** Calls {@code void *function(void *)}. */
  public static MemorySegment pointer(MemorySegment function, MemorySegment first) {
    try {
      return (MemorySegment) PointerOfPointer.CALL.invokeExact(function, Errno.state(), first);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class PointerOfTwoPointers {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(C_POINTER, ADDRESS, ADDRESS));
  }

  /** Calls {@code void *function(void *, void *)}. */
  public static MemorySegment pointer(
      MemorySegment function, MemorySegment first, MemorySegment second) {
    try {
      return (MemorySegment)
          PointerOfTwoPointers.CALL.invokeExact(function, Errno.state(), first, second);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class CreateCq {
    static final MethodHandle CALL =
        Errno.downcall(
            FunctionDescriptor.of(C_POINTER, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
  }

  /** Calls {@code void *function(void *, int, void *, void *, int)}, the shape of ibv_create_cq. */
  public static MemorySegment pointer(
      MemorySegment function,
      MemorySegment first,
      int second,
      MemorySegment third,
      MemorySegment fourth,
      int fifth) {
    try {
      return (MemorySegment)
          CreateCq.CALL.invokeExact(function, Errno.state(), first, second, third, fourth, fifth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class RegMr {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(C_POINTER, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT));
  }

  /** Calls {@code void *function(void *, void *, size_t, int)}, the shape of ibv_reg_mr. */
  public static MemorySegment pointer(
      MemorySegment function, MemorySegment first, MemorySegment second, long third, int fourth) {
    try {
      return (MemorySegment)
          RegMr.CALL.invokeExact(function, Errno.state(), first, second, third, fourth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class RegMrIova2 {
    static final MethodHandle CALL =
        Errno.downcall(
            FunctionDescriptor.of(C_POINTER, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT));
  }

  /**
   * Calls {@code void *function(void *, void *, size_t, uint64_t, unsigned)}, the shape of
   * ibv_reg_mr_iova2.
   */
  public static MemorySegment pointer(
      MemorySegment function,
      MemorySegment first,
      MemorySegment second,
      long third,
      long fourth,
      int fifth) {
    try {
      return (MemorySegment)
          RegMrIova2.CALL.invokeExact(function, Errno.state(), first, second, third, fourth, fifth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class PointerOfInt {
    static final MethodHandle CALL = Errno.downcall(FunctionDescriptor.of(C_POINTER, JAVA_INT));
  }

  /** Calls {@code void *function(int)}, the shape of ibv_import_device. */
  public static MemorySegment pointer(MemorySegment function, int first) {
    try {
      return (MemorySegment) PointerOfInt.CALL.invokeExact(function, Errno.state(), first);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class PointerOfPointerAndInt {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(C_POINTER, ADDRESS, JAVA_INT));
  }

  /** Calls {@code void *function(void *, uint32_t)}, the shape of ibv_import_pd, _mr and _dm. */
  public static MemorySegment pointer(MemorySegment function, MemorySegment first, int second) {
    try {
      return (MemorySegment)
          PointerOfPointerAndInt.CALL.invokeExact(function, Errno.state(), first, second);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class IntOfPointer {
    static final MethodHandle CALL = Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS));
  }

  /** Calls {@code int function(void *)}. */
  public static int integer(MemorySegment function, MemorySegment first) {
    try {
      return (int) IntOfPointer.CALL.invokeExact(function, Errno.state(), first);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class IntOfTwoPointers {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
  }

  /** Calls {@code int function(void *, void *)}. */
  public static int integer(MemorySegment function, MemorySegment first, MemorySegment second) {
    try {
      return (int) IntOfTwoPointers.CALL.invokeExact(function, Errno.state(), first, second);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class IntOfThreePointers {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls {@code int function(void *, void *, void *)}. */
  public static int integer(
      MemorySegment function, MemorySegment first, MemorySegment second, MemorySegment third) {
    try {
      return (int)
          IntOfThreePointers.CALL.invokeExact(function, Errno.state(), first, second, third);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class QueryByIndex {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BYTE, JAVA_INT, ADDRESS));
  }

  /**
   * Calls {@code int function(void *, uint8_t, int, void *)}, the shape of ibv_query_gid and
   * ibv_query_pkey.
   */
  public static int integer(
      MemorySegment function, MemorySegment first, byte second, int third, MemorySegment fourth) {
    try {
      return (int)
          QueryByIndex.CALL.invokeExact(function, Errno.state(), first, second, third, fourth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class IntOfFourPointers {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls {@code int function(void *, void *, void *, void *)}. */
  public static int integer(
      MemorySegment function,
      MemorySegment first,
      MemorySegment second,
      MemorySegment third,
      MemorySegment fourth) {
    try {
      return (int)
          IntOfFourPointers.CALL.invokeExact(function, Errno.state(), first, second, third, fourth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class IntOfThreePointersAndInt {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT));
  }

  /**
   * Calls {@code int function(void *, void *, void *, int)}, the shape of rdma_create_id and
   * rdma_resolve_addr.
   */
  public static int integer(
      MemorySegment function,
      MemorySegment first,
      MemorySegment second,
      MemorySegment third,
      int fourth) {
    try {
      return (int)
          IntOfThreePointersAndInt.CALL.invokeExact(
              function, Errno.state(), first, second, third, fourth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class IntOfPointerAndInt {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  }

  /** Calls {@code int function(void *, int)}, the shape of rdma_listen. */
  public static int integer(MemorySegment function, MemorySegment first, int second) {
    try {
      return (int) IntOfPointerAndInt.CALL.invokeExact(function, Errno.state(), first, second);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class Reject {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_BYTE));
  }

  /** Calls {@code int function(void *, void *, uint8_t)}, the shape of rdma_reject. */
  public static int integer(
      MemorySegment function, MemorySegment first, MemorySegment second, byte third) {
    try {
      return (int) Reject.CALL.invokeExact(function, Errno.state(), first, second, third);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class Command {
    static final MethodHandle CALL =
        Errno.downcall(
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG));
  }

  /**
   * Calls {@code int function(void *, const void *, size_t, void *, size_t)}, the shape of
   * mlx5dv_devx_general_cmd.
   */
  public static int integer(
      MemorySegment function,
      MemorySegment first,
      MemorySegment second,
      long third,
      MemorySegment fourth,
      long fifth) {
    try {
      return (int)
          Command.CALL.invokeExact(function, Errno.state(), first, second, third, fourth, fifth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class Creation {
    static final MethodHandle CALL =
        Errno.downcall(
            FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG));
  }

  /**
   * Calls {@code void *function(void *, const void *, size_t, void *, size_t)}, the shape of
   * mlx5dv_devx_obj_create.
   */
  public static MemorySegment pointer(
      MemorySegment function,
      MemorySegment first,
      MemorySegment second,
      long third,
      MemorySegment fourth,
      long fifth) {
    try {
      return (MemorySegment)
          Creation.CALL.invokeExact(function, Errno.state(), first, second, third, fourth, fifth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class WriteEvent {
    static final MethodHandle CALL =
        Errno.downcall(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, JAVA_LONG));
  }

  /** Calls {@code int function(void *, int, int, uint64_t)}, the shape of rdma_write_cm_event. */
  public static int integer(
      MemorySegment function, MemorySegment first, int second, int third, long fourth) {
    try {
      return (int)
          WriteEvent.CALL.invokeExact(function, Errno.state(), first, second, third, fourth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  private static final class SetOption {
    static final MethodHandle CALL =
        Errno.downcall(
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG));
  }

  /** Calls {@code int function(void *, int, int, void *, size_t)}, the shape of rdma_set_option. */
  public static int integer(
      MemorySegment function,
      MemorySegment first,
      int second,
      int third,
      MemorySegment fourth,
      long fifth) {
    try {
      return (int)
          SetOption.CALL.invokeExact(function, Errno.state(), first, second, third, fourth, fifth);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }
}
