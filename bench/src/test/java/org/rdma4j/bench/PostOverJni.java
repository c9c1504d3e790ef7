package org.rdma4j.bench;

/** Prints what each loop over JNI makes of the completions of its sends. */
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
