package org.rdma4j.valkey;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.net.ProtocolException;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/**
 * The buffer into which the server writes, from its begin to its end; then this side names it anew.
 * Only bytes that the server has announced are read.
 */
final class ReceiveBuffer {
  private final MemoryRegion region;
  private long announced;
  private long read;

  ReceiveBuffer(MemoryRegion region) {
    this.region = region;
  }

  RemoteMemory name() {
    return RemoteMemory.of(region);
  }

  int available() {
    return (int) (announced - read);
  }

  /**
   * Notes bytes that the server announces.
   *
   * @param bytes how many it names, in addition to the bytes announced before
   * @param written how many the last of its writes had
   * @throws ProtocolException if the buffer does not have them
   */
  void announce(long bytes, long written) throws ProtocolException {
    long space = region.byteSize() - announced;
    if (bytes > space) {
      throw new ProtocolException(
          "it announced %d bytes, but only %d of the buffer's %d bytes are left"
              .formatted(bytes, space, region.byteSize()));
    }
    if (bytes < written) {
      throw new ProtocolException(
          "it announced %d bytes with a write of %d bytes".formatted(bytes, written));
    }
    announced += bytes;
  }

  int read(byte[] target, int offset, int length) {
    int bytes = Math.min(length, available());
    MemorySegment.copy(region.segment(), JAVA_BYTE, read, target, offset, bytes);
    read += bytes;
    return bytes;
  }

  /** Makes all of the buffer free if all of it was written and read; returns whether it was. */
  boolean restart() {
    if (read < region.byteSize()) {
      return false;
    }
    announced = 0;
    read = 0;
    return true;
  }
}
