package org.rdma4j.bench.posts;

/** Runs the loops of posts and polls until they have been compiled. */
final class RepeatLoops {
  private static final int TIMES = 3_000;

  private RepeatLoops() {}

  public static void main(String[] arguments) {
    try (SelfConnectedQueuePair adapter =
        new SelfConnectedQueuePair(CallStyle.CRITICAL, QueuesOfJava.PLAIN)) {
      HalvesInJava loops = new HalvesInJava(adapter);
      long nanos = 0;
      for (int i = 0; i < TIMES; i++) {
        nanos += loops.post();
        adapter.work();
        nanos += loops.poll();
        nanos += loops.postPrepared();
        adapter.work();
        nanos += loops.pollBatches();
        nanos += loops.postChains();
        adapter.work();
        nanos += loops.pollBatches() + loops.pollEmpty();
      }
      System.out.println(nanos + " ns");
    }
  }
}
