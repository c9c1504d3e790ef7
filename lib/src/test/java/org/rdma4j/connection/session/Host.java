package org.rdma4j.connection.session;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
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
  private final int depth;
  private final TreeMap<Long, PlainMemory> memory = new TreeMap<>();

  /** The receives that are posted. */
  final Deque<Buffer> posted = new ArrayDeque<>();

  /** Whether no memory can be registered now, and no receive posted. */
  boolean outOfMemory;

  final BufferPool pool;
  final LargeBuffers largeBuffers;
  final ReceiveSupply supply;

  Host(int bufferBytes, int maxBuffers, int depth) {
    this.depth = depth;
    this.pool = new BufferPool(this::register, bufferBytes, maxBuffers);
    this.largeBuffers = new LargeBuffers(this::register, 1 << 20);
    this.supply = new ReceiveSupply(pool, this);
  }

  private BufferMemory register(long bytes) {
    if (outOfMemory) {
      throw new RdmaException("register", ErrorNumber.ENOMEM.value());
    }
    PlainMemory registered = PlainMemory.of(bytes);
    memory.put(registered.remoteAddress(), registered);
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

  /** Reads memory as a peer does; returns whether it may. */
  boolean read(long address, int key, Buffer target, long offset, long bytes) {
    Map.Entry<Long, PlainMemory> found = memory.floorEntry(address);
    if (found == null
        || found.getValue().remoteKey() != key
        || address + bytes > found.getKey() + found.getValue().segment().byteSize()) {
      return false;
    }
    target
        .segment()
        .asSlice(target.start() + offset, bytes)
        .copyFrom(found.getValue().segment().asSlice(address - found.getKey(), bytes));
    return true;
  }
}
