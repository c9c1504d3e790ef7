package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.Referent;
import org.rdma4j.datapath.RequestCopies;
import org.rdma4j.datapath.RequestLayout;
import org.rdma4j.datapath.SendLayout;
import org.rdma4j.platform.NetworkOrder;

/**
 * Send requests that were built and checked once, and can be posted any number of times. {@link
 * SendRequests#prepare} creates them:
 *
 * <pre>{@code
 * SendRequests requests = queuePair.sendRequests(1);
 * PreparedSends ping = requests.add(0).send().from(region, 0, 64).signaled().prepare();
 * for (int i = 0; i < 1000; i++) {
 *   ping.id(0, i).offset(0, 64 * (i % 16)).post();
 *   // ... poll
 * }
 * }</pre>
 *
 * @see SendRequests#prepare
 * @see PreparedReceives
 */
public final class PreparedSends extends PreparedRequests<PreparedSends> {
  /*
   * What is known about a request of memory at the peer, at distances from its entry: the address
   * that an offset begins at, the largest offset (a negative one if the request uses no memory of
   * the peer), the bits that an offset must not have, and the number of bytes that are transferred.
   */
  private static final long REMOTE_BASE = MAX_LENGTH + Long.BYTES;
  private static final long REMOTE_LIMIT = REMOTE_BASE + Long.BYTES;
  private static final long MISALIGNED = REMOTE_LIMIT + Long.BYTES;
  private static final long TRANSFERRED = MISALIGNED + Long.BYTES;

  private final QueuePair queuePair;
  private final @Nullable ChainPosting sending;

  PreparedSends(Target target, QueuePair queuePair, RequestCopies copies, Set<Referent> referents) {
    super(target, copies, referents);
    this.queuePair = queuePair;
    this.sending = queuePair.sending();
  }

  /** The remote address of an atomic is at the same place as that of a write. */
  private static final long REMOTE_ADDR = REQUEST + SendLayout.RDMA_REMOTE_ADDR;

  private static final long REMOTE_BYTES = REQUEST + SendLayout.REMOTE_BYTES;
  private static final long OPCODE = REQUEST + SendLayout.OPCODE;
  private static final long FLAGS = REQUEST + SendLayout.SEND_FLAGS;

  /** Stores what is known about the peer's memory that the request of an entry uses. */
  static void describeRemote(long entry, long transferred) {
    int opcode = RawMemory.getInt(entry + OPCODE);
    RawMemory.putLong(entry + REMOTE_BASE, RawMemory.getLong(entry + REMOTE_ADDR));
    RawMemory.putLong(entry + REMOTE_LIMIT, isRemote(opcode) ? 0 : -1);
    RawMemory.putLong(entry + MISALIGNED, isAtomic(opcode) ? Long.BYTES - 1 : 0);
    RawMemory.putLong(entry + TRANSFERRED, isAtomic(opcode) ? Long.BYTES : transferred);
    if (isAtomic(opcode)) {
      RawMemory.putLong(entry + MAX_LENGTH, 0);
    }
  }

  private static boolean isRemote(int opcode) {
    return opcode == SendLayout.RDMA_WRITE
        || opcode == SendLayout.RDMA_WRITE_WITH_IMM
        || opcode == SendLayout.RDMA_READ
        || isAtomic(opcode);
  }

  /** Returns whether a request transfers exactly 8 bytes. */
  private static boolean isAtomic(int opcode) {
    return opcode == SendLayout.COMPARE_AND_SWAP
        || opcode == SendLayout.FETCH_AND_ADD
        || opcode == SendLayout.ATOMIC_WRITE;
  }

  /**
   * Says how many bytes of the peer's memory a read, write or atomic may use, beginning at the
   * remote address that it was built with. This allows {@link #remoteOffset} to move it. Unless
   * this is called, it cannot be moved.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @param bytes the number of bytes, at least as many as the request transfers; at most the bytes
   *     that follow in the {@link RemoteMemory} that the request was built with, if it was built
   *     with one
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request, or the RemoteMemory ends before
   * @throws IllegalArgumentException if the request transfers more bytes
   * @throws IllegalStateException if the request does not use memory of the peer, or the queue pair
   *     is closed
   */
  public PreparedSends remoteBytes(int index, long bytes) {
    long entry = at(index);
    if (RawMemory.getLong(entry + REMOTE_LIMIT) < 0) {
      throw notRemote(index);
    }
    long transferred = RawMemory.getLong(entry + TRANSFERRED);
    if (bytes < transferred) {
      throw new IllegalArgumentException(
          "remoteBytes of request %d is %d, must be at least the %d bytes that it transfers"
              .formatted(index, bytes, transferred));
    }
    long named = RawMemory.getLong(entry + REMOTE_BYTES);
    if (bytes > named) {
      throw new IndexOutOfBoundsException(
          "remoteBytes of request %d is %d, must be at most the %d bytes that the RemoteMemory has there"
              .formatted(index, bytes, named));
    }
    RawMemory.putLong(entry + REMOTE_LIMIT, bytes - transferred);
    return this;
  }

  /**
   * Moves a read, write or atomic to another place in the peer's memory.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @param offset the offset from the remote address that the request was built with, in bytes; the
   *     request must stay within {@link #remoteBytes} with the length that it was built with
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request, or it would not stay within
   * @throws IllegalArgumentException if the request is an atomic and the offset is not divisible by
   *     8
   * @throws IllegalStateException if the request does not use memory of the peer, or the queue pair
   *     is closed
   */
  public PreparedSends remoteOffset(int index, long offset) {
    long entry = at(index);
    long limit = RawMemory.getLong(entry + REMOTE_LIMIT);
    if (offset < 0 || offset > limit || (offset & RawMemory.getLong(entry + MISALIGNED)) != 0) {
      throw badRemoteOffset(index, offset, limit);
    }
    RawMemory.putLong(entry + REMOTE_ADDR, RawMemory.getLong(entry + REMOTE_BASE) + offset);
    return this;
  }

  /**
   * Sets the immediate data of a request that was built with some.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @param immediate the number that the receiver's completion carries, see {@link
   *     SendRequests#sendWithImmediate}
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request
   * @throws IllegalStateException if the request has no immediate data, or the queue pair is closed
   */
  public PreparedSends immediate(int index, int immediate) {
    long entry = at(index);
    int opcode = RawMemory.getInt(entry + OPCODE);
    if (opcode != SendLayout.SEND_WITH_IMM && opcode != SendLayout.RDMA_WRITE_WITH_IMM) {
      throw otherOperation(index, "sendWithImmediate or writeWithImmediate");
    }
    RawMemory.putInt(entry + REQUEST + SendLayout.IMM_DATA, NetworkOrder.of(immediate));
    return this;
  }

  /**
   * Sets the numbers of an atomic compare-and-swap.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @param expected the expected value
   * @param replacement the new value
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request
   * @throws IllegalStateException if the request is not a compare-and-swap, or the queue pair is
   *     closed
   */
  public PreparedSends compareAndSwap(int index, long expected, long replacement) {
    long entry = at(index);
    if (RawMemory.getInt(entry + OPCODE) != SendLayout.COMPARE_AND_SWAP) {
      throw otherOperation(index, "compareAndSwap");
    }
    RawMemory.putLong(entry + REQUEST + SendLayout.ATOMIC_COMPARE_ADD, expected);
    RawMemory.putLong(entry + REQUEST + SendLayout.ATOMIC_SWAP, replacement);
    return this;
  }

  /**
   * Sets the number that an atomic fetch-and-add adds.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @param addend the number to add
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request
   * @throws IllegalStateException if the request is not a fetch-and-add, or the queue pair is
   *     closed
   */
  public PreparedSends fetchAndAdd(int index, long addend) {
    long entry = at(index);
    if (RawMemory.getInt(entry + OPCODE) != SendLayout.FETCH_AND_ADD) {
      throw otherOperation(index, "fetchAndAdd");
    }
    RawMemory.putLong(entry + REQUEST + SendLayout.ATOMIC_COMPARE_ADD, addend);
    return this;
  }

  /**
   * Sets whether a request creates a completion also when it succeeds, {@code IBV_SEND_SIGNALED}.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @param signaled whether it does
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request
   */
  public PreparedSends signaled(int index, boolean signaled) {
    long flags = at(index) + FLAGS;
    int others = RawMemory.getInt(flags) & ~SendLayout.SIGNALED;
    RawMemory.putInt(flags, signaled ? others | SendLayout.SIGNALED : others);
    return this;
  }

  /**
   * Returns the bytes that a request sends inline, if they were copied from a memory segment. The
   * program may change them between posts; a change during a post may send some old and some new
   * bytes.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @return the bytes, with the length that the request was built with
   * @throws IndexOutOfBoundsException if there is no such request
   * @throws IllegalStateException if the request has no such bytes, or the queue pair is closed
   */
  public MemorySegment inlineBytes(int index) {
    long entry = at(index);
    long address = RawMemory.getLong(entry + REQUEST + SendLayout.SIZE + RequestLayout.SGE_ADDR);
    long offset = address - memory().address();
    boolean isInline = (RawMemory.getInt(entry + FLAGS) & SendLayout.INLINE) != 0;
    if (!isInline || offset < 0 || offset >= memory().byteSize()) {
      throw new IllegalStateException(
          "request " + index + " has no inline bytes of a memory segment");
    }
    return memory().asSlice(offset, RawMemory.getLong(entry + MAX_LENGTH));
  }

  @Override
  int requestSize() {
    return SendLayout.SIZE;
  }

  @Override
  PreparedSends self() {
    return this;
  }

  @Override
  PostException refusal(int errno, int index) {
    return SendRequests.refusal(queuePair, errno, index);
  }

  @Override
  protected boolean isFree() {
    return queuePair.takesSends() && super.isFree();
  }

  @Override
  protected void inspect() {
    queuePair.checkSends();
    super.inspect();
  }

  @Override
  protected int postExtended(long requests, long badRequest) {
    return sending == null
        ? super.postExtended(requests, badRequest)
        : sending.post(requests, badRequest);
  }

  private static RuntimeException badRemoteOffset(int index, long offset, long limit) {
    if (limit < 0) {
      return notRemote(index);
    }
    if (offset < 0 || offset > limit) {
      return new IndexOutOfBoundsException(
          ("remoteOffset of request %d is %d, must be from 0 to %d; remoteBytes says how much of"
                  + " the peer's memory it may use")
              .formatted(index, offset, limit));
    }
    return new IllegalArgumentException(
        "remoteOffset of request " + index + " is " + offset + ", must be divisible by 8");
  }

  private static IllegalStateException notRemote(int index) {
    return new IllegalStateException("request " + index + " uses no memory of the peer");
  }

  private static IllegalStateException otherOperation(int index, String operation) {
    return new IllegalStateException("request " + index + " was not built with " + operation);
  }
}
