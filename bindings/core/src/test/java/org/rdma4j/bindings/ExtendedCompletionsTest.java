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
import org.rdma4j.bindings.inlines.ExtendedCompletions;

/** C sets the pointers of an extended completion queue. Java finds them and reads what C reads. */
final class ExtendedCompletionsTest {
  private static final long ATTRIBUTE = 0x8877665544332211L;
  private static final long BYTE = 0xFFL;
  private static final long SHORT = 0xFFFFL;
  private static final long INT = 0xFFFFFFFFL;
  private static final long LONG = -1;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment cq = arena.allocate(CFunctions.call("size_of_cq_ex"), 8);

  private interface Read {
    long from(long op, long cq);
  }

  /** A function, the mask of the bits in its result, and its arguments after the queue. */
  record Reader(
      String name,
      ToLongFunction<MemorySegment> op,
      Read plain,
      Read critical,
      long mask,
      List<Long> arguments) {
    @Override
    public String toString() {
      return name;
    }
  }

  static final List<Reader> READERS =
      List.of(
          new Reader(
              "start_poll",
              ExtendedCompletions::ibv_start_poll$op,
              (op, cq) -> ExtendedCompletions.ibv_start_poll(op, cq, ATTRIBUTE),
              (op, cq) -> ExtendedCompletions.ibv_start_poll$critical(op, cq, ATTRIBUTE),
              INT,
              List.of(ATTRIBUTE)),
          new Reader(
              "next_poll",
              ExtendedCompletions::ibv_next_poll$op,
              (op, cq) -> ExtendedCompletions.ibv_next_poll(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_next_poll$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_opcode",
              ExtendedCompletions::ibv_wc_read_opcode$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_opcode(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_opcode$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_vendor_err",
              ExtendedCompletions::ibv_wc_read_vendor_err$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_vendor_err(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_vendor_err$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_byte_len",
              ExtendedCompletions::ibv_wc_read_byte_len$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_byte_len(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_byte_len$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_imm_data",
              ExtendedCompletions::ibv_wc_read_imm_data$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_imm_data(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_imm_data$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_invalidated_rkey",
              ExtendedCompletions::ibv_wc_read_invalidated_rkey$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_invalidated_rkey(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_invalidated_rkey$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_qp_num",
              ExtendedCompletions::ibv_wc_read_qp_num$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_qp_num(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_qp_num$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_src_qp",
              ExtendedCompletions::ibv_wc_read_src_qp$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_src_qp(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_src_qp$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_wc_flags",
              ExtendedCompletions::ibv_wc_read_wc_flags$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_wc_flags(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_wc_flags$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_slid",
              ExtendedCompletions::ibv_wc_read_slid$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_slid(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_slid$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "wc_read_sl",
              ExtendedCompletions::ibv_wc_read_sl$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_sl(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_sl$critical(op, cq),
              BYTE,
              List.of()),
          new Reader(
              "wc_read_dlid_path_bits",
              ExtendedCompletions::ibv_wc_read_dlid_path_bits$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_dlid_path_bits(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_dlid_path_bits$critical(op, cq),
              BYTE,
              List.of()),
          new Reader(
              "wc_read_completion_ts",
              ExtendedCompletions::ibv_wc_read_completion_ts$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_completion_ts(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_completion_ts$critical(op, cq),
              LONG,
              List.of()),
          new Reader(
              "wc_read_completion_wallclock_ns",
              ExtendedCompletions::ibv_wc_read_completion_wallclock_ns$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_completion_wallclock_ns(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_completion_wallclock_ns$critical(op, cq),
              LONG,
              List.of()),
          new Reader(
              "wc_read_cvlan",
              ExtendedCompletions::ibv_wc_read_cvlan$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_cvlan(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_cvlan$critical(op, cq),
              SHORT,
              List.of()),
          new Reader(
              "wc_read_flow_tag",
              ExtendedCompletions::ibv_wc_read_flow_tag$op,
              (op, cq) -> ExtendedCompletions.ibv_wc_read_flow_tag(op, cq),
              (op, cq) -> ExtendedCompletions.ibv_wc_read_flow_tag$critical(op, cq),
              INT,
              List.of()),
          new Reader(
              "end_poll",
              ExtendedCompletions::ibv_end_poll$op,
              (op, cq) -> {
                ExtendedCompletions.ibv_end_poll(op, cq);
                return 0;
              },
              (op, cq) -> {
                ExtendedCompletions.ibv_end_poll$critical(op, cq);
                return 0;
              },
              0,
              List.of()),
          new Reader(
              "wc_read_tm_info",
              ExtendedCompletions::ibv_wc_read_tm_info$op,
              (op, cq) -> {
                ExtendedCompletions.ibv_wc_read_tm_info(op, cq, ATTRIBUTE);
                return 0;
              },
              (op, cq) -> {
                ExtendedCompletions.ibv_wc_read_tm_info$critical(op, cq, ATTRIBUTE);
                return 0;
              },
              0,
              List.of(ATTRIBUTE)));

  @BeforeEach
  void setPointers() {
    CFunctions.call("set_wc", cq.address());
    CFunctions.forget();
  }

  @AfterEach
  void free() {
    arena.close();
  }

  @ParameterizedTest
  @FieldSource("READERS")
  void plainCallReadsWhatCReads(Reader reader) {
    expectWhatCReads(reader, reader.plain());
  }

  @ParameterizedTest
  @FieldSource("READERS")
  void criticalCallReadsWhatCReads(Reader reader) {
    expectWhatCReads(reader, reader.critical());
  }

  private void expectWhatCReads(Reader reader, Read read) {
    long inJava = read.from(reader.op().applyAsLong(cq), cq.address());
    List<Long> recorded = CFunctions.recorded(6);
    CFunctions.forget();
    long inC =
        CFunctions.call(
            "call_" + reader.name(),
            LongStream.concat(
                    LongStream.of(cq.address()),
                    reader.arguments().stream().mapToLong(Long::longValue))
                .toArray());
    assertThat(inJava & reader.mask()).isEqualTo(inC & reader.mask());
    assertThat(recorded).isEqualTo(CFunctions.recorded(6));
    assertThat(recorded.getFirst()).isPositive();
    assertThat(recorded.get(1)).isEqualTo(cq.address());
  }

  @Test
  void aFunctionForWhichTheQueueWasNotCreatedIsNull() {
    cq.fill((byte) 0);
    assertThat(ExtendedCompletions.ibv_wc_read_tm_info$op(cq)).isZero();
  }

  @Test
  void fieldsHaveTheSameOffsetsAsInC() {
    assertThat(cq.address() + ExtendedCompletions.wr_id$offset())
        .isEqualTo(CFunctions.call("cq_ex_wr_id", cq.address()));
    assertThat(cq.address() + ExtendedCompletions.status$offset())
        .isEqualTo(CFunctions.call("cq_ex_status", cq.address()));
    assertThat(ExtendedCompletions.ibv_cq_ex_to_cq(cq)).isEqualTo(cq);
  }
}
