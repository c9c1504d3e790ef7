package org.rdma4j.bench.loops;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/** Sends that are posted one by one, every 64th signaled, and the poll of its completion. */
@SuppressWarnings("NullAway.Init") // set by use
public class SelectiveSignaling extends AgainstC {
  private static final int SIGNAL_EVERY = 64;

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

  /** The loop in Java; an operation is one send. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long post(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      requests.add(i).from(region, 0, StandIn.MESSAGE);
      boolean signaled = i % SIGNAL_EVERY == SIGNAL_EVERY - 1;
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
