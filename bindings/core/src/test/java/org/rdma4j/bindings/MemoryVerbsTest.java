package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.bindings.generated.ibv_dm;
import org.rdma4j.bindings.generated.ibv_mr;
import org.rdma4j.bindings.generated.ibv_mw;
import org.rdma4j.bindings.generated.ibv_mw_bind;
import org.rdma4j.bindings.generated.ibv_pd;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.MemoryVerbs;

/** Each inline for memory passes to the provider what C passes, and returns its result. */
final class MemoryVerbsTest {
  private static final int EPERM = 1;
  private static final int EIO = 5;
  private static final int ENOMEM = 12;
  private static final int EFAULT = 14;
  private static final int EBUSY = 16;
  private static final int EINVAL = 22;
  private static final int ENOSPC = 28;
  private static final int ERANGE = 34;
  private static final int EOPNOTSUPP = 95;
  private static final long BIG = 0x1122334455667788L;
  private static final MemorySegment SOME = MemorySegment.ofAddress(0x7000);

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment context = StandIn.in(arena).context();
  private final MemorySegment pd = arena.allocate(ibv_pd.layout());
  private final MemorySegment dm = arena.allocate(ibv_dm.layout());
  private final MemorySegment mr = arena.allocate(ibv_mr.layout());
  private final MemorySegment mw = arena.allocate(ibv_mw.layout());
  private final MemorySegment bind = arena.allocate(ibv_mw_bind.layout());

  MemoryVerbsTest() {
    CFunctions.call("set_memory_ops", context.address());
    CFunctions.call("set_pd", pd.address(), context.address());
    CFunctions.call("set_dm", dm.address(), context.address());
    CFunctions.call("set_mr", mr.address(), pd.address());
    setWindow(rdma_h.IBV_MW_TYPE_1());
    CFunctions.call("set_bind", bind.address(), mr.address(), 0x9000, 64);
    CFunctions.forget();
  }

  @AfterEach
  void free() {
    arena.close();
  }

  @Test
  void allocMw() {
    created(
        () -> CFunctions.call("call_alloc_mw", pd.address(), 2),
        () -> MemoryVerbs.ibv_alloc_mw(pd, 2),
        1013);
  }

  @Test
  void deallocMw() {
    returned(
        () -> CFunctions.call("call_dealloc_mw", mw.address()),
        () -> MemoryVerbs.ibv_dealloc_mw(mw),
        EBUSY);
  }

  @Test
  void bindMw() {
    returned(
        () -> CFunctions.call("call_bind_mw", 0x8000, mw.address(), bind.address()),
        () -> MemoryVerbs.ibv_bind_mw(MemorySegment.ofAddress(0x8000), mw, bind),
        ENOMEM);
  }

  @Test
  void bindMwWithoutARegionUnbinds() {
    CFunctions.call("set_bind", bind.address(), 0, 0, 0);
    bindMw();
  }

  @Test
  void bindMwRefusesWindowsOfType2() {
    setWindow(rdma_h.IBV_MW_TYPE_2());
    refusedWithoutACall(EINVAL);
  }

  @Test
  void bindMwRefusesAnAddressWithoutARegion() {
    CFunctions.call("set_bind", bind.address(), 0, 0x9000, 0);
    refusedWithoutACall(EINVAL);
  }

  @Test
  void bindMwRefusesALengthWithoutARegion() {
    CFunctions.call("set_bind", bind.address(), 0, 0, 64);
    refusedWithoutACall(EINVAL);
  }

  @Test
  void bindMwRefusesARegionOfAnotherDomain() {
    CFunctions.call("set_mr", mr.address(), 0x7777);
    refusedWithoutACall(EPERM);
  }

  private void refusedWithoutACall(int errno) {
    long ofC = CFunctions.call("call_bind_mw", 0x8000, mw.address(), bind.address());
    assertThat((int) ofC).isEqualTo(errno);
    assertThat(MemoryVerbs.ibv_bind_mw(SOME, mw, bind)).isEqualTo(errno);
    assertThat(CFunctions.recorded(1)).containsExactly(0L);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 0xfe, 0xff, 0x100, 0x1234_56ff, 0x7fff_ffff, -1, 0x8000_0000})
  void incRkeyChangesOnlyTheTag(int rkey) {
    assertThat(MemoryVerbs.ibv_inc_rkey(rkey))
        .isEqualTo((int) CFunctions.call("call_inc_rkey", rkey));
  }

  @Test
  void adviseMr() {
    returned(
        () -> CFunctions.call("call_advise_mr", pd.address(), 1, 0xffff_ffffL, SOME.address(), 3),
        () -> MemoryVerbs.ibv_advise_mr(pd, 1, -1, SOME, 3),
        EFAULT);
  }

  @Test
  void allocNullMr() {
    created(
        () -> CFunctions.call("call_alloc_null_mr", pd.address()),
        () -> MemoryVerbs.ibv_alloc_null_mr(pd),
        1014);
  }

  @Test
  void allocDm() {
    created(
        () -> CFunctions.call("call_alloc_dm", context.address(), SOME.address()),
        () -> MemoryVerbs.ibv_alloc_dm(context, SOME),
        1015);
  }

  @Test
  void freeDm() {
    returned(
        () -> CFunctions.call("call_free_dm", dm.address()),
        () -> MemoryVerbs.ibv_free_dm(dm),
        EIO);
  }

  @Test
  void memcpyToDm() {
    returned(
        () -> CFunctions.call("call_memcpy_to_dm", dm.address(), BIG, SOME.address(), BIG + 1),
        () -> MemoryVerbs.ibv_memcpy_to_dm(dm, BIG, SOME, BIG + 1),
        ERANGE);
  }

  @Test
  void memcpyFromDm() {
    returned(
        () -> CFunctions.call("call_memcpy_from_dm", SOME.address(), dm.address(), BIG, BIG + 1),
        () -> MemoryVerbs.ibv_memcpy_from_dm(SOME, dm, BIG, BIG + 1),
        ENOSPC);
  }

  @Test
  void regDmMr() {
    created(
        () -> CFunctions.call("call_reg_dm_mr", pd.address(), dm.address(), BIG, BIG + 1, 0x21),
        () -> MemoryVerbs.ibv_reg_dm_mr(pd, dm, BIG, BIG + 1, 0x21),
        1016);
  }

  @Test
  void whatTheProviderLacksIsNotSupported() {
    CFunctions.call("set_no_memory_ops", context.address());
    notSupported(() -> MemoryVerbs.ibv_alloc_mw(pd, 1));
    notSupported(() -> MemoryVerbs.ibv_alloc_null_mr(pd));
    notSupported(() -> MemoryVerbs.ibv_alloc_dm(context, SOME));
    notSupported(() -> MemoryVerbs.ibv_reg_dm_mr(pd, dm, 0, 1, 0));
    assertThat(MemoryVerbs.ibv_free_dm(dm)).isEqualTo(EOPNOTSUPP);
    assertThat(MemoryVerbs.ibv_advise_mr(pd, 0, 0, SOME, 1)).isEqualTo(EOPNOTSUPP);
  }

  private static void notSupported(Supplier<MemorySegment> call) {
    Errno.errno(0);
    assertThat(call.get().address()).isZero();
    assertThat(Errno.errno()).isEqualTo(EOPNOTSUPP);
  }

  @Test
  void shapeOfRegDmabufMr() {
    MemorySegment result =
        MemoryVerbs.dmabuf(
            CFunctions.address("reg_dmabuf_mr"), SOME, BIG, BIG + 1, BIG + 2, -5, 0x1f);
    assertThat(CFunctions.recorded(6))
        .containsExactly(SOME.address(), BIG, BIG + 1, BIG + 2, -5L, 0x1fL);
    assertThat(result.address()).isEqualTo(SOME.address());
    assertThat(Errno.errno()).isEqualTo(1011);
  }

  @Test
  void shapeOfAllocBuf() {
    MemorySegment result =
        MemoryVerbs.buffer(CFunctions.address("alloc_buf"), pd, BIG, MemorySegment.ofAddress(BIG));
    assertThat(CFunctions.recorded(3)).containsExactly(pd.address(), BIG, BIG);
    assertThat(result.address()).isEqualTo(pd.address());
    assertThat(Errno.errno()).isEqualTo(1017);
  }

  @Test
  void shapeOfRegBufMr() {
    MemorySegment result =
        MemoryVerbs.registration(CFunctions.address("reg_buf_mr"), pd, mr, SOME, BIG, -2);
    assertThat(CFunctions.recorded(5))
        .containsExactly(pd.address(), mr.address(), SOME.address(), BIG, -2L);
    assertThat(result.address()).isEqualTo(SOME.address());
    assertThat(Errno.errno()).isEqualTo(1018);
  }

  @Test
  void shapeOfReregMr() {
    int result = MemoryVerbs.rereg(CFunctions.address("rereg_mr"), mr, 7, pd, SOME, BIG, 0x100001);
    assertThat(CFunctions.recorded(6))
        .containsExactly(mr.address(), 7L, pd.address(), SOME.address(), BIG, 0x100001L);
    assertThat(result).isEqualTo(rdma_h.IBV_REREG_MR_ERR_CMD());
    assertThat(Errno.errno()).isEqualTo(1012);
  }

  private void setWindow(int type) {
    CFunctions.call("set_mw", mw.address(), context.address(), pd.address(), type);
  }

  private static void returned(LongSupplier inC, IntSupplier inJava, int result) {
    assertThat((int) inC.getAsLong()).isEqualTo(result);
    List<Long> argumentsOfC = CFunctions.recorded(6);
    CFunctions.forget();
    assertThat(inJava.getAsInt()).isEqualTo(result);
    assertThat(CFunctions.recorded(6)).isEqualTo(argumentsOfC).isNotEqualTo(NOTHING);
  }

  private static void created(LongSupplier inC, Supplier<MemorySegment> inJava, int errno) {
    long result = inC.getAsLong();
    List<Long> argumentsOfC = CFunctions.recorded(6);
    CFunctions.forget();
    Errno.errno(0);
    assertThat(inJava.get().address()).isEqualTo(result).isNotZero();
    assertThat(Errno.errno()).isEqualTo(errno);
    assertThat(CFunctions.recorded(6)).isEqualTo(argumentsOfC).isNotEqualTo(NOTHING);
  }

  private static final List<Long> NOTHING = List.of(0L, 0L, 0L, 0L, 0L, 0L);
}
