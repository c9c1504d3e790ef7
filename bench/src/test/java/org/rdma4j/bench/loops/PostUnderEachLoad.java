package org.rdma4j.bench.loops;

/** Prints for each load the sum that the loop reads from its completions, and the time in C. */
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
