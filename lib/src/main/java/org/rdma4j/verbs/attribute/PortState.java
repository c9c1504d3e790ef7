package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The logical state of a port: {@code enum ibv_port_state}.
 *
 * @see PortAttributes
 */
public enum PortState implements NativeConstant {
  /** No change; no port reports this state: {@code IBV_PORT_NOP}. */
  NOP(rdma_h.IBV_PORT_NOP()),
  /** The link is down: {@code IBV_PORT_DOWN}. */
  DOWN(rdma_h.IBV_PORT_DOWN()),
  /** The link is up, but the subnet manager has not configured it: {@code IBV_PORT_INIT}. */
  INIT(rdma_h.IBV_PORT_INIT()),
  /** Configured, but not yet active: {@code IBV_PORT_ARMED}. */
  ARMED(rdma_h.IBV_PORT_ARMED()),
  /** Ready for traffic: {@code IBV_PORT_ACTIVE}. */
  ACTIVE(rdma_h.IBV_PORT_ACTIVE()),
  /** Active, but the link has a temporary failure: {@code IBV_PORT_ACTIVE_DEFER}. */
  ACTIVE_DEFER(rdma_h.IBV_PORT_ACTIVE_DEFER());

  private final int value;

  PortState(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
