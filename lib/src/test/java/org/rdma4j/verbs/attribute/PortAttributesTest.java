package org.rdma4j.verbs.attribute;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.generated.ibv_port_attr;
import org.rdma4j.bindings.generated.rdma_h;

/** The flags of a port are read as capabilities. */
final class PortAttributesTest {
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment struct = ibv_port_attr.allocate(arena);

  @BeforeEach
  void setMtus() {
    ibv_port_attr.max_mtu(struct, rdma_h.IBV_MTU_4096());
    ibv_port_attr.active_mtu(struct, rdma_h.IBV_MTU_1024());
  }

  @AfterEach
  void free() {
    arena.close();
  }

  @Test
  void eachFlagIsReadAsItsCapability() {
    for (PortCapability capability : PortCapability.values()) {
      ibv_port_attr.port_cap_flags(struct, capability.value());
      assertThat(PortAttributes.read(struct).capabilities()).containsExactly(capability);
    }
    for (PortCapability2 capability : PortCapability2.values()) {
      ibv_port_attr.port_cap_flags2(struct, (short) capability.value());
      assertThat(PortAttributes.read(struct).capabilities2()).containsExactly(capability);
    }
  }

  @Test
  void aPortOfZerosHasNoCapabilities() {
    PortAttributes port = PortAttributes.read(struct);
    assertThat(port.capabilities()).isEmpty();
    assertThat(port.capabilities2()).isEmpty();
    assertThat(port.globalRouteRequired()).isFalse();
  }

  @Test
  void aFlagSaysWhetherPathsNeedAGid() {
    ibv_port_attr.flags(struct, (byte) rdma_h.IBV_QPF_GRH_REQUIRED());
    assertThat(PortAttributes.read(struct).globalRouteRequired()).isTrue();
  }
}
