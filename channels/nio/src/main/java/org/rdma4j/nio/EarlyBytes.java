package org.rdma4j.nio;

import java.nio.ByteBuffer;
import org.rdma4j.nio.handover.Resume;

/**
 * What a reader has taken from TCP although it is behind the last byte of the stream there: the
 * reader had begun to wait before the peer named its offset. These bytes are for the {@link
 * Resumption}, which may not have begun yet, because the peer may notice first that RDMA has
 * failed.
 *
 * <p>Before the record of this side has no reader that waits for TCP, the peer sends no more than
 * fits here. The lock of the {@link Upgrade} guards this.
 */
final class EarlyBytes {
  /** The most that a reader takes in addition to the byte that wakes it. */
  static final int MOST = Resume.RECORD_BYTES + 1;

  private final ByteBuffer bytes = ByteBuffer.allocate(MOST);

  /** Adds bytes, and returns whether the peer may send them. */
  boolean add(ByteBuffer source, int from, int length) {
    if (length > bytes.remaining()) {
      return false;
    }
    bytes.put(bytes.position(), source, from, length).position(bytes.position() + length);
    return Resume.isBegin(bytes.duplicate().flip());
  }

  /** Moves the first bytes into a buffer, as many as there is room for. */
  void take(ByteBuffer target) {
    bytes.flip();
    int length = Math.min(bytes.remaining(), target.remaining());
    target.put(bytes.slice(0, length));
    bytes.position(length).compact();
  }
}
