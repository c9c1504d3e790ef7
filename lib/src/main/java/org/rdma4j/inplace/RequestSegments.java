package org.rdma4j.inplace;

import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.SendLayout;

/**
 * The layout of requests in the queues of an mlx5 adapter. A send request consists of segments of
 * 16 bytes and multiples of it: a control segment, then what its operation requires, then its
 * memory. A receive request consists of data segments only. All numbers are in network byte order.
 *
 * <p>The names are those of the adapter's documentation: {@code struct mlx5_wqe_ctrl_seg}, {@code
 * mlx5_wqe_raddr_seg}, {@code mlx5_wqe_atomic_seg}, {@code mlx5_wqe_datagram_seg}, {@code
 * mlx5_wqe_data_seg}, {@code mlx5_wqe_inl_data_seg} and {@code mlx5_wqe_srq_next_seg} in mlx5dv.h.
 */
final class RequestSegments {
  /** The unit in which the length of a request is counted, and the size of most segments. */
  static final int UNIT = 16;

  /** A send request begins at a multiple of this many bytes, its building blocks. */
  static final int BLOCK = 64;

  static final int BLOCK_SHIFT = 6;

  /** The size of a datagram segment: the address vector of the destination. */
  static final int DATAGRAM_SIZE = 48;

  // Opcodes of control segments.
  static final int SEND_INVALIDATE = 0x01;
  static final int RDMA_WRITE = 0x08;
  static final int RDMA_WRITE_IMMEDIATE = 0x09;
  static final int SEND = 0x0a;
  static final int SEND_IMMEDIATE = 0x0b;
  static final int RDMA_READ = 0x10;
  static final int COMPARE_AND_SWAP = 0x11;
  static final int FETCH_AND_ADD = 0x12;

  // Flags of control segments.
  static final int SOLICITED = 1 << 1;
  static final int COMPLETION_UPDATE = 2 << 2;
  static final int FENCE = 4 << 5;

  /** In the length of an inline segment: the bytes follow, instead of an address. */
  private static final int INLINE = 0x8000_0000;

  /** Marks the address vector of a datagram as one of the full length. */
  private static final int EXTENDED_ADDRESS = 0x8000_0000;

  private static final int DATAGRAM_NUMBER = 8;

  /** The key of a data segment that ends a list. */
  private static final int NO_KEY = 0x100;

  private RequestSegments() {}

  /** Returns the flags of a control segment for those of an {@code ibv_send_wr}. */
  static int flags(int sendFlags) {
    return ((sendFlags & SendLayout.SIGNALED) != 0 ? COMPLETION_UPDATE : 0)
        | ((sendFlags & SendLayout.SOLICITED) != 0 ? SOLICITED : 0)
        | ((sendFlags & SendLayout.FENCE) != 0 ? FENCE : 0);
  }

  /**
   * Writes a control segment.
   *
   * @param at its address
   * @param position the position of the request, in blocks since the queue was reset
   * @param opcode the opcode of the adapter
   * @param queuePair the number of the queue pair
   * @param units the length of the request, in units
   * @param flags the flags of the adapter
   * @param immediate the immediate data or the key to invalidate, in network byte order
   */
  static void putControl(
      long at, int position, int opcode, int queuePair, int units, int flags, int immediate) {
    RawMemory.putLong(at, control(position, opcode, queuePair, units));
    RawMemory.putLong(at + 8, flagsAndImmediate(flags, immediate));
  }

  /** Returns the first word of a control segment. */
  static long control(int position, int opcode, int queuePair, int units) {
    long first = (long) ((position & 0xffff) << 8 | opcode) << 32;
    return Long.reverseBytes(first | Integer.toUnsignedLong(queuePair << 8 | units));
  }

  /** Returns the second word of a control segment. */
  static long flagsAndImmediate(int flags, int immediate) {
    // The signature and the stream of a dynamic connection, which are not used, come first.
    return (long) immediate << 32 | (long) flags << 24;
  }

  /** Writes a remote address segment. */
  static void putRemote(long at, long address, int key) {
    RawMemory.putLong(at, Long.reverseBytes(address));
    RawMemory.putLong(at + 8, remoteKey(key));
  }

  /** Returns the second word of a remote address segment; the first is the address. */
  static long remoteKey(int key) {
    return Integer.toUnsignedLong(Integer.reverseBytes(key));
  }

  /** Writes an atomic segment. A fetch-and-add has no second operand, and its place is kept. */
  static void putAtomic(long at, int opcode, long compareOrAdd, long swap) {
    if (opcode == COMPARE_AND_SWAP) {
      RawMemory.putLong(at, Long.reverseBytes(swap));
      RawMemory.putLong(at + 8, Long.reverseBytes(compareOrAdd));
    } else {
      RawMemory.putLong(at, Long.reverseBytes(compareOrAdd));
    }
  }

  /** Writes a datagram segment: an address vector, the number and the key of the destination. */
  static void putDatagram(long at, long addressVector, int queuePair, int queueKey) {
    for (int i = 0; i < DATAGRAM_SIZE; i += Long.BYTES) {
      RawMemory.putLong(at + i, RawMemory.getLong(addressVector + i));
    }
    RawMemory.putInt(at, Integer.reverseBytes(queueKey));
    RawMemory.putInt(at + DATAGRAM_NUMBER, Integer.reverseBytes(queuePair | EXTENDED_ADDRESS));
  }

  /** Writes a data segment: a piece of memory. */
  static void putData(long at, long address, int length, int key) {
    long first = (long) length << 32 | Integer.toUnsignedLong(key);
    RawMemory.putLong(at, Long.reverseBytes(first));
    RawMemory.putLong(at + 8, Long.reverseBytes(address));
  }

  /**
   * Writes a data segment.
   *
   * @param lengthAndKey the length and after it the key, as an {@code ibv_sge} has them
   */
  static void putData(long at, long address, long lengthAndKey) {
    RawMemory.putLong(at, lengthAndKey(lengthAndKey));
    RawMemory.putLong(at + 8, Long.reverseBytes(address));
  }

  /** Returns the first word of a data segment, for the same of an {@code ibv_sge}. */
  static long lengthAndKey(long ofPiece) {
    return Long.reverseBytes(Long.rotateLeft(ofPiece, Integer.SIZE));
  }

  /** Writes the data segment that ends the pieces of a receive. */
  static void putEnd(long at) {
    putData(at, 0, 0, NO_KEY);
  }

  /** Returns the beginning of an inline segment, which the bytes follow. */
  static long inlineLength(int length) {
    return Integer.toUnsignedLong(Integer.reverseBytes(length | INLINE));
  }

  /** Writes the beginning of an inline segment, which the bytes follow. */
  static void putInline(long at, int length) {
    RawMemory.putInt(at, Integer.reverseBytes(length | INLINE));
  }

  /** The size of the beginning of an inline segment. */
  static final int INLINE_SIZE = 4;

  /** The offset of the index of the next request in a shared receive queue. */
  private static final int NEXT_INDEX = 2;

  /** Returns which request follows one of a shared receive queue. */
  static int next(long request) {
    return Short.toUnsignedInt(Short.reverseBytes(RawMemory.getShort(request + NEXT_INDEX)));
  }

  /** Sets which request follows one of a shared receive queue. */
  static void putNext(long request, int index) {
    RawMemory.putShort(request + NEXT_INDEX, Short.reverseBytes((short) index));
  }
}
