package org.rdma4j.bench.loops;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/** Signaled sends that are posted together, and polls of up to sixteen completions at a time. */
@SuppressWarnings("NullAway.Init") // set by use
public class PostChain extends AgainstC {
  private static final int BATCH = 16;

  /** The number of requests in a chain. */
  @Param({"8", "16", "64"})
  public int chain;

  private MemoryRegion region;
  private SendRequests requests;
  private Completions completions;

  @Override
  void use(StandIn standIn) {
    region = standIn.region();
    requests = standIn.queuePair().sendRequests(chain);
    completions = standIn.completionQueue().completions(BATCH);
  }

  @Override
  String loopInC() {
    return "post_chain_" + chain;
  }

  /** The loop in Java; an operation is one send. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postChain(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i += chain) {
      for (int j = 0; j < chain; j++) {
        requests.add(i).from(region, 0, StandIn.MESSAGE).signaled();
      }
      requests.post();
      sum += Reaping.all(completions, chain);
    }
    return sum;
  }
}
