package org.rdma4j.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.rdma4j.verbs.CallStyle;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/** Prints how many bytes the hot methods allocate in many rounds, once they are compiled. */
final class AllocateNothing {
  private static final int ROUNDS = 100_000;
  private static final int WARM_UPS = 30;

  private final MemoryRegion region;
  private final SendRequests sends;
  private final ReceiveRequests receives;
  private final Completions completions;

  private AllocateNothing(StandIn standIn) {
    region = standIn.region();
    sends = standIn.queuePair().sendRequests(2);
    receives = standIn.queuePair().receiveRequests(2);
    completions = standIn.completionQueue().completions(2);
  }

  public static void main(String[] arguments) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (StandIn standIn = StandIn.open(StandIn.FAST, CallStyle.valueOf(arguments[0]))) {
      AllocateNothing user = new AllocateNothing(standIn);
      long used = 0;
      for (int i = 0; i < WARM_UPS; i++) {
        used += user.use();
      }
      long before = threads.getCurrentThreadAllocatedBytes();
      used += user.use();
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      if (used == 0) {
        throw new IllegalStateException("nothing completed");
      }
      System.out.println(allocated);
    }
  }

  private long use() {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
      receives.add(i).into(region, 0, StandIn.MESSAGE);
      receives.post();
      sends.add(i).from(region, 0, StandIn.MESSAGE).signaled();
      sends.add(i).sendWithImmediate(i).from(region, 0, StandIn.MESSAGE).solicited().signaled();
      sends.post();
      sum += read(completions.poll());
    }
    return sum;
  }

  private long read(int polled) {
    long sum = 0;
    for (int i = 0; i < polled; i++) {
      completions.requireSuccess(i);
      sum +=
          completions.workRequestId(i)
              + (completions.status(i) == CompletionStatus.SUCCESS ? 1 : 0)
              + (completions.opcode(i) == CompletionOpcode.SEND ? 1 : 0)
              + completions.byteLength(i)
              + completions.queuePairNumber(i)
              + (completions.hasImmediate(i) ? completions.immediate(i) : 0);
    }
    return sum;
  }
}
