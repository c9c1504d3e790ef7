package org.rdma4j.datapath;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Function pointers of a native object that call Java; they stand in for those of a provider. */
final class ProviderFunctions {
  private final Arena arena;
  private final MemorySegment object;
  private final long shift;

  /**
   * The Java code that is called. It returns an Integer, or null if the C function returns nothing.
   */
  interface Function {
    Object call(Object[] arguments);
  }

  /**
   * Creates the functions of an object.
   *
   * @param shift the number of bytes to add to the generated offsets, which are those of x86-64
   */
  ProviderFunctions(Arena arena, MemorySegment object, long shift) {
    this.arena = arena;
    this.object = object;
    this.shift = shift;
  }

  void put(long offset, FunctionDescriptor shape, Function function)
      throws ReflectiveOperationException {
    MethodHandle call =
        MethodHandles.lookup()
            .findVirtual(
                Function.class, "call", MethodType.methodType(Object.class, Object[].class))
            .bindTo(function)
            .asCollector(Object[].class, shape.argumentLayouts().size())
            .asType(shape.toMethodType());
    object.set(ADDRESS, offset + shift, Linker.nativeLinker().upcallStub(call, shape, arena));
  }
}
