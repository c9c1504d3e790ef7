package org.rdma4j.bench.loops;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;

/** A poll that finds no completion. */
@SuppressWarnings("NullAway.Init") // set by use
public class EmptyPoll extends AgainstC {
  private Completions completions;

  @Override
  void use(StandIn standIn) {
    completions = standIn.completionQueue().completions(1);
  }

  @Override
  String loopInC() {
    return "empty_poll";
  }

  /** The loop in Java. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public int emptyPoll(InC inC) {
    inC.compareWith(this);
    int polled = 0;
    for (int i = 0; i < LOOP; i++) {
      polled += completions.poll();
    }
    return polled;
  }
}
