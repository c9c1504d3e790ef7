package org.rdma4j.bindings;

import java.util.Set;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.testing.headers.AbiGrowth;
import org.rdma4j.testing.headers.Generated;

/** The bindings of libibverbs and librdmacm, and how their headers may grow. */
final class Rdma {
  /** The file that includes the headers. */
  static final String HEADER = "rdma.h";

  static final Generated GENERATED = new Generated(rdma_h.class, "includes.txt");

  static final AbiGrowth GROWTH =
      new AbiGrowth(
          "newer-than-44.txt",
          Set.of(
              "struct ibv_port_attr.active_speed_ex",
              "struct ibv_qp_ex.wr_flush",
              "struct rdma_cm_event.param.arg",
              "struct verbs_context.alloc_buf",
              "struct verbs_context.alloc_dmah",
              "struct verbs_context.dealloc_dmah",
              "struct verbs_context.dm_export_dmabuf_fd",
              "struct verbs_context.free_buf",
              "struct verbs_context.reg_mr_ex"),
          // A function fills them up to the size that the caller passes.
          Set.of(
              "struct ibv_comp_cntr_caps",
              "struct ibv_device_attr_ex",
              "struct ibv_gid_entry",
              "struct ibv_port_attr"));

  private Rdma() {}
}
