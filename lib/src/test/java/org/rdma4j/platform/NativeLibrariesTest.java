package org.rdma4j.platform;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.Test;

final class NativeLibrariesTest {
  private static final AddressLayout STRING =
      ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(16, ValueLayout.JAVA_BYTE));

  @Test
  void mlx5IsToldNotToPutDataIntoCompletions() throws Throwable {
    NativeLibraries.require();
    Linker linker = Linker.nativeLinker();
    MethodHandle getenv =
        linker.downcallHandle(
            linker.defaultLookup().find("getenv").orElseThrow(),
            FunctionDescriptor.of(STRING, ADDRESS));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value =
          (MemorySegment) getenv.invokeExact(arena.allocateFrom("MLX5_SCATTER_TO_CQE"));
      assertThat(value.address()).isNotZero();
      assertThat(value.getString(0)).isEqualTo("0");
    }
  }
}
