package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A hash function of receive side scaling: {@code enum ibv_rx_hash_function_flags}.
 *
 * @see ReceiveSideScalingCapabilities
 * @see org.rdma4j.verbs.ReceiveHash
 */
public enum ReceiveHashFunction implements NativeConstant {
  /** Toeplitz: {@code IBV_RX_HASH_FUNC_TOEPLITZ}. */
  TOEPLITZ(rdma_h.IBV_RX_HASH_FUNC_TOEPLITZ());

  private final int value;

  ReceiveHashFunction(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
