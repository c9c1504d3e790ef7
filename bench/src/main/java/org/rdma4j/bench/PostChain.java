package org.rdma4j.bench;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/** Signalled sends that are posted together, and the polls of sixteen completions at a time. */
@SuppressWarnings("NullAway.Init") // the set-up
public class PostChain extends AgainstC {
  private static final int BATCH = 16;

  /** Requests of a chain. */
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

  /** What Java takes for each send. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postChain(InC inC) {
    inC.of(this);
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
