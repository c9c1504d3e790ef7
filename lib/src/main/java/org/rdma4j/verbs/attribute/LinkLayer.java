package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The link layer of a port: {@code link_layer} of {@code struct ibv_port_attr}.
 *
 * @see PortAttributes
 */
public enum LinkLayer implements NativeConstant {
  /** Not reported: {@code IBV_LINK_LAYER_UNSPECIFIED}. Older libraries report it for InfiniBand. */
  UNSPECIFIED(rdma_h.IBV_LINK_LAYER_UNSPECIFIED()),
  /** InfiniBand: {@code IBV_LINK_LAYER_INFINIBAND}. */
  INFINIBAND(rdma_h.IBV_LINK_LAYER_INFINIBAND()),
  /** Ethernet, used by RoCE and iWARP: {@code IBV_LINK_LAYER_ETHERNET}. */
  ETHERNET(rdma_h.IBV_LINK_LAYER_ETHERNET());

  private final int value;

  LinkLayer(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
