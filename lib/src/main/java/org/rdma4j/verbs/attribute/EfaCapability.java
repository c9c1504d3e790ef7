package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;

/**
 * Something that not every EFA device can do, or not with every version of libefa: {@code
 * EFADV_DEVICE_ATTR_CAPS_*}.
 *
 * @see EfaAttributes
 */
public enum EfaCapability implements NativeConstant {
  /** Queue pairs of SRD read memory of a peer: {@code EFADV_DEVICE_ATTR_CAPS_RDMA_READ}. */
  READ(1),
  /**
   * Queue pairs of SRD send again if the peer had no receive posted: {@code
   * EFADV_DEVICE_ATTR_CAPS_RNR_RETRY}.
   */
  RNR_RETRY(1 << 1),
  /**
   * Completions have the address of a sender for which there is no address handle: {@code
   * EFADV_DEVICE_ATTR_CAPS_CQ_WITH_SGID}.
   */
  SOURCE_GID(1 << 2),
  /**
   * Queue pairs of SRD write memory of a peer: {@code EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE}. The
   * libefa of rdma-core 44 never reports it.
   */
  WRITE(1 << 3),
  /**
   * Writes with immediate data can arrive without a receive: {@code
   * EFADV_DEVICE_ATTR_CAPS_UNSOLICITED_WRITE_RECV}. Queue pairs of this library do not use it.
   */
  UNSOLICITED_WRITE_RECEIVE(1 << 4);

  private final int value;

  EfaCapability(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
