package org.rdma4j.bindings.providers;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The first RDMA device of this machine, opened as C does it.
 *
 * @param context the {@code struct ibv_context *}
 */
record OpenDevice(MemorySegment context) implements AutoCloseable {
  static OpenDevice first() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment number = arena.allocate(JAVA_INT);
      MemorySegment list = rdma_h.ibv_get_device_list(number);
      try {
        if (number.get(JAVA_INT, 0) == 0) {
          throw new AssertionError("this machine has no RDMA device");
        }
        MemorySegment context = rdma_h.ibv_open_device(list.getAtIndex(ADDRESS, 0));
        if (context.equals(MemorySegment.NULL)) {
          throw new AssertionError("ibv_open_device failed");
        }
        return new OpenDevice(context);
      } finally {
        rdma_h.ibv_free_device_list(list);
      }
    }
  }

  @Override
  public void close() {
    if (rdma_h.ibv_close_device(context) != 0) {
      throw new AssertionError("ibv_close_device failed");
    }
  }
}
