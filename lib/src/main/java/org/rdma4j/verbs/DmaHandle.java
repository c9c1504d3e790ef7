package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_dmah_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;

/**
 * A DMA handle, {@code struct ibv_dmah}: how a device accesses the memory regions that are
 * registered with it, see {@link MemoryRegionConfig#dmaHandle}.
 *
 * <p>All methods may be called from any thread.
 *
 * @see RdmaDevice#allocateDmaHandle
 */
public final class DmaHandle implements AutoCloseable {
  private final RdmaDevice device;
  private final MemorySegment handle;
  private final Lifetime lifetime;

  private DmaHandle(RdmaDevice device, MemorySegment handle) {
    this.device = device;
    this.handle = handle;
    String name = device.info().name();
    this.lifetime =
        new Lifetime(
            "DMA handle of " + name,
            () -> NativeFailures.check(name, "ibv_dealloc_dmah", rdma_h.ibv_dealloc_dmah(handle)),
            device.lifetime());
    Leaks.watch(this, lifetime);
  }

  static DmaHandle allocate(RdmaDevice device, DmaHandleConfig config) {
    String name = device.info().name();
    return device
        .lifetime()
        .whileOpen(
            () -> {
              NativeFailures.requireFunction(name, "ibv_alloc_dmah", 59);
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment attributes = arena.allocate(ibv_dmah_init_attr.layout());
                config.write(attributes);
                return new DmaHandle(
                    device,
                    NativeFailures.created(
                        name,
                        "ibv_alloc_dmah(" + config + ")",
                        Calls.pointer(
                            rdma_h.ibv_alloc_dmah$address(), device.context(), attributes)));
              }
            });
  }

  /**
   * Returns the device that this handle belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the native {@code struct ibv_dmah *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> handle);
  }

  /**
   * Closes the memory regions that are registered with the handle, then deallocates it: {@code
   * ibv_dealloc_dmah}. Does nothing if it is already closed.
   *
   * @throws RdmaException if the destruction of an object fails; all others are destroyed all the
   *     same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment pointer() {
    return handle;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
