package org.rdma4j.bench;

/** Prints what the loop makes of the lengths of its sends, for each load. */
final class PostUnderEachLoad {
  private PostUnderEachLoad() {}

  public static void main(String[] arguments) {
    for (Load load : Load.values()) {
      Growth benchmark = new Growth();
      benchmark.load = load;
      benchmark.setUp();
      AgainstC.InC counters = new AgainstC.InC();
      long sum = benchmark.postAndPoll(counters);
      counters.run();
      benchmark.tearDown();
      System.out.println(load + " " + sum + " " + counters.nanosInC);
    }
  }
}
