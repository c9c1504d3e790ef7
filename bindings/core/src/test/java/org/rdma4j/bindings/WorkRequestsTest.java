package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.bindings.inlines.WorkRequests;

/** C sets the pointers of an extended queue pair. Java finds them and passes what C passes. */
final class WorkRequestsTest {
  private static final int I1 = 0x81223344;
  private static final int I2 = 0xF1E2D3C4;
  private static final long L1 = 0x8877665544332211L;
  private static final long L2 = 0x99AABBCCDDEEFF00L;
  private static final long L3 = 0x0F1E2D3C4B5A6978L;
  private static final byte B1 = (byte) 0x81;
  private static final byte B2 = (byte) 0xF2;
  private static final short S1 = (short) 0xFEDC;
  private static final short S2 = (short) 0x8765;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment qp = arena.allocate(CFunctions.call("size_of_qp_ex"), 8);

  private interface Request {
    void build(long op, long qp);
  }

  /** A function without a result, and its arguments in this test. */
  record Builder(
      String name,
      ToLongFunction<MemorySegment> op,
      Request plain,
      Request critical,
      List<Long> arguments) {
    @Override
    public String toString() {
      return name;
    }
  }

  static final List<Builder> BUILDERS =
      List.of(
          new Builder(
              "wr_atomic_cmp_swp",
              WorkRequests::ibv_wr_atomic_cmp_swp$op,
              (op, qp) -> WorkRequests.ibv_wr_atomic_cmp_swp(op, qp, I1, L1, L2, L3),
              (op, qp) -> WorkRequests.ibv_wr_atomic_cmp_swp$critical(op, qp, I1, L1, L2, L3),
              longs(I1, L1, L2, L3)),
          new Builder(
              "wr_atomic_fetch_add",
              WorkRequests::ibv_wr_atomic_fetch_add$op,
              (op, qp) -> WorkRequests.ibv_wr_atomic_fetch_add(op, qp, I1, L1, L2),
              (op, qp) -> WorkRequests.ibv_wr_atomic_fetch_add$critical(op, qp, I1, L1, L2),
              longs(I1, L1, L2)),
          new Builder(
              "wr_atomic_write",
              WorkRequests::ibv_wr_atomic_write$op,
              (op, qp) -> WorkRequests.ibv_wr_atomic_write(op, qp, I1, L1, L2),
              (op, qp) -> WorkRequests.ibv_wr_atomic_write$critical(op, qp, I1, L1, L2),
              longs(I1, L1, L2)),
          new Builder(
              "wr_flush",
              WorkRequests::ibv_wr_flush$op,
              (op, qp) -> WorkRequests.ibv_wr_flush(op, qp, I1, L1, L2, B1, B2),
              (op, qp) -> WorkRequests.ibv_wr_flush$critical(op, qp, I1, L1, L2, B1, B2),
              longs(I1, L1, L2, B1, B2)),
          new Builder(
              "wr_bind_mw",
              WorkRequests::ibv_wr_bind_mw$op,
              (op, qp) -> WorkRequests.ibv_wr_bind_mw(op, qp, L1, I1, L2),
              (op, qp) -> WorkRequests.ibv_wr_bind_mw$critical(op, qp, L1, I1, L2),
              longs(L1, I1, L2)),
          new Builder(
              "wr_local_inv",
              WorkRequests::ibv_wr_local_inv$op,
              (op, qp) -> WorkRequests.ibv_wr_local_inv(op, qp, I1),
              (op, qp) -> WorkRequests.ibv_wr_local_inv$critical(op, qp, I1),
              longs(I1)),
          new Builder(
              "wr_rdma_read",
              WorkRequests::ibv_wr_rdma_read$op,
              (op, qp) -> WorkRequests.ibv_wr_rdma_read(op, qp, I1, L1),
              (op, qp) -> WorkRequests.ibv_wr_rdma_read$critical(op, qp, I1, L1),
              longs(I1, L1)),
          new Builder(
              "wr_rdma_write",
              WorkRequests::ibv_wr_rdma_write$op,
              (op, qp) -> WorkRequests.ibv_wr_rdma_write(op, qp, I1, L1),
              (op, qp) -> WorkRequests.ibv_wr_rdma_write$critical(op, qp, I1, L1),
              longs(I1, L1)),
          new Builder(
              "wr_rdma_write_imm",
              WorkRequests::ibv_wr_rdma_write_imm$op,
              (op, qp) -> WorkRequests.ibv_wr_rdma_write_imm(op, qp, I1, L1, I2),
              (op, qp) -> WorkRequests.ibv_wr_rdma_write_imm$critical(op, qp, I1, L1, I2),
              longs(I1, L1, I2)),
          new Builder(
              "wr_send",
              WorkRequests::ibv_wr_send$op,
              (op, qp) -> WorkRequests.ibv_wr_send(op, qp),
              (op, qp) -> WorkRequests.ibv_wr_send$critical(op, qp),
              longs()),
          new Builder(
              "wr_send_imm",
              WorkRequests::ibv_wr_send_imm$op,
              (op, qp) -> WorkRequests.ibv_wr_send_imm(op, qp, I1),
              (op, qp) -> WorkRequests.ibv_wr_send_imm$critical(op, qp, I1),
              longs(I1)),
          new Builder(
              "wr_send_inv",
              WorkRequests::ibv_wr_send_inv$op,
              (op, qp) -> WorkRequests.ibv_wr_send_inv(op, qp, I1),
              (op, qp) -> WorkRequests.ibv_wr_send_inv$critical(op, qp, I1),
              longs(I1)),
          new Builder(
              "wr_send_tso",
              WorkRequests::ibv_wr_send_tso$op,
              (op, qp) -> WorkRequests.ibv_wr_send_tso(op, qp, L1, S1, S2),
              (op, qp) -> WorkRequests.ibv_wr_send_tso$critical(op, qp, L1, S1, S2),
              longs(L1, S1, S2)),
          new Builder(
              "wr_set_ud_addr",
              WorkRequests::ibv_wr_set_ud_addr$op,
              (op, qp) -> WorkRequests.ibv_wr_set_ud_addr(op, qp, L1, I1, I2),
              (op, qp) -> WorkRequests.ibv_wr_set_ud_addr$critical(op, qp, L1, I1, I2),
              longs(L1, I1, I2)),
          new Builder(
              "wr_set_xrc_srqn",
              WorkRequests::ibv_wr_set_xrc_srqn$op,
              (op, qp) -> WorkRequests.ibv_wr_set_xrc_srqn(op, qp, I1),
              (op, qp) -> WorkRequests.ibv_wr_set_xrc_srqn$critical(op, qp, I1),
              longs(I1)),
          new Builder(
              "wr_set_inline_data",
              WorkRequests::ibv_wr_set_inline_data$op,
              (op, qp) -> WorkRequests.ibv_wr_set_inline_data(op, qp, L1, L2),
              (op, qp) -> WorkRequests.ibv_wr_set_inline_data$critical(op, qp, L1, L2),
              longs(L1, L2)),
          new Builder(
              "wr_set_inline_data_list",
              WorkRequests::ibv_wr_set_inline_data_list$op,
              (op, qp) -> WorkRequests.ibv_wr_set_inline_data_list(op, qp, L1, L2),
              (op, qp) -> WorkRequests.ibv_wr_set_inline_data_list$critical(op, qp, L1, L2),
              longs(L1, L2)),
          new Builder(
              "wr_set_sge",
              WorkRequests::ibv_wr_set_sge$op,
              (op, qp) -> WorkRequests.ibv_wr_set_sge(op, qp, I1, L1, I2),
              (op, qp) -> WorkRequests.ibv_wr_set_sge$critical(op, qp, I1, L1, I2),
              longs(I1, L1, I2)),
          new Builder(
              "wr_set_sge_list",
              WorkRequests::ibv_wr_set_sge_list$op,
              (op, qp) -> WorkRequests.ibv_wr_set_sge_list(op, qp, L1, L2),
              (op, qp) -> WorkRequests.ibv_wr_set_sge_list$critical(op, qp, L1, L2),
              longs(L1, L2)),
          new Builder(
              "wr_start",
              WorkRequests::ibv_wr_start$op,
              (op, qp) -> WorkRequests.ibv_wr_start(op, qp),
              (op, qp) -> WorkRequests.ibv_wr_start$critical(op, qp),
              longs()),
          new Builder(
              "wr_abort",
              WorkRequests::ibv_wr_abort$op,
              (op, qp) -> WorkRequests.ibv_wr_abort(op, qp),
              (op, qp) -> WorkRequests.ibv_wr_abort$critical(op, qp),
              longs()));

  private static List<Long> longs(long... values) {
    return LongStream.of(values).boxed().toList();
  }

  @BeforeEach
  void setPointers() {
    CFunctions.call("set_wr", qp.address());
    CFunctions.forget();
  }

  @AfterEach
  void free() {
    arena.close();
  }

  @ParameterizedTest
  @FieldSource("BUILDERS")
  void plainCallPassesWhatCPasses(Builder builder) {
    builder.plain().build(builder.op().applyAsLong(qp), qp.address());
    expectWhatCRecords(builder);
  }

  @ParameterizedTest
  @FieldSource("BUILDERS")
  void criticalCallPassesWhatCPasses(Builder builder) {
    builder.critical().build(builder.op().applyAsLong(qp), qp.address());
    expectWhatCRecords(builder);
  }

  private void expectWhatCRecords(Builder builder) {
    List<Long> inJava = CFunctions.recorded(6);
    CFunctions.forget();
    CFunctions.call(
        "call_" + builder.name(),
        LongStream.concat(
                LongStream.of(qp.address()),
                builder.arguments().stream().mapToLong(Long::longValue))
            .toArray());
    assertThat(inJava).isEqualTo(CFunctions.recorded(6));
    assertThat(inJava.getFirst()).isPositive();
    assertThat(inJava.get(1)).isEqualTo(qp.address());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void completeReturnsWhatCReturns(boolean critical) {
    long op = WorkRequests.ibv_wr_complete$op(qp);
    int result =
        critical
            ? WorkRequests.ibv_wr_complete$critical(op, qp.address())
            : WorkRequests.ibv_wr_complete(op, qp.address());
    assertThat(result).isEqualTo((int) CFunctions.call("call_wr_complete", qp.address()));
    assertThat(result).isEqualTo(-77);
  }

  @Test
  void anOperationThatTheQueuePairLacksIsNull() {
    qp.fill((byte) 0);
    assertThat(WorkRequests.ibv_wr_atomic_write$op(qp)).isZero();
  }

  @Test
  void fieldsHaveTheSameOffsetsAsInC() {
    assertThat(qp.address() + WorkRequests.wr_id$offset())
        .isEqualTo(CFunctions.call("qp_ex_wr_id", qp.address()));
    assertThat(qp.address() + WorkRequests.wr_flags$offset())
        .isEqualTo(CFunctions.call("qp_ex_wr_flags", qp.address()));
  }
}
