package org.rdma4j.flow;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * How a device processes ESP: {@code enum ib_uverbs_flow_action_esp_flags}.
 *
 * @see EspConfig
 */
public enum EspFlag implements NativeConstant {
  /**
   * The device also adds and removes the headers, instead of only encrypting: {@code
   * IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD}.
   */
  FULL_OFFLOAD(rdma_h.IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD()),
  /** Transport mode instead of tunnel mode: {@code IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT}. */
  TRANSPORT(rdma_h.IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT()),
  /** The device encrypts instead of decrypting: {@code IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT}. */
  ENCRYPT(rdma_h.IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT()),
  /**
   * The extended sequence number is in a new window: {@code
   * IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW}.
   */
  NEW_WINDOW(rdma_h.IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW());

  private final int value;

  EspFlag(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
