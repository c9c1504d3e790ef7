package org.rdma4j.bindings.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.BinaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.inlines.Errno;

/**
 * Commands with wrong buffers are refused before the call. A context of zeros is that of no
 * provider, which libmlx5 refuses.
 */
final class DevXTest {
  private static final int EOPNOTSUPP = 95;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment context = arena.allocate(4096);
  private final MemorySegment header = arena.allocate(16);

  DevXTest() {
    // The device: another one of zeros.
    context.set(ValueLayout.ADDRESS, 0, arena.allocate(4096));
  }

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void aDeviceOfNoProviderIsNotSupported() {
    assertThat(Mlx5.isSupported(arena.allocate(4096))).isFalse();
  }

  @Test
  void aDeviceOfAnotherProviderIsRefused() {
    assertThat(DevX.general_cmd(context, header, header)).isEqualTo(EOPNOTSUPP);
    assertThat(DevX.obj_create(context, header, header)).isEqualTo(MemorySegment.NULL);
    assertThat(Errno.errno()).isEqualTo(EOPNOTSUPP);
    assertThat(DevX.umem_reg(context, header, 0)).isEqualTo(MemorySegment.NULL);
    assertThat(Errno.errno()).isEqualTo(EOPNOTSUPP);
    assertThat(DevX.alloc_uar(context, 0)).isEqualTo(MemorySegment.NULL);
    assertThat(Errno.errno()).isEqualTo(EOPNOTSUPP);
  }

  private void refused(String message, MemorySegment in, MemorySegment out) {
    List<BinaryOperator<MemorySegment>> commands =
        List.of(
            (first, second) -> {
              DevX.general_cmd(context, first, second);
              return first;
            },
            (first, second) -> DevX.obj_create(context, first, second),
            (first, second) -> {
              DevX.obj_query(context, first, second);
              return first;
            },
            (first, second) -> {
              DevX.obj_modify(context, first, second);
              return first;
            });
    for (BinaryOperator<MemorySegment> command : commands) {
      assertThatThrownBy(() -> command.apply(in, out))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(message);
    }
  }

  @Test
  void buffersThatTheFirmwareOrTheKernelCouldOverrunAreRefused() {
    refused("in has 15 bytes", header.asSlice(0, 15), header);
    refused("out has 15 bytes", header, header.asSlice(1));
    refused("in has 65536 bytes", arena.allocate(65536), header);
    refused("out has 65536 bytes", header, arena.allocate(65536));
    refused("in is on the Java heap", MemorySegment.ofArray(new byte[16]), header);
    refused("out is on the Java heap", header, MemorySegment.ofArray(new byte[16]));
    refused("out is read-only", header, header.asReadOnly());
    assertThatThrownBy(() -> DevX.umem_reg(context, header.asSlice(0, 0), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("memory has 0 bytes");
    assertThatThrownBy(() -> DevX.umem_reg(context, MemorySegment.ofArray(new byte[1]), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("memory is on the Java heap");
  }
}
