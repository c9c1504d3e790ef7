package org.rdma4j.bench.loops;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.SendRequests;

/** The same as {@link SelectiveSignaling} with two requests that are built once. */
@SuppressWarnings("NullAway.Init") // set by use
public class PreparedSelectiveSignaling extends AgainstC {
  private static final int SIGNAL_EVERY = 64;

  private PreparedSends unsignaled;
  private PreparedSends signaled;
  private Completions completions;

  @Override
  void use(StandIn standIn) {
    SendRequests requests = standIn.queuePair().sendRequests(1);
    unsignaled = requests.add(0).from(standIn.region(), 0, StandIn.MESSAGE).prepare();
    signaled = requests.add(0).from(standIn.region(), 0, StandIn.MESSAGE).signaled().prepare();
    completions = standIn.completionQueue().completions(1);
  }

  @Override
  String loopInC() {
    return "prepared_selective_signaling";
  }

  /** The loop in Java; an operation is one send. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long post(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i += SIGNAL_EVERY) {
      for (int j = 0; j < SIGNAL_EVERY - 1; j++) {
        unsignaled.id(0, i + j).post();
      }
      signaled.id(0, i).post();
      sum += Reaping.one(completions);
    }
    return sum;
  }
}
