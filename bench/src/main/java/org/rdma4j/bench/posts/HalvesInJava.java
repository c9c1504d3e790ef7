package org.rdma4j.bench.posts;

import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.SendRequests;

/** The loops in Java, through the safe API. Each returns the nanoseconds that it took. */
final class HalvesInJava {
  private static final int MESSAGE = SelfConnectedQueuePair.MESSAGE;

  private final MemoryRegion region;
  private final SendRequests requests;
  private final SendRequests chain;
  private final PreparedSends prepared;
  private final Completions one;
  private final Completions batch;

  /** Holds what the polls have read, so that the compiler does not remove the reads. */
  @SuppressWarnings("UnusedVariable")
  private volatile long sink;

  HalvesInJava(SelfConnectedQueuePair adapter) {
    region = adapter.region();
    requests = adapter.queuePair().sendRequests(1);
    chain = adapter.queuePair().sendRequests(Half.CHAINED);
    prepared =
        adapter.queuePair().sendRequests(1).add(0).from(region, 0, MESSAGE).signaled().prepare();
    one = adapter.completionQueue().completions(1);
    batch = adapter.completionQueue().completions(Half.CHAINED);
  }

  long post() {
    long begin = System.nanoTime();
    for (int i = 0; i < Half.LOOP; i++) {
      requests.add(i).from(region, 0, MESSAGE).signaled();
      requests.post();
    }
    return System.nanoTime() - begin;
  }

  long postInline() {
    long begin = System.nanoTime();
    for (int i = 0; i < Half.LOOP; i++) {
      requests.add(i).inline(region, 0, MESSAGE).signaled();
      requests.post();
    }
    return System.nanoTime() - begin;
  }

  long postPrepared() {
    long begin = System.nanoTime();
    for (int i = 0; i < Half.LOOP; i++) {
      prepared.id(0, i).post();
    }
    return System.nanoTime() - begin;
  }

  long postChains() {
    long begin = System.nanoTime();
    for (int i = 0; i < Half.LOOP; i += Half.CHAINED) {
      for (int k = 0; k < Half.CHAINED; k++) {
        chain.add(i + k).from(region, 0, MESSAGE).signaled();
      }
      chain.post();
    }
    return System.nanoTime() - begin;
  }

  long poll() {
    long sum = 0;
    long begin = System.nanoTime();
    for (int i = 0; i < Half.LOOP; i++) {
      if (one.poll() != 1) {
        throw new IllegalStateException("completion " + i + " is missing");
      }
      sum += read(one, 0);
    }
    long took = System.nanoTime() - begin;
    sink = sum;
    return took;
  }

  long pollBatches() {
    long sum = 0;
    long begin = System.nanoTime();
    for (int i = 0; i < Half.LOOP; i += Half.CHAINED) {
      if (batch.poll() != Half.CHAINED) {
        throw new IllegalStateException("completion " + i + " or one of those after it is missing");
      }
      for (int k = 0; k < Half.CHAINED; k++) {
        sum += read(batch, k);
      }
    }
    long took = System.nanoTime() - begin;
    sink = sum;
    return took;
  }

  long pollEmpty() {
    int polled = 0;
    long begin = System.nanoTime();
    for (int i = 0; i < Half.LOOP; i++) {
      polled += one.poll();
    }
    long took = System.nanoTime() - begin;
    if (polled != 0) {
      throw new IllegalStateException(polled + " completions are left");
    }
    return took;
  }

  private static long read(Completions completions, int index) {
    completions.requireSuccess(index);
    if (completions.opcode(index) == CompletionOpcode.RECEIVE) {
      throw new IllegalStateException("the completion is of a receive, but no receive was posted");
    }
    return completions.workRequestId(index) + completions.byteLength(index);
  }
}
