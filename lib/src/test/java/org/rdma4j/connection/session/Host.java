package org.rdma4j.connection.session;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferMemory;
import org.rdma4j.connection.buffers.BufferPool;
import org.rdma4j.connection.buffers.LargeBuffers;
import org.rdma4j.connection.buffers.PlainMemory;
import org.rdma4j.connection.buffers.ReceiveQueue;
import org.rdma4j.connection.buffers.ReceiveSupply;

/** One side of the simulation: what the sessions of a node share, without a device. */
final class Host implements ReceiveQueue {
  /** The key of buffers. */
  static final int BUFFERS = 1;

  /** The key of memory that users let the peer access. */
  static final int SHARED = 2;

  private final int depth;
  private final TreeMap<Long, PlainMemory> memory = new TreeMap<>();
  private long nextAddress = 1 << 16;

  /** The receives that are posted. */
  final Deque<Buffer> posted = new ArrayDeque<>();

  /** Whether no memory can be registered now, and no receive posted. */
  boolean outOfMemory;

  final BufferPool pool;
  final LargeBuffers largeBuffers;
  final ReceiveSupply supply;

  Host(int bufferBytes, int maxBuffers, int depth, long maxLargeBytes) {
    this.depth = depth;
    this.pool = new BufferPool(this::register, bufferBytes, maxBuffers);
    this.largeBuffers = new LargeBuffers(this::register, maxLargeBytes);
    this.supply = new ReceiveSupply(pool, this);
  }

  private BufferMemory register(long bytes) {
    if (outOfMemory) {
      throw new RdmaException("register", ErrorNumber.ENOMEM.value());
    }
    return add(MemorySegment.ofArray(new byte[(int) bytes]), BUFFERS);
  }

  /** Lets peers access memory of a user, in the way in which buffers are; returns its address. */
  long expose(UserRegion region, int key) {
    return add(region.segment, key).remoteAddress();
  }

  /** Lets peers access memory no more. */
  void revoke(long address) {
    memory.remove(address);
  }

  private PlainMemory add(MemorySegment segment, int key) {
    PlainMemory registered = new PlainMemory(segment, nextAddress, key);
    memory.put(nextAddress, registered);
    nextAddress += segment.byteSize() + 4096;
    return registered;
  }

  @Override
  public int depth() {
    return depth;
  }

  @Override
  public void post(Buffer[] buffers, int count) {
    if (outOfMemory) {
      throw new RdmaException("post", ErrorNumber.ENOMEM.value());
    }
    for (int i = 0; i < count; i++) {
      posted.addLast(buffers[i]);
    }
  }

  /** Returns memory that a peer accesses; null if it must not. */
  @Nullable MemorySegment access(long address, int key, long bytes) {
    Map.Entry<Long, PlainMemory> found = memory.floorEntry(address);
    if (found == null || found.getValue().remoteKey() != key) {
      return null;
    }
    long offset = address - found.getKey();
    MemorySegment segment = found.getValue().segment();
    return offset > segment.byteSize() - bytes ? null : segment.asSlice(offset, bytes);
  }
}
