package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.bindings.generated.ibv_port_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.verbs_context;
import org.rdma4j.bindings.inlines.Verbs;

/** On a context that the test makes, Java finds what the macros of verbs.h find. */
final class VerbsTest {
  private static final long EXTENDED_ABI = -1;
  private static final MemorySegment SOME_FUNCTION = MemorySegment.ofAddress(0x1000);

  /** A verbs_context is larger on arm64 than the generated layout. */
  private static final long LARGER_THAN_ANY_VERBS_CONTEXT = 2 * verbs_context.layout().byteSize();

  private static final long LARGEST = -1;
  private static final int EINVAL = 22;

  private final Arena arena = Arena.ofConfined();
  private final StandIn standIn = StandIn.in(arena);
  private final MemorySegment extended = standIn.extended();
  private final MemorySegment context = standIn.context();

  @AfterEach
  void free() {
    arena.close();
  }

  static LongStream ops() {
    return LongStream.of(
        verbs_context.query_port$offset(),
        verbs_context.advise_mr$offset(),
        verbs_context.create_cq_ex$offset(),
        verbs_context.query_device_ex$offset(),
        verbs_context.close_xrcd$offset());
  }

  @Test
  void contextOfTheExtendedAbiIsInAVerbsContext() {
    setAbi(EXTENDED_ABI);
    assertThat(Verbs.verbs_get_ctx(context).address()).isEqualTo(extended.address());
    assertThat(CFunctions.call("get_ctx", context.address())).isEqualTo(context.address());
  }

  @ParameterizedTest
  @MethodSource("otherAbis")
  void contextOfAnotherAbiHasNoVerbsContext(long abi) {
    setAbi(abi);
    assertThat(Verbs.verbs_get_ctx(context).address())
        .isZero()
        .isEqualTo(CFunctions.call("get_ctx", context.address()));
  }

  static LongStream otherAbis() {
    return LongStream.of(0, 1, 0xFFFFFFFFL, Long.MIN_VALUE);
  }

  @ParameterizedTest
  @MethodSource("ops")
  void operationIsPresentFromTheSameSizeAsInC(long op) {
    setAbi(EXTENDED_ABI);
    extended.set(rdma_h.C_POINTER, op, SOME_FUNCTION);
    List<Boolean> presences = new ArrayList<>();
    for (long size = 0; size <= LARGER_THAN_ANY_VERBS_CONTEXT; size++) {
      presences.add(isPresent(op, size));
    }
    assertThat(presences).contains(false, true).isSorted();
    assertThat(isPresent(op, LARGEST)).isTrue();
  }

  @ParameterizedTest
  @MethodSource("ops")
  void operationThatIsNullIsAbsent(long op) {
    setAbi(EXTENDED_ABI);
    assertThat(isPresent(op, LARGEST)).isFalse();
  }

  @ParameterizedTest
  @MethodSource("ops")
  void contextOfAnotherAbiHasNoOperation(long op) {
    extended.set(rdma_h.C_POINTER, op, SOME_FUNCTION);
    assertThat(isPresent(op, LARGEST)).isFalse();
  }

  @Test
  void queryPortCallsTheOperationAsCDoes() {
    CFunctions.call("set_query_port", context.address());
    MemorySegment attr = arena.allocate(ibv_port_attr.layout());
    // Without the operation, both would call the library, which crashes on such a context.
    long found = Verbs.verbs_get_ctx_op(context, verbs_context.query_port$offset()).address();
    assertThat(found).isEqualTo(extended.address());

    assertThat((int) CFunctions.call("call_query_port", context.address(), 200, attr.address()))
        .isEqualTo(EINVAL);
    assertThat(CFunctions.recorded(3)).containsExactly(context.address(), 200L, attr.address());
    CFunctions.forget();
    assertThat(Verbs.ibv_query_port(context, (byte) 200, attr)).isEqualTo(EINVAL);
    // The length is that of the struct that the caller knows, which newer headers may have
    // extended.
    assertThat(CFunctions.recorded(4))
        .containsExactly(context.address(), 200L, attr.address(), attr.byteSize());
  }

  private void setAbi(long abi) {
    CFunctions.call("set_abi", context.address(), abi);
  }

  /** Returns whether the operation is present, and checks that Java and C agree. */
  private boolean isPresent(long op, long size) {
    verbs_context.sz(extended, size);
    long found = Verbs.verbs_get_ctx_op(context, op).address();
    long distance = verbs_context.context$offset() - op;
    boolean foundByC = CFunctions.call("get_ctx_op", context.address(), distance) != 0;
    assertThat(found)
        .as("operation at %d of a verbs_context of %d bytes", op, size)
        .isEqualTo(foundByC ? extended.address() : 0);
    return foundByC;
  }
}
