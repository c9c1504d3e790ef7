package org.rdma4j.inplace;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.rdma4j.ErrorNumber;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.QueueUse;
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

  /** A request knows its position up to here; no queue is longer. */
  private static final int MAX_POSITION = 0xffff;

  private static final int UNITS_SHIFT = 2;
  private static final int UNITS_OF_BLOCK = 1 << UNITS_SHIFT;

  /** With less room than this, a post looks how many requests have completed. */
  private static final int FEW = 32;

  private static final VarHandle COMPLETED;

  static {
    try {
      COMPLETED = MethodHandles.lookup().findVarHandle(InPlaceSends.class, "completed", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final SpinLock lock = new SpinLock();
  private final QueueUse use;
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

  /** Whether plain requests are written into the register. */
  private final boolean copiesPlain;

  private final int queuePair;
  private final int maxRequests;
  private final int flagsOfAll;
  private final boolean datagrams;

  /**
   * For each block, the id of the request that begins there, and how many were posted before it.
   */
  private final long[] table;

  /** The position of the next request, in blocks. */
  private int position;

  /** How many requests were posted. */
  private int posted;

  /** How many may have been posted, as far as is known: polls may have made room since. */
  private int fullAt;

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
   * @param use whether several threads use the queue pair
   */
  InPlaceSends(
      Mlx5Objects objects,
      QueuePairMemory memory,
      int queuePair,
      int maxRequests,
      boolean datagrams,
      boolean signalAll,
      Registers registers,
      QueueUse use) {
    this.objects = objects;
    this.use = use;
    this.queue = memory.sends();
    this.queueEnd = queue + (long) memory.sendBlocks() * RequestSegments.BLOCK;
    this.mask = memory.sendBlocks() - 1;
    this.record = memory.record() + RECORD;
    this.register = memory.register();
    this.registerSize = memory.registerSize();
    this.maxUnits = registers.areUsed() ? registerSize / RequestSegments.UNIT : 0;
    this.prefersRegister = registers.arePreferred();
    this.copiesPlain = prefersRegister && maxUnits >= UNITS_OF_BLOCK;
    this.queuePair = queuePair;
    this.maxRequests = maxRequests;
    this.fullAt = maxRequests;
    this.flagsOfAll = signalAll ? RequestSegments.COMPLETION_UPDATE : 0;
    this.datagrams = datagrams;
    this.table = new long[2 * Math.max(1, memory.sendBlocks())];
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
    if (!use.isShared()) {
      int error = writeOne(requests, badRequest);
      StoreFence.fence();
      return error;
    }
    if (datagrams && vectorOffset == 0) {
      findVector(requests);
    }
    lock.lock();
    try {
      int error = writeOne(requests, badRequest);
      StoreFence.fence();
      return error;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Writes the requests and rings the doorbell. The caller flushes the register.
   *
   * <p>The loop writes plain requests. It contains no calls, so that the compiler keeps what it
   * uses in registers.
   *
   * <p>Each access of {@link RawMemory} costs the compiler about 600 nodes of its graph, and beyond
   * 18,000 nodes it inlines nothing more: then each access becomes a call. This method, {@link
   * #writeAny} and {@link #ring} are therefore compiled each by itself, because they have more than
   * the 325 bytes of bytecode up to which the compiler inlines. So are {@link #writeOne} and {@link
   * #writeInline}.
   *
   * @return 0, or ENOMEM if the queue is full
   */
  private int write(long requests, long badRequest) {
    int count = posted;
    if (fullAt - count < FEW) {
      lookForRoom();
    }
    int next = position;
    int before = count;
    long first = RawMemory.base(queue);
    long[] table = this.table;
    long each = RawMemory.base(requests);
    long at = 0;
    int units = 0;
    while (each != 0 && fullAt - count > 0) {
      int opcode = RawMemory.getInt(each + SendLayout.OPCODE);
      int flags = RawMemory.getInt(each + SendLayout.SEND_FLAGS);
      if (RawMemory.getInt(each + RequestLayout.NUM_SGE) != 1 || !isPlain(opcode, flags)) {
        break;
      }
      int index = next & mask & MAX_POSITION;
      at = first + ((long) index << RequestSegments.BLOCK_SHIFT);
      int code = RequestSegments.SEND;
      units = 2;
      if (opcode != SendLayout.SEND) {
        code =
            opcode == SendLayout.RDMA_WRITE
                ? RequestSegments.RDMA_WRITE
                : RequestSegments.RDMA_READ;
        putRemote(at, each);
        units = 3;
      }
      putPiece(at + (long) (units - 1) * RequestSegments.UNIT, each + SendLayout.SIZE);
      RequestSegments.putControl(
          at,
          next,
          code,
          queuePair,
          units,
          flags == SendLayout.SIGNALED
              ? RequestSegments.COMPLETION_UPDATE
              : RequestSegments.flags(flags) | flagsOfAll,
          0);
      table[2 * index & table.length - 1] = RawMemory.getLong(each + RequestLayout.WR_ID);
      table[2 * index + 1 & table.length - 1] = count;
      next++;
      count++;
      each = RawMemory.base(RawMemory.getLong(each + RequestLayout.NEXT));
    }
    position = next;
    posted = count;
    if (each != 0) {
      return writeAny(before, at, units, each, badRequest);
    }
    ring(at, count - before == 1 && prefersRegister ? units : 0);
    return 0;
  }

  /**
   * Writes a plain request that is alone, and rings the doorbell with all of it: its words go from
   * registers of the processor both to the queue and to the doorbell. Other requests are left to
   * {@link #writeInline} or {@link #write}.
   */
  private int writeOne(long request, long badRequest) {
    long each = RawMemory.base(request);
    int opcode = RawMemory.getInt(each + SendLayout.OPCODE);
    int flags = RawMemory.getInt(each + SendLayout.SEND_FLAGS);
    int count = posted;
    if (fullAt - count < FEW) {
      lookForRoom();
    }
    if (!copiesPlain
        || fullAt - count <= 0
        || RawMemory.getInt(each + RequestLayout.NUM_SGE) != 1
        || RawMemory.getLong(each + RequestLayout.NEXT) != 0
        || !isPlain(opcode, flags)) {
      return (flags & SendLayout.INLINE) != 0
          ? writeInline(request, badRequest)
          : write(request, badRequest);
    }
    int next = position;
    int index = next & mask & MAX_POSITION;
    long at = RawMemory.base(queue + ((long) index << RequestSegments.BLOCK_SHIFT));
    long word4 =
        RequestSegments.lengthAndKey(
            RawMemory.getLong(each + SendLayout.SIZE + RequestLayout.SGE_LENGTH));
    long word5 =
        Long.reverseBytes(RawMemory.getLong(each + SendLayout.SIZE + RequestLayout.SGE_ADDR));
    long word2 = word4;
    long word3 = word5;
    int code = RequestSegments.SEND;
    int units = 2;
    if (opcode == SendLayout.SEND) {
      word4 = RawMemory.getLong(at + 32);
      word5 = RawMemory.getLong(at + 40);
    } else {
      code =
          opcode == SendLayout.RDMA_WRITE ? RequestSegments.RDMA_WRITE : RequestSegments.RDMA_READ;
      units = 3;
      word2 = Long.reverseBytes(RawMemory.getLong(each + SendLayout.RDMA_REMOTE_ADDR));
      word3 = RequestSegments.remoteKey(RawMemory.getInt(each + SendLayout.RDMA_RKEY));
      RawMemory.putLong(at + 32, word4);
      RawMemory.putLong(at + 40, word5);
    }
    long word0 = RequestSegments.control(next, code, queuePair, units);
    long word1 = RequestSegments.flagsAndImmediate(RequestSegments.flags(flags) | flagsOfAll, 0);
    RawMemory.putLong(at, word0);
    RawMemory.putLong(at + 8, word1);
    RawMemory.putLong(at + 16, word2);
    RawMemory.putLong(at + 24, word3);
    long[] table = this.table;
    table[2 * index & table.length - 1] = RawMemory.getLong(each + RequestLayout.WR_ID);
    table[2 * index + 1 & table.length - 1] = count;
    position = next + 1;
    posted = count + 1;
    long to = RawMemory.base(register + half);
    half ^= registerSize;
    long word6 = RawMemory.getLong(at + 48);
    long word7 = RawMemory.getLong(at + 56);
    RawMemory.putIntRelease(RawMemory.base(record), Integer.reverseBytes(next + 1 & MAX_POSITION));
    StoreFence.fence();
    RawMemory.putLong(to, word0);
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 8, word1);
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 16, word2);
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 24, word3);
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 32, word4);
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 40, word5);
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 48, word6);
    VarHandle.storeStoreFence();
    RawMemory.putLong(to + 56, word7);
    return 0;
  }

  /**
   * Writes an inline request that is alone, and rings the doorbell with all of it. Other requests
   * are left to {@link #write}.
   *
   * <p>Each store of the bytes is one of 8 bytes at a multiple of 8, because the request is read
   * again in these words for the register: a processor forwards a word from one store that covers
   * it, and otherwise waits until all of them are in the cache. So the last store also writes what
   * was there before, up to 7 bytes after the segment that belong to the same request.
   */
  private int writeInline(long request, long badRequest) {
    long each = RawMemory.base(request);
    int opcode = RawMemory.getInt(each + SendLayout.OPCODE);
    int next = position;
    int count = posted;
    int index = next & mask & MAX_POSITION;
    long at = RawMemory.base(queue + ((long) index << RequestSegments.BLOCK_SHIFT));
    int length = RawMemory.getInt(each + SendLayout.SIZE + RequestLayout.SGE_LENGTH);
    int before = opcode == SendLayout.SEND ? 1 : 2;
    long to = RawMemory.base(at + (long) before * RequestSegments.UNIT);
    if (datagrams
        || (opcode != SendLayout.SEND && opcode != SendLayout.RDMA_WRITE)
        || fullAt - count <= 0
        || RawMemory.getInt(each + RequestLayout.NUM_SGE) != 1
        || RawMemory.getLong(each + RequestLayout.NEXT) != 0
        || length < Long.BYTES
        || length > queueEnd - to - RequestSegments.INLINE_SIZE) {
      return write(request, badRequest);
    }
    if (before != 1) {
      putRemote(at, each);
    }
    long from = RawMemory.base(RawMemory.getLong(each + SendLayout.SIZE + RequestLayout.SGE_ADDR));
    long last = RawMemory.base(from + length - Long.BYTES);
    RawMemory.putLong(
        to, RequestSegments.inlineLength(length) | (long) RawMemory.getInt(from) << 32);
    from = RawMemory.base(from + Integer.BYTES);
    to = RawMemory.base(to + Long.BYTES);
    while (from <= last - 3 * Long.BYTES) {
      RawMemory.putLong(to, RawMemory.getLong(from));
      RawMemory.putLong(to + 8, RawMemory.getLong(from + 8));
      RawMemory.putLong(to + 16, RawMemory.getLong(from + 16));
      RawMemory.putLong(to + 24, RawMemory.getLong(from + 24));
      to = RawMemory.base(to + 4 * Long.BYTES);
      from = RawMemory.base(from + 4 * Long.BYTES);
    }
    while (from <= last) {
      RawMemory.putLong(to, RawMemory.getLong(from));
      to = RawMemory.base(to + Long.BYTES);
      from = RawMemory.base(from + Long.BYTES);
    }
    int written = (int) (from - last) * Byte.SIZE;
    if (written != Long.SIZE) {
      long kept = -1L << (Long.SIZE - written);
      RawMemory.putLong(to, (RawMemory.getLong(to) & kept) | (RawMemory.getLong(last) >>> written));
    }
    int units =
        before
            + (RequestSegments.INLINE_SIZE + length + RequestSegments.UNIT - 1)
                / RequestSegments.UNIT;
    RequestSegments.putControl(
        at,
        next,
        opcode == SendLayout.SEND ? RequestSegments.SEND : RequestSegments.RDMA_WRITE,
        queuePair,
        units,
        RequestSegments.flags(RawMemory.getInt(each + SendLayout.SEND_FLAGS)) | flagsOfAll,
        0);
    table[2 * index & table.length - 1] = RawMemory.getLong(each + RequestLayout.WR_ID);
    table[2 * index + 1 & table.length - 1] = count;
    position = next + ((units + UNITS_OF_BLOCK - 1) >> UNITS_SHIFT);
    posted = count + 1;
    ring(at, units);
    return 0;
  }

  /** Looks at the polls' count of completed requests. */
  private void lookForRoom() {
    fullAt = (int) COMPLETED.getAcquire(this) + maxRequests;
  }

  /**
   * Writes requests of any kind, and rings the doorbell for them and those before.
   *
   * @param before how many requests were posted before the chain
   * @param last the block of the last request that was written
   * @param lastUnits its length
   */
  private int writeAny(int before, long last, int lastUnits, long requests, long badRequest) {
    long each = requests;
    long at = last;
    int units = lastUnits;
    boolean isInline = false;
    int error = 0;
    do {
      if (fullAt - posted <= 0) {
        lookForRoom();
      }
      if (fullAt - posted <= 0) {
        RawMemory.putLong(badRequest, each);
        error = ErrorNumber.ENOMEM.value();
        break;
      }
      int index = position & mask & MAX_POSITION;
      at = RawMemory.base(queue + ((long) index << RequestSegments.BLOCK_SHIFT));
      int opcode = RawMemory.getInt(each + SendLayout.OPCODE);
      int flags = RawMemory.getInt(each + SendLayout.SEND_FLAGS);
      int pieces = RawMemory.getInt(each + RequestLayout.NUM_SGE);
      units = datagrams ? putDestination(at, each) : putOperation(at, each, opcode);
      isInline = (flags & SendLayout.INLINE) != 0 && pieces != 0;
      if (isInline) {
        units = putInline(at, units, each);
      } else if (pieces != 0) {
        units = putPieces(at, units, each, pieces, opcode);
      }
      RequestSegments.putControl(
          at,
          position,
          code(opcode),
          queuePair,
          units,
          RequestSegments.flags(flags) | flagsOfAll,
          immediate(each, opcode));
      table[2 * index & table.length - 1] = RawMemory.getLong(each + RequestLayout.WR_ID);
      table[2 * index + 1 & table.length - 1] = posted;
      position += (units + UNITS_OF_BLOCK - 1) >> UNITS_SHIFT;
      posted++;
      each = RawMemory.base(RawMemory.getLong(each + RequestLayout.NEXT));
    } while (each != 0);
    int count = posted - before;
    if (count != 0) {
      ring(at, count == 1 && (prefersRegister || isInline) ? units : 0);
    }
    return error;
  }

  /** Returns whether a request has one piece, which is not inline, and no destination. */
  private boolean isPlain(int opcode, int flags) {
    return (opcode == SendLayout.SEND
            || opcode == SendLayout.RDMA_WRITE
            || opcode == SendLayout.RDMA_READ)
        && (flags & SendLayout.INLINE) == 0
        && !datagrams;
  }

  /**
   * Rings the doorbell. The order of the stores is described for the package. The fences between
   * those to the register keep the compiler from another order, and are no instructions on x86.
   *
   * @param last the block of the last request
   * @param units the length of the request if it is to be copied to the register; otherwise 0
   */
  private void ring(long last, int units) {
    long from = RawMemory.base(last);
    long to = RawMemory.base(register + half);
    half ^= registerSize;
    RawMemory.putIntRelease(RawMemory.base(record), Integer.reverseBytes(position & MAX_POSITION));
    StoreFence.fence();
    if (units <= 1 || units > maxUnits) {
      RawMemory.putLongRelease(to, RawMemory.getLong(from));
      return;
    }
    int left = units;
    do {
      long word0 = RawMemory.getLong(from);
      long word1 = RawMemory.getLong(from + 8);
      long word2 = RawMemory.getLong(from + 16);
      long word3 = RawMemory.getLong(from + 24);
      long word4 = RawMemory.getLong(from + 32);
      long word5 = RawMemory.getLong(from + 40);
      long word6 = RawMemory.getLong(from + 48);
      long word7 = RawMemory.getLong(from + 56);
      RawMemory.putLong(to, word0);
      VarHandle.storeStoreFence();
      RawMemory.putLong(to + 8, word1);
      VarHandle.storeStoreFence();
      RawMemory.putLong(to + 16, word2);
      VarHandle.storeStoreFence();
      RawMemory.putLong(to + 24, word3);
      VarHandle.storeStoreFence();
      RawMemory.putLong(to + 32, word4);
      VarHandle.storeStoreFence();
      RawMemory.putLong(to + 40, word5);
      VarHandle.storeStoreFence();
      RawMemory.putLong(to + 48, word6);
      VarHandle.storeStoreFence();
      RawMemory.putLong(to + 56, word7);
      VarHandle.storeStoreFence();
      from += RequestSegments.BLOCK;
      from = RawMemory.base(from == queueEnd ? queue : from);
      to = RawMemory.base(to + RequestSegments.BLOCK);
      left -= UNITS_OF_BLOCK;
    } while (left > 0);
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
        RawMemory.getLong(piece + RequestLayout.SGE_LENGTH));
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
    if (opcode == SendLayout.RDMA_WRITE) {
      return RequestSegments.RDMA_WRITE;
    }
    if (opcode == SendLayout.RDMA_READ) {
      return RequestSegments.RDMA_READ;
    }
    if (opcode == SendLayout.SEND) {
      return RequestSegments.SEND;
    }
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

  /** Returns the immediate data or the key to invalidate, in network byte order; 0 for none. */
  private static int immediate(long request, int opcode) {
    int number = RawMemory.getInt(request + SendLayout.IMM_DATA);
    if (opcode == SendLayout.SEND_WITH_INV) {
      return Integer.reverseBytes(number);
    }
    return opcode == SendLayout.SEND_WITH_IMM || opcode == SendLayout.RDMA_WRITE_WITH_IMM
        ? number
        : 0;
  }

  /** Writes what an operation needs, and returns the length of the request so far. */
  private static int putOperation(long at, long request, int opcode) {
    if (opcode == SendLayout.SEND
        || opcode == SendLayout.SEND_WITH_IMM
        || opcode == SendLayout.SEND_WITH_INV) {
      return 1;
    }
    if (opcode == SendLayout.RDMA_WRITE
        || opcode == SendLayout.RDMA_WRITE_WITH_IMM
        || opcode == SendLayout.RDMA_READ) {
      putRemote(at, request);
      return 2;
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
    long piece = RawMemory.base(request) + SendLayout.SIZE;
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
    int index = 2 * position & table.length - 1;
    COMPLETED.setRelease(this, (int) table[index + 1] + 1);
    return table[index];
  }

  /**
   * Begins at the beginning, as the queue pair does in the state RESET. To be called while the
   * queue pair is shared.
   */
  void reset() {
    lock.lock();
    try {
      position = 0;
      posted = 0;
      fullAt = maxRequests;
      COMPLETED.setRelease(this, 0);
    } finally {
      lock.unlock();
    }
  }
}
