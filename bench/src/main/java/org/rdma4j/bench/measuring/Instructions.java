package org.rdma4j.bench.measuring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.rdma4j.bench.loops.AgainstC;
import org.rdma4j.bench.loops.EmptyPoll;
import org.rdma4j.bench.loops.LoopInC;
import org.rdma4j.bench.loops.PostAndPoll;
import org.rdma4j.bench.loops.RemoteRead;
import org.rdma4j.bench.loops.RemoteWrite;
import org.rdma4j.bench.loops.SelectiveSignaling;
import org.rdma4j.bench.reporting.Point;
import org.rdma4j.bench.standin.CallStyle;

/**
 * Counts the instructions of the measured loops and compares them with an earlier count: {@code
 * dev/bench check}. Unlike a time, the count does not depend on other load on the machine.
 */
public final class Instructions {
  private static final double MAX_GROWTH = 1.1;
  private static final int WARM_UPS = 3_000;
  private static final int COUNTED = 100;
  private static final String CHART = "instructions";

  /** The functions of {@code instructions.c}. */
  private static final class Counter {
    private static final String LIBRARY = "libinstructions.so";
    static final MethodHandle OPEN =
        LoopInC.link(LIBRARY, "open_counter", FunctionDescriptor.of(JAVA_INT));
    static final MethodHandle COUNT =
        LoopInC.link(LIBRARY, "count", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
  }

  private final int counter;
  private final List<Point> points = new ArrayList<>();

  private Instructions(int counter) {
    this.counter = counter;
  }

  /**
   * Counts for some seconds. Exits with status 1 if an operation takes over 10 % more instructions
   * than before.
   *
   * @param arguments the file with the earlier counts, which is created if it does not exist; then,
   *     optionally, "required" to exit with status 1 on a machine that cannot count instructions
   * @throws IOException if the file cannot be read or written
   */
  public static void main(String[] arguments) throws IOException {
    int counter = open();
    if (counter < 0) {
      boolean required = arguments.length > 1;
      System.out.println(
          "This machine cannot count instructions (perf_event_open: errno " + -counter + ").");
      if (required) {
        System.exit(1);
      }
      return;
    }
    Instructions instructions = new Instructions(counter);
    for (CallStyle style : List.of(CallStyle.CRITICAL, CallStyle.PLAIN)) {
      instructions.countAll(style);
    }
    Path before = Path.of(arguments[0]);
    if (!Files.exists(before)) {
      Point.append(before, instructions.points);
      System.out.println("Wrote the counts to " + before + ", which did not exist.");
    } else if (!compare(Point.read(before), instructions.points)) {
      System.exit(1);
    }
  }

  private void countAll(CallStyle style) {
    count("post + poll", style, new PostAndPoll(), loop -> loop.postAndPoll(new AgainstC.InC()));
    count("RDMA read + poll", style, new RemoteRead(), loop -> loop.read(new AgainstC.InC()));
    count("RDMA write + poll", style, new RemoteWrite(), loop -> loop.write(new AgainstC.InC()));
    count(
        "each 64th signalled",
        style,
        new SelectiveSignaling(),
        loop -> loop.post(new AgainstC.InC()));
    count("empty poll", style, new EmptyPoll(), loop -> loop.emptyPoll(new AgainstC.InC()));
  }

  private <B extends AgainstC> void count(
      String operation, CallStyle style, B benchmark, ToLongFunction<B> loop) {
    benchmark.style = style;
    benchmark.setUp();
    repeat(benchmark, loop, WARM_UPS);
    long before = count();
    repeat(benchmark, loop, COUNTED);
    double each = (double) (count() - before) / COUNTED / AgainstC.LOOP;
    benchmark.tearDown();
    points.add(new Point(CHART, style.name().toLowerCase(Locale.ROOT), operation, each));
  }

  private static <B> void repeat(B benchmark, ToLongFunction<B> loop, int times) {
    for (int i = 0; i < times; i++) {
      long unused = loop.applyAsLong(benchmark);
    }
  }

  private static int open() {
    try {
      return (int) Counter.OPEN.invokeExact();
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  private long count() {
    try {
      return (long) Counter.COUNT.invokeExact(counter);
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  /** Prints both counts of each operation; returns whether none grew by more than a tenth. */
  static boolean compare(List<Point> before, List<Point> now) {
    boolean good = true;
    System.out.printf("%-32s%12s%12s%12s%n", "instructions", "before", "now", "");
    for (Point point : now) {
      double was =
          before.stream()
              .filter(old -> old.series().equals(point.series()) && old.x().equals(point.x()))
              .mapToDouble(Point::y)
              .findAny()
              .orElseThrow(() -> missing(point));
      boolean grew = point.y() > was * MAX_GROWTH;
      good &= !grew;
      System.out.printf(
          Locale.ROOT,
          "%-32s%12.1f%12.1f%12s%n",
          point.x() + ", " + point.series(),
          was,
          point.y(),
          grew ? "GREW" : "");
    }
    return good;
  }

  private static IllegalStateException missing(Point point) {
    return new IllegalStateException(
        "the file has no earlier count of "
            + point.x()
            + ", "
            + point.series()
            + "; delete the file and count again");
  }
}
