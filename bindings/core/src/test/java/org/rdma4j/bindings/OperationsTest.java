package org.rdma4j.bindings;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.bindings.generated.ibv_counters;
import org.rdma4j.bindings.generated.ibv_cq;
import org.rdma4j.bindings.generated.ibv_flow;
import org.rdma4j.bindings.generated.ibv_flow_action;
import org.rdma4j.bindings.generated.ibv_qp;
import org.rdma4j.bindings.generated.ibv_qp_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_query_device_ex_input;
import org.rdma4j.bindings.generated.ibv_rwq_ind_table;
import org.rdma4j.bindings.generated.ibv_srq;
import org.rdma4j.bindings.generated.ibv_srq_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_td;
import org.rdma4j.bindings.generated.ibv_wq;
import org.rdma4j.bindings.generated.ibv_wq_init_attr;
import org.rdma4j.bindings.generated.ibv_xrcd;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.verbs_context;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.Flows;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.bindings.inlines.WorkQueues;

/** Each inline that calls an operation of verbs_context does what C does, also if it is NULL. */
final class OperationsTest {
  private static final MemorySegment SECOND = MemorySegment.ofAddress(0x1122334455667788L);
  private static final MemorySegment THIRD = MemorySegment.ofAddress(0x0F1E2D3C4B5A6978L);
  private static final long CREATED = 0x5150;
  private static final int NO_ERRNO_YET = 4321;
  private static final int EOPNOTSUPP = 95;
  private static final int EINVAL = 22;

  private static final int LARGER_THAN_ANY_OBJECT = 4096;

  private final Arena arena = Arena.ofConfined();
  private final StandIn standIn = StandIn.in(arena);
  private final MemorySegment extended = standIn.extended();
  private final MemorySegment context = standIn.context();
  private final MemorySegment object = arena.allocate(LARGER_THAN_ANY_OBJECT, 8);

  private interface OfOne {
    Object call(MemorySegment first);
  }

  private interface OfTwo {
    Object call(MemorySegment first, MemorySegment second);
  }

  private interface OfThree {
    Object call(MemorySegment first, MemorySegment second, MemorySegment third);
  }

  /**
   * An inline function.
   *
   * @param operation the offset of its operation
   * @param contextOffset the offset of the context in its first argument; -1 if that is the context
   */
  record Inline(String name, long operation, long contextOffset, int arguments, OfThree java) {
    static Inline one(String name, long operation, long contextOffset, OfOne java) {
      return new Inline(name, operation, contextOffset, 1, (a, b, c) -> java.call(a));
    }

    static Inline two(String name, long operation, long contextOffset, OfTwo java) {
      return new Inline(name, operation, contextOffset, 2, (a, b, c) -> java.call(a, b));
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /** The effects of a call. */
  record Outcome(long result, int errno, List<Long> recorded) {}

  private static final long CONTEXT_ITSELF = -1;

  static final List<Inline> CREATING =
      List.of(
          Inline.two(
              "create_flow",
              verbs_context.ibv_create_flow$offset(),
              ibv_qp.context$offset(),
              Flows::ibv_create_flow),
          Inline.two(
              "create_flow_action_esp",
              verbs_context.create_flow_action_esp$offset(),
              CONTEXT_ITSELF,
              Flows::ibv_create_flow_action_esp),
          Inline.two(
              "create_counters",
              verbs_context.create_counters$offset(),
              CONTEXT_ITSELF,
              Flows::ibv_create_counters),
          Inline.two(
              "open_xrcd", verbs_context.open_xrcd$offset(), CONTEXT_ITSELF, Verbs::ibv_open_xrcd),
          Inline.two(
              "create_cq_ex",
              verbs_context.create_cq_ex$offset(),
              CONTEXT_ITSELF,
              Verbs::ibv_create_cq_ex),
          Inline.two(
              "alloc_td", verbs_context.alloc_td$offset(), CONTEXT_ITSELF, Verbs::ibv_alloc_td),
          Inline.two(
              "alloc_parent_domain",
              verbs_context.alloc_parent_domain$offset(),
              CONTEXT_ITSELF,
              Verbs::ibv_alloc_parent_domain),
          Inline.two("open_qp", verbs_context.open_qp$offset(), CONTEXT_ITSELF, Verbs::ibv_open_qp),
          Inline.two(
              "create_rwq_ind_table",
              verbs_context.create_rwq_ind_table$offset(),
              CONTEXT_ITSELF,
              WorkQueues::ibv_create_rwq_ind_table));

  static final List<Inline> OTHERS =
      List.of(
          Inline.one(
              "destroy_flow",
              verbs_context.ibv_destroy_flow$offset(),
              ibv_flow.context$offset(),
              Flows::ibv_destroy_flow),
          Inline.two(
              "modify_flow_action_esp",
              verbs_context.modify_flow_action_esp$offset(),
              ibv_flow_action.context$offset(),
              Flows::ibv_modify_flow_action_esp),
          Inline.one(
              "destroy_flow_action",
              verbs_context.destroy_flow_action$offset(),
              ibv_flow_action.context$offset(),
              Flows::ibv_destroy_flow_action),
          Inline.one(
              "destroy_counters",
              verbs_context.destroy_counters$offset(),
              ibv_counters.context$offset(),
              Flows::ibv_destroy_counters),
          new Inline(
              "attach_counters_point_flow",
              verbs_context.attach_counters_point_flow$offset(),
              ibv_counters.context$offset(),
              3,
              Flows::ibv_attach_counters_point_flow),
          Inline.one(
              "dealloc_td",
              verbs_context.dealloc_td$offset(),
              ibv_td.context$offset(),
              Verbs::ibv_dealloc_td),
          Inline.two(
              "modify_cq",
              verbs_context.modify_cq$offset(),
              ibv_cq.context$offset(),
              Verbs::ibv_modify_cq),
          Inline.two(
              "get_srq_num",
              verbs_context.get_srq_num$offset(),
              ibv_srq.context$offset(),
              Verbs::ibv_get_srq_num),
          Inline.two(
              "query_rt_values_ex",
              verbs_context.query_rt_values$offset(),
              CONTEXT_ITSELF,
              Verbs::ibv_query_rt_values_ex),
          Inline.two(
              "modify_qp_rate_limit",
              verbs_context.modify_qp_rate_limit$offset(),
              ibv_qp.context$offset(),
              Verbs::ibv_modify_qp_rate_limit),
          Inline.two(
              "modify_wq",
              verbs_context.modify_wq$offset(),
              ibv_wq.context$offset(),
              WorkQueues::ibv_modify_wq),
          Inline.one(
              "destroy_wq",
              verbs_context.destroy_wq$offset(),
              ibv_wq.context$offset(),
              WorkQueues::ibv_destroy_wq),
          Inline.one(
              "destroy_rwq_ind_table",
              verbs_context.destroy_rwq_ind_table$offset(),
              ibv_rwq_ind_table.context$offset(),
              WorkQueues::ibv_destroy_rwq_ind_table));

  static final List<Inline> ALL = Stream.concat(CREATING.stream(), OTHERS.stream()).toList();

  @BeforeEach
  void setOperations() {
    CFunctions.call("set_operations", context.address());
    CFunctions.forget();
  }

  @AfterEach
  void free() {
    arena.close();
  }

  @ParameterizedTest
  @FieldSource("ALL")
  void callsTheOperationThatCCalls(Inline inline) {
    Outcome java = inJava(inline);
    assertThat(java).isEqualTo(inC(inline));
    assertThat(java.recorded().getFirst()).isPositive();
    assertThat(java.recorded().get(1)).isEqualTo(first(inline).address());
  }

  @ParameterizedTest
  @FieldSource("CREATING")
  void createsNothingWithoutTheOperation(Inline inline) {
    extended.set(rdma_h.C_POINTER, inline.operation(), MemorySegment.NULL);
    Outcome java = inJava(inline);
    assertThat(java.result()).isZero();
    assertThat(java.errno()).isEqualTo(EOPNOTSUPP);
    assertThat(java).isEqualTo(inC(inline));
  }

  @ParameterizedTest
  @FieldSource("OTHERS")
  void returnsTheErrnoValueWithoutTheOperation(Inline inline) {
    extended.set(rdma_h.C_POINTER, inline.operation(), MemorySegment.NULL);
    Outcome java = inJava(inline);
    assertThat(java.result()).isEqualTo(EOPNOTSUPP);
    assertThat(java).isEqualTo(inC(inline));
  }

  @ParameterizedTest
  @FieldSource("ALL")
  void doesNotCallAnOperationThatAnOlderProviderLacks(Inline inline) {
    verbs_context.sz(extended, 0);
    assertThat(inJava(inline)).isEqualTo(inC(inline));
    assertThat(CFunctions.recorded(1)).containsExactly(0L);
  }

  @ParameterizedTest
  @FieldSource("ALL")
  void doesNotCallAnOperationOfAnotherAbi(Inline inline) {
    CFunctions.call("set_abi", context.address(), 0);
    assertThat(inJava(inline)).isEqualTo(inC(inline));
    assertThat(CFunctions.recorded(1)).containsExactly(0L);
  }

  @Test
  void returnsThePointerAndTheErrnoOfTheProvider() {
    Outcome java = inJava(CREATING.getFirst());
    assertThat(java.result()).isEqualTo(CREATED);
    assertThat(java.errno()).isEqualTo(1234);
  }

  @Test
  void closeXrcdCallsItsOperation() {
    object.set(rdma_h.C_POINTER, ibv_xrcd.context$offset(), context);
    assertThat(Verbs.ibv_close_xrcd(object)).isEqualTo(1001);
    List<Long> inJava = CFunctions.recorded(2);
    CFunctions.forget();
    CFunctions.call("call_close_xrcd", object.address());
    assertThat(inJava).isEqualTo(CFunctions.recorded(2)).contains(object.address());
  }

  @Test
  void readCountersPassesItsNumbers() {
    object.set(rdma_h.C_POINTER, ibv_counters.context$offset(), context);
    assertThat(Flows.ibv_read_counters(object, SECOND, -3, -4)).isEqualTo(1004);
    List<Long> inJava = CFunctions.recorded(5);
    CFunctions.forget();
    CFunctions.call("call_read_counters", object.address(), SECOND.address(), -3, -4);
    assertThat(inJava)
        .isEqualTo(CFunctions.recorded(5))
        .endsWith(object.address(), SECOND.address(), 0xFFFFFFFDL, 0xFFFFFFFCL);
  }

  @Test
  void readCountersFailsWithoutTheOperation() {
    object.set(rdma_h.C_POINTER, ibv_counters.context$offset(), context);
    verbs_context.read_counters(extended, MemorySegment.NULL);
    assertThat(Flows.ibv_read_counters(object, SECOND, 1, 0)).isEqualTo(EOPNOTSUPP);
  }

  @Test
  void queuePairWithMoreThanADomainIsCreatedByTheOperation() {
    for (int mask : new int[] {0, 2, 3, -1}) {
      ibv_qp_init_attr_ex.comp_mask(object, mask);
      expectCreated("create_qp_ex", verbs_context.create_qp_ex$offset(), Verbs::ibv_create_qp_ex);
    }
  }

  @Test
  void sharedReceiveQueueOfAnotherTypeIsCreatedByTheOperation() {
    int pd = rdma_h.IBV_SRQ_INIT_ATTR_PD();
    int type = rdma_h.IBV_SRQ_INIT_ATTR_TYPE();
    ibv_srq_init_attr_ex.srq_type(object, rdma_h.IBV_SRQT_XRC());
    for (int mask : new int[] {0, type, pd | type, pd | rdma_h.IBV_SRQ_INIT_ATTR_CQ(), -1}) {
      ibv_srq_init_attr_ex.comp_mask(object, mask);
      expectCreated(
          "create_srq_ex", verbs_context.create_srq_ex$offset(), Verbs::ibv_create_srq_ex);
    }
  }

  /** Creates an object with the operation, then fails without it. */
  private void expectCreated(String name, long operation, OfTwo java) {
    setOperations();
    Outcome outcome = outcome(java.call(context, object));
    assertThat(outcome.result()).isEqualTo(CREATED);
    CFunctions.forget();
    CFunctions.call("call_" + name, context.address(), object.address());
    assertThat(outcome.recorded())
        .isEqualTo(CFunctions.recorded(6))
        .contains(context.address(), object.address());

    extended.set(rdma_h.C_POINTER, operation, MemorySegment.NULL);
    Errno.errno(0);
    assertThat(((MemorySegment) java.call(context, object)).address()).isZero();
    assertThat(Errno.errno()).isEqualTo(EOPNOTSUPP);
  }

  @Test
  void queryDeviceExPassesTheSizeOfTheStruct() {
    CFunctions.call("set_query_device_ex_result", EINVAL);
    assertThat(Verbs.ibv_query_device_ex(context, MemorySegment.NULL, object)).isEqualTo(EINVAL);
    List<Long> inJava = CFunctions.recorded(5);
    CFunctions.forget();
    CFunctions.call("call_query_device_ex", context.address(), 0, object.address());
    assertThat(inJava).isEqualTo(CFunctions.recorded(5)).contains(object.address());
  }

  @Test
  void queryDeviceExRefusesAnUnknownInput() {
    CFunctions.call("set_query_device_ex_result", 0);
    MemorySegment input = ibv_query_device_ex_input.allocate(arena);
    assertThat(Verbs.ibv_query_device_ex(context, input, object)).isZero();
    CFunctions.forget();
    ibv_query_device_ex_input.comp_mask(input, 1);
    assertThat(Verbs.ibv_query_device_ex(context, input, object)).isEqualTo(EINVAL);
    assertThat(CFunctions.recorded(1)).containsExactly(0L);
  }

  @Test
  void workQueueIsReadyForItsEventsAsInC() {
    MemorySegment attributes = ibv_wq_init_attr.allocate(arena);
    ibv_wq_init_attr.max_wr(attributes, 1);
    ibv_wq_init_attr.wq_context(attributes, SECOND);
    MemorySegment wq = WorkQueues.ibv_create_wq(context, attributes);
    assertThat(Errno.errno()).isEqualTo(1234);
    byte[] inJava = bytesOfWorkQueue(wq.address());
    byte[] inC =
        bytesOfWorkQueue(
            CFunctions.call("call_create_wq", context.address(), attributes.address()));
    assertThat(inJava).isEqualTo(inC);
    assertThat(ibv_wq.wq_context(wq).address()).isEqualTo(SECOND.address());
  }

  private static byte[] bytesOfWorkQueue(long address) {
    return MemorySegment.ofAddress(address)
        .reinterpret(CFunctions.call("size_of_wq"))
        .toArray(JAVA_BYTE);
  }

  @Test
  void workQueueThatIsNotCreatedIsNull() {
    MemorySegment attributes = ibv_wq_init_attr.allocate(arena);
    assertThat(WorkQueues.ibv_create_wq(context, attributes).address()).isZero();
    assertThat(Errno.errno()).isEqualTo(1234);
    verbs_context.create_wq(extended, MemorySegment.NULL);
    assertThat(WorkQueues.ibv_create_wq(context, attributes).address()).isZero();
    assertThat(Errno.errno()).isEqualTo(EOPNOTSUPP);
  }

  @Test
  void postSrqOpsNamesTheFirstRequestIfThereIsNoOperation() {
    object.set(rdma_h.C_POINTER, ibv_srq.context$offset(), context);
    MemorySegment bad = arena.allocate(rdma_h.C_POINTER);
    assertThat(Verbs.ibv_post_srq_ops(object, SECOND, bad)).isEqualTo(1003);
    assertThat(bad.get(rdma_h.C_POINTER, 0).address()).isZero();
    assertThat(CFunctions.recorded(4)).endsWith(object.address(), SECOND.address(), bad.address());
    assertThat(
            DataPath.ibv_post(
                DataPath.ibv_post_srq_ops$op(context),
                object.address(),
                SECOND.address(),
                THIRD.address()))
        .isEqualTo(1003);

    verbs_context.post_srq_ops(extended, MemorySegment.NULL);
    assertThat(Verbs.ibv_post_srq_ops(object, SECOND, bad)).isEqualTo(EOPNOTSUPP);
    assertThat(bad.get(rdma_h.C_POINTER, 0).address()).isEqualTo(SECOND.address());
    assertThat(DataPath.ibv_post_srq_ops$op(context)).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 0xFE, 0xFF, 0x100, 0x12345678, 0x123456FF, -1, Integer.MIN_VALUE})
  void arithmeticFunctionsReturnWhatCReturns(int value) {
    assertThat(Verbs.ibv_inc_rkey(value)).isEqualTo((int) CFunctions.call("call_inc_rkey", value));
    assertThat(Verbs.ibv_flow_label_to_udp_sport(value))
        .isEqualTo((short) CFunctions.call("call_flow_label_to_udp_sport", value) & 0xFFFF);
    LongStream.range(0, 11)
        .forEach(
            type ->
                assertThat(Verbs.ibv_is_qpt_supported(value, (int) type))
                    .isEqualTo((int) CFunctions.call("call_is_qpt_supported", value, type)));
  }

  private MemorySegment first(Inline inline) {
    if (inline.contextOffset() == CONTEXT_ITSELF) {
      return context;
    }
    object.set(rdma_h.C_POINTER, inline.contextOffset(), context);
    return object;
  }

  private Outcome inJava(Inline inline) {
    CFunctions.forget();
    Errno.errno(NO_ERRNO_YET);
    return outcome(inline.java().call(first(inline), SECOND, THIRD));
  }

  private static Outcome outcome(Object result) {
    boolean pointer = result instanceof MemorySegment;
    return new Outcome(
        pointer ? ((MemorySegment) result).address() : (int) result,
        pointer ? Errno.errno() : 0,
        CFunctions.recorded(6));
  }

  /** If C returns the errno value, its errno means nothing. */
  private Outcome inC(Inline inline) {
    CFunctions.forget();
    long[] arguments = {first(inline).address(), SECOND.address(), THIRD.address()};
    boolean pointer = CREATING.contains(inline);
    long result =
        CFunctions.callKeepingErrno(
            "call_" + inline.name(), LongStream.of(arguments).limit(inline.arguments()).toArray());
    return new Outcome(
        pointer ? result : (int) result, pointer ? Errno.errno() : 0, CFunctions.recorded(6));
  }
}
