package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * An order in which a device writes the bytes of an operation to memory: {@code enum
 * ibv_query_qp_data_in_order_caps}.
 *
 * @see QueuePair#dataOrder
 */
public enum DataOrder implements NativeConstant {
  /** The bytes of a message in order: {@code IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG}. */
  WHOLE_MESSAGE(rdma_h.IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG()),
  /**
   * The bytes of each aligned block of 128 bytes in order: {@code
   * IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES}.
   */
  ALIGNED_128_BYTES(rdma_h.IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES());

  private final int value;

  DataOrder(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
