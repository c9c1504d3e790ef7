package org.rdma4j.bindings.providers;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.efa.Efa;
import org.rdma4j.bindings.efa.generated.efa_h;
import org.rdma4j.bindings.efa.generated.efadv_device_attr;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.mlx5.Mlx5;
import org.rdma4j.testing.SimulatedAdapter;

/** The functions of EFA with a device of that provider, which the simulation has as well. */
@Tag("mlx5")
final class EfaDeviceTest {
  @BeforeEach
  void findEfa() {
    SimulatedAdapter.efa(true);
  }

  @AfterEach
  void findMlx5() {
    SimulatedAdapter.efa(false);
  }

  @Test
  void onlyEfaSupportsItAndAQueryFillsItsAttributes() {
    try (Arena arena = Arena.ofConfined();
        OpenDevice device = OpenDevice.first()) {
      MemorySegment context = device.context();
      assertThat(Efa.isSupported(context)).isTrue();
      assertThat(Mlx5.isSupported(ibv_context.device(context))).isFalse();

      MemorySegment attributes = arena.allocate(efadv_device_attr.layout());
      int length = (int) attributes.byteSize();
      assertThat(efa_h.efadv_query_device(context, attributes, length)).isZero();
      assertThat(efadv_device_attr.max_sq_sge(attributes)).isEqualTo((short) 2);
      assertThat(efadv_device_attr.max_sq_wr(attributes)).isPositive();
      assertThat(
              efadv_device_attr.device_caps(attributes) & efa_h.EFADV_DEVICE_ATTR_CAPS_RDMA_READ())
          .isNotZero();
    }
  }
}
