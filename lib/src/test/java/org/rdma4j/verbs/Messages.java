package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.rdma4j.bindings.generated.ibv_send_wr;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.DataPath;

/** Messages between the ends of a {@link Loopback}, for tests of the memory that they use. */
public final class Messages {
  private Messages() {}

  /** Sends the whole source region to a target region of the same length, and compares them. */
  static void cross(Loopback loopback, MemoryRegion source, MemoryRegion target) {
    byte[] sent = random(source.byteSize());
    source.segment().copyFrom(MemorySegment.ofArray(sent));
    target.segment().fill((byte) 0);
    send(loopback, source.slice(0, sent.length), target.slice(0, sent.length));
    assertThat(target.segment().toArray(JAVA_BYTE)).isEqualTo(sent);
  }

  static void send(Loopback loopback, MemorySlice source, MemorySlice target) {
    loopback.b.receives.add(1).into(target);
    loopback.b.receives.post();
    loopback.a.sends.add(2).from(source).signaled();
    loopback.a.sends.post();
    assertThat(loopback.a.await(1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    Loopback.Done received = loopback.b.await(1).getFirst();
    assertThat(received.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(received.length()).isEqualTo(target.length());
  }

  public static byte[] random(long length) {
    byte[] bytes = new byte[Math.toIntExact(length)];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  /** Writes from end a to an address of end b with this key, and returns how that completed. */
  static CompletionStatus rdmaWrite(
      Loopback loopback, MemorySlice source, long remoteAddress, int remoteKey) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(ibv_send_wr.layout());
      MemorySegment sge = arena.allocate(ibv_sge.layout());
      ibv_sge.addr(sge, source.remoteAddress());
      ibv_sge.length(sge, (int) source.length());
      ibv_sge.lkey(sge, source.region().localKey());
      ibv_send_wr.opcode(request, rdma_h.IBV_WR_RDMA_WRITE());
      ibv_send_wr.sg_list(request, sge);
      ibv_send_wr.num_sge(request, 1);
      MemorySegment remote = ibv_send_wr.wr.rdma(ibv_send_wr.wr(request));
      ibv_send_wr.wr.rdma.remote_addr(remote, remoteAddress);
      ibv_send_wr.wr.rdma.rkey(remote, remoteKey);
      return complete(loopback, request);
    }
  }

  /** Posts a signaled request of end a with the bindings, and returns how it completed. */
  static CompletionStatus complete(Loopback loopback, MemorySegment request) {
    try (Arena arena = Arena.ofConfined()) {
      ibv_send_wr.send_flags(request, rdma_h.IBV_SEND_SIGNALED());
      MemorySegment bad = arena.allocate(rdma_h.C_POINTER);
      int errno =
          DataPath.ibv_post(
              DataPath.ibv_post_send$op(loopback.device.handle()),
              loopback.a.queuePair.handle().address(),
              request.address(),
              bad.address());
      assertThat(errno).isZero();
      return loopback.a.await(1).getFirst().status();
    }
  }
}
