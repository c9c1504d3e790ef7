package org.rdma4j.datapath;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.ErrorNumber;
import org.rdma4j.bindings.generated.ibv_cq_ex;
import org.rdma4j.bindings.generated.ibv_wc_tm_info;
import org.rdma4j.bindings.inlines.ExtendedCompletions;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.verbs.CompletionField;

/** Reads of fields of completions that soft-RoCE does not support, from functions in Java. */
final class ExtendedPollingTest {
  private static final long ROOM = 4096;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment queue = arena.allocate(ROOM, 8);
  private final MemorySegment entries = arena.allocate(2 * CompletionLayout.SIZE, 8);
  private final MemorySegment rows = arena.allocate(2 * ExtendedPolling.ROW, 8);
  private int left = 1;
  private int ended;

  @BeforeEach
  void putFunctions() throws ReflectiveOperationException {
    ProviderFunctions functions =
        new ProviderFunctions(
            arena, queue, ExtendedCompletions.wr_id$offset() - ibv_cq_ex.wr_id$offset());
    FunctionDescriptor number = FunctionDescriptor.of(JAVA_INT, JAVA_LONG);
    functions.put(
        ibv_cq_ex.start_poll$offset(),
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG),
        arguments -> left-- > 0 ? 0 : ErrorNumber.ENOENT.value());
    functions.put(
        ibv_cq_ex.end_poll$offset(), FunctionDescriptor.ofVoid(JAVA_LONG), arguments -> ended++);
    functions.put(ibv_cq_ex.read_opcode$offset(), number, arguments -> 1);
    functions.put(ibv_cq_ex.read_wc_flags$offset(), number, arguments -> 2);
    functions.put(
        ibv_cq_ex.read_tm_info$offset(),
        FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG),
        arguments -> {
          MemorySegment tag =
              MemorySegment.ofAddress((long) arguments[1])
                  .reinterpret(ibv_wc_tm_info.layout().byteSize());
          ibv_wc_tm_info.tag(tag, 0x1122_3344_5566_7788L);
          ibv_wc_tm_info.priv(tag, 99);
          return 0;
        });
  }

  @AfterEach
  void free() {
    arena.close();
  }

  @Test
  void theTagOfAMessageIsReadWithItsCompletion() {
    assertThat(poll(Set.of(CompletionField.TAG), true)).isEqualTo(1);
    assertThat(ended).isEqualTo(1);
    assertThat(rows.get(JAVA_LONG, ExtendedPolling.TAG)).isEqualTo(0x1122_3344_5566_7788L);
    assertThat(rows.get(JAVA_INT, ExtendedPolling.TAG_PRIVATE)).isEqualTo(99);
  }

  @Test
  void aTagThatWasNotRequestedIsNotRead() {
    assertThat(poll(Set.of(), true)).isEqualTo(1);
    assertThat(rows.get(JAVA_LONG, ExtendedPolling.TAG)).isZero();
  }

  @Test
  void flagsAreReadOnlyIfRequested() {
    long flags = entries.address() + CompletionLayout.WC_FLAGS;
    RawMemory.putInt(flags, CompletionLayout.NO_FLAGS);
    assertThat(poll(Set.of(), false)).isEqualTo(1);
    assertThat(RawMemory.getInt(flags)).isEqualTo(CompletionLayout.NO_FLAGS);
    left = 1;
    assertThat(poll(Set.of(), true)).isEqualTo(1);
    assertThat(RawMemory.getInt(flags)).isEqualTo(2);
  }

  private int poll(Set<CompletionField> fields, boolean readsFlags) {
    return new ExtendedPolling(queue, NativeConstants.mask(fields), readsFlags, false)
        .poll(2, entries.address(), rows.address());
  }
}
