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
 * The memory of a region. It must not be freed before the deregistration: a device that writes to
 * freed memory would overwrite whatever the process stores there next.
 */
final class RegionMemory {
  /** Keeps registered memory reachable, even if the program drops a region without closing it. */
  private static final Set<RegionMemory> REGISTERED = ConcurrentHashMap.newKeySet();

  private static final Set<Class<?>> SCOPES_WITHOUT_CLOSE = scopesWithoutClose();

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

  /** Returns the memory of a segment that is freed when it becomes unreachable, or never. */
  static RegionMemory of(MemorySegment segment) {
    checkNative(segment);
    if (!SCOPES_WITHOUT_CLOSE.contains(segment.scope().getClass())) {
      throw new IllegalArgumentException(
          "the memory belongs to an arena that can be closed, which would free memory that the"
              + " device still uses: pass the arena too, then closing it closes the region first");
    }
    return new RegionMemory(segment, () -> {}, null, null);
  }

  /** Returns memory of an arena. Closing the arena closes the region first. */
  static RegionMemory of(Arena arena, MemorySegment segment) {
    checkNative(segment);
    if (!segment.scope().equals(arena.scope())) {
      throw new IllegalArgumentException(
          "the memory belongs to another arena: pass the arena that the memory was allocated from");
    }
    return new RegionMemory(segment, () -> {}, arena, null);
  }

  /** Returns a part of the memory of another region. */
  static RegionMemory of(MemorySlice part) {
    MemorySegment segment = part.segment();
    checkNative(segment);
    return new RegionMemory(segment, () -> {}, null, part.region().lifetime());
  }

  private static void checkNative(MemorySegment segment) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          "the memory is on the Java heap, where the garbage collector moves it: allocate it from"
              + " an Arena, or let register(bytes) allocate it");
    }
    if (segment.byteSize() == 0) {
      throw new IllegalArgumentException("the length of the memory is 0, must be at least 1");
    }
  }

  /**
   * Returns the classes of scopes that cannot be closed. No method says whether a scope can be
   * closed, so this looks at the classes that the JDK uses. A class that is also used for arenas
   * that can be closed is left out.
   */
  private static Set<Class<?>> scopesWithoutClose() {
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

  /** Makes a call during which the region that this memory is a part of stays open. */
  <T> T whileOpen(Supplier<T> call) {
    return whole == null ? call.get() : whole.whileOpen(call);
  }

  /** Returns what a region over this memory depends on: these, and the region it is a part of. */
  Lifetime[] dependsOn(Lifetime... others) {
    if (whole == null) {
      return others;
    }
    Lifetime[] all = Arrays.copyOf(others, others.length + 1);
    all[others.length] = whole;
    return all;
  }

  /** Keeps the memory reachable from now on, until {@link #free} is called. */
  void registered() {
    REGISTERED.add(this);
  }

  /**
   * Makes the arena close the region before it frees the memory. An arena runs its cleanups in
   * reverse order, so this one runs before the memory is freed.
   *
   * @throws IllegalStateException if the arena has been closed in the meantime
   * @throws WrongThreadException if the arena belongs to another thread
   */
  void closeBeforeArena(Lifetime region) {
    if (arena != null) {
      MemorySegment.ofAddress(segment.address()).reinterpret(arena, gone -> region.close());
    }
  }

  /** Undoes {@link #registered}, and frees memory that was allocated for the region. */
  void free() {
    REGISTERED.remove(this);
    free.run();
  }
}
