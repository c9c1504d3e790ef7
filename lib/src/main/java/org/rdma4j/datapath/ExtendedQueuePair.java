package org.rdma4j.datapath;

import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_qp_ex;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.WorkRequests;

/**
 * Posts send requests by {@code ibv_wr_*}: the requests of a {@link RequestChain} are passed to the
 * provider call by call, between {@code ibv_wr_start} and {@code ibv_wr_complete}. Everything
 * happens inside one {@link HotCall}, because the provider may hold a lock in between.
 *
 * <p>The pointers of the functions are read where they are used, as C does, because libmlx5
 * replaces some when the state of the queue pair changes.
 *
 * <p>The list of pieces of each request follows it, so that its address need not be read.
 */
public final class ExtendedQueuePair extends ChainPosting {
  private static final long ID = WorkRequests.wr_id$offset();
  private static final long FLAGS = WorkRequests.wr_flags$offset();

  /** What the struct has more than on x86-64, before these fields. */
  private static final long GROWTH = ID - ibv_qp_ex.wr_id$offset();

  private static final long START = ibv_qp_ex.wr_start$offset() + GROWTH;
  private static final long COMPLETE = ibv_qp_ex.wr_complete$offset() + GROWTH;
  private static final long SEND = ibv_qp_ex.wr_send$offset() + GROWTH;
  private static final long SEND_IMM = ibv_qp_ex.wr_send_imm$offset() + GROWTH;
  private static final long SEND_INV = ibv_qp_ex.wr_send_inv$offset() + GROWTH;
  private static final long RDMA_WRITE = ibv_qp_ex.wr_rdma_write$offset() + GROWTH;
  private static final long RDMA_WRITE_IMM = ibv_qp_ex.wr_rdma_write_imm$offset() + GROWTH;
  private static final long RDMA_READ = ibv_qp_ex.wr_rdma_read$offset() + GROWTH;
  private static final long ATOMIC_CMP_SWP = ibv_qp_ex.wr_atomic_cmp_swp$offset() + GROWTH;
  private static final long ATOMIC_FETCH_ADD = ibv_qp_ex.wr_atomic_fetch_add$offset() + GROWTH;
  private static final long LOCAL_INV = ibv_qp_ex.wr_local_inv$offset() + GROWTH;
  private static final long BIND_MW = ibv_qp_ex.wr_bind_mw$offset() + GROWTH;
  private static final long SET_UD_ADDR = ibv_qp_ex.wr_set_ud_addr$offset() + GROWTH;
  private static final long SET_SGE = ibv_qp_ex.wr_set_sge$offset() + GROWTH;
  private static final long SET_SGE_LIST = ibv_qp_ex.wr_set_sge_list$offset() + GROWTH;
  private static final long SET_INLINE_DATA = ibv_qp_ex.wr_set_inline_data$offset() + GROWTH;
  private static final long SET_XRC_SRQN = ibv_qp_ex.wr_set_xrc_srqn$offset() + GROWTH;
  private static final long SEND_TSO = ibv_qp_ex.wr_send_tso$offset() + GROWTH;
  private static final long ATOMIC_WRITE = ibv_qp_ex.wr_atomic_write$offset() + GROWTH;
  private static final long FLUSH = ibv_qp_ex.wr_flush$offset() + GROWTH;

  /** A bit for each opcode whose requests use memory of this side. */
  private static final int WITH_MEMORY =
      (1 << SendLayout.SEND)
          | (1 << SendLayout.SEND_WITH_IMM)
          | (1 << SendLayout.SEND_WITH_INV)
          | (1 << SendLayout.RDMA_WRITE)
          | (1 << SendLayout.RDMA_WRITE_WITH_IMM)
          | (1 << SendLayout.RDMA_READ)
          | (1 << SendLayout.COMPARE_AND_SWAP)
          | (1 << SendLayout.FETCH_AND_ADD)
          | (1 << SendLayout.TSO);

  private final boolean critical;
  private final long queuePair;
  private final Destination destination;
  private final boolean isAddressed;
  private final boolean allowsSend;

  /**
   * Finds the extended queue pair of a {@code struct ibv_qp}.
   *
   * @param destination what each request names
   * @param allowsSend whether a request without an operation is a SEND
   * @param critical whether to call C functions as critical ones, without a change of the thread's
   *     state
   */
  public static ExtendedQueuePair of(
      MemorySegment queuePair, Destination destination, boolean allowsSend, boolean critical) {
    MemorySegment qp = rdma_h.ibv_qp_to_qp_ex(queuePair);
    if (qp.address() == 0) {
      throw new RdmaException(
          "ibv_qp_to_qp_ex", 0, "The provider did not create an extended queue pair");
    }
    return new ExtendedQueuePair(qp, destination, allowsSend, critical);
  }

  /** Creates the means to post to a {@code struct ibv_qp_ex}. */
  ExtendedQueuePair(
      MemorySegment qp, Destination destination, boolean allowsSend, boolean critical) {
    this.critical = critical;
    this.destination = destination;
    this.allowsSend = allowsSend;
    this.isAddressed = destination != Destination.NONE;
    this.queuePair = qp.address();
  }

  /**
   * Posts a chain. Returns 0 or an errno value; in the latter case no request is posted, and the
   * address of the first one is stored.
   *
   * <p>The usual operations are in this method, because it is then too long for C2 to inline (325
   * bytecodes). If it inlined this method into a loop, its limit of nodes would be reached
   * somewhere in here, and each call after that would take twice as long.
   */
  @Override
  public int post(long requests, long badRequest) {
    if (!allowsSend) {
      checkOpcodes(requests);
    }
    // In local variables, because a call into C cannot change them: the compiler then removes the
    // branches for the other style of calls.
    boolean critical = this.critical;
    long queuePair = RawMemory.base(this.queuePair);
    if (critical) {
      WorkRequests.ibv_wr_start$critical(function(queuePair, START), queuePair);
    } else {
      WorkRequests.ibv_wr_start(function(queuePair, START), queuePair);
    }
    long each = requests;
    do {
      each = RawMemory.base(each);
      RawMemory.putLong(queuePair + ID, RawMemory.getLong(each + RequestLayout.WR_ID));
      int flags = RawMemory.getInt(each + SendLayout.SEND_FLAGS);
      RawMemory.putInt(queuePair + FLAGS, flags);
      int opcode = RawMemory.getInt(each + SendLayout.OPCODE);
      if (opcode == SendLayout.SEND) {
        if (critical) {
          WorkRequests.ibv_wr_send$critical(function(queuePair, SEND), queuePair);
        } else {
          WorkRequests.ibv_wr_send(function(queuePair, SEND), queuePair);
        }
      } else if (opcode == SendLayout.RDMA_WRITE || opcode == SendLayout.RDMA_READ) {
        long op = function(queuePair, opcode == SendLayout.RDMA_WRITE ? RDMA_WRITE : RDMA_READ);
        int key = RawMemory.getInt(each + SendLayout.RDMA_RKEY);
        long address = RawMemory.getLong(each + SendLayout.RDMA_REMOTE_ADDR);
        if (critical) {
          WorkRequests.ibv_wr_rdma_write$critical(op, queuePair, key, address);
        } else {
          WorkRequests.ibv_wr_rdma_write(op, queuePair, key, address);
        }
      } else {
        begin(critical, queuePair, each, opcode);
      }
      if (isAddressed) {
        address(critical, queuePair, each, opcode);
      }
      int pieces = RawMemory.getInt(each + RequestLayout.NUM_SGE);
      // The provider ends the other requests itself: memory would belong to none.
      if (((WITH_MEMORY >>> opcode) & 1) != 0) {
        if (pieces == 1 && (flags & SendLayout.INLINE) == 0) {
          long piece = each + SendLayout.SIZE;
          long address = RawMemory.getLong(piece + RequestLayout.SGE_ADDR);
          int length = RawMemory.getInt(piece + RequestLayout.SGE_LENGTH);
          int key = RawMemory.getInt(piece + RequestLayout.SGE_LKEY);
          long op = function(queuePair, SET_SGE);
          if (critical) {
            WorkRequests.ibv_wr_set_sge$critical(op, queuePair, key, address, length);
          } else {
            WorkRequests.ibv_wr_set_sge(op, queuePair, key, address, length);
          }
        } else {
          setMemory(critical, queuePair, each, pieces, flags);
        }
      }
      each = RawMemory.getLong(each + RequestLayout.NEXT);
    } while (each != 0);
    int errno =
        critical
            ? WorkRequests.ibv_wr_complete$critical(function(queuePair, COMPLETE), queuePair)
            : WorkRequests.ibv_wr_complete(function(queuePair, COMPLETE), queuePair);
    if (errno != 0) {
      RawMemory.putLong(badRequest, requests);
    }
    return errno;
  }

  private static long function(long queuePair, long offset) {
    return RawMemory.getLong(queuePair + offset);
  }

  /** Throws if a request has no operation. */
  private static void checkOpcodes(long requests) {
    for (long each = requests; each != 0; each = RawMemory.getLong(each + RequestLayout.NEXT)) {
      if (RawMemory.getInt(each + SendLayout.OPCODE) == SendLayout.NO_OPCODE) {
        throw new IllegalStateException(
            "a request has no operation, and the queue pair was created without SEND;"
                + " call write, read or another operation after add");
      }
    }
  }

  /** Names the destination of a request, if the type of the queue pair requires it. */
  private void address(boolean critical, long queuePair, long request, int opcode) {
    if (destination.isDatagram()) {
      setDestination(
          critical,
          queuePair,
          RawMemory.getLong(request + destination.handle),
          RawMemory.getInt(request + destination.queuePairNumber),
          RawMemory.getInt(request + destination.queueKey));
    } else if (opcode != SendLayout.BIND_MW && opcode != SendLayout.LOCAL_INV) {
      number(
          critical,
          queuePair,
          SET_XRC_SRQN,
          RawMemory.getInt(request + SendLayout.XRC_REMOTE_SRQN));
    }
  }

  /** Begins a request of one of the operations that {@link #post} does not begin itself. */
  private void begin(boolean critical, long queuePair, long request, int opcode) {
    if (opcode == SendLayout.SEND_WITH_IMM) {
      number(critical, queuePair, SEND_IMM, immediate(request));
    } else if (opcode == SendLayout.SEND_WITH_INV) {
      number(critical, queuePair, SEND_INV, immediate(request));
    } else if (opcode == SendLayout.LOCAL_INV) {
      number(critical, queuePair, LOCAL_INV, immediate(request));
    } else if (opcode == SendLayout.BIND_MW) {
      bind(critical, queuePair, request);
    } else {
      beginRare(critical, queuePair, request, opcode);
    }
  }

  /** Returns the immediate data or the key of a request. */
  private static int immediate(long request) {
    return RawMemory.getInt(request + SendLayout.IMM_DATA);
  }

  /** Calls one of the four functions that have the signature of {@code ibv_wr_send_imm}. */
  private void number(boolean critical, long queuePair, long offset, int number) {
    long op = function(queuePair, offset);
    if (critical) {
      WorkRequests.ibv_wr_send_imm$critical(op, queuePair, number);
    } else {
      WorkRequests.ibv_wr_send_imm(op, queuePair, number);
    }
  }

  private void bind(boolean critical, long queuePair, long request) {
    long window = RawMemory.getLong(request + SendLayout.BIND_WINDOW);
    int key = RawMemory.getInt(request + SendLayout.BIND_RKEY);
    long info = request + SendLayout.BIND_INFO;
    if (critical) {
      WorkRequests.ibv_wr_bind_mw$critical(
          function(queuePair, BIND_MW), queuePair, window, key, info);
    } else {
      WorkRequests.ibv_wr_bind_mw(function(queuePair, BIND_MW), queuePair, window, key, info);
    }
  }

  /** Begins a request of one of the operations that {@code begin} does not handle. */
  private void beginRare(boolean critical, long queuePair, long request, int opcode) {
    if (opcode == SendLayout.RDMA_WRITE_WITH_IMM) {
      int key = RawMemory.getInt(request + SendLayout.RDMA_RKEY);
      long address = RawMemory.getLong(request + SendLayout.RDMA_REMOTE_ADDR);
      int immediate = immediate(request);
      if (critical) {
        WorkRequests.ibv_wr_rdma_write_imm$critical(
            function(queuePair, RDMA_WRITE_IMM), queuePair, key, address, immediate);
      } else {
        WorkRequests.ibv_wr_rdma_write_imm(
            function(queuePair, RDMA_WRITE_IMM), queuePair, key, address, immediate);
      }
      return;
    }
    if (opcode == SendLayout.TSO) {
      segment(critical, queuePair, request);
      return;
    }
    int key = RawMemory.getInt(request + SendLayout.ATOMIC_RKEY);
    long address = RawMemory.getLong(request + SendLayout.ATOMIC_REMOTE_ADDR);
    if (opcode == SendLayout.ATOMIC_WRITE) {
      long bytes = request + SendLayout.ATOMIC_COMPARE_ADD;
      if (critical) {
        WorkRequests.ibv_wr_atomic_write$critical(
            function(queuePair, ATOMIC_WRITE), queuePair, key, address, bytes);
      } else {
        WorkRequests.ibv_wr_atomic_write(
            function(queuePair, ATOMIC_WRITE), queuePair, key, address, bytes);
      }
      return;
    }
    long operand = RawMemory.getLong(request + SendLayout.ATOMIC_COMPARE_ADD);
    if (opcode == SendLayout.FLUSH) {
      byte type = RawMemory.getByte(request + SendLayout.FLUSH_TYPE);
      byte level = RawMemory.getByte(request + SendLayout.FLUSH_LEVEL);
      if (critical) {
        WorkRequests.ibv_wr_flush$critical(
            function(queuePair, FLUSH), queuePair, key, address, operand, type, level);
      } else {
        WorkRequests.ibv_wr_flush(
            function(queuePair, FLUSH), queuePair, key, address, operand, type, level);
      }
      return;
    }
    if (opcode == SendLayout.FETCH_AND_ADD) {
      if (critical) {
        WorkRequests.ibv_wr_atomic_fetch_add$critical(
            function(queuePair, ATOMIC_FETCH_ADD), queuePair, key, address, operand);
      } else {
        WorkRequests.ibv_wr_atomic_fetch_add(
            function(queuePair, ATOMIC_FETCH_ADD), queuePair, key, address, operand);
      }
      return;
    }
    long replacement = RawMemory.getLong(request + SendLayout.ATOMIC_SWAP);
    if (critical) {
      WorkRequests.ibv_wr_atomic_cmp_swp$critical(
          function(queuePair, ATOMIC_CMP_SWP), queuePair, key, address, operand, replacement);
    } else {
      WorkRequests.ibv_wr_atomic_cmp_swp(
          function(queuePair, ATOMIC_CMP_SWP), queuePair, key, address, operand, replacement);
    }
  }

  private void segment(boolean critical, long queuePair, long request) {
    long header = RawMemory.getLong(request + SendLayout.TSO_HEADER);
    short length = RawMemory.getShort(request + SendLayout.TSO_HEADER_SIZE);
    short segmentBytes = RawMemory.getShort(request + SendLayout.TSO_MSS);
    if (critical) {
      WorkRequests.ibv_wr_send_tso$critical(
          function(queuePair, SEND_TSO), queuePair, header, length, segmentBytes);
    } else {
      WorkRequests.ibv_wr_send_tso(
          function(queuePair, SEND_TSO), queuePair, header, length, segmentBytes);
    }
  }

  private void setDestination(
      boolean critical, long queuePair, long handle, int number, int queueKey) {
    if (critical) {
      WorkRequests.ibv_wr_set_ud_addr$critical(
          function(queuePair, SET_UD_ADDR), queuePair, handle, number, queueKey);
    } else {
      WorkRequests.ibv_wr_set_ud_addr(
          function(queuePair, SET_UD_ADDR), queuePair, handle, number, queueKey);
    }
  }

  /**
   * Sets the memory of a request that has several pieces, or none, or is inline. libmlx5 ends a
   * request in this call, so a request without pieces would be lost without it.
   */
  private void setMemory(boolean critical, long queuePair, long request, int pieces, int flags) {
    long list = request + SendLayout.SIZE;
    if (pieces == 0 || (flags & SendLayout.INLINE) == 0) {
      if (critical) {
        WorkRequests.ibv_wr_set_sge_list$critical(
            function(queuePair, SET_SGE_LIST), queuePair, pieces, list);
      } else {
        WorkRequests.ibv_wr_set_sge_list(
            function(queuePair, SET_SGE_LIST), queuePair, pieces, list);
      }
      return;
    }
    // Inline bytes are always one piece.
    long address = RawMemory.getLong(list + RequestLayout.SGE_ADDR);
    int length = RawMemory.getInt(list + RequestLayout.SGE_LENGTH);
    if (critical) {
      WorkRequests.ibv_wr_set_inline_data$critical(
          function(queuePair, SET_INLINE_DATA), queuePair, address, length);
    } else {
      WorkRequests.ibv_wr_set_inline_data(
          function(queuePair, SET_INLINE_DATA), queuePair, address, length);
    }
  }
}
