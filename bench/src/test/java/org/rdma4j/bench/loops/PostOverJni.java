package org.rdma4j.bench.loops;

/** Prints the sum that each loop over JNI reads from its completions. */
final class PostOverJni {
  private PostOverJni() {}

  public static void main(String[] arguments) {
    JniPostAndPoll benchmark = new JniPostAndPoll();
    benchmark.setUp();
    AgainstC.InC counters = new AgainstC.InC();
    System.out.println(benchmark.serialized(counters) + " " + benchmark.fieldByField(counters));
    benchmark.tearDown();
  }
}
