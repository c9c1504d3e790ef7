package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.PageMemory;

/**
 * The memory of one region, while it is registered. Memory of this process must not be freed before
 * the deregistration: a device that writes to freed memory would overwrite whatever the process
 * stores there next.
 */
final class RegionMemory {
  /** Keeps registered memory reachable, even if the program drops a region without closing it. */
  private static final Set<RegionMemory> REGISTERED = ConcurrentHashMap.newKeySet();

  private static final Set<Class<?>> SCOPES_WITHOUT_CLOSE = scopesWithoutClose();

  private final @Nullable MemorySegment segment;
  private final Runnable free;
  private final @Nullable Arena arena;
  private final @Nullable Lifetime whole;

  private RegionMemory(
      @Nullable MemorySegment segment,
      Runnable free,
      @Nullable Arena arena,
      @Nullable Lifetime whole) {
    this.segment = segment;
    this.free = free;
    this.arena = arena;
    this.whole = whole;
  }

  /** Allocates memory of ordinary pages, or of huge ones. */
  static RegionMemory allocate(long bytes, @Nullable HugePages pages) {
    PageMemory memory =
        pages == null
            ? PageMemory.allocate(bytes)
            : PageMemory.allocateHuge(bytes, pages.pageSize());
    return new RegionMemory(memory.segment(), memory::close, null, null);
  }

  /**
   * Returns memory of the caller that has been checked.
   *
   * @param arena its arena, whose end closes the region first; null if it has none that can be
   *     closed
   */
  static RegionMemory given(MemorySegment segment, @Nullable Arena arena) {
    return new RegionMemory(segment, () -> {}, arena, null);
  }

  /** Returns a part of the memory of another region. */
  static RegionMemory partOf(MemorySlice part) {
    return new RegionMemory(part.segment(), () -> {}, null, part.region().lifetime());
  }

  /** Returns memory on a device, which this process cannot access. */
  static RegionMemory onDevice(DeviceMemory memory) {
    return new RegionMemory(null, () -> {}, null, memory.lifetime());
  }

  /** Returns memory that this process neither owns nor can access. */
  static RegionMemory elsewhere() {
    return new RegionMemory(null, () -> {}, null, null);
  }

  /**
   * Checks memory of the caller.
   *
   * @param arena its arena; null if it has none that can be closed
   */
  static void checkGiven(MemorySegment segment, @Nullable Arena arena) {
    checkNative(segment);
    if (arena == null && !SCOPES_WITHOUT_CLOSE.contains(segment.scope().getClass())) {
      throw new IllegalArgumentException(
          "the memory belongs to an arena that can be closed, which would free memory that the"
              + " device still uses: pass the arena too, then closing it closes the region first");
    }
    if (arena != null && !segment.scope().equals(arena.scope())) {
      throw new IllegalArgumentException(
          "the memory belongs to another arena: pass the arena that the memory was allocated from");
    }
  }

  static void checkNative(MemorySegment segment) {
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

  /** Returns whether this process can access the memory. */
  boolean isAccessible() {
    return segment != null;
  }

  /** Returns the memory, which this process must have access to. */
  MemorySegment segment() {
    return Objects.requireNonNull(segment);
  }

  /**
   * Returns what a region over this memory depends on: its domain, its DMA handle, and the region
   * or the device memory that it is a part of.
   */
  List<Lifetime> dependsOn(ProtectionDomain domain, @Nullable DmaHandle handle) {
    List<Lifetime> all = new ArrayList<>(3);
    all.add(domain.lifetime());
    if (handle != null) {
      all.add(handle.lifetime());
    }
    if (whole != null) {
      all.add(whole);
    }
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
      MemorySegment.ofAddress(segment().address()).reinterpret(arena, gone -> region.close());
    }
  }

  /** Undoes {@link #registered}, and frees memory that was allocated for the region. */
  void free() {
    REGISTERED.remove(this);
    free.run();
  }
}
