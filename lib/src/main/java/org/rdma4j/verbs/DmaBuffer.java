package org.rdma4j.verbs;

import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Libc;

/**
 * A file descriptor of a DMA buffer (dma-buf), through which other devices and processes use device
 * memory: for example {@link MemoryRegionConfig#ofDmaBuffer}, to register it with another device.
 *
 * <p>All methods may be called from any thread.
 *
 * @see DeviceMemory#exportDmaBuffer
 */
public final class DmaBuffer implements AutoCloseable {
  private final int fileDescriptor;
  private final Lifetime lifetime;

  DmaBuffer(int fileDescriptor) {
    this.fileDescriptor = fileDescriptor;
    this.lifetime =
        new Lifetime(
            "DMA buffer of descriptor " + fileDescriptor, () -> Libc.close(fileDescriptor));
    Leaks.watch(this, lifetime);
  }

  /**
   * Returns the descriptor. It belongs to this object: it may be duplicated or sent to another
   * process, but do not close it.
   *
   * @return the descriptor
   */
  public int fileDescriptor() {
    return lifetime.whileOpen(() -> fileDescriptor);
  }

  /**
   * Closes the descriptor. What was registered with it stays registered. Does nothing if it is
   * already closed.
   */
  @Override
  public void close() {
    lifetime.close();
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
