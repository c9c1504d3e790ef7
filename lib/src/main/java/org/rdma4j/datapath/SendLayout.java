package org.rdma4j.datapath;

import org.rdma4j.bindings.generated.ibv_mw_bind_info;
import org.rdma4j.bindings.generated.ibv_send_wr;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The layout of a send request, {@code struct ibv_send_wr}: the offsets of its fields, its opcodes
 * and its flags.
 */
public final class SendLayout {
  public static final int SIZE = (int) ibv_send_wr.layout().byteSize();
  public static final long OPCODE = ibv_send_wr.opcode$offset();
  public static final long SEND_FLAGS = ibv_send_wr.send_flags$offset();
  public static final long IMM_DATA = ibv_send_wr.imm_data$offset();
  private static final long WR = ibv_send_wr.wr$offset();
  private static final long RDMA = WR + ibv_send_wr.wr.rdma$offset();
  public static final long RDMA_REMOTE_ADDR = RDMA + ibv_send_wr.wr.rdma.remote_addr$offset();
  public static final long RDMA_RKEY = RDMA + ibv_send_wr.wr.rdma.rkey$offset();
  private static final long ATOMIC = WR + ibv_send_wr.wr.atomic$offset();
  public static final long ATOMIC_REMOTE_ADDR = ATOMIC + ibv_send_wr.wr.atomic.remote_addr$offset();
  public static final long ATOMIC_COMPARE_ADD = ATOMIC + ibv_send_wr.wr.atomic.compare_add$offset();
  public static final long ATOMIC_SWAP = ATOMIC + ibv_send_wr.wr.atomic.swap$offset();
  public static final long ATOMIC_RKEY = ATOMIC + ibv_send_wr.wr.atomic.rkey$offset();
  private static final long UD = WR + ibv_send_wr.wr.ud$offset();
  public static final long UD_AH = UD + ibv_send_wr.wr.ud.ah$offset();
  public static final long UD_REMOTE_QPN = UD + ibv_send_wr.wr.ud.remote_qpn$offset();
  public static final long UD_REMOTE_QKEY = UD + ibv_send_wr.wr.ud.remote_qkey$offset();
  private static final long BIND_MW_FIELD = ibv_send_wr.bind_mw$offset();
  public static final long BIND_WINDOW = BIND_MW_FIELD + ibv_send_wr.bind_mw.mw$offset();
  public static final long BIND_RKEY = BIND_MW_FIELD + ibv_send_wr.bind_mw.rkey$offset();
  public static final long BIND_INFO = BIND_MW_FIELD + ibv_send_wr.bind_mw.bind_info$offset();
  public static final long BIND_REGION = BIND_INFO + ibv_mw_bind_info.mr$offset();
  public static final long BIND_ADDR = BIND_INFO + ibv_mw_bind_info.addr$offset();
  public static final long BIND_LENGTH = BIND_INFO + ibv_mw_bind_info.length$offset();
  public static final long BIND_ACCESS = BIND_INFO + ibv_mw_bind_info.mw_access_flags$offset();
  public static final long XRC_REMOTE_SRQN =
      ibv_send_wr.qp_type$offset()
          + ibv_send_wr.qp_type.xrc$offset()
          + ibv_send_wr.qp_type.xrc.remote_srqn$offset();
  private static final long TSO_FIELD = ibv_send_wr.tso$offset();
  public static final long TSO_HEADER = TSO_FIELD + ibv_send_wr.tso.hdr$offset();
  public static final long TSO_HEADER_SIZE = TSO_FIELD + ibv_send_wr.tso.hdr_sz$offset();
  public static final long TSO_MSS = TSO_FIELD + ibv_send_wr.tso.mss$offset();
  public static final int BIND_MW = rdma_h.IBV_WR_BIND_MW();
  public static final int SEND = rdma_h.IBV_WR_SEND();
  public static final int SEND_WITH_IMM = rdma_h.IBV_WR_SEND_WITH_IMM();
  public static final int SEND_WITH_INV = rdma_h.IBV_WR_SEND_WITH_INV();
  public static final int RDMA_WRITE = rdma_h.IBV_WR_RDMA_WRITE();
  public static final int RDMA_WRITE_WITH_IMM = rdma_h.IBV_WR_RDMA_WRITE_WITH_IMM();
  public static final int RDMA_READ = rdma_h.IBV_WR_RDMA_READ();
  public static final int COMPARE_AND_SWAP = rdma_h.IBV_WR_ATOMIC_CMP_AND_SWP();
  public static final int FETCH_AND_ADD = rdma_h.IBV_WR_ATOMIC_FETCH_AND_ADD();
  public static final int LOCAL_INV = rdma_h.IBV_WR_LOCAL_INV();
  public static final int TSO = rdma_h.IBV_WR_TSO();
  public static final int ATOMIC_WRITE = rdma_h.IBV_WR_ATOMIC_WRITE();
  public static final int FLUSH = rdma_h.IBV_WR_FLUSH();

  /*
   * Struct ibv_send_wr has no fields for a flush, which only extended queue pairs post. The fields
   * of an atomic hold its arguments.
   */
  public static final long FLUSH_LENGTH = ATOMIC_COMPARE_ADD;
  public static final long FLUSH_TYPE = ATOMIC_SWAP;
  public static final long FLUSH_LEVEL = ATOMIC_SWAP + 1;
  public static final byte FLUSH_RANGE = (byte) rdma_h.IBV_FLUSH_RANGE();
  public static final byte FLUSH_REGION = (byte) rdma_h.IBV_FLUSH_MR();

  /*
   * The destination of a request of SRD, also of a read or write, whose fields are those of a
   * datagram. Only extended queue pairs have this type, so no provider sees these fields.
   */
  public static final long RD_AH = BIND_WINDOW;
  public static final long RD_REMOTE_QPN = BIND_RKEY;
  public static final long RD_REMOTE_QKEY = BIND_ADDR;

  /**
   * The number of bytes of the peer's memory from the remote address on, as far as it is known. No
   * provider reads this field of a read, write or atomic: only a bind has it.
   */
  public static final long REMOTE_BYTES = BIND_LENGTH;

  public static final int SIGNALED = rdma_h.IBV_SEND_SIGNALED();
  public static final int SOLICITED = rdma_h.IBV_SEND_SOLICITED();
  public static final int FENCE = rdma_h.IBV_SEND_FENCE();

  /** The opcode of a request whose operation is not set yet. */
  public static final int NO_OPCODE = 63;

  public static final int INLINE = rdma_h.IBV_SEND_INLINE();
  public static final int IP_CSUM = rdma_h.IBV_SEND_IP_CSUM();

  private SendLayout() {}
}
