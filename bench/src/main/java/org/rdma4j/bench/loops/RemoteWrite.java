package org.rdma4j.bench.loops;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/** An RDMA write, and the poll of its completion. */
@SuppressWarnings("NullAway.Init") // set by use
public class RemoteWrite extends AgainstC {
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
    return "rdma_write";
  }

  /** The loop in Java. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long write(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      requests
          .add(i)
          .write(region.remoteAddress(), region.remoteKey())
          .from(region, 0, StandIn.MESSAGE)
          .signaled();
      requests.post();
      sum += Reaping.one(completions);
    }
    return sum;
  }
}
