package org.rdma4j.bench.loops;

import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.PreparedSends;

/**
 * A signaled send that is built once and posted again and again, each time with another id and
 * another part of the region, and the poll of its completion.
 */
@SuppressWarnings("NullAway.Init") // set by use
public class PreparedPostAndPoll extends AgainstC {
  /** The number of messages that the region holds, a power of two. */
  private static final int PARTS = 64;

  private PreparedSends sends;
  private Completions completions;

  @Override
  List<StandIn> open() {
    return List.of(
        StandIn.open(StandIn.FAST, style, queues(), StandIn.DEPTH, (long) PARTS * StandIn.MESSAGE));
  }

  @Override
  void use(StandIn standIn) {
    sends =
        standIn
            .queuePair()
            .sendRequests(1)
            .add(0)
            .from(standIn.region(), 0, StandIn.MESSAGE)
            .signaled()
            .prepare();
    completions = standIn.completionQueue().completions(1);
  }

  @Override
  String loopInC() {
    return "prepared_1";
  }

  /** The loop in Java. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postAndPoll(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      sends.id(0, i).offset(0, (long) (i & PARTS - 1) * StandIn.MESSAGE).post();
      sum += Reaping.one(completions);
    }
    return sum;
  }
}
