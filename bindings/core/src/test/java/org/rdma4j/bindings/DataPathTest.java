package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.inlines.DataPath;

/** C sets the operations of a context. Java finds and calls them. */
final class DataPathTest {
  private static final long OBJECT = 0x1122334455667788L;
  private static final long LIST = 0x99AABBCCDDEEFF00L;
  private static final long BAD = 0x0F1E2D3C4B5A6978L;

  private static final int E2BIG = 7;
  private static final int EINVAL = 22;
  private static final int ENOMEM = 12;
  private static final int ERANGE = 34;
  private static final int ENOSYS = 38;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment context = arena.allocate(ibv_context.layout());

  @BeforeEach
  void setOps() {
    CFunctions.call("set_ops", context.address());
  }

  @AfterEach
  void free() {
    arena.close();
  }

  @Test
  void opsAreThePointersThatCSet() {
    assertThat(DataPath.ibv_post_send$op(context)).isEqualTo(address("record_post_send"));
    assertThat(DataPath.ibv_post_recv$op(context)).isEqualTo(address("record_post_recv"));
    assertThat(DataPath.ibv_poll_cq$op(context)).isEqualTo(address("record_poll_cq"));
    assertThat(DataPath.ibv_req_notify_cq$op(context)).isEqualTo(address("record_req_notify_cq"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void postSendPassesItsArguments(boolean critical) {
    assertThatPostPassesItsArguments(DataPath.ibv_post_send$op(context), critical, ENOMEM);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void postRecvPassesItsArguments(boolean critical) {
    assertThatPostPassesItsArguments(DataPath.ibv_post_recv$op(context), critical, EINVAL);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void postSrqRecvPassesItsArguments(boolean critical) {
    assertThatPostPassesItsArguments(DataPath.ibv_post_srq_recv$op(context), critical, E2BIG);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void postWqRecvPassesItsArguments(boolean critical) {
    MemorySegment wq = arena.allocate(CFunctions.call("size_of_wq"), 8);
    CFunctions.call("set_wq_op", wq.address());
    assertThatPostPassesItsArguments(DataPath.ibv_post_wq_recv$op(wq), critical, ERANGE);
  }

  private static void assertThatPostPassesItsArguments(long op, boolean critical, int errno) {
    int result =
        critical
            ? DataPath.ibv_post$critical(op, OBJECT, LIST, BAD)
            : DataPath.ibv_post(op, OBJECT, LIST, BAD);
    assertThat(result).isEqualTo(errno);
    assertThat(CFunctions.recorded(3)).containsExactly(OBJECT, LIST, BAD);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void pollCqPassesItsArguments(boolean critical) {
    long op = DataPath.ibv_poll_cq$op(context);
    int result =
        critical
            ? DataPath.ibv_poll_cq$critical(op, OBJECT, -9, LIST)
            : DataPath.ibv_poll_cq(op, OBJECT, -9, LIST);
    assertThat(result).isEqualTo(-1);
    assertThat(CFunctions.recorded(3)).containsExactly(OBJECT, -9L, LIST);
  }

  @Test
  void reqNotifyCqPassesItsArguments() {
    int result = DataPath.ibv_req_notify_cq(DataPath.ibv_req_notify_cq$op(context), OBJECT, -1);
    assertThat(result).isEqualTo(ENOSYS);
    assertThat(CFunctions.recorded(2)).containsExactly(OBJECT, -1L);
  }

  @Test
  void safepointReturns() {
    DataPath.safepoint();
  }

  private static long address(String function) {
    return CFunctions.address(function).address();
  }
}
