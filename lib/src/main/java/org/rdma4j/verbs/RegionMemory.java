package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.PageMemory;

/**
 * The memory under a region, and what keeps it from being freed before its deregistration: a device
 * that writes freed memory would write into whatever the process keeps there next.
 */
final class RegionMemory {
  /** What is registered stays reachable even where everything else of it was dropped unclosed. */
  private static final Set<RegionMemory> REGISTERED = ConcurrentHashMap.newKeySet();

  private static final Set<Class<?>> SCOPES_THAT_NOBODY_CLOSES = scopesThatNobodyCloses();

  private final MemorySegment segment;
  private final Runnable free;
  private final @Nullable Arena arena;
  private final @Nullable Lifetime whole;

  private RegionMemory(
      MemorySegment segment, Runnable free, @Nullable Arena arena, @Nullable Lifetime whole) {
    this.segment = segment;
    this.free = free;
    this.arena = arena;
    this.whole = whole;
  }

  static RegionMemory allocate(long bytes) {
    return of(PageMemory.allocate(bytes));
  }

  static RegionMemory allocate(long bytes, HugePages pages) {
    return of(PageMemory.allocateHuge(bytes, pages.pageSize()));
  }

  private static RegionMemory of(PageMemory memory) {
    return new RegionMemory(memory.segment(), memory::close, null, null);
  }

  /** Memory that is freed when it is unreachable, or never. */
  static RegionMemory of(MemorySegment segment) {
    checkNative(segment);
    if (!SCOPES_THAT_NOBODY_CLOSES.contains(segment.scope().getClass())) {
      throw new IllegalArgumentException(
          "the memory's arena can be closed, which would free it while the device still writes it:"
              + " name the arena too, which then closes the region first");
    }
    return new RegionMemory(segment, () -> {}, null, null);
  }

  /** Memory of an arena, whose close closes the region first. */
  static RegionMemory of(Arena arena, MemorySegment segment) {
    checkNative(segment);
    if (!segment.scope().equals(arena.scope())) {
      throw new IllegalArgumentException(
          "the memory is of another arena than the one given: both must be those of its"
              + " allocation");
    }
    return new RegionMemory(segment, () -> {}, arena, null);
  }

  /** A part of what another region is registered over. */
  static RegionMemory of(MemorySlice part) {
    MemorySegment segment = part.segment();
    checkNative(segment);
    return new RegionMemory(segment, () -> {}, null, part.region().lifetime());
  }

  private static void checkNative(MemorySegment segment) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          "the memory is on the Java heap, where the garbage collector moves it: allocate it in an"
              + " Arena, or have register(bytes) allocate it");
    }
    if (segment.byteSize() == 0) {
      throw new IllegalArgumentException("the memory has 0 bytes, must have at least 1");
    }
  }

  /**
   * By the classes of scopes, since no method tells; one that also serves closed ones counts not.
   */
  private static Set<Class<?>> scopesThatNobodyCloses() {
    Set<Class<?>> classes = new HashSet<>();
    classes.add(Arena.global().scope().getClass());
    classes.add(Arena.ofAuto().scope().getClass());
    classes.add(MemorySegment.ofBuffer(ByteBuffer.allocateDirect(1)).scope().getClass());
    try (Arena shared = Arena.ofShared();
        Arena confined = Arena.ofConfined()) {
      classes.remove(shared.scope().getClass());
      classes.remove(confined.scope().getClass());
    }
    return Set.copyOf(classes);
  }

  MemorySegment segment() {
    return segment;
  }

  /** A call during which what it is a part of is open. */
  <T> T whileOpen(Supplier<T> call) {
    return whole == null ? call.get() : whole.whileOpen(call);
  }

  /** Whose end has to end a region over it. */
  Lifetime[] dependsOn(Lifetime... others) {
    if (whole == null) {
      return others;
    }
    Lifetime[] all = Arrays.copyOf(others, others.length + 1);
    all[others.length] = whole;
    return all;
  }

  void registered() {
    REGISTERED.add(this);
  }

  /**
   * Has the arena close the region before it frees the memory: an arena undoes first what was done
   * last.
   *
   * @throws IllegalStateException where the arena has been closed meanwhile
   * @throws WrongThreadException where the arena is another thread's
   */
  void closeBeforeArena(Lifetime region) {
    if (arena != null) {
      MemorySegment.ofAddress(segment.address()).reinterpret(arena, gone -> region.close());
    }
  }

  /** Ends what {@link #registered} began, and frees what was allocated for the region. */
  void free() {
    REGISTERED.remove(this);
    free.run();
  }
}
