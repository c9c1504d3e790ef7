package org.rdma4j.bench.loops;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.SendRequests;

/** The same loop as {@link PostAndPoll} under a load: with many objects, or much memory. */
@SuppressWarnings("NullAway.Init") // set by use
public class Growth extends AgainstC {
  /** The load. */
  @Param public Load load;

  private SendRequests[] requests;
  private MemoryRegion[] regions;
  private Completions[] completions;
  private long bytes;
  private int next;
  private long offset;

  @Override
  List<StandIn> open() {
    List<StandIn> all = load.open(style);
    Map<QueuePair, SendRequests> sends = new HashMap<>();
    Map<CompletionQueue, Completions> polls = new HashMap<>();
    requests = new SendRequests[all.size()];
    regions = new MemoryRegion[all.size()];
    completions = new Completions[all.size()];
    for (int i = 0; i < all.size(); i++) {
      StandIn each = all.get(i);
      requests[i] = sends.computeIfAbsent(each.queuePair(), pair -> pair.sendRequests(1));
      regions[i] = each.region();
      completions[i] = polls.computeIfAbsent(each.completionQueue(), queue -> queue.completions(1));
    }
    return all;
  }

  @Override
  void use(StandIn standIn) {
    bytes = standIn.region().segment().byteSize();
    // One fewer than the depth: the loop itself posts the last.
    for (int i = 1; i < load.depth(); i++) {
      requests[0].add(i).from(regions[0], 0, StandIn.MESSAGE).signaled();
      requests[0].post();
    }
  }

  @Override
  String loopInC() {
    return "growth";
  }

  /** The loop in Java. */
  @Benchmark
  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  @OperationsPerInvocation(LOOP)
  public long postAndPoll(InC inC) {
    inC.compareWith(this);
    long sum = 0;
    int at = next;
    long piece = offset;
    for (int i = 0; i < LOOP; i++) {
      requests[at].add(i).from(regions[at], piece, StandIn.MESSAGE).signaled().post();
      sum += Reaping.one(completions[at]);
      piece = piece + StandIn.MESSAGE == bytes ? 0 : piece + StandIn.MESSAGE;
      at = at + 1 == requests.length ? 0 : at + 1;
    }
    next = at;
    offset = piece;
    return sum;
  }
}
