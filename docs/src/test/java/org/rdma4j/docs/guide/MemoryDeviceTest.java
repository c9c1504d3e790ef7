package org.rdma4j.docs.guide;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.docs.guide.Peers.TIMEOUT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.memory.Slab;
import org.rdma4j.memory.SlabPool;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.HugePages;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.MemoryWindow;
import org.rdma4j.verbs.MemoryWindowType;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.SendRequests;

/** The code of docs/guide/memory.md and docs/guide/visibility.md. */
@Tag("device")
@Tag("needs-connecting-by-address")
@Timeout(200)
class MemoryDeviceTest {
  @Test
  void memoryIsAllocatedOrYours(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("data");
    try (Peers peers = new Peers()) {
      ProtectionDomain domain = peers.domain;
      // snippet: register
      // New memory, of whole pages. It is freed when the region is closed.
      MemoryRegion region = domain.register(1 << 20, AccessFlag.LOCAL_WRITE);
      MemorySegment segment = region.segment();
      ByteBuffer buffer = region.byteBuffer();

      // Your own memory. The region is closed before the arena frees it.
      Arena arena = Arena.ofShared();
      MemorySegment own = arena.allocate(1 << 20, 4096);
      MemoryRegion ofOwn = domain.register(MemoryRegionConfig.of(arena, own));

      // A mapped file.
      try (FileChannel file = FileChannel.open(path, CREATE, READ, WRITE)) {
        MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20, arena);
        domain.register(MemoryRegionConfig.of(arena, mapped).access(AccessFlag.LOCAL_WRITE));
      }
      // end
      assertThat(segment.byteSize()).isEqualTo(buffer.capacity());
      arena.close();
      assertThatThrownBy(() -> ofOwn.checkOpen()).isInstanceOf(IllegalStateException.class);
    }
  }

  @Tag("needs-soft-roce")
  @Test
  void aSliceIsAPartOfARegion() {
    try (Peers peers = new Peers()) {
      QueuePair queuePair = peers.queuePair;
      MemoryRegion memory = peers.memory;
      // snippet: slice
      MemorySlice header = memory.slice(0, 64);
      MemorySlice body = memory.slice(64, 4096);
      header.byteBuffer().putLong(42);
      body.segment().fill((byte) 1);

      SendRequests requests = queuePair.sendRequests(1);
      requests.add(1).from(header).from(body); // one message, gathered from two places
      // end
      assertThat(requests.size()).isEqualTo(1);
    }
  }

  @Test
  void aWriteReachesMemoryThatThePeerHasNamed() throws Exception {
    try (Peers peers = new Peers()) {
      MemoryRegion memory = peers.memory;
      MemoryRegion peerMemory = peers.peerMemory;
      QueuePair queuePair = peers.queuePair;
      // snippet: name
      // The owner of the memory sends its address, in a message or in private data.
      ByteBuffer message = ByteBuffer.allocate(RemoteMemory.BYTES);
      RemoteMemory.of(peerMemory).write(message); // the address, the key and the length
      // end
      message.flip();
      Completions completions = peers.queue.completions(1);
      // snippet: write
      RemoteMemory named = RemoteMemory.read(message);
      memory.segment().setString(0, "written");
      queuePair
          .sendRequests(1)
          .add(1)
          .write(named, 128, 8) // within the bounds of the memory
          .from(memory, 0, 8)
          .signaled()
          .post();
      completions.await(TIMEOUT);
      completions.requireSuccess(0);
      // end
      assertThat(peerMemory.segment().getString(128)).isEqualTo("written");
    }
  }

  @Test
  void theReceiverOfAnImmediateSeesTheWrite() throws Exception {
    try (Peers peers = new Peers()) {
      QueuePair peer = peers.peer;
      CompletionQueue peerQueue = peers.peerQueue;
      MemoryRegion memory = peers.memory;
      MemoryRegion peerMemory = peers.peerMemory;
      SendRequests requests = peers.queuePair.sendRequests(1);
      long address = peerMemory.remoteAddress();
      int key = peerMemory.remoteKey();
      memory.segment().setString(0, "all of it");
      // snippet: immediate
      // The peer posts a receive without memory: the write needs none of its own.
      peer.receiveRequests(1).add(7).post();

      // The writer. 12 names for the peer what was written.
      requests.add(1).writeWithImmediate(address, key, 12).from(memory, 0, 10).post();

      // The peer. After this, it sees the whole write, and all writes before it.
      Completions arrived = peerQueue.completions(1);
      arrived.await(TIMEOUT);
      arrived.requireSuccess(0);
      int what = arrived.immediate(0);
      // end
      assertThat(what).isEqualTo(12);
      assertThat(peerMemory.segment().getString(0)).isEqualTo("all of it");
    }
  }

  @Test
  @SuppressWarnings("SystemOut")
  void aFlagThatIsWrittenLastAnnouncesTheData() {
    try (Peers peers = new Peers()) {
      QueuePair queuePair = peers.queuePair;
      MemoryRegion memory = peers.memory;
      MemoryRegion peerMemory = peers.peerMemory;
      long address = peerMemory.remoteAddress();
      int key = peerMemory.remoteKey();
      memory.segment().setString(0, "data");
      // snippet: flag
      VarHandle flag = ValueLayout.JAVA_LONG.varHandle();

      // The writer: the data, and then the flag, in two requests of one queue pair.
      memory.segment().set(ValueLayout.JAVA_LONG, 1024, 1);
      SendRequests requests = queuePair.sendRequests(2);
      requests.add(1).write(address, key).from(memory, 0, 8);
      requests.add(2).write(address + 1024, key).from(memory, 1024, 8);
      requests.post();

      // The peer. An ordinary read could be taken out of the loop by the compiler.
      while ((long) flag.getAcquire(peerMemory.segment(), 1024L) != 1) {
        Thread.onSpinWait();
      }
      // end
      assertThat(peerMemory.segment().getString(0)).isEqualTo("data");
    }
  }

  // snippet: seqlock-owner
  /** A price and a quantity. Its owner changes both together; peers read them at any time. */
  static final class Quote {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private final MemorySegment memory; // the sequence number, the price, the quantity

    Quote(MemoryRegion region) {
      this.memory = region.segment();
    }

    void set(long price, long quantity) {
      long sequence = (long) LONG.get(memory, 0L);
      LONG.setOpaque(memory, 0L, sequence + 1); // odd: a change is in progress
      VarHandle.releaseFence(); // the number before the data
      LONG.setOpaque(memory, 8L, price);
      LONG.setOpaque(memory, 16L, quantity);
      LONG.setRelease(memory, 0L, sequence + 2); // the data before the number
    }
  }

  // end

  // snippet: seqlock-reader
  /** Reads a quote of a peer until no change was in progress, and returns its two numbers. */
  static long[] read(
      SendRequests requests, Completions completions, MemoryRegion local, long address, int key)
      throws InterruptedException {
    while (true) {
      // A device executes the reads of one queue pair in their order.
      requests.add(1).read(address, key).into(local, 0, 8);
      requests.add(2).read(address + 8, key).into(local, 8, 16);
      requests.add(3).read(address, key).into(local, 24, 8).signaled();
      requests.post();
      if (completions.await(TIMEOUT) == 0) {
        throw new IllegalStateException("no answer within " + TIMEOUT);
      }
      completions.requireSuccess(0);
      MemorySegment copy = local.segment();
      long before = copy.get(ValueLayout.JAVA_LONG, 0);
      long after = copy.get(ValueLayout.JAVA_LONG, 24);
      if (before == after && before % 2 == 0) {
        return new long[] {copy.get(ValueLayout.JAVA_LONG, 8), copy.get(ValueLayout.JAVA_LONG, 16)};
      }
    }
  }

  // end

  @Test
  void aSequenceLockLetsPeersReadConsistentData() throws Exception {
    try (Peers peers = new Peers()) {
      Quote quote = new Quote(peers.peerMemory);
      AtomicBoolean done = new AtomicBoolean();
      Thread owner =
          new Thread(
              () -> {
                for (long i = 0; !done.get(); i++) {
                  quote.set(i, -i);
                }
              });
      owner.start();
      try {
        SendRequests requests = peers.queuePair.sendRequests(3);
        Completions completions = peers.queue.completions(1);
        for (int i = 0; i < 200; i++) {
          long[] numbers =
              read(
                  requests,
                  completions,
                  peers.memory,
                  peers.peerMemory.remoteAddress(),
                  peers.peerMemory.remoteKey());
          assertThat(numbers[1]).isEqualTo(-numbers[0]);
        }
      } finally {
        done.set(true);
        owner.join();
      }
    }
  }

  @Test
  void aWindowGivesAccessThatCanBeTakenBack() throws Exception {
    try (Peers peers = new Peers()) {
      ProtectionDomain domain = peers.domain;
      QueuePair queuePair = peers.queuePair;
      Completions completions = peers.queue.completions(1);
      // snippet: window
      MemoryRegion region =
          domain.register(1 << 20, AccessFlag.LOCAL_WRITE, AccessFlag.MEMORY_WINDOW_BIND);
      MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
      SendRequests requests = queuePair.sendRequests(1);
      requests.add(1).bind(window, region.slice(0, 4096), AccessFlag.REMOTE_READ).signaled().post();
      completions.await(TIMEOUT);
      completions.requireSuccess(0);
      int key = window.remoteKey(); // of the 4096 bytes, for this queue pair's peer alone

      requests.add(2).invalidate(key).signaled().post(); // the key is worthless now
      completions.await(TIMEOUT);
      completions.requireSuccess(0);
      // end
      assertThat(key).isNotEqualTo(region.remoteKey());
    }
  }

  @Test
  void hugePagesAreUsedIfThereAreAny() {
    try (Peers peers = new Peers()) {
      ProtectionDomain domain = peers.domain;
      // snippet: huge
      MemoryRegion region;
      try {
        region = domain.register(MemoryRegionConfig.allocate(64 << 20, HugePages.OF_2_MIB));
      } catch (RdmaException none) {
        // The message says how to reserve them: /proc/sys/vm/nr_hugepages.
        region = domain.register(64 << 20);
      }
      // end
      assertThat(region.byteSize()).isEqualTo(64 << 20);
    }
  }

  @Test
  void aPoolLendsSlabs() throws Exception {
    try (Peers peers = new Peers()) {
      ProtectionDomain domain = peers.domain;
      QueuePair queuePair = peers.queuePair;
      peers.peer.receiveRequests(1).add(1).into(peers.peerMemory, 0, 64).post();
      Completions completions = peers.queue.completions(1);
      // snippet: pool
      SlabPool pool = SlabPool.register(domain, 1024, 4096, AccessFlag.LOCAL_WRITE);

      Slab slab = pool.acquire(TIMEOUT);
      slab.segment().setString(0, "hello");
      SendRequests requests = queuePair.sendRequests(1);
      requests.add(slab.ticket()).from(slab.slice().slice(0, 6)).signaled().post();

      completions.await(TIMEOUT);
      completions.requireSuccess(0);
      pool.release(completions.workRequestId(0)); // the ticket says which slab
      // end
      assertThat(pool.inUse()).isZero();
    }
  }

  @Tag("kernel")
  @Test
  void aDmaBufferOfAGpuCanBeRegistered() {
    try (Peers peers = new Peers()) {
      assertThatThrownBy(() -> registerGpuMemory(peers.domain, 0, 4096))
          .isInstanceOf(UnsupportedByDeviceException.class);
    }
  }

  private static MemoryRegion registerGpuMemory(
      ProtectionDomain domain, int descriptor, long length) {
    // snippet: dmabuf
    // The descriptor comes from the GPU's driver: with CUDA, cuMemGetHandleForAddressRange.
    return domain.register(
        MemoryRegionConfig.ofDmaBuffer(descriptor, 0, length)
            .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
    // end
  }
}
