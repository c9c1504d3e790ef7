package org.rdma4j.cm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * The devices of the connection manager, which librdmacm opens and keeps. There is one {@link
 * RdmaDevice} for each: those that {@link #list} gives are those of the identifiers. Closing one
 * closes all that anybody made of it, queue pairs of identifiers included, and not the native
 * device; whoever asks again gets a new one.
 */
public final class CmDevices {
  /** By the addresses of their contexts. */
  private static final Map<Long, RdmaDevice> DEVICES = new HashMap<>();

  private CmDevices() {}

  /**
   * The devices that connections can be made with: {@code rdma_get_devices}.
   *
   * @return all of this machine, empty where it has none
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where they cannot be had
   */
  public static List<RdmaDevice> list() {
    NativeLibraries.require();
    Held held = Held.get();
    try {
      List<RdmaDevice> devices = new ArrayList<>();
      held.contexts.forEach(context -> devices.add(of(context)));
      return List.copyOf(devices);
    } finally {
      held.free();
    }
  }

  /** The device of a context of librdmacm, in a call during which something holds that. */
  static synchronized RdmaDevice of(MemorySegment context) {
    RdmaDevice known = DEVICES.get(context.address());
    if (known != null && VerbsAccess.get().lifetime(known).isOpen()) {
      return known;
    }
    Held held = Held.get();
    if (held.contexts.stream().noneMatch(each -> each.address() == context.address())) {
      held.free();
      throw new RdmaException("rdma_get_devices", ErrorNumber.ENODEV.value());
    }
    Held own = held.only(context);
    RdmaDevice device = VerbsAccess.get().borrow(context, () -> release(own));
    DEVICES.put(context.address(), device);
    return device;
  }

  /**
   * librdmacm closes the context of a removed device once nobody holds it and it has looked which
   * devices there are. For that the kernel waits, where the device is soft-RoCE.
   */
  private static void release(Held held) {
    held.free();
    Held.get().free();
  }

  /** A list of librdmacm: until it is freed, the contexts in it stay open. */
  private record Held(MemorySegment list, List<MemorySegment> contexts) {
    static Held get() {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment count = arena.allocate(JAVA_INT);
        MemorySegment list = Calls.pointer(rdma_h.rdma_get_devices$address(), count);
        if (list.address() == 0) {
          int errno = Errno.errno();
          if (errno == ErrorNumber.ENODEV.value() || errno == ErrorNumber.ENOSYS.value()) {
            return new Held(list, List.of());
          }
          throw Cm.failure("rdma_get_devices", errno);
        }
        List<MemorySegment> contexts = new ArrayList<>();
        for (int i = 0; i < count.get(JAVA_INT, 0); i++) {
          contexts.add(list.getAtIndex(ADDRESS, i).reinterpret(Long.MAX_VALUE));
        }
        return new Held(list, contexts);
      }
    }

    /**
     * Holds one of them, and no other, which may be removed and has to be closed then. Of an array
     * that ends with NULL, rdma_free_devices gives up each context and then frees the array by
     * free(3); so the others go by an array from malloc(3), and the list keeps the one.
     */
    Held only(MemorySegment context) {
      MemorySegment others = Libc.malloc((contexts.size() + 1L) * ADDRESS.byteSize());
      long count = 0;
      for (MemorySegment each : contexts) {
        if (each.address() != context.address()) {
          others.setAtIndex(ADDRESS, count++, each);
        }
      }
      others.setAtIndex(ADDRESS, count, MemorySegment.NULL);
      list.setAtIndex(ADDRESS, 0, context);
      list.setAtIndex(ADDRESS, 1, MemorySegment.NULL);
      rdma_h.rdma_free_devices(others);
      return new Held(list, List.of(context));
    }

    void free() {
      if (list.address() != 0) {
        rdma_h.rdma_free_devices(list);
      }
    }
  }
}
