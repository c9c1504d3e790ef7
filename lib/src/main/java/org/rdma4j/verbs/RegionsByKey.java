package org.rdma4j.verbs;

import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The open memory regions of a protection domain by their local keys. A request contains only the
 * key of a region; this class finds the region again.
 */
final class RegionsByKey {
  // A strong reference would keep a region reachable that the program dropped without closing it,
  // and that region would not be reported.
  private final ConcurrentHashMap<Integer, WeakReference<MemoryRegion>> regions =
      new ConcurrentHashMap<>();

  void add(int key, WeakReference<MemoryRegion> region) {
    regions.put(key, region);
  }

  void remove(int key, WeakReference<MemoryRegion> region) {
    regions.remove(key, region);
  }

  /**
   * Returns the region of a piece.
   *
   * @param key its local key
   * @param address the address of the piece
   * @param length the length of the piece in bytes
   * @param isMemory whether the address is that of the memory in this process
   * @throws IllegalStateException if no open region has this key and piece
   */
  MemoryRegion find(int key, long address, long length, boolean isMemory) {
    WeakReference<MemoryRegion> reference = regions.get(key);
    MemoryRegion region = reference == null ? null : reference.get();
    if (region == null || !region.has(key, address, length, isMemory)) {
      throw new IllegalStateException(
          "the memory region of a request is closed or belongs to another protection domain; call"
              + " clear() and build the requests again");
    }
    return region;
  }
}
