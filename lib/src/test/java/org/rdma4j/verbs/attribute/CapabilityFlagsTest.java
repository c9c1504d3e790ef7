package org.rdma4j.verbs.attribute;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.generated.ibv_device_attr_ex;
import org.rdma4j.bindings.generated.ibv_odp_caps;
import org.rdma4j.bindings.generated.ibv_tm_caps;
import org.rdma4j.bindings.generated.rdma_h;

/** A flag of a device is read as set only if it is. */
final class CapabilityFlagsTest {
  @Test
  void onDemandPagingAndItsImplicitForm() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = ibv_device_attr_ex.allocate(arena);
      MemorySegment caps = ibv_device_attr_ex.odp_caps(attributes);
      OnDemandPagingCapabilities none = OnDemandPagingCapabilities.read(attributes);
      assertThat(none.supported()).isFalse();
      assertThat(none.implicit()).isFalse();
      ibv_odp_caps.general_caps(caps, rdma_h.IBV_ODP_SUPPORT());
      OnDemandPagingCapabilities explicit = OnDemandPagingCapabilities.read(attributes);
      assertThat(explicit.supported()).isTrue();
      assertThat(explicit.implicit()).isFalse();
      ibv_odp_caps.general_caps(caps, rdma_h.IBV_ODP_SUPPORT_IMPLICIT());
      OnDemandPagingCapabilities implicit = OnDemandPagingCapabilities.read(attributes);
      assertThat(implicit.supported()).isFalse();
      assertThat(implicit.implicit()).isTrue();
    }
  }

  @Test
  void tagsOverReliableConnections() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment caps = ibv_tm_caps.allocate(arena);
      assertThat(TagMatchingCapabilities.read(caps).reliableConnection()).isFalse();
      ibv_tm_caps.flags(caps, ~rdma_h.IBV_TM_CAP_RC());
      assertThat(TagMatchingCapabilities.read(caps).reliableConnection()).isFalse();
      ibv_tm_caps.flags(caps, rdma_h.IBV_TM_CAP_RC());
      assertThat(TagMatchingCapabilities.read(caps).reliableConnection()).isTrue();
    }
  }
}
