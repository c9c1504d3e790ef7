package org.rdma4j.bench;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/** Sends posted one by one, of which each 64th is signalled, and the poll of its completion. */
@SuppressWarnings("NullAway.Init") // the set-up
public class SelectiveSignaling extends AgainstC {
  private static final int SIGNAL_EACH = 64;

  private MemoryRegion region;
  private SendRequests requests;
  private Completions completions;

  @Override
  void use(StandIn standIn) {
    region = standIn.region();
    requests = standIn.queuePair().sendRequests(1);
    completions = standIn.completionQueue().completions(1);
  }

  @Override
  String loopInC() {
    return "selective_signaling";
  }

  /** What Java takes for each send. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long post(InC inC) {
    inC.of(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      requests.add(i).from(region, 0, StandIn.MESSAGE);
      boolean signaled = i % SIGNAL_EACH == SIGNAL_EACH - 1;
      if (signaled) {
        requests.signaled();
      }
      requests.post();
      if (signaled) {
        sum += Reaping.one(completions);
      }
    }
    return sum;
  }
}
