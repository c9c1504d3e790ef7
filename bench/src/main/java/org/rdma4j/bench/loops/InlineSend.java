package org.rdma4j.bench.loops;

import java.lang.foreign.MemorySegment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.SendRequests;

/**
 * A send whose bytes are copied from a Java array when it is built, and the poll of its completion.
 */
@SuppressWarnings("NullAway.Init") // set by use
public class InlineSend extends AgainstC {
  /** The length of a message in bytes. */
  @Param({"16", "64"})
  public int length;

  private MemorySegment bytes;
  private SendRequests requests;
  private Completions completions;

  @Override
  void use(StandIn standIn) {
    requests = standIn.queuePair().sendRequests(1);
    completions = standIn.completionQueue().completions(1);
    bytes = MemorySegment.ofArray(new byte[length]);
  }

  @Override
  String loopInC() {
    return "inline_send_" + length;
  }

  /** The loop in Java. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postAndPoll(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      requests.add(i).inline(bytes, 0, length).signaled();
      requests.post();
      sum += Reaping.one(completions);
    }
    return sum;
  }
}
