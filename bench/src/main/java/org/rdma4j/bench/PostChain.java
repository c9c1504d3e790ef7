package org.rdma4j.bench;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/** Sends that are posted together, the last one signalled, and the poll of its completion. */
@SuppressWarnings("NullAway.Init") // the set-up
public class PostChain extends AgainstC {
  private static final int CHAIN = 16;

  private MemoryRegion region;
  private SendRequests requests;
  private Completions completions;
  private Loops loops;

  @Override
  void use(StandIn standIn) {
    region = standIn.region();
    requests = standIn.queuePair().sendRequests(CHAIN);
    completions = standIn.completionQueue().completions(1);
    loops = new Loops(standIn);
  }

  @Override
  long loopInC(int operations) {
    return loops.postAndPoll(CHAIN, operations / CHAIN);
  }

  /** What Java takes for each send. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postChain(InC inC) {
    inC.of(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i += CHAIN) {
      for (int j = 0; j < CHAIN - 1; j++) {
        requests.add(i).from(region, 0, StandIn.MESSAGE);
      }
      requests.add(i).from(region, 0, StandIn.MESSAGE).signaled();
      requests.post();
      sum += Reaping.one(completions);
    }
    return sum;
  }
}
