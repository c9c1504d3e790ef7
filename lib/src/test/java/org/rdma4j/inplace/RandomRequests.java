package org.rdma4j.inplace;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.RequestLayout;
import org.rdma4j.datapath.SendLayout;

/** Chains of random requests, as {@code struct ibv_send_wr} or {@code struct ibv_recv_wr}. */
final class RandomRequests {
  static final int MAX = 6;
  static final int PIECES = 5;
  static final int INLINE_BYTES = 150;

  private static final int STRIDE = 256;

  private final MemorySegment memory = Arena.ofAuto().allocate(MAX * STRIDE + 8, 64);
  private final MemorySegment data = Arena.ofAuto().allocate(1 << 16, 64);
  private final Random random;

  /** The number of requests of the last chain. */
  private int count;

  RandomRequests(long seed) {
    random = new Random(seed);
    byte[] bytes = new byte[(int) data.byteSize()];
    random.nextBytes(bytes);
    MemorySegment.copy(bytes, 0, data, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, bytes.length);
  }

  Random random() {
    return random;
  }

  int count() {
    return count;
  }

  long first() {
    return memory.address();
  }

  /** The address of the word for the address of a refused request. */
  long refused() {
    return memory.address() + MAX * STRIDE;
  }

  /** Returns the index of the request that was refused; -1 if none was. */
  int refusedIndex() {
    long address = RawMemory.getLong(refused());
    return address == 0 ? -1 : (int) (address - first()) / STRIDE;
  }

  /** Makes a chain of sends of an opcode, to an address handle if it is not 0. */
  void sends(int opcode, long handle) {
    begin();
    for (int i = 0; i < count; i++) {
      long request = first() + (long) i * STRIDE;
      int flags = random.nextInt(4) == 0 ? 0 : SendLayout.SIGNALED;
      flags |= random.nextInt(3) == 0 ? SendLayout.SOLICITED : 0;
      flags |= random.nextInt(3) == 0 ? SendLayout.FENCE : 0;
      RawMemory.putInt(request + SendLayout.OPCODE, opcode);
      RawMemory.putInt(request + SendLayout.IMM_DATA, random.nextInt());
      boolean isAtomic =
          opcode == SendLayout.COMPARE_AND_SWAP || opcode == SendLayout.FETCH_AND_ADD;
      if (handle != 0) {
        RawMemory.putLong(request + SendLayout.UD_AH, handle);
        RawMemory.putInt(request + SendLayout.UD_REMOTE_QPN, random.nextInt(1 << 24));
        RawMemory.putInt(request + SendLayout.UD_REMOTE_QKEY, random.nextInt());
      } else if (isAtomic) {
        RawMemory.putLong(request + SendLayout.ATOMIC_REMOTE_ADDR, random.nextLong());
        RawMemory.putLong(request + SendLayout.ATOMIC_COMPARE_ADD, random.nextLong());
        RawMemory.putLong(request + SendLayout.ATOMIC_SWAP, random.nextLong());
        RawMemory.putInt(request + SendLayout.ATOMIC_RKEY, random.nextInt());
      } else {
        RawMemory.putLong(request + SendLayout.RDMA_REMOTE_ADDR, random.nextLong());
        RawMemory.putInt(request + SendLayout.RDMA_RKEY, random.nextInt());
      }
      boolean canBeInline = !isAtomic && opcode != SendLayout.RDMA_READ;
      if (canBeInline && random.nextInt(3) == 0) {
        flags |= SendLayout.INLINE;
        int length = 1 + random.nextInt(INLINE_BYTES);
        long from = data.address() + random.nextInt(1000);
        piece(request, SendLayout.SIZE, 0, from, length, random.nextInt());
        RawMemory.putInt(request + RequestLayout.NUM_SGE, 1);
      } else {
        pieces(request, SendLayout.SIZE, random.nextInt(3) != 0 ? 1 : random.nextInt(PIECES + 1));
      }
      RawMemory.putInt(request + SendLayout.SEND_FLAGS, flags);
      link(request, SendLayout.SIZE, i);
    }
  }

  /** Makes a chain of receives. */
  void receives() {
    begin();
    for (int i = 0; i < count; i++) {
      long request = first() + (long) i * STRIDE;
      pieces(request, InPlaceReceives.REQUEST_SIZE, random.nextInt(PIECES + 1));
      link(request, InPlaceReceives.REQUEST_SIZE, i);
    }
  }

  private void begin() {
    count = random.nextInt(3) != 0 ? 1 : 1 + random.nextInt(MAX);
    memory.fill((byte) 0);
  }

  private void link(long request, int size, int index) {
    RawMemory.putLong(request + RequestLayout.WR_ID, random.nextLong());
    RawMemory.putLong(request + RequestLayout.SG_LIST, request + size);
    RawMemory.putLong(request + RequestLayout.NEXT, index == count - 1 ? 0 : request + STRIDE);
  }

  private void pieces(long request, int size, int pieces) {
    for (int i = 0; i < pieces; i++) {
      // RequestChain leaves out pieces of length 0.
      int length = 1 + random.nextInt(Integer.MAX_VALUE);
      piece(request, size, i, random.nextLong(), length, random.nextInt());
    }
    RawMemory.putInt(request + RequestLayout.NUM_SGE, pieces);
  }

  private static void piece(long request, int size, int index, long address, int length, int key) {
    long piece = request + size + (long) index * RequestLayout.SGE_SIZE;
    RawMemory.putLong(piece + RequestLayout.SGE_ADDR, address);
    RawMemory.putInt(piece + RequestLayout.SGE_LENGTH, length);
    RawMemory.putInt(piece + RequestLayout.SGE_LKEY, key);
  }
}
