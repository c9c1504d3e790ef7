package org.rdma4j.cm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.rdma4j.platform.Range;

/**
 * Private data: the bytes of the program that travel with a request to connect and its answer. In
 * Java, a read-only buffer; in C, a pointer and a length.
 */
final class PrivateData {
  static final ByteBuffer NONE = ByteBuffer.allocate(0).asReadOnlyBuffer();

  private PrivateData() {}

  /** Throws if the message of the port space does not carry that much. */
  static void check(ByteBuffer data, PortSpace space, int max) {
    Range.check("length of the private data of port space " + space, data.remaining(), 0, max);
  }

  /** Returns a read-only copy of what is between the position and the limit. */
  static ByteBuffer copy(ByteBuffer data) {
    return ByteBuffer.allocate(data.remaining()).put(data.duplicate()).flip().asReadOnlyBuffer();
  }

  /** Returns a read-only copy of native data, whose pointer may be NULL. */
  static ByteBuffer read(MemorySegment data, long length) {
    return data.address() == 0 ? NONE : copy(data.reinterpret(length).asByteBuffer());
  }

  /** Copies the data into native memory, at least one byte so that the pointer is not NULL. */
  static MemorySegment write(ByteBuffer data, Arena arena) {
    MemorySegment copy = arena.allocate(Math.max(1, data.remaining()));
    copy.asByteBuffer().put(data.duplicate());
    return copy;
  }
}
