package org.rdma4j.datapath;

import org.rdma4j.bindings.generated.ibv_wc;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The layout of a completion, {@code struct ibv_wc}: its size, the offsets of its fields, and its
 * flags.
 */
public final class CompletionLayout {
  public static final long SIZE = ibv_wc.layout().byteSize();
  public static final long WR_ID = ibv_wc.wr_id$offset();
  public static final long STATUS = ibv_wc.status$offset();
  public static final long OPCODE = ibv_wc.opcode$offset();
  public static final long VENDOR_ERR = ibv_wc.vendor_err$offset();
  public static final long BYTE_LEN = ibv_wc.byte_len$offset();
  public static final long IMM_DATA = ibv_wc.imm_data$offset();
  public static final long QP_NUM = ibv_wc.qp_num$offset();
  public static final long SRC_QP = ibv_wc.src_qp$offset();
  public static final long PKEY_INDEX = ibv_wc.pkey_index$offset();
  public static final long SLID = ibv_wc.slid$offset();
  public static final long SL = ibv_wc.sl$offset();
  public static final long DLID_PATH_BITS = ibv_wc.dlid_path_bits$offset();
  public static final long WC_FLAGS = ibv_wc.wc_flags$offset();

  /** The flags of a completion whose flags are not read. */
  public static final int NO_FLAGS = Integer.MIN_VALUE;

  /** The bit that the opcodes of receives have. */
  public static final int RECEIVE = rdma_h.IBV_WC_RECV();

  public static final int SUCCESS = rdma_h.IBV_WC_SUCCESS();
  public static final int GRH = rdma_h.IBV_WC_GRH();
  public static final int WITH_INV = rdma_h.IBV_WC_WITH_INV();
  public static final int CSUM_OK = rdma_h.IBV_WC_IP_CSUM_OK();
  public static final int WITH_IMM = rdma_h.IBV_WC_WITH_IMM();
  public static final int TM_SYNC_REQ = rdma_h.IBV_WC_TM_SYNC_REQ();
  public static final int TM_MATCH = rdma_h.IBV_WC_TM_MATCH();
  public static final int TM_DATA_VALID = rdma_h.IBV_WC_TM_DATA_VALID();

  private CompletionLayout() {}
}
