package org.rdma4j.bench.measuring;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.rdma4j.bench.loops.LoopInC;
import org.rdma4j.bench.loops.Reaping;
import org.rdma4j.bench.reporting.Point;
import org.rdma4j.bench.standin.CallStyle;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.SendRequests;

/**
 * Measures the percentiles of the time of a post and a poll while another thread allocates 500 MB
 * per second: {@code dev/bench tail}. Batches in Java and in C take turns in the same process, and
 * there are enough of them that both meet whatever the machine and the collector do.
 */
public final class Tail {
  private static final int BATCH = 10_000;
  private static final int WARM_UPS = 20;
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99, 99.999, 100};

  private final MemoryRegion region;
  private final SendRequests requests;
  private final Completions completions;
  private final MemorySegment works;
  private final MemorySegment nanosInC = Arena.ofAuto().allocate(JAVA_LONG, BATCH);
  private final long[] nanos = new long[BATCH];
  private final MethodHandle loopInC =
      LoopInC.link(
          LoopInC.OPTIMIZED,
          "post_and_poll_times",
          FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));

  private Tail(StandIn standIn) {
    region = standIn.region();
    requests = standIn.queuePair().sendRequests(1);
    completions = standIn.completionQueue().completions(1);
    works = LoopInC.works(List.of(standIn));
  }

  /**
   * Measures for some seconds, and prints a table.
   *
   * @param arguments the name of the JVM's collector for the table; the number of posts; the file
   *     to which points are appended
   * @throws IOException if the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    String collector = arguments[0];
    long posts = Long.parseLong(arguments[1]);
    Histogram java = new Histogram(LONGEST_NANOS, 3);
    Histogram c = new Histogram(LONGEST_NANOS, 3);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long begin = System.nanoTime();
    Thread allocator = Thread.ofPlatform().daemon().start(new Allocator());
    try (StandIn standIn = StandIn.open(StandIn.FAST, CallStyle.CRITICAL)) {
      Tail tail = new Tail(standIn);
      for (int i = 0; i < WARM_UPS; i++) {
        tail.measureJava();
        tail.measureC();
      }
      while (java.getTotalCount() < posts) {
        tail.measureJava();
        record(java, tail.nanos);
        tail.measureC();
        record(c, tail.nanosInC.toArray(JAVA_LONG));
      }
    }
    long allocated = threads.getThreadAllocatedBytes(allocator.threadId());
    long micros = (System.nanoTime() - begin) / 1000;
    System.out.printf(
        "Meanwhile, another thread allocated %d MB per second.%n", allocated / micros);
    List<Point> points = new ArrayList<>();
    System.out.printf("%-28s%12s%12s%n", "post + poll, " + collector, "C ns", "Java ns");
    for (double percentile : PERCENTILES) {
      String name = percentile == 100 ? "max" : "p" + Double.toString(percentile).replace(".0", "");
      long inC = c.getValueAtPercentile(percentile);
      long inJava = java.getValueAtPercentile(percentile);
      System.out.printf(Locale.ROOT, "%-28s%12d%12d%n", name, inC, inJava);
      points.add(new Point("ns, by percentile", "C beside " + collector, name, inC));
      points.add(new Point("ns, by percentile", "Java, " + collector, name, inJava));
    }
    Point.append(Path.of(arguments[2]), points);
  }

  private static void record(Histogram histogram, long[] nanos) {
    for (long time : nanos) {
      histogram.recordValue(Math.min(time, LONGEST_NANOS));
    }
  }

  private void measureJava() {
    for (int i = 0; i < BATCH; i++) {
      long before = System.nanoTime();
      requests.add(i).from(region, 0, StandIn.MESSAGE).signaled();
      requests.post();
      Reaping.one(completions);
      nanos[i] = System.nanoTime() - before;
    }
  }

  private void measureC() {
    long took;
    try {
      took = (long) loopInC.invokeExact(works, (long) BATCH, nanosInC);
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
    if (took < 0) {
      throw new IllegalStateException("a post or a poll failed in the loop in C");
    }
  }

  /** Allocates at a steady rate, and keeps only the most recent arrays reachable. */
  private static final class Allocator implements Runnable {
    private static final int CHUNK = 100_000;
    private static final int KEPT = 500;
    private static final long NANOS_PER_CHUNK = TimeUnit.SECONDS.toNanos(1) / 5_000;

    private final byte[][] kept = new byte[KEPT][];

    @Override
    public void run() {
      long begin = System.nanoTime();
      for (long i = 0; ; i++) {
        kept[(int) (i % KEPT)] = new byte[CHUNK];
        LockSupport.parkNanos(begin + i * NANOS_PER_CHUNK - System.nanoTime());
      }
    }
  }
}
