package org.rdma4j.inplace;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.RequestLayout;
import org.rdma4j.datapath.SendLayout;
import org.rdma4j.inplace.Mlx5Objects.QueuePairMemory;

/**
 * The send queue of a queue pair of type RC, UC or UD, as {@code mlx5_post_send} writes it.
 *
 * <p>The queue is a ring of blocks of 64 bytes. A request takes one block or several, and its place
 * is free again when its completion, or that of a later request, is polled: the poll looks up here
 * which request that was.
 */
public final class InPlaceSends extends ChainPosting {
  /** The offset of the record of sends. */
  private static final int RECORD = 4;

  private static final VarHandle COMPLETED;

  static {
    try {
      COMPLETED = MethodHandles.lookup().findVarHandle(InPlaceSends.class, "completed", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final @Nullable SpinLock lock;
  private final Mlx5Objects objects;
  private final long queue;
  private final long queueEnd;
  private final int mask;
  private final long record;
  private final long register;
  private final int registerSize;

  /** The longest request that is written into the register, in units. */
  private final int maxUnits;

  private final boolean prefersRegister;
  private final int queuePair;
  private final int maxRequests;
  private final int flagsOfAll;
  private final boolean datagrams;

  /** The id of the request that begins at each block, and how many were posted before it. */
  private final long[] ids;

  private final int[] ordinals;

  /** The position of the next request, in blocks. */
  private int position;

  /** How many requests were posted, and how many of them were complete when last looked at. */
  private int posted;

  private int knownCompleted;

  /** How many requests are complete, as polls say. */
  @SuppressWarnings("unused") // by way of the handle
  private int completed;

  /** The half of the register that the next doorbell is written to. */
  private int half;

  /** The offset of the address vector in an address handle; 0 until the first datagram. */
  private long vectorOffset;

  /**
   * Creates the means to post.
   *
   * @param queuePair the number of the queue pair
   * @param maxRequests how many requests libmlx5 allows to be outstanding
   * @param signalAll whether each request creates a completion
   * @param lock keeps other threads out; null if there are none
   */
  InPlaceSends(
      Mlx5Objects objects,
      QueuePairMemory memory,
      int queuePair,
      int maxRequests,
      boolean datagrams,
      boolean signalAll,
      Registers registers,
      @Nullable SpinLock lock) {
    this.objects = objects;
    this.lock = lock;
    this.queue = memory.sends();
    this.queueEnd = queue + (long) memory.sendBlocks() * RequestSegments.BLOCK;
    this.mask = memory.sendBlocks() - 1;
    this.record = memory.record() + RECORD;
    this.register = memory.register();
    this.registerSize = memory.registerSize();
    this.maxUnits = registers.areUsed() ? registerSize / RequestSegments.UNIT : 0;
    this.prefersRegister = registers.arePreferred();
    this.queuePair = queuePair;
    this.maxRequests = maxRequests;
    this.flagsOfAll = signalAll ? RequestSegments.COMPLETION_UPDATE : 0;
    this.datagrams = datagrams;
    this.ids = new long[Math.max(1, memory.sendBlocks())];
    this.ordinals = new int[ids.length];
  }

  /**
   * When libmlx5 writes a request into the BlueFlame register, and not only its first 8 bytes.
   *
   * @param areUsed whether it does so at all, {@code MLX5_SHUT_UP_BF}
   * @param arePreferred whether also for requests that are not inline, {@code
   *     MLX5_POST_SEND_PREFER_BF}
   */
  record Registers(boolean areUsed, boolean arePreferred) {}

  @Override
  public int post(long requests, long badRequest) {
    SpinLock lock = this.lock;
    if (lock == null) {
      int error = write(requests, badRequest);
      VarHandle.fullFence();
      return error;
    }
    if (datagrams && vectorOffset == 0) {
      findVector(requests);
    }
    lock.lock();
    try {
      return write(requests, badRequest);
    } finally {
      lock.unlockAndFlush();
    }
  }

  /**
   * Writes the requests and rings the doorbell. The caller flushes the register.
   *
   * @return 0, or ENOMEM if the queue is full
   */
  private int write(long requests, long badRequest) {
    int next = position;
    int count = posted;
    long control = 0;
    int units = 0;
    boolean isInline = false;
    int error = 0;
    long each = RawMemory.base(requests);
    do {
      if (count - knownCompleted >= maxRequests && isFull(count)) {
        RawMemory.putLong(badRequest, each);
        error = ErrorNumber.ENOMEM.value();
        break;
      }
      int index = next & mask;
      long at = RawMemory.base(queue + ((long) index << RequestSegments.BLOCK_SHIFT));
      int flags = RawMemory.getInt(each + SendLayout.SEND_FLAGS);
      int opcode = RawMemory.getInt(each + SendLayout.OPCODE);
      int pieces = RawMemory.getInt(each + RequestLayout.NUM_SGE);
      int code;
      int immediate = 0;
      int length = 1;
      if (opcode == SendLayout.SEND) {
        code = RequestSegments.SEND;
      } else if (opcode == SendLayout.RDMA_WRITE || opcode == SendLayout.RDMA_READ) {
        code =
            opcode == SendLayout.RDMA_WRITE
                ? RequestSegments.RDMA_WRITE
                : RequestSegments.RDMA_READ;
        putRemote(at, each);
        length = 2;
      } else {
        code = code(opcode);
        immediate = immediate(each, opcode);
        length = putOperation(at, each, opcode);
      }
      if (datagrams) {
        length = putDestination(at, each);
      }
      isInline = false;
      if (pieces == 1 && (flags & SendLayout.INLINE) == 0 && length < 3) {
        putPiece(at + (long) length * RequestSegments.UNIT, each + SendLayout.SIZE);
        length++;
      } else if (pieces != 0) {
        isInline = (flags & SendLayout.INLINE) != 0;
        length =
            isInline ? putInline(at, length, each) : putPieces(at, length, each, pieces, opcode);
      }
      RequestSegments.putControl(
          at,
          next,
          code,
          queuePair,
          length,
          flags == SendLayout.SIGNALED
              ? RequestSegments.COMPLETION_UPDATE
              : RequestSegments.flags(flags) | flagsOfAll,
          immediate);
      ids[index & ids.length - 1] = RawMemory.getLong(each + RequestLayout.WR_ID);
      ordinals[index & ordinals.length - 1] = count;
      next +=
          (length * RequestSegments.UNIT + RequestSegments.BLOCK - 1)
              >> RequestSegments.BLOCK_SHIFT;
      count++;
      control = at;
      units = length;
      each = RawMemory.base(RawMemory.getLong(each + RequestLayout.NEXT));
    } while (each != 0);
    if (control != 0) {
      boolean isOne = count - posted == 1;
      position = next;
      posted = count;
      boolean copies = isOne && units <= maxUnits && units > 1 && (isInline || prefersRegister);
      ring(control, copies, units);
    }
    return error;
  }

  /** Looks at the polls' count of completed requests: have they not caught up? */
  private boolean isFull(int count) {
    knownCompleted = (int) COMPLETED.getAcquire(this);
    return count - knownCompleted >= maxRequests;
  }

  /** Rings the doorbell. The order of the stores is described for the package. */
  private void ring(long control, boolean copies, int units) {
    RawMemory.exchangeInt(RawMemory.base(record), Integer.reverseBytes(position & 0xffff));
    long to = RawMemory.base(register + half);
    if (copies) {
      copy(control, to);
      if (units > 4) {
        copyRest(control, to, units);
      }
    } else {
      RawMemory.putLongRelease(to, RawMemory.getLong(control));
    }
    half ^= registerSize;
  }

  /**
   * Copies a block to the register, in order: the fences keep the compiler from another one, and
   * are no instructions on x86.
   */
  private static void copy(long block, long to) {
    RawMemory.putLong(to, RawMemory.getLong(block));
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 8, RawMemory.getLong(block + 8));
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 16, RawMemory.getLong(block + 16));
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 24, RawMemory.getLong(block + 24));
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 32, RawMemory.getLong(block + 32));
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 40, RawMemory.getLong(block + 40));
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 48, RawMemory.getLong(block + 48));
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 56, RawMemory.getLong(block + 56));
  }

  private void copyRest(long first, long to, int units) {
    long block = first;
    for (int done = 4; done < units; done += 4) {
      block = around(block + RequestSegments.BLOCK);
      copy(RawMemory.base(block), RawMemory.base(to + (long) done * RequestSegments.UNIT));
    }
  }

  /** Returns an address in the queue, after the end of which its beginning comes. */
  private long around(long address) {
    return address == queueEnd ? queue : address;
  }

  private static void putRemote(long at, long request) {
    RequestSegments.putRemote(
        at + RequestSegments.UNIT,
        RawMemory.getLong(request + SendLayout.RDMA_REMOTE_ADDR),
        RawMemory.getInt(request + SendLayout.RDMA_RKEY));
  }

  private static void putPiece(long at, long piece) {
    RequestSegments.putData(
        at,
        RawMemory.getLong(piece + RequestLayout.SGE_ADDR),
        RawMemory.getInt(piece + RequestLayout.SGE_LENGTH),
        RawMemory.getInt(piece + RequestLayout.SGE_LKEY));
  }

  /** Writes the piece for the old value of an atomic, which has 8 bytes whatever its length is. */
  private static void putOldValue(long at, long piece) {
    RequestSegments.putData(
        at,
        RawMemory.getLong(piece + RequestLayout.SGE_ADDR),
        Long.BYTES,
        RawMemory.getInt(piece + RequestLayout.SGE_LKEY));
  }

  private static int code(int opcode) {
    if (opcode == SendLayout.SEND_WITH_IMM) {
      return RequestSegments.SEND_IMMEDIATE;
    }
    if (opcode == SendLayout.RDMA_WRITE_WITH_IMM) {
      return RequestSegments.RDMA_WRITE_IMMEDIATE;
    }
    if (opcode == SendLayout.SEND_WITH_INV) {
      return RequestSegments.SEND_INVALIDATE;
    }
    return opcode == SendLayout.COMPARE_AND_SWAP
        ? RequestSegments.COMPARE_AND_SWAP
        : RequestSegments.FETCH_AND_ADD;
  }

  /** Returns the immediate data or the key to invalidate, in network byte order. */
  private static int immediate(long request, int opcode) {
    int number = RawMemory.getInt(request + SendLayout.IMM_DATA);
    if (opcode == SendLayout.SEND_WITH_INV) {
      return Integer.reverseBytes(number);
    }
    return opcode == SendLayout.COMPARE_AND_SWAP || opcode == SendLayout.FETCH_AND_ADD ? 0 : number;
  }

  /** Writes what an unusual operation needs, and returns the length of the request so far. */
  private static int putOperation(long at, long request, int opcode) {
    if (opcode == SendLayout.RDMA_WRITE_WITH_IMM) {
      putRemote(at, request);
      return 2;
    }
    if (opcode == SendLayout.SEND_WITH_IMM || opcode == SendLayout.SEND_WITH_INV) {
      return 1;
    }
    RequestSegments.putRemote(
        at + RequestSegments.UNIT,
        RawMemory.getLong(request + SendLayout.ATOMIC_REMOTE_ADDR),
        RawMemory.getInt(request + SendLayout.ATOMIC_RKEY));
    RequestSegments.putAtomic(
        at + 2 * RequestSegments.UNIT,
        code(opcode),
        RawMemory.getLong(request + SendLayout.ATOMIC_COMPARE_ADD),
        RawMemory.getLong(request + SendLayout.ATOMIC_SWAP));
    return 3;
  }

  /** Writes the destination of a datagram, which fills the first block. */
  private int putDestination(long at, long request) {
    if (vectorOffset == 0) {
      findVector(request);
    }
    long handle = RawMemory.getLong(request + SendLayout.UD_AH);
    RequestSegments.putDatagram(
        at + RequestSegments.UNIT,
        RawMemory.base(handle + vectorOffset),
        RawMemory.getInt(request + SendLayout.UD_REMOTE_QPN),
        RawMemory.getInt(request + SendLayout.UD_REMOTE_QKEY));
    return 1 + RequestSegments.DATAGRAM_SIZE / RequestSegments.UNIT;
  }

  /** Asks libmlx5 where an address handle has its address vector: at the same place in each. */
  private void findVector(long request) {
    long handle = RawMemory.getLong(request + SendLayout.UD_AH);
    vectorOffset = objects.addressVector(handle) - handle;
  }

  /** Returns the address after some units of a request. */
  private long after(long at, int units) {
    long address = at + (long) units * RequestSegments.UNIT;
    return address >= queueEnd ? address - queueEnd + queue : address;
  }

  private int putPieces(long at, int before, long request, int pieces, int opcode) {
    boolean isAtomic = opcode == SendLayout.COMPARE_AND_SWAP || opcode == SendLayout.FETCH_AND_ADD;
    int length = before;
    for (int i = 0; i < pieces; i++) {
      long piece = request + SendLayout.SIZE + (long) i * RequestLayout.SGE_SIZE;
      if (RawMemory.getInt(piece + RequestLayout.SGE_LENGTH) != 0) {
        long to = RawMemory.base(after(at, length));
        if (isAtomic) {
          putOldValue(to, piece);
        } else {
          putPiece(to, piece);
        }
        length++;
      }
    }
    return length;
  }

  /** Writes the bytes of an inline request, which are one piece. */
  private int putInline(long at, int before, long request) {
    long piece = request + SendLayout.SIZE;
    long from = RawMemory.base(RawMemory.getLong(piece + RequestLayout.SGE_ADDR));
    int length = RawMemory.getInt(piece + RequestLayout.SGE_LENGTH);
    long segment = RawMemory.base(after(at, before));
    RequestSegments.putInline(segment, length);
    long to = segment + RequestSegments.INLINE_SIZE;
    long room = queueEnd - to;
    if (length <= room) {
      RawMemory.copy(from, to, length);
    } else {
      RawMemory.copy(from, to, (int) room);
      RawMemory.copy(from + room, RawMemory.base(queue), length - (int) room);
    }
    return before
        + (RequestSegments.INLINE_SIZE + length + RequestSegments.UNIT - 1) / RequestSegments.UNIT;
  }

  /** Returns the id of the request at a position, which has completed with all before it. */
  long complete(int position) {
    int index = position & ids.length - 1;
    COMPLETED.setRelease(this, ordinals[index] + 1);
    return ids[index];
  }

  /** Begins at the beginning, as the queue pair does in the state RESET. */
  void reset() {
    SpinLock lock = this.lock;
    if (lock != null) {
      lock.lock();
    }
    position = 0;
    posted = 0;
    knownCompleted = 0;
    COMPLETED.setRelease(this, 0);
    if (lock != null) {
      lock.unlock();
    }
  }
}
