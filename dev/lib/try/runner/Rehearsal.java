import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of nothing, which load what tests need. */
class Rehearsal {
  @Test
  void assertions() {
    assertThat(List.of("a")).containsExactly("a");
    assertThat(1L).isEqualTo(1);
    assertThatThrownBy(() -> Integer.parseInt("x")).hasMessageContaining("x");
  }

  @ParameterizedTest
  @ValueSource(ints = 1)
  void parameters(int value) {
    assertThat(value).isOne();
  }

  /** The linker and the classes of the library's calls: plain, critical, and with errno. */
  @Test
  void calls() throws Throwable {
    Linker linker = Linker.nativeLinker();
    MemorySegment function = linker.defaultLookup().find("getpid").orElseThrow();
    FunctionDescriptor shape = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    MethodHandle plain = linker.downcallHandle(function, shape);
    MethodHandle critical =
        linker.downcallHandle(function, shape, Linker.Option.critical(false));
    MethodHandle withErrno =
        linker.downcallHandle(function, shape, Linker.Option.captureCallState("errno"));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
      int process = (int) ProcessHandle.current().pid();
      assertThat((int) plain.invokeExact(MemorySegment.NULL)).isEqualTo(process);
      assertThat((int) critical.invokeExact(MemorySegment.NULL)).isEqualTo(process);
      assertThat((int) withErrno.invokeExact(state, MemorySegment.NULL)).isEqualTo(process);
    }
  }
}
