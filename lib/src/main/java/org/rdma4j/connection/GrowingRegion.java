package org.rdma4j.connection;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.lifetime.ReusedPieces;
import org.rdma4j.platform.PageMemory;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * The memory of one long buffer, of which more and more is registered. What is not registered takes
 * addresses of the process, and no memory.
 */
final class GrowingRegion extends BufferRegion {
  private final Exposures exposures;
  private final PageMemory memory;

  /** The regions, each longer than the one before, which requests may still use. */
  private final List<MemoryRegion> regions = new ArrayList<>();

  private @Nullable ReusedPieces pieces;
  private boolean closed;

  private GrowingRegion(Exposures exposures, PageMemory memory, MemoryRegion first) {
    super(memory.segment(), first);
    this.exposures = exposures;
    this.memory = memory;
    regions.add(first);
  }

  /** Maps memory, and registers the first bytes of it. */
  static GrowingRegion reserve(Exposures exposures, long bytes, long first) {
    PageMemory memory = PageMemory.allocate(bytes);
    boolean done = false;
    try {
      GrowingRegion made = new GrowingRegion(exposures, memory, register(exposures, memory, first));
      done = true;
      return made;
    } finally {
      if (!done) {
        memory.close();
      }
    }
  }

  private static MemoryRegion register(Exposures exposures, PageMemory memory, long first) {
    return register(exposures, MemoryRegionConfig.of(memory.segment().asSlice(0, first)));
  }

  @Override
  public synchronized void consistsOf(ReusedPieces buffers) {
    pieces = buffers;
    super.consistsOf(buffers);
  }

  @Override
  public void registerUpTo(long bytes) {
    MemoryRegion longer = register(exposures, memory, bytes);
    if (!add(longer)) {
      longer.close();
    }
  }

  private synchronized boolean add(MemoryRegion longer) {
    if (closed) {
      return false;
    }
    if (pieces != null) {
      VerbsAccess.get().setPieces(longer, pieces);
    }
    regions.add(longer);
    region(longer);
    return true;
  }

  @Override
  public void close() {
    Attempts attempts = new Attempts();
    for (MemoryRegion each : takeAll()) {
      attempts.attempt(each::close);
    }
    attempts.finish();
    // Not if a region is still registered: a device would access what uses the memory next.
    memory.close();
  }

  private synchronized List<MemoryRegion> takeAll() {
    closed = true;
    List<MemoryRegion> all = List.copyOf(regions);
    regions.clear();
    return all;
  }
}
