package org.rdma4j.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.bindings.generated.ibv_send_wr;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.ibv_wc;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The same as {@link PostAndPoll} over JNI as DiSNI does it: the request lies in a direct buffer
 * from before, of which only the id changes, and completions are read from another.
 */
@SuppressWarnings("NullAway.Init") // the set-up
public class JniSerialized extends AgainstC {
  private static final int WR_ID = (int) ibv_wc.wr_id$offset();
  private static final int STATUS = (int) ibv_wc.status$offset();
  private static final int OPCODE = (int) ibv_wc.opcode$offset();
  private static final int BYTE_LEN = (int) ibv_wc.byte_len$offset();
  private static final int REQUEST_WR_ID = (int) ibv_send_wr.wr_id$offset();

  private ByteBuffer requestBytes;
  private ByteBuffer completionBytes;
  private long request;
  private long completion;
  private long queuePair;
  private long completionQueue;

  @Override
  void use(StandIn standIn) {
    Arena arena = Arena.ofAuto();
    MemorySegment sge = arena.allocate(ibv_sge.layout());
    ibv_sge.addr(sge, standIn.region().remoteAddress());
    ibv_sge.length(sge, StandIn.MESSAGE);
    ibv_sge.lkey(sge, standIn.region().localKey());
    MemorySegment wr = arena.allocate(ibv_send_wr.layout());
    ibv_send_wr.sg_list(wr, sge);
    ibv_send_wr.num_sge(wr, 1);
    ibv_send_wr.opcode(wr, rdma_h.IBV_WR_SEND());
    ibv_send_wr.send_flags(wr, rdma_h.IBV_SEND_SIGNALED());
    MemorySegment wc = arena.allocate(ibv_wc.layout());
    requestBytes = wr.asByteBuffer().order(ByteOrder.nativeOrder());
    completionBytes = wc.asByteBuffer().order(ByteOrder.nativeOrder());
    request = wr.address();
    completion = wc.address();
    queuePair = standIn.queuePair().handle().address();
    completionQueue = standIn.completionQueue().handle().address();
  }

  @Override
  String loopInC() {
    return "post_and_poll";
  }

  /** What Java takes. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postAndPoll(InC inC) {
    inC.of(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      requestBytes.putLong(REQUEST_WR_ID, i);
      if (Jni.post(queuePair, request) != 0) {
        throw new IllegalStateException("the post failed");
      }
      while (Jni.poll(completionQueue, 1, completion) == 0) {
        // The stand-in completes at once.
      }
      if (completionBytes.getInt(STATUS) != rdma_h.IBV_WC_SUCCESS()
          || completionBytes.getInt(OPCODE) == rdma_h.IBV_WC_RECV()) {
        throw new IllegalStateException("the send failed");
      }
      sum +=
          completionBytes.getLong(WR_ID) + Integer.toUnsignedLong(completionBytes.getInt(BYTE_LEN));
    }
    return sum;
  }
}
