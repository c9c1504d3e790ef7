package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_alloc_dm_attr;
import org.rdma4j.bindings.generated.ibv_dm;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.MemoryVerbs;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;

/**
 * Memory on the device itself, {@code struct ibv_dm}. Requests access it without a transfer over
 * the bus. {@link MemoryRegionConfig#of(DeviceMemory, long, long)} describes a part of it, to be
 * registered as a memory region; {@link #write} and {@link #read} copy between it and memory of
 * this process.
 *
 * <p>All methods may be called from any thread.
 *
 * @see RdmaDevice#allocateDeviceMemory
 * @see MemoryRegionConfig#of(DeviceMemory, long, long)
 */
public final class DeviceMemory implements AutoCloseable {
  private static final int MAX_ALIGNMENT = 31;

  private final RdmaDevice device;
  private final long byteSize;
  private final MemorySegment memory;
  private final Lifetime lifetime;

  private DeviceMemory(RdmaDevice device, long byteSize, MemorySegment memory, Runnable destroy) {
    this.device = device;
    this.byteSize = byteSize;
    this.memory = memory;
    this.lifetime =
        new Lifetime(
            "device memory of " + byteSize + " bytes of " + device.info().name(),
            destroy,
            device.lifetime());
    Leaks.watch(this, lifetime);
  }

  static DeviceMemory allocate(RdmaDevice device, long bytes, int alignment) {
    checkLength(bytes);
    Range.check("alignment", alignment, 0, MAX_ALIGNMENT);
    return device
        .lifetime()
        .whileOpen(
            () -> {
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment attributes = arena.allocate(ibv_alloc_dm_attr.layout());
                ibv_alloc_dm_attr.length(attributes, bytes);
                ibv_alloc_dm_attr.log_align_req(attributes, alignment);
                MemorySegment memory =
                    NativeFailures.created(
                        device.info().name(),
                        "ibv_alloc_dm(" + bytes + " bytes)",
                        MemoryVerbs.ibv_alloc_dm(device.context(), attributes));
                return new DeviceMemory(
                    device,
                    bytes,
                    memory,
                    () ->
                        NativeFailures.check(
                            device.info().name(), "ibv_free_dm", MemoryVerbs.ibv_free_dm(memory)));
              }
            });
  }

  static DeviceMemory imported(RdmaDevice device, int kernelHandle, long bytes) {
    checkLength(bytes);
    return device
        .lifetime()
        .whileOpen(
            () -> {
              MemorySegment memory =
                  NativeFailures.created(
                      device.info().name(),
                      "ibv_import_dm(" + kernelHandle + ")",
                      MemoryVerbs.ibv_import_dm(device.context(), kernelHandle));
              return new DeviceMemory(device, bytes, memory, () -> rdma_h.ibv_unimport_dm(memory));
            });
  }

  private static void checkLength(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("bytes is " + bytes + ", must be at least 1");
    }
  }

  /**
   * Returns the length of the memory.
   *
   * @return the length in bytes that was requested
   */
  public long byteSize() {
    return byteSize;
  }

  /**
   * Copies bytes to the device: {@code ibv_memcpy_to_dm}.
   *
   * @param offset the offset in the device memory of the first byte
   * @param source the bytes, on or off the heap; some devices require lengths and offsets that are
   *     multiples of 4
   * @throws IndexOutOfBoundsException if the bytes do not fit into the memory at this offset
   * @throws RdmaException if the device refuses it
   */
  public void write(long offset, MemorySegment source) {
    checkPart(offset, source.byteSize());
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes =
                source.isNative()
                    ? source
                    : arena.allocate(source.byteSize(), Long.BYTES).copyFrom(source);
            NativeFailures.check(
                device.info().name(),
                "ibv_memcpy_to_dm",
                MemoryVerbs.ibv_memcpy_to_dm(memory, offset, bytes, source.byteSize()));
          }
          return this;
        });
  }

  /**
   * Copies bytes from the device: {@code ibv_memcpy_from_dm}.
   *
   * @param offset the offset in the device memory of the first byte
   * @param target the memory to copy to, on or off the heap; its length is the number of bytes
   * @throws IndexOutOfBoundsException if the bytes are not within the memory
   * @throws IllegalArgumentException if the target is read-only
   * @throws RdmaException if the device refuses it
   */
  public void read(long offset, MemorySegment target) {
    checkPart(offset, target.byteSize());
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("the target is read-only");
    }
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes =
                target.isNative() ? target : arena.allocate(target.byteSize(), Long.BYTES);
            NativeFailures.check(
                device.info().name(),
                "ibv_memcpy_from_dm",
                MemoryVerbs.ibv_memcpy_from_dm(bytes, memory, offset, target.byteSize()));
            if (!target.isNative()) {
              target.copyFrom(bytes);
            }
          }
          return this;
        });
  }

  /**
   * Exports the memory as a DMA buffer, so that other devices and processes can use it: {@code
   * ibv_dm_export_dmabuf_fd}.
   *
   * @return the buffer, which the caller has to close
   * @throws org.rdma4j.UnsupportedByDeviceException if the device does not support this, or
   *     rdma-core is older than 62
   * @throws RdmaException if the memory cannot be exported
   */
  public DmaBuffer exportDmaBuffer() {
    String name = device.info().name();
    return lifetime.whileOpen(
        () -> {
          NativeFailures.requireFunction(name, "ibv_dm_export_dmabuf_fd", 62);
          int descriptor = Calls.integer(rdma_h.ibv_dm_export_dmabuf_fd$address(), memory);
          if (descriptor < 0) {
            throw NativeFailures.failure(name, "ibv_dm_export_dmabuf_fd", Errno.errno());
          }
          return new DmaBuffer(descriptor);
        });
  }

  /**
   * Returns the kernel's handle of the memory, {@code handle} of {@code struct ibv_dm}, for {@link
   * RdmaDevice#importDeviceMemory}.
   *
   * @return the handle, which is valid only together with the file descriptor of the device
   */
  public int kernelHandle() {
    return lifetime.whileOpen(() -> ibv_dm.handle(memory));
  }

  /**
   * Returns the device that the memory is on.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the native {@code struct ibv_dm *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> memory);
  }

  /**
   * Closes the memory regions of this memory, then frees it: {@code ibv_free_dm}. Does nothing if
   * it is already closed.
   *
   * @throws RdmaException if the memory cannot be freed
   */
  @Override
  public void close() {
    lifetime.close();
  }

  void checkPart(long offset, long length) {
    if ((offset | length) < 0 || length > byteSize - offset) {
      throw new IndexOutOfBoundsException(
          "offset "
              + offset
              + " and length "
              + length
              + " are not within the "
              + byteSize
              + " bytes of device memory");
    }
  }

  MemorySegment pointer() {
    return memory;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
