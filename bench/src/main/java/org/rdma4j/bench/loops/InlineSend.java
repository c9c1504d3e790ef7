package org.rdma4j.bench.loops;

import java.lang.foreign.MemorySegment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/** A send of inline bytes, and the poll of its completion. */
@SuppressWarnings("NullAway.Init") // set by use
public class InlineSend extends AgainstC {
  /** The length of a message in bytes. */
  @Param({"16", "64"})
  public int length;

  /** Where the bytes are. */
  @Param({"REGION", "ARRAY"})
  public Source source = Source.REGION;

  private MemoryRegion region;
  private MemorySegment bytes;
  private SendRequests requests;
  private Completions completions;

  /** Where the bytes of a message are. */
  public enum Source {
    /** In the registered region, from which the provider copies them, as in C. */
    REGION,
    /** In a Java array, from which they are copied into the request. */
    ARRAY
  }

  @Override
  void use(StandIn standIn) {
    requests = standIn.queuePair().sendRequests(1);
    completions = standIn.completionQueue().completions(1);
    region = standIn.region();
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
    return source == Source.REGION ? ofRegion() : ofArray();
  }

  private long ofRegion() {
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      requests.add(i).inline(region, 0, length).signaled();
      requests.post();
      sum += Reaping.one(completions);
    }
    return sum;
  }

  private long ofArray() {
    long sum = 0;
    for (int i = 0; i < LOOP; i++) {
      requests.add(i).inline(bytes, 0, length).signaled();
      requests.post();
      sum += Reaping.one(completions);
    }
    return sum;
  }
}
