package org.rdma4j.datapath;

import org.rdma4j.bindings.generated.ibv_recv_wr;
import org.rdma4j.bindings.generated.ibv_sge;

/**
 * The layout of the fields that {@code struct ibv_send_wr} and {@code struct ibv_recv_wr} have in
 * common, and of {@code struct ibv_sge}.
 */
public final class RequestLayout {
  public static final long WR_ID = ibv_recv_wr.wr_id$offset();
  public static final long NEXT = ibv_recv_wr.next$offset();
  public static final long SG_LIST = ibv_recv_wr.sg_list$offset();
  public static final long NUM_SGE = ibv_recv_wr.num_sge$offset();
  public static final int SGE_SIZE = (int) ibv_sge.layout().byteSize();
  public static final long SGE_ADDR = ibv_sge.addr$offset();
  public static final long SGE_LENGTH = ibv_sge.length$offset();
  public static final long SGE_LKEY = ibv_sge.lkey$offset();

  private RequestLayout() {}
}
