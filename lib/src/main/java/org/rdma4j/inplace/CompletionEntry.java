package org.rdma4j.inplace;

import java.util.Arrays;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.datapath.RawMemory;

/**
 * The layout of completions in the completion queues of an mlx5 adapter, {@code struct mlx5_cqe64}
 * and {@code struct mlx5_err_cqe} in mlx5dv.h, and what their codes mean in verbs. All numbers are
 * in network byte order.
 */
final class CompletionEntry {
  static final int SIZE = 64;
  static final int SIZE_SHIFT = 6;

  // What a completion is about, in the high bits of its last byte.
  static final int REQUESTER = 0;
  static final int RESPONDER_WRITE_IMMEDIATE = 1;
  static final int RESPONDER_SEND = 2;
  static final int RESPONDER_SEND_IMMEDIATE = 3;
  static final int RESPONDER_SEND_INVALIDATE = 4;
  static final int REQUESTER_ERROR = 13;
  static final int RESPONDER_ERROR = 14;
  static final int INVALID = 15;

  /** The bits of a queue pair number, and of an index of a consumer. */
  static final int NUMBER = 0xff_ffff;

  private static final int PATH = 17;
  private static final int SOURCE_LID = 22;
  private static final int FLAGS_AND_SOURCE = 24;
  private static final int IMMEDIATE = 36;
  private static final int BYTE_COUNT = 44;
  private static final int VENDOR_SYNDROME = 54;
  private static final int SYNDROME = 55;

  /** The opcode of the request and the number of the queue pair, then the position and the rest. */
  private static final int LAST_WORD = 56;

  private static final int QUEUE_PAIR = 56;

  private static final int OWNER = 63;

  private static final int REMOTE_ABORTED = 0x22;
  private static final int PAGE_FAULT = 0x93;

  /** The status of verbs for each syndrome. */
  private static final byte[] STATUSES = new byte[256];

  /** The opcode of verbs for each opcode of a request. */
  private static final byte[] OPCODES = new byte[256];

  static {
    Arrays.fill(STATUSES, (byte) rdma_h.IBV_WC_GENERAL_ERR());
    STATUSES[0x01] = (byte) rdma_h.IBV_WC_LOC_LEN_ERR();
    STATUSES[0x02] = (byte) rdma_h.IBV_WC_LOC_QP_OP_ERR();
    STATUSES[0x04] = (byte) rdma_h.IBV_WC_LOC_PROT_ERR();
    STATUSES[0x05] = (byte) rdma_h.IBV_WC_WR_FLUSH_ERR();
    STATUSES[0x06] = (byte) rdma_h.IBV_WC_MW_BIND_ERR();
    STATUSES[0x10] = (byte) rdma_h.IBV_WC_BAD_RESP_ERR();
    STATUSES[0x11] = (byte) rdma_h.IBV_WC_LOC_ACCESS_ERR();
    STATUSES[0x12] = (byte) rdma_h.IBV_WC_REM_INV_REQ_ERR();
    STATUSES[0x13] = (byte) rdma_h.IBV_WC_REM_ACCESS_ERR();
    STATUSES[0x14] = (byte) rdma_h.IBV_WC_REM_OP_ERR();
    STATUSES[0x15] = (byte) rdma_h.IBV_WC_RETRY_EXC_ERR();
    STATUSES[0x16] = (byte) rdma_h.IBV_WC_RNR_RETRY_EXC_ERR();
    STATUSES[REMOTE_ABORTED] = (byte) rdma_h.IBV_WC_REM_ABORT_ERR();
    OPCODES[RequestSegments.RDMA_WRITE] = (byte) rdma_h.IBV_WC_RDMA_WRITE();
    OPCODES[RequestSegments.RDMA_WRITE_IMMEDIATE] = (byte) rdma_h.IBV_WC_RDMA_WRITE();
    OPCODES[RequestSegments.SEND] = (byte) rdma_h.IBV_WC_SEND();
    OPCODES[RequestSegments.SEND_IMMEDIATE] = (byte) rdma_h.IBV_WC_SEND();
    OPCODES[RequestSegments.SEND_INVALIDATE] = (byte) rdma_h.IBV_WC_SEND();
    OPCODES[RequestSegments.RDMA_READ] = (byte) rdma_h.IBV_WC_RDMA_READ();
    OPCODES[RequestSegments.COMPARE_AND_SWAP] = (byte) rdma_h.IBV_WC_COMP_SWAP();
    OPCODES[RequestSegments.FETCH_AND_ADD] = (byte) rdma_h.IBV_WC_FETCH_ADD();
  }

  private CompletionEntry() {}

  /** Returns the last byte, before which nothing else of the completion is read. */
  static int owner(long entry) {
    return Byte.toUnsignedInt(RawMemory.getByteAcquire(entry + OWNER));
  }

  /** Returns what a completion is about, from its last byte. */
  static int kind(int owner) {
    return owner >> 4;
  }

  /** Returns whether a completion with that last byte is one of this round over the queue. */
  static boolean isOfRound(int owner, boolean isOdd) {
    return (owner & 1) == (isOdd ? 1 : 0);
  }

  /** Returns the bytes that say which request of which queue pair completed. */
  static long origin(long entry) {
    return Long.reverseBytes(RawMemory.getLong(entry + LAST_WORD));
  }

  static int requestOpcode(long origin) {
    return (int) (origin >>> 56);
  }

  static int queuePair(long origin) {
    return (int) (origin >>> 32) & NUMBER;
  }

  /** Returns the position of the request in its queue, of which there are 16 bits. */
  static int position(long origin) {
    return (int) (origin >>> 16) & 0xffff;
  }

  /** Makes a completion one of no queue pair. */
  static void forget(long entry) {
    RawMemory.putInt(entry + QUEUE_PAIR, RawMemory.getInt(entry + QUEUE_PAIR) | NO_QUEUE_PAIR);
  }

  /** The number of multicast groups, which no queue pair has, in network byte order. */
  private static final int NO_QUEUE_PAIR = 0xffff_ff00;

  static int byteCount(long entry) {
    return Integer.reverseBytes(RawMemory.getInt(entry + BYTE_COUNT));
  }

  /** Returns the immediate data, in network byte order. */
  static int immediate(long entry) {
    return RawMemory.getInt(entry + IMMEDIATE);
  }

  /** Returns the service level and other flags of a datagram, and the queue pair that sent it. */
  static int flagsAndSource(long entry) {
    return Integer.reverseBytes(RawMemory.getInt(entry + FLAGS_AND_SOURCE));
  }

  static short sourceLid(long entry) {
    return Short.reverseBytes(RawMemory.getShort(entry + SOURCE_LID));
  }

  static int path(long entry) {
    return RawMemory.getByte(entry + PATH);
  }

  static int vendorSyndrome(long entry) {
    return Byte.toUnsignedInt(RawMemory.getByte(entry + VENDOR_SYNDROME));
  }

  private static int syndrome(long entry) {
    return Byte.toUnsignedInt(RawMemory.getByte(entry + SYNDROME));
  }

  /** Returns the status of verbs of a completion with an error. */
  static int status(long entry) {
    return STATUSES[syndrome(entry)];
  }

  /** Returns the opcode of verbs for the opcode of a request. */
  static int opcode(int requestOpcode) {
    return OPCODES[requestOpcode & 0xff];
  }

  /** Returns whether a receive only failed because a page of its memory was not present. */
  static boolean isPageFault(long entry) {
    return syndrome(entry) == REMOTE_ABORTED && vendorSyndrome(entry) == PAGE_FAULT;
  }
}
