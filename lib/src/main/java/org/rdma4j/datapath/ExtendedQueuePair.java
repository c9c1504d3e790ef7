package org.rdma4j.datapath;

import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.WorkRequests;

/**
 * Posts send requests by {@code ibv_wr_*}: the requests of a {@link RequestChain} are passed to the
 * provider call by call, between {@code ibv_wr_start} and {@code ibv_wr_complete}. Everything
 * happens inside one {@link HotCall}, because the provider may hold a lock in between.
 *
 * <p>The list of pieces of each request follows it, so that its address need not be read.
 */
public final class ExtendedQueuePair {
  private static final long ID = WorkRequests.wr_id$offset();
  private static final long FLAGS = WorkRequests.wr_flags$offset();

  private final boolean critical;
  private final long queuePair;
  private final long start;
  private final long complete;
  private final long send;
  private final long sendWithImmediate;
  private final long sendWithInvalidate;
  private final long write;
  private final long writeWithImmediate;
  private final long read;
  private final long compareAndSwap;
  private final long fetchAndAdd;
  private final long invalidate;
  private final long bind;
  private final long setDestination;
  private final long setPiece;
  private final long setPieces;
  private final long setInline;
  private final long setSharedReceiveQueue;
  private final long segmented;
  private final long atomicWrite;
  private final long flush;
  private final boolean datagrams;
  private final boolean isAddressed;
  private final boolean allowsSend;

  /**
   * Finds the extended queue pair of a {@code struct ibv_qp}.
   *
   * @param datagrams whether each request names an address handle
   * @param xrcSend whether each request names a shared receive queue of the peer
   * @param allowsSend whether a request without an operation is a SEND
   * @param flushes whether it was created with flushes; without them the struct may end before
   *     their function
   * @param critical whether to call C functions as critical ones, without a change of the thread's
   *     state
   */
  public static ExtendedQueuePair of(
      MemorySegment queuePair,
      boolean datagrams,
      boolean xrcSend,
      boolean allowsSend,
      boolean flushes,
      boolean critical) {
    MemorySegment qp = rdma_h.ibv_qp_to_qp_ex(queuePair);
    if (qp.address() == 0) {
      throw new RdmaException(
          "ibv_qp_to_qp_ex", 0, "The provider did not create an extended queue pair");
    }
    return new ExtendedQueuePair(qp, datagrams, xrcSend, allowsSend, flushes, critical);
  }

  /** Creates the means to post to a {@code struct ibv_qp_ex}. */
  ExtendedQueuePair(
      MemorySegment qp,
      boolean datagrams,
      boolean xrcSend,
      boolean allowsSend,
      boolean flushes,
      boolean critical) {
    this.critical = critical;
    this.datagrams = datagrams;
    this.allowsSend = allowsSend;
    this.isAddressed = datagrams || xrcSend;
    this.queuePair = qp.address();
    this.start = WorkRequests.ibv_wr_start$op(qp);
    this.complete = WorkRequests.ibv_wr_complete$op(qp);
    this.send = WorkRequests.ibv_wr_send$op(qp);
    this.sendWithImmediate = WorkRequests.ibv_wr_send_imm$op(qp);
    this.sendWithInvalidate = WorkRequests.ibv_wr_send_inv$op(qp);
    this.write = WorkRequests.ibv_wr_rdma_write$op(qp);
    this.writeWithImmediate = WorkRequests.ibv_wr_rdma_write_imm$op(qp);
    this.read = WorkRequests.ibv_wr_rdma_read$op(qp);
    this.compareAndSwap = WorkRequests.ibv_wr_atomic_cmp_swp$op(qp);
    this.fetchAndAdd = WorkRequests.ibv_wr_atomic_fetch_add$op(qp);
    this.invalidate = WorkRequests.ibv_wr_local_inv$op(qp);
    this.bind = WorkRequests.ibv_wr_bind_mw$op(qp);
    this.setDestination = WorkRequests.ibv_wr_set_ud_addr$op(qp);
    this.setSharedReceiveQueue = WorkRequests.ibv_wr_set_xrc_srqn$op(qp);
    this.segmented = WorkRequests.ibv_wr_send_tso$op(qp);
    this.atomicWrite = WorkRequests.ibv_wr_atomic_write$op(qp);
    this.flush = flushes ? WorkRequests.ibv_wr_flush$op(qp) : 0;
    this.setPiece = WorkRequests.ibv_wr_set_sge$op(qp);
    this.setPieces = WorkRequests.ibv_wr_set_sge_list$op(qp);
    this.setInline = WorkRequests.ibv_wr_set_inline_data$op(qp);
  }

  /**
   * Posts a chain. Returns 0 or an errno value; in the latter case no request is posted, and the
   * address of the first one is stored.
   *
   * <p>The usual operations are in this method, because it is then too long for C2 to inline (325
   * bytecodes). If it inlined this method into a loop, its limit of nodes would be reached
   * somewhere in here, and each call after that would take twice as long.
   */
  public int post(long requests, long badRequest) {
    if (!allowsSend) {
      checkOpcodes(requests);
    }
    // In local variables, because a call into C cannot change them: the compiler then removes the
    // branches for the other style of calls.
    boolean critical = this.critical;
    long queuePair = RawMemory.base(this.queuePair);
    if (critical) {
      WorkRequests.ibv_wr_start$critical(start, queuePair);
    } else {
      WorkRequests.ibv_wr_start(start, queuePair);
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
          WorkRequests.ibv_wr_send$critical(send, queuePair);
        } else {
          WorkRequests.ibv_wr_send(send, queuePair);
        }
      } else if (opcode == SendLayout.RDMA_WRITE || opcode == SendLayout.RDMA_READ) {
        long op = opcode == SendLayout.RDMA_WRITE ? write : read;
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
      // From FLUSH on, requests use no memory of this side.
      if (pieces == 1 && (flags & SendLayout.INLINE) == 0 && opcode < SendLayout.FLUSH) {
        long piece = each + SendLayout.SIZE;
        long address = RawMemory.getLong(piece + RequestLayout.SGE_ADDR);
        int length = RawMemory.getInt(piece + RequestLayout.SGE_LENGTH);
        int key = RawMemory.getInt(piece + RequestLayout.SGE_LKEY);
        if (critical) {
          WorkRequests.ibv_wr_set_sge$critical(setPiece, queuePair, key, address, length);
        } else {
          WorkRequests.ibv_wr_set_sge(setPiece, queuePair, key, address, length);
        }
      } else if (pieces != 0 && opcode < SendLayout.FLUSH) {
        setMemory(critical, queuePair, each, pieces, flags);
      }
      each = RawMemory.getLong(each + RequestLayout.NEXT);
    } while (each != 0);
    int errno =
        critical
            ? WorkRequests.ibv_wr_complete$critical(complete, queuePair)
            : WorkRequests.ibv_wr_complete(complete, queuePair);
    if (errno != 0) {
      RawMemory.putLong(badRequest, requests);
    }
    return errno;
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
    if (datagrams) {
      setDestination(critical, queuePair, request);
    } else if (opcode != SendLayout.BIND_MW && opcode != SendLayout.LOCAL_INV) {
      number(
          critical,
          queuePair,
          setSharedReceiveQueue,
          RawMemory.getInt(request + SendLayout.XRC_REMOTE_SRQN));
    }
  }

  /** Begins a request of one of the operations that {@link #post} does not begin itself. */
  private void begin(boolean critical, long queuePair, long request, int opcode) {
    if (opcode == SendLayout.SEND_WITH_IMM) {
      number(critical, queuePair, sendWithImmediate, immediate(request));
    } else if (opcode == SendLayout.SEND_WITH_INV) {
      number(critical, queuePair, sendWithInvalidate, immediate(request));
    } else if (opcode == SendLayout.LOCAL_INV) {
      number(critical, queuePair, invalidate, immediate(request));
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
  private void number(boolean critical, long queuePair, long op, int number) {
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
      WorkRequests.ibv_wr_bind_mw$critical(bind, queuePair, window, key, info);
    } else {
      WorkRequests.ibv_wr_bind_mw(bind, queuePair, window, key, info);
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
            writeWithImmediate, queuePair, key, address, immediate);
      } else {
        WorkRequests.ibv_wr_rdma_write_imm(writeWithImmediate, queuePair, key, address, immediate);
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
        WorkRequests.ibv_wr_atomic_write$critical(atomicWrite, queuePair, key, address, bytes);
      } else {
        WorkRequests.ibv_wr_atomic_write(atomicWrite, queuePair, key, address, bytes);
      }
      return;
    }
    long operand = RawMemory.getLong(request + SendLayout.ATOMIC_COMPARE_ADD);
    if (opcode == SendLayout.FLUSH) {
      byte type = RawMemory.getByte(request + SendLayout.FLUSH_TYPE);
      byte level = RawMemory.getByte(request + SendLayout.FLUSH_LEVEL);
      if (critical) {
        WorkRequests.ibv_wr_flush$critical(flush, queuePair, key, address, operand, type, level);
      } else {
        WorkRequests.ibv_wr_flush(flush, queuePair, key, address, operand, type, level);
      }
      return;
    }
    if (opcode == SendLayout.FETCH_AND_ADD) {
      if (critical) {
        WorkRequests.ibv_wr_atomic_fetch_add$critical(
            fetchAndAdd, queuePair, key, address, operand);
      } else {
        WorkRequests.ibv_wr_atomic_fetch_add(fetchAndAdd, queuePair, key, address, operand);
      }
      return;
    }
    long replacement = RawMemory.getLong(request + SendLayout.ATOMIC_SWAP);
    if (critical) {
      WorkRequests.ibv_wr_atomic_cmp_swp$critical(
          compareAndSwap, queuePair, key, address, operand, replacement);
    } else {
      WorkRequests.ibv_wr_atomic_cmp_swp(
          compareAndSwap, queuePair, key, address, operand, replacement);
    }
  }

  private void segment(boolean critical, long queuePair, long request) {
    long header = RawMemory.getLong(request + SendLayout.TSO_HEADER);
    short length = RawMemory.getShort(request + SendLayout.TSO_HEADER_SIZE);
    short segmentBytes = RawMemory.getShort(request + SendLayout.TSO_MSS);
    if (critical) {
      WorkRequests.ibv_wr_send_tso$critical(segmented, queuePair, header, length, segmentBytes);
    } else {
      WorkRequests.ibv_wr_send_tso(segmented, queuePair, header, length, segmentBytes);
    }
  }

  private void setDestination(boolean critical, long queuePair, long request) {
    long handle = RawMemory.getLong(request + SendLayout.UD_AH);
    int number = RawMemory.getInt(request + SendLayout.UD_REMOTE_QPN);
    int queueKey = RawMemory.getInt(request + SendLayout.UD_REMOTE_QKEY);
    if (critical) {
      WorkRequests.ibv_wr_set_ud_addr$critical(setDestination, queuePair, handle, number, queueKey);
    } else {
      WorkRequests.ibv_wr_set_ud_addr(setDestination, queuePair, handle, number, queueKey);
    }
  }

  /** Sets the memory of a request that has several pieces, or is inline. */
  private void setMemory(boolean critical, long queuePair, long request, int pieces, int flags) {
    long list = request + SendLayout.SIZE;
    if ((flags & SendLayout.INLINE) == 0) {
      if (critical) {
        WorkRequests.ibv_wr_set_sge_list$critical(setPieces, queuePair, pieces, list);
      } else {
        WorkRequests.ibv_wr_set_sge_list(setPieces, queuePair, pieces, list);
      }
      return;
    }
    // Inline bytes are always one piece.
    long address = RawMemory.getLong(list + RequestLayout.SGE_ADDR);
    int length = RawMemory.getInt(list + RequestLayout.SGE_LENGTH);
    if (critical) {
      WorkRequests.ibv_wr_set_inline_data$critical(setInline, queuePair, address, length);
    } else {
      WorkRequests.ibv_wr_set_inline_data(setInline, queuePair, address, length);
    }
  }
}
