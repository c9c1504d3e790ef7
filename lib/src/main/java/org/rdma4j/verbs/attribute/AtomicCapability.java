package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * To what the atomic operations of a device are atomic: {@code enum ibv_atomic_cap}.
 *
 * @see DeviceAttributes
 * @see PciAtomicCapabilities
 */
public enum AtomicCapability implements NativeConstant {
  /** The device does not support atomic operations: {@code IBV_ATOMIC_NONE}. */
  NONE(rdma_h.IBV_ATOMIC_NONE()),
  /** To other queue pairs of this device: {@code IBV_ATOMIC_HCA}. */
  DEVICE(rdma_h.IBV_ATOMIC_HCA()),
  /** To everything that accesses the memory, including the CPU: {@code IBV_ATOMIC_GLOB}. */
  SYSTEM(rdma_h.IBV_ATOMIC_GLOB());

  private final int value;

  AtomicCapability(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
