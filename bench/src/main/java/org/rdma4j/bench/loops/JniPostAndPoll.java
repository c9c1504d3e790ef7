package org.rdma4j.bench.loops;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.bindings.generated.ibv_send_wr;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.ibv_wc;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The same as {@link PostAndPoll} over JNI, in the two ways that existing bindings use. It ignores
 * the style of calls.
 */
@SuppressWarnings("NullAway.Init") // set by use
public class JniPostAndPoll extends AgainstC {
  private static final int REQUEST = 0;
  private static final int SGE = REQUEST + (int) ibv_send_wr.layout().byteSize();
  private static final int COMPLETION = SGE + (int) ibv_sge.layout().byteSize();
  private static final int END = COMPLETION + (int) ibv_wc.layout().byteSize();
  private static final int REQUEST_ID = REQUEST + (int) ibv_send_wr.wr_id$offset();
  private static final int ID = COMPLETION + (int) ibv_wc.wr_id$offset();
  private static final int STATUS = COMPLETION + (int) ibv_wc.status$offset();
  private static final int OPCODE = COMPLETION + (int) ibv_wc.opcode$offset();
  private static final int BYTE_LEN = COMPLETION + (int) ibv_wc.byte_len$offset();

  private ByteBuffer memory;
  private long base;
  private long address;
  private int key;
  private long queuePair;
  private long completionQueue;

  @Override
  void use(StandIn standIn) {
    memory = ByteBuffer.allocateDirect(END).order(ByteOrder.nativeOrder());
    base = MemorySegment.ofBuffer(memory).address();
    address = standIn.region().remoteAddress();
    key = standIn.region().localKey();
    queuePair = standIn.queuePair().handle().address();
    completionQueue = standIn.completionQueue().handle().address();
    describe(0);
  }

  @Override
  String loopInC() {
    return "post_and_poll";
  }

  /** As DiSNI does it: the request is kept in a direct buffer, in which only the id changes. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long serialized(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      memory.putLong(REQUEST_ID, i);
      post();
      reap();
      check(memory.getInt(STATUS), memory.getInt(OPCODE));
      sum += memory.getLong(ID) + Integer.toUnsignedLong(memory.getInt(BYTE_LEN));
    }
    return sum;
  }

  /** With a native call for each field that is written or read. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long fieldByField(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      describe(i);
      post();
      reap();
      check(Jni.getInt(base + STATUS), Jni.getInt(base + OPCODE));
      sum += Jni.getLong(base + ID) + Integer.toUnsignedLong(Jni.getInt(base + BYTE_LEN));
    }
    return sum;
  }

  private void post() {
    if (Jni.post(queuePair, base + REQUEST) != 0) {
      throw new IllegalStateException("ibv_post_send failed");
    }
  }

  private void reap() {
    int polled;
    do {
      polled = Jni.poll(completionQueue, 1, base + COMPLETION);
    } while (polled == 0);
    if (polled < 0) {
      throw new IllegalStateException("ibv_poll_cq failed");
    }
  }

  private static void check(int status, int opcode) {
    if (status != rdma_h.IBV_WC_SUCCESS() || opcode == rdma_h.IBV_WC_RECV()) {
      throw new IllegalStateException("a send failed, or its completion is of a receive");
    }
  }

  private void describe(long id) {
    long sge = base + SGE;
    Jni.putLong(sge + ibv_sge.addr$offset(), address);
    Jni.putInt(sge + ibv_sge.length$offset(), StandIn.MESSAGE);
    Jni.putInt(sge + ibv_sge.lkey$offset(), key);
    long request = base + REQUEST;
    Jni.putLong(request + ibv_send_wr.wr_id$offset(), id);
    Jni.putLong(request + ibv_send_wr.next$offset(), 0);
    Jni.putLong(request + ibv_send_wr.sg_list$offset(), sge);
    Jni.putInt(request + ibv_send_wr.num_sge$offset(), 1);
    Jni.putInt(request + ibv_send_wr.opcode$offset(), rdma_h.IBV_WR_SEND());
    Jni.putInt(request + ibv_send_wr.send_flags$offset(), rdma_h.IBV_SEND_SIGNALED());
  }
}
