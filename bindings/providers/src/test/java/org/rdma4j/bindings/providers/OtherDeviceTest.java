package org.rdma4j.bindings.providers;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.efa.Efa;
import org.rdma4j.bindings.efa.generated.efa_h;
import org.rdma4j.bindings.efa.generated.efadv_device_attr;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.mlx5.DevX;
import org.rdma4j.bindings.mlx5.Mlx5;
import org.rdma4j.bindings.mlx5.generated.mlx5_h;
import org.rdma4j.bindings.mlx5.generated.mlx5dv_context;

/** The functions of mlx5 and EFA refuse the devices of other providers. */
@Tag("device")
@Tag("needs-soft-roce")
final class OtherDeviceTest {
  private static final int EOPNOTSUPP = 95;

  private final Arena arena = Arena.ofConfined();
  private final OpenDevice device = OpenDevice.first();
  private final MemorySegment context = device.context();

  @AfterEach
  void close() {
    device.close();
    arena.close();
  }

  @Test
  void itIsNotSupported() {
    assertThat(Mlx5.isSupported(ibv_context.device(context))).isFalse();
    assertThat(Efa.isSupported(context)).isFalse();
  }

  @Test
  void queriesAreRefused() {
    MemorySegment attributes = arena.allocate(mlx5dv_context.layout());
    assertThat(mlx5_h.mlx5dv_query_device(context, attributes)).isEqualTo(EOPNOTSUPP);
    attributes = arena.allocate(efadv_device_attr.layout());
    assertThat(efa_h.efadv_query_device(context, attributes, (int) attributes.byteSize()))
        .isEqualTo(EOPNOTSUPP);
  }

  @Test
  void commandsOfDevXAreRefused() {
    MemorySegment header = arena.allocate(DevX.HEADER_BYTES);
    assertThat(DevX.general_cmd(context, header, header)).isEqualTo(EOPNOTSUPP);
    assertThat(DevX.obj_create(context, header, header)).isEqualTo(MemorySegment.NULL);
    assertThat(Errno.errno()).isEqualTo(EOPNOTSUPP);
    assertThat(DevX.umem_reg(context, arena.allocate(4096), 0)).isEqualTo(MemorySegment.NULL);
    assertThat(Errno.errno()).isEqualTo(EOPNOTSUPP);
    assertThat(DevX.alloc_uar(context, 0)).isEqualTo(MemorySegment.NULL);
    assertThat(Errno.errno()).isEqualTo(EOPNOTSUPP);
  }
}
