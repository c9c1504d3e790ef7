package org.rdma4j.bench.posts;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_cq;
import org.rdma4j.bindings.generated.ibv_qp;
import org.rdma4j.bindings.generated.ibv_send_wr;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.ibv_wc;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.verbs.MemoryRegion;

/**
 * The loops in Java through the bindings alone, without a check, a new request or a completion that
 * is read: what no layer above them can save. Each returns the nanoseconds that it took. A loop is
 * short enough for the garbage collector to wait for, which it does for critical calls.
 */
final class CallsAlone {
  private final boolean critical;
  private final long queuePair;
  private final long completionQueue;
  private final long postSend;
  private final long pollCq;
  private final long request;
  private final long badRequest;
  private final long completion;

  CallsAlone(SelfConnectedQueuePair adapter, CallStyle style) {
    Arena arena = Arena.global();
    MemoryRegion region = adapter.region();
    MemorySegment qp = adapter.queuePair().handle();
    MemorySegment cq = adapter.completionQueue().handle();
    MemorySegment piece = ibv_sge.allocate(arena);
    ibv_sge.addr(piece, region.remoteAddress());
    ibv_sge.length(piece, SelfConnectedQueuePair.MESSAGE);
    ibv_sge.lkey(piece, region.localKey());
    MemorySegment send = ibv_send_wr.allocate(arena);
    ibv_send_wr.sg_list(send, piece);
    ibv_send_wr.num_sge(send, 1);
    ibv_send_wr.opcode(send, rdma_h.IBV_WR_SEND());
    ibv_send_wr.send_flags(send, rdma_h.IBV_SEND_SIGNALED());
    critical = style == CallStyle.CRITICAL;
    queuePair = qp.address();
    completionQueue = cq.address();
    postSend = DataPath.ibv_post_send$op(ibv_qp.context(qp));
    pollCq = DataPath.ibv_poll_cq$op(ibv_cq.context(cq));
    request = send.address();
    badRequest = arena.allocate(Long.BYTES, Long.BYTES).address();
    completion = ibv_wc.allocate(arena).address();
  }

  long post() {
    long begin = System.nanoTime();
    for (int i = 0; i < Half.LOOP; i++) {
      int errno =
          critical
              ? DataPath.ibv_post$critical(postSend, queuePair, request, badRequest)
              : DataPath.ibv_post(postSend, queuePair, request, badRequest);
      if (errno != 0) {
        throw new IllegalStateException("post " + i + " failed with errno " + errno);
      }
    }
    return System.nanoTime() - begin;
  }

  long poll() {
    return poll(1);
  }

  long pollEmpty() {
    return poll(0);
  }

  private long poll(int expected) {
    long begin = System.nanoTime();
    for (int i = 0; i < Half.LOOP; i++) {
      int polled =
          critical
              ? DataPath.ibv_poll_cq$critical(pollCq, completionQueue, 1, completion)
              : DataPath.ibv_poll_cq(pollCq, completionQueue, 1, completion);
      if (polled != expected) {
        throw new IllegalStateException("poll " + i + " returned " + polled);
      }
    }
    return System.nanoTime() - begin;
  }
}
