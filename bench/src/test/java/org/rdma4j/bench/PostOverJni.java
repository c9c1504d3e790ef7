package org.rdma4j.bench;

/** Prints what the loop over JNI makes of the completions of its sends. */
final class PostOverJni {
  private PostOverJni() {}

  public static void main(String[] arguments) {
    JniPostAndPoll benchmark = new JniPostAndPoll();
    benchmark.access = JniAccess.valueOf(arguments[0]);
    benchmark.setUp();
    System.out.println(benchmark.postAndPoll(new AgainstC.InC()));
    benchmark.tearDown();
  }
}
