package org.rdma4j.bench.loops;

import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.SendRequests;

/**
 * The same as {@link PreparedPostAndPoll} with several sends that are posted together, and polls of
 * up to sixteen completions at a time.
 */
@SuppressWarnings("NullAway.Init") // set by use
public class PreparedChain extends AgainstC {
  private static final int CHAIN = 16;

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
    SendRequests requests = standIn.queuePair().sendRequests(CHAIN);
    for (int i = 0; i < CHAIN; i++) {
      requests.add(0).from(standIn.region(), 0, StandIn.MESSAGE).signaled();
    }
    sends = requests.prepare();
    completions = standIn.completionQueue().completions(CHAIN);
  }

  @Override
  String loopInC() {
    return "prepared_16";
  }

  /** The loop in Java; an operation is one send. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postChain(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i += CHAIN) {
      for (int j = 0; j < CHAIN; j++) {
        sends.id(j, i).offset(j, (long) (i + j & PARTS - 1) * StandIn.MESSAGE);
      }
      sends.post();
      sum += Reaping.all(completions, CHAIN);
    }
    return sum;
  }
}
