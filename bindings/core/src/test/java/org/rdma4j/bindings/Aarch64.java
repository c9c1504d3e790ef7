package org.rdma4j.bindings;

import static java.util.stream.Collectors.toUnmodifiableSet;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.rdma4j.testing.headers.Fact;

/**
 * The differences between arm64 and x86-64, for which the bindings were generated. On arm64,
 * pthread_mutex_t has 48 bytes instead of 40, so the fields behind it have other offsets. Code for
 * both must not use these fields through the generated classes.
 */
final class Aarch64 {
  /** Names of {@link Fact}s. */
  static final Set<String> DIFFERENCES =
      Stream.of(
              differences("size of pthread_mutex_t", ""),
              differences("size of struct ibv_context", "", ".mutex"),
              differences("offset of struct ibv_context", ".abi_compat"),
              differences("size of struct verbs_context", ".context"),
              differences("size of struct ibv_qp", "", ".mutex"),
              differences("offset of struct ibv_qp", ".cond", ".events_completed"),
              differences("size of struct ibv_qp_ex", ".qp_base"),
              differences(
                  "offset of struct ibv_qp_ex",
                  ".comp_mask",
                  ".wr_id",
                  ".wr_flags",
                  ".wr_atomic_cmp_swp",
                  ".wr_atomic_fetch_add",
                  ".wr_bind_mw",
                  ".wr_local_inv",
                  ".wr_rdma_read",
                  ".wr_rdma_write",
                  ".wr_rdma_write_imm",
                  ".wr_send",
                  ".wr_send_imm",
                  ".wr_send_inv",
                  ".wr_send_tso",
                  ".wr_set_ud_addr",
                  ".wr_set_xrc_srqn",
                  ".wr_set_inline_data",
                  ".wr_set_inline_data_list",
                  ".wr_set_sge",
                  ".wr_set_sge_list",
                  ".wr_start",
                  ".wr_complete",
                  ".wr_abort",
                  ".wr_atomic_write",
                  ".wr_flush"),
              differences("size of struct ibv_cq", "", ".mutex"),
              differences(
                  "offset of struct ibv_cq",
                  ".cond",
                  ".comp_events_completed",
                  ".async_events_completed"),
              differences("size of struct ibv_cq_ex", ".mutex"),
              differences(
                  "offset of struct ibv_cq_ex",
                  ".cond",
                  ".comp_events_completed",
                  ".async_events_completed",
                  ".comp_mask",
                  ".status",
                  ".wr_id",
                  ".start_poll",
                  ".next_poll",
                  ".end_poll",
                  ".read_opcode",
                  ".read_vendor_err",
                  ".read_byte_len",
                  ".read_imm_data",
                  ".read_qp_num",
                  ".read_src_qp",
                  ".read_wc_flags",
                  ".read_slid",
                  ".read_sl",
                  ".read_dlid_path_bits",
                  ".read_completion_ts",
                  ".read_cvlan",
                  ".read_flow_tag",
                  ".read_tm_info",
                  ".read_completion_wallclock_ns"),
              differences("size of struct ibv_srq", "", ".mutex"),
              differences("offset of struct ibv_srq", ".cond", ".events_completed"),
              differences("size of struct ibv_wq", ".mutex"),
              differences("offset of struct ibv_wq", ".cond", ".events_completed", ".comp_mask"))
          .flatMap(names -> names)
          .collect(toUnmodifiableSet());

  private Aarch64() {}

  private static Stream<String> differences(String ofType, String... members) {
    return Stream.of(members).map(ofType::concat);
  }

  /** Returns the facts that hold on this machine: all of them, unless it is an arm64 machine. */
  static List<Fact> withoutDifferences(List<Fact> facts) {
    boolean aarch64 = System.getProperty("os.arch").equals("aarch64");
    return facts.stream().filter(fact -> !aarch64 || !DIFFERENCES.contains(fact.name())).toList();
  }
}
