package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_device_attr_ex;
import org.rdma4j.bindings.generated.ibv_odp_caps;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;

/**
 * The support for on-demand paging: registered memory is not pinned, but paged in when the device
 * accesses it: {@code struct ibv_odp_caps} and {@code xrc_odp_caps}.
 *
 * @param supported whether the device supports it at all
 * @param implicit whether one memory region can cover the whole address space
 * @param reliableConnection the operations of RC that may access such memory
 * @param unreliableConnection the operations of UC that may access such memory
 * @param unreliableDatagram the operations of UD that may access such memory
 * @param xrc the operations of XRC that may access such memory
 * @see ExtendedDeviceAttributes
 * @see org.rdma4j.verbs.AccessFlag#ON_DEMAND
 */
public record OnDemandPagingCapabilities(
    boolean supported,
    boolean implicit,
    Set<OnDemandPagingOperation> reliableConnection,
    Set<OnDemandPagingOperation> unreliableConnection,
    Set<OnDemandPagingOperation> unreliableDatagram,
    Set<OnDemandPagingOperation> xrc) {
  static OnDemandPagingCapabilities read(MemorySegment extended) {
    MemorySegment caps = ibv_device_attr_ex.odp_caps(extended);
    long general = ibv_odp_caps.general_caps(caps);
    MemorySegment transports = ibv_odp_caps.per_transport_caps(caps);
    return new OnDemandPagingCapabilities(
        (general & rdma_h.IBV_ODP_SUPPORT()) != 0,
        (general & rdma_h.IBV_ODP_SUPPORT_IMPLICIT()) != 0,
        operations(ibv_odp_caps.per_transport_caps.rc_odp_caps(transports)),
        operations(ibv_odp_caps.per_transport_caps.uc_odp_caps(transports)),
        operations(ibv_odp_caps.per_transport_caps.ud_odp_caps(transports)),
        operations(ibv_device_attr_ex.xrc_odp_caps(extended)));
  }

  private static Set<OnDemandPagingOperation> operations(int mask) {
    return NativeConstants.flags(OnDemandPagingOperation.class, mask);
  }
}
