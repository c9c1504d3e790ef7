package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.generated.ibv_ops_wr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;

/**
 * What a provider is passed, and how its answer is used. Tested with functions in Java, because no
 * software device matches tags.
 */
final class TagOperationsTest {
  private static final int ENOMEM = 12;
  private static final int EVERY = -1;

  interface PostSrqOps {
    int post(long queue, long first, long refused);
  }

  /** Stands in for {@code post_srq_ops} of a provider. */
  private static final class Provider implements PostSrqOps {
    private static final FunctionDescriptor POST =
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private final List<MemorySegment> taken = new ArrayList<>();
    private final Arena arena = Arena.ofAuto();
    private int refusedFrom = EVERY;
    private boolean tellsWhich = true;
    private int nextHandle = 100;

    @Override
    public int post(long queue, long first, long refused) {
      int index = 0;
      for (long each = first; each != 0; index++) {
        MemorySegment operation =
            MemorySegment.ofAddress(each).reinterpret(ibv_ops_wr.layout().byteSize());
        if (index == refusedFrom) {
          if (tellsWhich) {
            MemorySegment.ofAddress(refused).reinterpret(Long.BYTES).set(JAVA_LONG, 0, each);
          }
          return ENOMEM;
        }
        if (ibv_ops_wr.opcode(operation) == rdma_h.IBV_WR_TAG_ADD()) {
          ibv_ops_wr.tm.handle(ibv_ops_wr.tm(operation), nextHandle++);
        }
        taken.add(arena.allocate(operation.byteSize(), 8).copyFrom(operation));
        each = ibv_ops_wr.next(operation).address();
      }
      return 0;
    }

    long pointer() throws ReflectiveOperationException {
      return Linker.nativeLinker()
          .upcallStub(
              MethodHandles.lookup()
                  .findVirtual(PostSrqOps.class, "post", POST.toMethodType())
                  .bindTo(this),
              POST,
              arena)
          .address();
    }
  }

  private final Provider provider = new Provider();
  private final Set<Integer> handles = new HashSet<>();
  private final HotCalls calls = new HotCalls();
  private TagOperations operations;

  @BeforeEach
  void create() throws ReflectiveOperationException {
    operations =
        new TagOperations(
            new HotCall.Target(calls, "test", false, provider.pointer(), MemorySegment.NULL),
            4,
            1,
            handles);
  }

  private MemorySegment taken(int index) {
    return provider.taken.get(index);
  }

  @Test
  void eachOperationIsWrittenAsItWasDescribed() {
    handles.add(77);
    operations.add(1).tag(0x1122_3344_5566_7788L, -2, 9).signaled();
    operations.add(2).remove(77);
    operations.add(3).synchronize(5);
    assertThat(operations.size()).isEqualTo(3);
    assertThat(operations.post()).isEqualTo(3);
    assertThat(operations.size()).isZero();

    assertThat(provider.taken).extracting(ibv_ops_wr::wr_id).containsExactly(1L, 2L, 3L);
    assertThat(provider.taken)
        .extracting(ibv_ops_wr::opcode)
        .containsExactly(
            rdma_h.IBV_WR_TAG_ADD(), rdma_h.IBV_WR_TAG_DEL(), rdma_h.IBV_WR_TAG_SYNC());
    assertThat(provider.taken)
        .extracting(ibv_ops_wr::flags)
        .containsExactly(rdma_h.IBV_OPS_SIGNALED(), 0, rdma_h.IBV_OPS_TM_SYNC());
    MemorySegment add = ibv_ops_wr.tm.add(ibv_ops_wr.tm(taken(0)));
    assertThat(ibv_ops_wr.tm.add.tag(add)).isEqualTo(0x1122_3344_5566_7788L);
    assertThat(ibv_ops_wr.tm.add.mask(add)).isEqualTo(-2);
    assertThat(ibv_ops_wr.tm.add.recv_wr_id(add)).isEqualTo(9);
    assertThat(ibv_ops_wr.tm.add.num_sge(add)).isZero();
    assertThat(ibv_ops_wr.tm.handle(ibv_ops_wr.tm(taken(1)))).isEqualTo(77);
    assertThat(ibv_ops_wr.tm.unexpected_cnt(ibv_ops_wr.tm(taken(2)))).isEqualTo(5);
  }

  @Test
  void theHandleOfATagIsKnownAfterThePostAndCanBeRemoved() {
    operations.add(1).tag(1, -1, 1);
    operations.add(2).tag(2, -1, 2);
    operations.post();
    assertThat(operations.handle(0)).isEqualTo(100);
    assertThat(operations.handle(1)).isEqualTo(101);
    assertThatThrownBy(() -> operations.handle(2)).isInstanceOf(IndexOutOfBoundsException.class);
    operations.add(3).remove(operations.handle(1));
    assertThat(operations.post()).isEqualTo(1);
    assertThat(ibv_ops_wr.tm.handle(ibv_ops_wr.tm(taken(2)))).isEqualTo(101);
  }

  @Test
  void anUnknownHandleIsRefusedAndTheOperationStaysUnchanged() {
    operations.add(1);
    assertThatThrownBy(() -> operations.remove(3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("handle is 3");
    operations.post();
    assertThat(ibv_ops_wr.opcode(taken(0))).isEqualTo(rdma_h.IBV_WR_TAG_SYNC());
  }

  @Test
  void aRefusedOperationIsReportedAndKeptWithThoseAfterIt() {
    provider.refusedFrom = 1;
    operations.add(1).tag(1, -1, 1);
    operations.add(2).tag(2, -1, 2);
    operations.add(3);
    assertThatThrownBy(operations::post)
        .isInstanceOfSatisfying(
            PostException.class, thrown -> assertThat(thrown.index()).isEqualTo(1))
        .hasMessageContaining("ibv_post_srq_ops");
    assertThat(operations.size()).isEqualTo(2);
    assertThat(operations.handle(0)).isEqualTo(100);
    assertThatThrownBy(() -> operations.handle(1)).isInstanceOf(IndexOutOfBoundsException.class);
    provider.refusedFrom = EVERY;
    assertThat(operations.post()).isEqualTo(2);
    assertThat(provider.taken).extracting(ibv_ops_wr::wr_id).containsExactly(1L, 2L, 3L);
    assertThat(operations.handle(0)).isEqualTo(101);
  }

  @Test
  void aRefusalWithoutAnOperationDropsAll() {
    provider.refusedFrom = 0;
    provider.tellsWhich = false;
    operations.add(1);
    assertThatThrownBy(operations::post)
        .isInstanceOfSatisfying(
            PostException.class,
            thrown -> assertThat(thrown.index()).isEqualTo(PostException.UNKNOWN));
    assertThat(operations.size()).isZero();
  }

  @Test
  void theBatchHoldsItsMaximum() {
    for (int i = 0; i < 4; i++) {
      operations.add(i);
    }
    assertThatThrownBy(() -> operations.add(4))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("all 4 operations");
    operations.clear();
    assertThat(operations.post()).isZero();
    assertThatThrownBy(() -> operations.tag(1, 1, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("add(id)");
    assertThat(provider.taken).isEmpty();
  }

  @Test
  void nothingWorksAfterTheQueueIsClosed() {
    operations.add(1).tag(1, -1, 1);
    calls.revoke();
    assertThatThrownBy(operations::post).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> operations.add(2)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> operations.synchronize(0)).isInstanceOf(IllegalStateException.class);
    assertThat(provider.taken).isEmpty();
  }
}
