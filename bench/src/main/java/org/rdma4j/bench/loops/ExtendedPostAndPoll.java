package org.rdma4j.bench.loops;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.rdma4j.bench.standin.Queues;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/**
 * The same as {@link PostAndPoll}, but posted by {@code ibv_wr_*}, polled by {@code ibv_start_poll}
 * to {@code ibv_end_poll}, or both.
 */
@SuppressWarnings("NullAway.Init") // set by use
public class ExtendedPostAndPoll extends AgainstC {
  /** The functions that post and poll. */
  @Param({"EXTENDED_POST", "EXTENDED_POLL", "EXTENDED"})
  public Queues calls;

  private MemoryRegion region;
  private SendRequests requests;
  private Completions completions;

  @Override
  Queues queues() {
    return calls;
  }

  @Override
  void use(StandIn standIn) {
    region = standIn.region();
    requests = standIn.queuePair().sendRequests(1);
    completions = standIn.completionQueue().completions(1);
  }

  @Override
  String loopInC() {
    return switch (calls) {
      case PLAIN -> "post_and_poll";
      case EXTENDED_POST -> "extended_post";
      case EXTENDED_POLL -> "extended_poll";
      case EXTENDED -> "extended_post_and_poll";
    };
  }

  /** The loop in Java. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postAndPoll(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      requests.add(i).from(region, 0, StandIn.MESSAGE).signaled();
      requests.post();
      sum += Reaping.one(completions);
    }
    return sum;
  }
}
