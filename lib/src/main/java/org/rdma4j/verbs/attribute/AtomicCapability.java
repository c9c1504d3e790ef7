package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** How far a device is atomic: {@code enum ibv_atomic_cap}. */
public enum AtomicCapability implements NativeConstant {
  /** It has no atomics: {@code IBV_ATOMIC_NONE}. */
  NONE(rdma_h.IBV_ATOMIC_NONE()),
  /** Among queue pairs of this device: {@code IBV_ATOMIC_HCA}. */
  DEVICE(rdma_h.IBV_ATOMIC_HCA()),
  /** Among all that reach the memory, the CPU too: {@code IBV_ATOMIC_GLOB}. */
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
