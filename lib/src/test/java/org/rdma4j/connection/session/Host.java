package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
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
  /** The key of memory that users let the peer access. */
  static final int SHARED = 2;

  private final int depth;
  private final boolean hasWindows;

  /** Those of the hello of each of its connections. */
  final int features;

  private final TreeMap<Long, Range> memory = new TreeMap<>();
  private long nextAddress = 1 << 16;
  private int nextKey = SHARED + 1;

  /** The receives that are posted. */
  final Deque<Buffer> posted = new ArrayDeque<>();

  /** Whether no memory can be registered now, and no receive posted. */
  boolean outOfMemory;

  final BufferPool pool;
  final LargeBuffers largeBuffers;
  final ReceiveSupply supply;

  Host(int bufferBytes, int features, Limits limits, long maxLargeBytes) {
    int maxBuffers = limits.buffers();
    this.depth = limits.depth();
    this.hasWindows = limits.hasWindows();
    this.features = features;
    this.pool = new BufferPool(this::register, bufferBytes, maxBuffers);
    this.largeBuffers = new LargeBuffers(longMemory(), maxLargeBytes);
    this.supply = new ReceiveSupply(pool, this);
  }

  private BufferMemory register(long bytes) {
    checkMemory();
    return new PlainMemory(MemorySegment.ofArray(new byte[(int) bytes]));
  }

  private BufferMemory.Source longMemory() {
    return new BufferMemory.Source() {
      @Override
      public BufferMemory register(long bytes) {
        return Host.this.register(bytes);
      }

      @Override
      public BufferMemory reserve(long bytes, long first) {
        return new GrowingMemory(register(bytes).segment(), first, Host.this);
      }
    };
  }

  void checkMemory() {
    if (outOfMemory) {
      throw new RdmaException("register", ErrorNumber.ENOMEM.value());
    }
  }

  /** Lets all peers access memory of a user; returns its address. */
  long share(UserRegion region) {
    return add(region.segment, SHARED, null).address();
  }

  /** Exposes memory that a device is about to offer. */
  Range expose(MemorySegment segment, Device device) {
    return add(segment, nextKey++, hasWindows ? device : null);
  }

  /** Lets peers access memory no more. */
  void revoke(long address) {
    memory.remove(address);
  }

  private Range add(MemorySegment segment, int key, @Nullable Device device) {
    Range added = new Range(segment, nextAddress, key, device);
    memory.put(nextAddress, added);
    nextAddress += segment.byteSize() + 4096;
    return added;
  }

  /** Checks that no peer can access the memory of a buffer that has a new use. */
  void checkPrivate(Buffer buffer) {
    for (Range each : exposed()) {
      assertThat(each.isAccessible() && each.isIn(buffer.bytes()))
          .as("a peer can access the memory of a buffer that is used again")
          .isFalse();
    }
  }

  /** Returns what was exposed to be offered, and has not ended. */
  List<Range> exposed() {
    memory.values().removeIf(Range::hasEnded);
    return memory.values().stream().filter(each -> each.key() != SHARED).toList();
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
      checkPrivate(buffers[i]);
      posted.addLast(buffers[i]);
    }
  }

  /** Returns memory that the peer of a device accesses; null if it must not. */
  @Nullable MemorySegment access(Device device, long address, int key, long bytes) {
    Map.Entry<Long, Range> found = memory.floorEntry(address);
    if (found == null || !found.getValue().isAccessible(device, key)) {
      return null;
    }
    long offset = address - found.getKey();
    MemorySegment segment = found.getValue().segment;
    return offset > segment.byteSize() - bytes ? null : segment.asSlice(offset, bytes);
  }
}
