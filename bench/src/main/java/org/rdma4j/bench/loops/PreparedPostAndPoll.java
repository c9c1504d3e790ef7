package org.rdma4j.bench.loops;

import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.SendRequests;

/**
 * Signaled sends that are built once and posted again and again, each time with another id and
 * another part of the region, and the polls of their completions.
 */
@SuppressWarnings("NullAway.Init") // set by use
public class PreparedPostAndPoll extends AgainstC {
  private static final int BATCH = 16;

  /** The number of messages that the region holds, a power of two. */
  private static final int PARTS = 64;

  /** The number of requests in a chain. */
  @Param({"1", "16"})
  public int chain = 1;

  private PreparedSends sends;
  private Completions completions;

  @Override
  List<StandIn> open() {
    return List.of(
        StandIn.open(StandIn.FAST, style, queues(), StandIn.DEPTH, (long) PARTS * StandIn.MESSAGE));
  }

  @Override
  void use(StandIn standIn) {
    SendRequests requests = standIn.queuePair().sendRequests(chain);
    for (int i = 0; i < chain; i++) {
      requests.add(0).from(standIn.region(), 0, StandIn.MESSAGE).signaled();
    }
    sends = requests.prepare();
    completions = standIn.completionQueue().completions(chain == 1 ? 1 : BATCH);
  }

  @Override
  String loopInC() {
    return "prepared_" + chain;
  }

  /** The loop in Java, with one request in each post. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postAndPoll(InC inC) {
    inC.compareWith(this);
    return chain == 1 ? one() : chains();
  }

  private long one() {
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      sends.id(0, i).offset(0, (long) (i & PARTS - 1) * StandIn.MESSAGE).post();
      sum += Reaping.one(completions);
    }
    return sum;
  }

  private long chains() {
    long sum = 0;
    for (int i = 0; i < LOOP; i += chain) {
      for (int j = 0; j < chain; j++) {
        sends.id(j, i).offset(j, (long) (i + j & PARTS - 1) * StandIn.MESSAGE);
      }
      sends.post();
      sum += Reaping.all(completions, chain);
    }
    return sum;
  }
}
