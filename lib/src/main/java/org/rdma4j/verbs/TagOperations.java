package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_ops_wr;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.RawMemory;

/**
 * A batch of tag operations on a shared receive queue, {@code struct ibv_ops_wr}: they are built in
 * place in native memory and posted in one call. A tagged receive takes only messages whose tag
 * matches.
 *
 * <pre>{@code
 * TagOperations operations = queue.tagOperations(16);
 * operations.add(1).tag(42, -1, 7).into(region, 0, 4096);
 * operations.post();
 * int handle = operations.handle(0);
 * operations.add(2).remove(handle).signaled();
 * operations.post();
 * }</pre>
 *
 * <p>A batch belongs to the first thread that uses it, until that thread calls {@link #release}.
 * Every method but {@link #size} throws IllegalStateException if another thread owns the batch or
 * the queue is closed, which their descriptions do not repeat. If the queue is closed during a
 * post, the close waits until the post returns.
 *
 * @see SharedReceiveQueue#tagOperations
 * @see org.rdma4j.verbs.attribute.TagMatchingCapabilities
 */
// Users cannot name the superclass, nor call it: its members are protected, and this is final.
public final class TagOperations extends HotCall {
  private static final long WR_ID = ibv_ops_wr.wr_id$offset();
  private static final long NEXT = ibv_ops_wr.next$offset();
  private static final long OPCODE = ibv_ops_wr.opcode$offset();
  private static final long FLAGS = ibv_ops_wr.flags$offset();
  private static final long TM = ibv_ops_wr.tm$offset();
  private static final long UNEXPECTED_CNT = TM + ibv_ops_wr.tm.unexpected_cnt$offset();
  private static final long HANDLE = TM + ibv_ops_wr.tm.handle$offset();
  private static final long ADD = TM + ibv_ops_wr.tm.add$offset();
  private static final long RECV_WR_ID = ADD + ibv_ops_wr.tm.add.recv_wr_id$offset();
  private static final long SG_LIST = ADD + ibv_ops_wr.tm.add.sg_list$offset();
  private static final long NUM_SGE = ADD + ibv_ops_wr.tm.add.num_sge$offset();
  private static final long TAG = ADD + ibv_ops_wr.tm.add.tag$offset();
  private static final long MASK = ADD + ibv_ops_wr.tm.add.mask$offset();
  private static final long SIZE = ibv_ops_wr.layout().byteSize();
  private static final long SGE_SIZE = ibv_sge.layout().byteSize();
  private static final int TAG_ADD = rdma_h.IBV_WR_TAG_ADD();
  private static final int TAG_DEL = rdma_h.IBV_WR_TAG_DEL();
  private static final int TAG_SYNC = rdma_h.IBV_WR_TAG_SYNC();
  private static final long MAX_LENGTH = 0xffff_ffffL;

  private final Set<Integer> tagHandles;
  private final int max;
  private final int maxPieces;
  private final long stride;

  /**
   * First 8 bytes for the pointer to a refused operation, then the operations, each with its list
   * of pieces.
   */
  private final MemorySegment memory;

  private final int[] handles;
  private int firstKept;
  private int added;
  private int posted;

  /**
   * Creates an empty batch.
   *
   * @param target the function that posts the operations
   * @param max the maximum number of operations
   * @param maxPieces the maximum number of pieces of a tagged receive
   * @param tagHandles the handles that operations on the queue have returned; a provider uses a
   *     handle as an array index without checking it
   */
  TagOperations(Target target, int max, int maxPieces, Set<Integer> tagHandles) {
    super(target);
    this.max = max;
    this.maxPieces = maxPieces;
    this.tagHandles = tagHandles;
    this.stride = SIZE + maxPieces * SGE_SIZE;
    this.memory = Arena.ofAuto().allocate(Long.BYTES + max * stride, Long.BYTES);
    this.handles = new int[max];
  }

  /**
   * Begins the next operation. Until other methods change it, the operation is an {@code
   * IBV_WR_TAG_SYNC} that does nothing.
   *
   * @param id the number that identifies the operation in its completion
   * @return this
   * @throws IllegalStateException if the batch is full
   */
  public TagOperations add(long id) {
    own();
    if (added == max) {
      throw new IllegalStateException(
          "all "
              + max
              + " operations of the batch are in use; call post(), or create a larger batch");
    }
    long operation = address(added);
    memory.asSlice(operation - memory.address(), SIZE).fill((byte) 0);
    RawMemory.putLong(operation + WR_ID, id);
    RawMemory.putInt(operation + OPCODE, TAG_SYNC);
    RawMemory.putLong(operation + SG_LIST, operation + SIZE);
    if (added > firstKept) {
      RawMemory.putLong(address(added - 1) + NEXT, operation);
    }
    added++;
    return this;
  }

  /**
   * Makes the operation add a tagged receive, {@code IBV_WR_TAG_ADD}. {@link #into} adds its
   * memory. After the post, {@link #handle} returns its handle.
   *
   * @param tag the tag
   * @param mask the bits of the tag that a message must have in common with it
   * @param receiveId the number that identifies the receive in its completion
   * @return this
   * @throws IllegalStateException if there is no operation
   */
  public TagOperations tag(long tag, long mask, long receiveId) {
    long operation = current();
    RawMemory.putInt(operation + OPCODE, TAG_ADD);
    RawMemory.putLong(operation + TAG, tag);
    RawMemory.putLong(operation + MASK, mask);
    RawMemory.putLong(operation + RECV_WR_ID, receiveId);
    return this;
  }

  /**
   * Adds a piece of memory (scatter/gather element) to a tagged receive.
   *
   * @param region the memory region that contains the piece; it must belong to the queue's
   *     protection domain and have LOCAL_WRITE
   * @param offset the offset of the piece in the region, in bytes
   * @param length the length of the piece in bytes, 0 to 4 GiB - 1
   * @return this
   * @throws IndexOutOfBoundsException if the piece does not lie within the region
   * @throws IllegalArgumentException if the operation already has the maximum number of pieces, or
   *     the length is out of range
   * @throws IllegalStateException if there is no operation, or the region is closed
   */
  public TagOperations into(MemoryRegion region, long offset, long length) {
    long operation = current();
    int pieces = RawMemory.getInt(operation + NUM_SGE);
    if (pieces >= maxPieces) {
      throw new IllegalArgumentException(
          "a tagged receive of this queue has at most " + maxPieces + " pieces");
    }
    if (length > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "length is " + length + ", must be at most " + MAX_LENGTH + " bytes");
    }
    long address = region.addressOf(offset, length);
    if (length != 0) {
      MemorySegment sge =
          memory.asSlice(operation + SIZE + pieces * SGE_SIZE - memory.address(), SGE_SIZE);
      ibv_sge.addr(sge, address);
      ibv_sge.length(sge, (int) length);
      ibv_sge.lkey(sge, region.key());
      RawMemory.putInt(operation + NUM_SGE, pieces + 1);
    }
    return this;
  }

  /**
   * Makes the operation remove a tagged receive, {@code IBV_WR_TAG_DEL}.
   *
   * @param handle the value that {@link #handle} returned for the tagged receive
   * @return this
   * @throws IllegalArgumentException if no operation on this queue has returned this handle
   * @throws IllegalStateException if there is no operation
   */
  public TagOperations remove(int handle) {
    long operation = current();
    if (!tagHandles.contains(handle)) {
      throw new IllegalArgumentException(
          "handle is "
              + handle
              + ", must be a handle that an operation on this queue has returned");
    }
    RawMemory.putInt(operation + OPCODE, TAG_DEL);
    RawMemory.putInt(operation + HANDLE, handle);
    return this;
  }

  /**
   * Informs the device how many messages without a matching receive this process has received,
   * {@code IBV_OPS_TM_SYNC}. The device matches no messages until it knows that the process has
   * received all of these.
   *
   * @param unexpected the number of completions of such messages that were polled so far
   * @return this
   * @throws IllegalStateException if there is no operation
   */
  public TagOperations synchronize(int unexpected) {
    long operation = flag(rdma_h.IBV_OPS_TM_SYNC());
    RawMemory.putInt(operation + UNEXPECTED_CNT, unexpected);
    return this;
  }

  /**
   * Makes the operation create a completion, {@code IBV_OPS_SIGNALED}.
   *
   * @return this
   * @throws IllegalStateException if there is no operation
   */
  public TagOperations signaled() {
    flag(rdma_h.IBV_OPS_SIGNALED());
    return this;
  }

  /**
   * Posts the operations in one call, {@code ibv_post_srq_ops}, and empties the batch. Returns
   * without a call if there are none.
   *
   * @return the number of operations that were posted
   * @throws PostException if the provider refuses an operation: ENOMEM if too many are outstanding;
   *     this operation and those after it are kept
   * @throws IllegalStateException if the queue is closed; the operations are kept
   */
  public int post() {
    own();
    if (size() == 0) {
      return 0;
    }
    RawMemory.putLong(memory.address(), 0);
    int errno = post(address(firstKept), memory.address());
    long refused = RawMemory.getLong(memory.address());
    posted = errno == 0 ? size() : refused == 0 ? 0 : index(refused) - firstKept;
    for (int i = 0; i < posted; i++) {
      keepHandle(i, address(firstKept + i));
    }
    if (errno == 0) {
      clear();
      return posted;
    }
    if (refused == 0) {
      clear();
      throw new PostException("ibv_post_srq_ops", errno, PostException.UNKNOWN);
    }
    firstKept = index(refused);
    throw new PostException("ibv_post_srq_ops", errno, posted);
  }

  private void keepHandle(int index, long operation) {
    handles[index] = RawMemory.getInt(operation + HANDLE);
    if (RawMemory.getInt(operation + OPCODE) == TAG_ADD) {
      tagHandles.add(handles[index]);
    }
  }

  /**
   * Returns the handle of a tagged receive of the last post, {@code tm.handle}.
   *
   * @param index the index of its operation among the posted operations, from 0
   * @return the handle, for {@link #remove}
   * @throws IndexOutOfBoundsException if the last post had fewer operations
   */
  public int handle(int index) {
    own();
    return handles[Objects.checkIndex(index, posted)];
  }

  /**
   * Returns the number of operations in this batch, which {@link #post} will post.
   *
   * @return the number of operations
   */
  public int size() {
    return added - firstKept;
  }

  /** Drops the operations in this batch. */
  public void clear() {
    own();
    firstKept = 0;
    added = 0;
  }

  /**
   * Ends the ownership of this batch by the current thread. The next thread that uses it becomes
   * its owner.
   */
  public void release() {
    releaseOwnership();
  }

  private long flag(int flag) {
    long operation = current();
    RawMemory.putInt(operation + FLAGS, RawMemory.getInt(operation + FLAGS) | flag);
    return operation;
  }

  private long current() {
    check();
    if (size() == 0) {
      throw new IllegalStateException("the batch has no operation to change; call add(id) first");
    }
    return address(added - 1);
  }

  private long address(int index) {
    return memory.address() + Long.BYTES + index * stride;
  }

  private int index(long operation) {
    return (int) ((operation - address(0)) / stride);
  }
}
