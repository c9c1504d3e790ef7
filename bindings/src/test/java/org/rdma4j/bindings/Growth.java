package org.rdma4j.bindings;

import static java.util.stream.Collectors.toUnmodifiableSet;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The differences between the headers of two versions of rdma-core that its ABI allows, so that a
 * program works with a library that is older or newer than the headers.
 *
 * <ul>
 *   <li>New versions declare more. Older headers lack what the files {@code newer-than-44.txt} in
 *       {@code jextract} list, and the new members of old structs.
 *   <li>A struct may have new members at its end if nobody depends on its size: the library
 *       allocates it, or the program passes its size, or a mask tells which members it has set.
 *   <li>{@code verbs_context} has new members at its front, so only the distances to its last
 *       member are the same ({@link Facts}).
 * </ul>
 */
final class Growth {
  private static final List<String> NEWER =
      List.of("newer-than-44.txt", "mlx5-newer-than-44.txt", "efa-newer-than-44.txt");

  /** The struct that grows at its front. */
  static final String AT_THE_FRONT = "struct verbs_context";

  /** Members that rdma-core 44 does not have, of structs that it has. */
  private static final Set<String> MEMBERS =
      Set.of(
          "struct efadv_cq.wc_is_unsolicited",
          "struct efadv_cq_init_attr.ext_mem_dmabuf",
          "struct efadv_cq_init_attr.flags",
          "struct efadv_device_attr.inline_buf_size_ex",
          "struct efadv_qp_init_attr.flags",
          "struct efadv_qp_init_attr.sl",
          "struct efadv_qp_init_attr.wr_flags",
          "struct ibv_port_attr.active_speed_ex",
          "struct ibv_qp_ex.wr_flush",
          "struct mlx5dv_context.max_dc_init_rd_atom",
          "struct mlx5dv_context.max_dc_rd_atom",
          "struct mlx5dv_context.ooo_recv_wrs_caps",
          "struct mlx5dv_context.reg_c0",
          "struct mlx5dv_context_attr.fds",
          "struct mlx5dv_flow_action_attr.bulk_obj",
          "struct mlx5dv_flow_matcher_attr.ib_port",
          "struct mlx5dv_obj.devx",
          "struct rdma_cm_event.param.arg",
          "struct verbs_context.alloc_buf",
          "struct verbs_context.alloc_dmah",
          "struct verbs_context.dealloc_dmah",
          "struct verbs_context.dm_export_dmabuf_fd",
          "struct verbs_context.free_buf",
          "struct verbs_context.reg_mr_ex");

  /** What a function fills up to the size that the caller passes. */
  private static final Set<String> PASSED_WITH_THEIR_SIZE =
      Set.of(
          "struct ibv_comp_cntr_caps",
          "struct ibv_device_attr_ex",
          "struct ibv_gid_entry",
          "struct ibv_port_attr",
          "struct mlx5dv_flow_action_attr");

  /** Its members are those that the mask of the function names. */
  private static final String PASSED_WITH_A_MASK = "struct mlx5dv_obj";

  /** It has a mask, but its specifications follow it in memory. */
  private static final String FIXED = "struct ibv_flow_attr";

  private Growth() {}

  /** Returns the constants and types that rdma-core 44 does not have, and the members. */
  static Set<String> newerThan44() {
    return Stream.concat(MEMBERS.stream(), NEWER.stream().flatMap(Growth::names))
        .collect(toUnmodifiableSet());
  }

  private static Stream<String> names(String file) {
    return Filter.symbols(file).stream()
        .map(symbol -> symbol.isType() ? symbol.spelling() : symbol.name());
  }

  /** Returns whether rdma-core 44 lacks a constant, a type, or a member of a type. */
  static boolean isNewer(String symbol) {
    Set<String> newer = newerThan44();
    return newer.contains(symbol)
        || (symbol.contains(".") && isNewer(symbol.substring(0, symbol.lastIndexOf('.'))));
  }

  /** Returns whether the struct may have new members at its end. */
  static boolean mayGrow(String type, boolean hasMask) {
    return (hasMask && !type.equals(FIXED))
        || PASSED_WITH_THEIR_SIZE.contains(type)
        || type.equals(PASSED_WITH_A_MASK);
  }
}
