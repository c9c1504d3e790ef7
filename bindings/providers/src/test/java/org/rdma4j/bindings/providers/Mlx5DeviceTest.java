package org.rdma4j.bindings.providers;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.efa.Efa;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_cq;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.mlx5.DevX;
import org.rdma4j.bindings.mlx5.Mlx5;
import org.rdma4j.bindings.mlx5.generated.mlx5_h;
import org.rdma4j.bindings.mlx5.generated.mlx5dv_context;
import org.rdma4j.bindings.mlx5.generated.mlx5dv_cq;
import org.rdma4j.bindings.mlx5.generated.mlx5dv_obj;

/** The functions of mlx5 with a device of that provider, simulated. */
@Tag("mlx5")
final class Mlx5DeviceTest {
  private final Arena arena = Arena.ofConfined();
  private final OpenDevice device = OpenDevice.first();
  private final MemorySegment context = device.context();

  @AfterEach
  void close() {
    device.close();
    arena.close();
  }

  @Test
  void onlyMlx5SupportsIt() {
    assertThat(Mlx5.isSupported(ibv_context.device(context))).isTrue();
    assertThat(Efa.isSupported(context)).isFalse();
  }

  @Test
  void aQueryFillsTheMembersThatItsMaskNames() {
    MemorySegment attributes = arena.allocate(mlx5dv_context.layout());
    long mask = mlx5_h.MLX5DV_CONTEXT_MASK_DYN_BFREGS();
    mlx5dv_context.comp_mask(attributes, mask);
    assertThat(mlx5_h.mlx5dv_query_device(context, attributes)).isZero();
    assertThat(mlx5dv_context.comp_mask(attributes)).isEqualTo(mask);
    assertThat(mlx5dv_context.flags(attributes) & mlx5_h.MLX5DV_CONTEXT_FLAGS_CQE_V1()).isNotZero();
  }

  /** It is a query of capabilities, of whose answer only the header has room. */
  @Test
  void aCommandOfDevXReachesTheFirmware() {
    MemorySegment in = arena.allocate(DevX.HEADER_BYTES);
    MemorySegment out = arena.allocate(DevX.HEADER_BYTES).fill((byte) -1);
    in.set(JAVA_BYTE, 0, (byte) 1);
    assertThat(DevX.general_cmd(context, in, out)).isZero();
    assertThat(out.get(JAVA_BYTE, 0)).as("status").isZero();
  }

  /** The rings of a queue are what programs that post and poll by themselves need. */
  @Test
  void theRingOfACompletionQueueCanBeRead() {
    MemorySegment none = MemorySegment.NULL;
    MemorySegment queue = rdma_h.ibv_create_cq(context, 100, none, none, 0);
    try {
      MemorySegment ring = arena.allocate(mlx5dv_cq.layout());
      MemorySegment object = arena.allocate(mlx5dv_obj.layout());
      mlx5dv_obj.cq.in(mlx5dv_obj.cq(object), queue);
      mlx5dv_obj.cq.out(mlx5dv_obj.cq(object), ring);
      assertThat(mlx5_h.mlx5dv_init_obj(object, mlx5_h.MLX5DV_OBJ_CQ())).isZero();
      assertThat(mlx5dv_cq.cqe_cnt(ring)).isEqualTo(128);
      assertThat(mlx5dv_cq.cqe_size(ring)).isEqualTo(64);
      assertThat(mlx5dv_cq.buf(ring)).isNotEqualTo(none);
      assertThat(ibv_cq.cqe(queue.reinterpret(ibv_cq.layout().byteSize()))).isEqualTo(127);
    } finally {
      assertThat(rdma_h.ibv_destroy_cq(queue)).isZero();
    }
  }
}
