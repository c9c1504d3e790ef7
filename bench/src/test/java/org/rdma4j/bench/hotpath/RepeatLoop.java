package org.rdma4j.bench.hotpath;

import java.lang.reflect.Method;
import org.rdma4j.bench.loops.AgainstC;
import org.rdma4j.bench.loops.InlineSend;
import org.rdma4j.bench.loops.PostChain;
import org.rdma4j.bench.standin.CallStyle;

/** Runs a benchmark's loop until it has been compiled, and prints the sum of its results. */
final class RepeatLoop {
  private static final int TIMES = 2_000;

  private RepeatLoop() {}

  /** Takes a benchmark, its method, the style of calls, and the length of chains or messages. */
  public static void main(String[] arguments) throws ReflectiveOperationException {
    AgainstC benchmark =
        Class.forName(AgainstC.class.getPackageName() + "." + arguments[0])
            .asSubclass(AgainstC.class)
            .getDeclaredConstructor()
            .newInstance();
    benchmark.style = CallStyle.valueOf(arguments[2]);
    if (benchmark instanceof PostChain chains) {
      chains.chain = Integer.parseInt(arguments[3]);
    }
    if (benchmark instanceof InlineSend sends) {
      sends.source = InlineSend.Source.REGION;
      sends.length = Integer.parseInt(arguments[3]);
    }
    benchmark.setUp();
    Method loop = benchmark.getClass().getMethod(arguments[1], AgainstC.InC.class);
    AgainstC.InC counters = new AgainstC.InC();
    long sum = 0;
    for (int i = 0; i < TIMES; i++) {
      sum += ((Number) loop.invoke(benchmark, counters)).longValue();
    }
    benchmark.tearDown();
    System.out.println("sum " + sum);
  }
}
