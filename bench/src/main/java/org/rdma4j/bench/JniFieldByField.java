package org.rdma4j.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.bindings.generated.ibv_send_wr;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.ibv_wc;
import org.rdma4j.bindings.generated.rdma_h;

/** The same as {@link PostAndPoll} over JNI, with a call for each field that is set or read. */
@SuppressWarnings("NullAway.Init") // the set-up
public class JniFieldByField extends AgainstC {
  private MemorySegment memory;
  private long sge;
  private long request;
  private long completion;
  private long address;
  private int key;
  private long queuePair;
  private long completionQueue;

  @Override
  void use(StandIn standIn) {
    long requestSize = ibv_send_wr.layout().byteSize();
    long sgeSize = ibv_sge.layout().byteSize();
    memory =
        Arena.ofAuto().allocate(requestSize + sgeSize + ibv_wc.layout().byteSize(), Long.BYTES);
    request = memory.address();
    sge = request + requestSize;
    completion = sge + sgeSize;
    address = standIn.region().remoteAddress();
    key = standIn.region().localKey();
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
      describe(i);
      if (Jni.post(queuePair, request) != 0) {
        throw new IllegalStateException("the post failed");
      }
      while (Jni.poll(completionQueue, 1, completion) == 0) {
        // The stand-in completes at once.
      }
      if (Jni.getInt(completion + ibv_wc.status$offset()) != rdma_h.IBV_WC_SUCCESS()
          || Jni.getInt(completion + ibv_wc.opcode$offset()) == rdma_h.IBV_WC_RECV()) {
        throw new IllegalStateException("the send failed");
      }
      sum +=
          Jni.getLong(completion + ibv_wc.wr_id$offset())
              + Integer.toUnsignedLong(Jni.getInt(completion + ibv_wc.byte_len$offset()));
    }
    return sum;
  }

  private void describe(long id) {
    Jni.putLong(sge + ibv_sge.addr$offset(), address);
    Jni.putInt(sge + ibv_sge.length$offset(), StandIn.MESSAGE);
    Jni.putInt(sge + ibv_sge.lkey$offset(), key);
    Jni.putLong(request + ibv_send_wr.wr_id$offset(), id);
    Jni.putLong(request + ibv_send_wr.next$offset(), 0);
    Jni.putLong(request + ibv_send_wr.sg_list$offset(), sge);
    Jni.putInt(request + ibv_send_wr.num_sge$offset(), 1);
    Jni.putInt(request + ibv_send_wr.opcode$offset(), rdma_h.IBV_WR_SEND());
    Jni.putInt(request + ibv_send_wr.send_flags$offset(), rdma_h.IBV_SEND_SIGNALED());
  }
}
