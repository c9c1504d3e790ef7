package org.rdma4j.connection.buffers;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rdma4j.lifetime.ReusedPieces;

final class BufferPoolTest {
  private static final int BUFFER = 16 << 10;
  private static final int MANY = 1000;
  private static final int MOST = 1 << 16;

  private final Set<BufferMemory> registered = new HashSet<>();
  private final BufferPool pool = new BufferPool(this::register, BUFFER, MOST);

  /** Memory that notes when it is given back. */
  private final class Counted implements BufferMemory {
    private final PlainMemory memory;

    Counted(long bytes) {
      memory = PlainMemory.of(bytes);
    }

    @Override
    public MemorySegment segment() {
      return memory.segment();
    }

    @Override
    public void consistsOf(ReusedPieces buffers) {}

    @Override
    public void close() {
      assertThat(registered.remove(this)).isTrue();
    }
  }

  private BufferMemory register(long bytes) {
    Counted memory = new Counted(bytes);
    registered.add(memory);
    return memory;
  }

  private List<Buffer> take(int count) {
    return Stream.generate(pool::take).limit(count).toList();
  }

  private void shrinkOften() {
    for (int i = 0; i < 20; i++) {
      pool.shrink();
    }
  }

  @Test
  void memoryThatIsNotNeededAnyMoreIsGivenBack() {
    take(MANY).forEach(Buffer::free);
    shrinkOften();
    assertThat(registered).hasSize(1);
    assertThat(pool.size()).isLessThan(100);
    assertThat(pool.inUse()).isZero();
    assertThat(pool.unused()).isEqualTo(MOST);
  }

  @Test
  void memoryThatIsNeededAgainAndAgainIsKept() {
    for (int i = 0; i < 20; i++) {
      take(MANY).forEach(Buffer::free);
      pool.shrink();
    }
    assertThat(pool.size()).isGreaterThanOrEqualTo(MANY);
  }

  @Test
  void buffersInUseStayWhereTheyAre() {
    List<Buffer> some = take(MANY);
    List<Buffer> used = some.stream().filter(each -> each.index() % 200 == 0).toList();
    some.stream().filter(each -> each.index() % 200 != 0).forEach(Buffer::free);
    shrinkOften();
    assertThat(registered).hasSizeLessThanOrEqualTo(used.size() + 1);
    assertThat(pool.unused()).isEqualTo(MOST - used.size());
    assertThat(used).allSatisfy(each -> assertThat(pool.get(each.index())).isSameAs(each));
    assertThat(used).allSatisfy(each -> assertThat(registered).contains(each.memory()));
    List<Buffer> more = take(MANY);
    Set<Integer> indices = new HashSet<>();
    Stream.concat(used.stream(), more.stream())
        .forEach(each -> assertThat(indices.add(each.index())).isTrue());
    assertThat(more).allSatisfy(each -> assertThat(pool.get(each.index())).isSameAs(each));
    assertThat(pool.inUse()).isEqualTo(used.size() + MANY);
    assertThat(pool.unused()).isEqualTo(MOST - used.size() - MANY);
  }
}
