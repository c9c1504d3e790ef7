package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A field of the completions of an extended completion queue, in addition to the id, the status and
 * the opcode: {@code enum ibv_create_cq_wc_flags}.
 *
 * @see CompletionQueueConfig#extended
 * @see Completions
 */
public enum CompletionField implements NativeConstant {
  /** The number of bytes that were received: {@code IBV_WC_EX_WITH_BYTE_LEN}. */
  BYTE_LENGTH(rdma_h.IBV_WC_EX_WITH_BYTE_LEN()),
  /** The immediate data, or the key that was invalidated: {@code IBV_WC_EX_WITH_IMM}. */
  IMMEDIATE(rdma_h.IBV_WC_EX_WITH_IMM()),
  /** The number of the queue pair: {@code IBV_WC_EX_WITH_QP_NUM}. */
  QUEUE_PAIR_NUMBER(rdma_h.IBV_WC_EX_WITH_QP_NUM()),
  /** The number of the queue pair that sent the datagram: {@code IBV_WC_EX_WITH_SRC_QP}. */
  SOURCE_QUEUE_PAIR_NUMBER(rdma_h.IBV_WC_EX_WITH_SRC_QP()),
  /** The local identifier that the datagram came from: {@code IBV_WC_EX_WITH_SLID}. */
  SOURCE_LID(rdma_h.IBV_WC_EX_WITH_SLID()),
  /** The service level: {@code IBV_WC_EX_WITH_SL}. */
  SERVICE_LEVEL(rdma_h.IBV_WC_EX_WITH_SL()),
  /**
   * The path bits of the local identifier that the datagram was sent to: {@code
   * IBV_WC_EX_WITH_DLID_PATH_BITS}.
   */
  DESTINATION_LID_PATH_BITS(rdma_h.IBV_WC_EX_WITH_DLID_PATH_BITS()),
  /**
   * When the request completed, by the clock of the device: {@code
   * IBV_WC_EX_WITH_COMPLETION_TIMESTAMP}.
   */
  TIMESTAMP(rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP()),
  /** The VLAN of the received packet: {@code IBV_WC_EX_WITH_CVLAN}. */
  VLAN(rdma_h.IBV_WC_EX_WITH_CVLAN()),
  /** The tag of the flow rule that the packet matched: {@code IBV_WC_EX_WITH_FLOW_TAG}. */
  FLOW_TAG(rdma_h.IBV_WC_EX_WITH_FLOW_TAG()),
  /** The tag of a message that matched a tagged receive: {@code IBV_WC_EX_WITH_TM_INFO}. */
  TAG(rdma_h.IBV_WC_EX_WITH_TM_INFO()),
  /**
   * When the request completed, by the wall clock: {@code
   * IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK}.
   */
  WALL_CLOCK(rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK()),
  /**
   * The address of the sender, if the queue pair's protection domain has no address handle for it:
   * {@code EFADV_WC_EX_WITH_SGID}. Only EFA devices have it, see {@link
   * org.rdma4j.verbs.attribute.EfaCapability#SOURCE_GID}.
   */
  SOURCE_GID(0),
  /**
   * What the message has: immediate data, an invalidated key, a global routing header, correct
   * checksums, a tag. {@link #IMMEDIATE} and {@link #TAG} include this. C programs call {@code
   * ibv_wc_read_wc_flags} on every queue; here it must be requested, because each field that is
   * read takes a call.
   */
  FLAGS(0);

  private final int value;

  CompletionField(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
