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
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Descriptors;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * The devices of the connection manager, which librdmacm opens and keeps open. There is one {@link
 * RdmaDevice} for each of them: {@link #list} and {@link CmId#device()} return the same objects.
 * Closing one closes everything that was created from it, including the queue pairs of identifiers,
 * but not the native device; the next call of either method returns a new object.
 *
 * <p>A device that is removed from the machine is closed within about a second, because the kernel
 * waits for that; librdmacm keeps the native device open all the same if it was the last one of the
 * machine, until another one is added. Identifiers of it have to be closed by the program, when
 * {@link CmEvent.DeviceRemoved} comes.
 *
 * @see org.rdma4j.verbs.RdmaDevice#list
 */
public final class CmDevices {
  /** The devices by the addresses of their contexts. */
  private static final Map<Long, RdmaDevice> DEVICES = new HashMap<>();

  private static final DeviceWatch WATCH = new DeviceWatch(CmDevices::closeRemoved);

  private CmDevices() {}

  /**
   * Returns the devices that can be used for connections: {@code rdma_get_devices}.
   *
   * @return all devices of this machine; empty if it has none
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if they cannot be listed
   */
  public static List<RdmaDevice> list() {
    NativeLibraries.require();
    ContextList all = ContextList.get();
    try {
      List<RdmaDevice> devices = new ArrayList<>();
      all.contexts.forEach(context -> devices.add(of(context)));
      return List.copyOf(devices);
    } finally {
      all.free();
    }
  }

  /** Returns the device of a librdmacm context, which must not be closed during this call. */
  static synchronized RdmaDevice of(MemorySegment context) {
    RdmaDevice known = DEVICES.get(context.address());
    if (known != null && VerbsAccess.get().lifetime(known).isOpen()) {
      return known;
    }
    ContextList all = ContextList.get();
    if (all.contexts.stream().noneMatch(each -> each.address() == context.address())) {
      all.free();
      throw new RdmaException("rdma_get_devices", ErrorNumber.ENODEV.value());
    }
    ContextList own = all.only(context);
    RdmaDevice device = VerbsAccess.get().borrow(context, () -> release(own));
    DEVICES.put(context.address(), device);
    return device;
  }

  /**
   * Lets the device of an identifier that is about to be destroyed be removed afterwards. No
   * program may have listed the devices so far: binding and resolving let librdmacm open the
   * device, too.
   */
  static void watch(MemorySegment context) {
    WATCH.watch(context.reinterpret(Long.MAX_VALUE));
  }

  /**
   * Closes the devices that are being removed, with all that was created from them, and lets
   * librdmacm close devices that are not in use: it does so when it lists the devices.
   */
  private static void closeRemoved() {
    List<RdmaDevice> removed = new ArrayList<>();
    synchronized (CmDevices.class) {
      for (RdmaDevice device : DEVICES.values()) {
        Lifetime lifetime = VerbsAccess.get().lifetime(device);
        if (lifetime.tryEnter()) {
          try {
            if (WATCH.isRemoved(device.handle())) {
              removed.add(device);
            }
          } finally {
            lifetime.leave();
          }
        }
      }
    }
    removed.forEach(VerbsAccess.get()::removed);
    ContextList.get().free();
  }

  /**
   * Releases a device. librdmacm closes the context of a removed device only when it lists the
   * devices again after the last reference is gone, so they are listed once more here. The removal
   * of a soft-RoCE device waits in the kernel until that context is closed.
   */
  private static void release(ContextList list) {
    list.free();
    ContextList.get().free();
  }

  /** A list of contexts from librdmacm. Until it is freed, the contexts in it stay open. */
  private record ContextList(MemorySegment list, List<MemorySegment> contexts) {
    static ContextList get() {
      Descriptors.require("rdma_get_devices");
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment count = arena.allocate(JAVA_INT);
        MemorySegment list = Calls.pointer(rdma_h.rdma_get_devices$address(), count);
        if (list.address() == 0) {
          int errno = Errno.errno();
          if (errno == ErrorNumber.ENODEV.value() || errno == ErrorNumber.ENOSYS.value()) {
            Descriptors.require("rdma_get_devices");
            return new ContextList(list, List.of());
          }
          throw CmFailures.of("rdma_get_devices", errno);
        }
        List<MemorySegment> contexts = new ArrayList<>();
        for (int i = 0; i < count.get(JAVA_INT, 0); i++) {
          MemorySegment context = list.getAtIndex(ADDRESS, i).reinterpret(Long.MAX_VALUE);
          contexts.add(context);
          WATCH.watch(context);
        }
        return new ContextList(list, contexts);
      }
    }

    /**
     * Keeps one context and releases the others: the kernel cannot remove a soft-RoCE device while
     * anyone has it open. rdma_free_devices takes an array that ends with NULL, releases each
     * context in it, and frees the array with free(3). So the other contexts are released in an
     * array from malloc(3), and the list is cut to the one context.
     */
    ContextList only(MemorySegment context) {
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
      return new ContextList(list, List.of(context));
    }

    void free() {
      if (list.address() != 0) {
        rdma_h.rdma_free_devices(list);
      }
    }
  }
}
