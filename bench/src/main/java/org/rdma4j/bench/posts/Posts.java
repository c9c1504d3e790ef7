package org.rdma4j.bench.posts;

import static java.util.Objects.requireNonNull;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Measures posts and polls on libmlx5, in Java and in C by turns, on the same queues; or those of
 * Java in place, on queues of their own. The adapter does its work between a loop of posts and a
 * loop of polls, when no time is taken.
 */
public final class Posts {
  private static final int WARM_UPS = 3000;
  private static final int ROUNDS = 3000;

  private final SelfConnectedQueuePair adapter;
  private final boolean extended;
  private final @Nullable CallsAlone alone;
  private final @Nullable HalvesInC inPlace;
  private final HalvesInC c;
  private final HalvesInJava java;
  private final Map<Half, double[]> nanosInC = times();
  private final Map<Half, double[]> nanosInJava = times();

  private Posts(
      SelfConnectedQueuePair ofC,
      SelfConnectedQueuePair ofJava,
      @Nullable SelfConnectedQueuePair ofInPlace,
      CallStyle style,
      QueuesOfJava queues) {
    adapter = ofC;
    inPlace = ofInPlace == null ? null : HalvesInC.inPlace(ofInPlace);
    extended = queues.areExtended();
    alone = queues == QueuesOfJava.PLAIN ? new CallsAlone(ofC, style) : null;
    c = new HalvesInC(ofC, extended);
    java = new HalvesInJava(ofJava);
  }

  /**
   * Measures for some seconds.
   *
   * @param arguments the style of the calls, and the queues, as {@link CallStyle} and {@link
   *     QueuesOfJava} name them; what the table calls them; the file to which points are appended
   * @throws IOException if the file cannot be written
   */
  public static void main(String[] arguments) throws IOException {
    CallStyle style = CallStyle.valueOf(arguments[0]);
    QueuesOfJava queues = QueuesOfJava.valueOf(arguments[1]);
    QueuesOfJava queuesOfC = queues.areInPlace() ? QueuesOfJava.PLAIN : queues;
    try (SelfConnectedQueuePair ofC = new SelfConnectedQueuePair(style, queuesOfC);
        SelfConnectedQueuePair inPlace =
            queues.areInPlace() ? new SelfConnectedQueuePair(style, queues) : ofC;
        SelfConnectedQueuePair inPlaceByC =
            queues.areInPlace() ? new SelfConnectedQueuePair(style, queuesOfC) : null) {
      Posts posts = new Posts(ofC, inPlace, inPlaceByC, style, queues);
      for (int i = 0; i < WARM_UPS; i++) {
        posts.round(i % ROUNDS);
      }
      for (int i = 0; i < ROUNDS; i++) {
        posts.round(i);
      }
      posts.printAllocation(arguments[2]);
      Point.append(Path.of(arguments[3]), posts.points(arguments[2]));
    }
  }

  private static Map<Half, double[]> times() {
    Map<Half, double[]> times = new EnumMap<>(Half.class);
    for (Half half : Half.values()) {
      times.put(half, new double[ROUNDS]);
    }
    return times;
  }

  private void round(int i) {
    note(nanosInC, Half.POST, i, c.post());
    adapter.work();
    note(nanosInC, Half.POLL, i, c.poll());
    note(nanosInJava, Half.POST, i, java.post());
    adapter.work();
    note(nanosInJava, Half.POLL, i, java.poll());
    note(nanosInJava, Half.PREPARED, i, java.postPrepared());
    adapter.work();
    java.pollBatches();
    if (!extended) {
      note(nanosInC, Half.INLINE, i, c.postInline());
      adapter.work();
      c.pollBatches();
      note(nanosInJava, Half.INLINE, i, java.postInline());
      adapter.work();
      java.pollBatches();
    }
    note(nanosInC, Half.CHAIN, i, c.postChains());
    adapter.work();
    note(nanosInC, Half.BATCH, i, c.pollBatches());
    note(nanosInJava, Half.CHAIN, i, java.postChains());
    adapter.work();
    note(nanosInJava, Half.BATCH, i, java.pollBatches());
    note(nanosInC, Half.EMPTY, i, c.pollEmpty());
    note(nanosInJava, Half.EMPTY, i, java.pollEmpty());
    if (inPlace != null) {
      // The second table has the times of whatever is compared with C through libmlx5.
      noteAndPoll(inPlace, Half.POST_BY_C, i, inPlace.post());
      noteAndPoll(inPlace, Half.INLINE_BY_C, i, inPlace.postInline());
      noteAndPoll(inPlace, Half.CHAIN_BY_C, i, inPlace.postChains());
    }
    if (alone != null) {
      note(nanosInJava, Half.POST_ALONE, i, alone.post());
      adapter.work();
      note(nanosInJava, Half.POLL_ALONE, i, alone.poll());
      note(nanosInJava, Half.EMPTY_ALONE, i, alone.pollEmpty());
    }
  }

  /** Notes how long posts in place took in C, and polls what they have posted. */
  private void noteAndPoll(HalvesInC inPlace, Half half, int round, long nanos) {
    note(nanosInJava, half, round, nanos);
    adapter.work();
    inPlace.pollBatches();
  }

  /** Prints how many bytes the loops of Java allocate on the heap. */
  private void printAllocation(String queues) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < ROUNDS; i++) {
      java.post();
      adapter.work();
      java.poll();
      java.postChains();
      adapter.work();
      java.pollBatches();
    }
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    System.out.printf(
        Locale.ROOT,
        "%s: %.3f bytes allocated for each post and poll in Java%n",
        queues,
        bytes / (2.0 * ROUNDS * Half.LOOP));
  }

  private static void note(Map<Half, double[]> times, Half half, int round, long nanos) {
    of(times, half)[round] = (double) nanos / Half.LOOP;
  }

  private List<Point> points(String queues) {
    List<Point> points = new ArrayList<>();
    for (Half half : Half.values()) {
      if (isMeasured(half)) {
        add(points, queues, half.title(), of(nanosInC, inC(half)), of(nanosInJava, half));
      }
    }
    double[] polls = of(nanosInJava, Half.POLL);
    double[] both = sum(of(nanosInC, Half.POST), of(nanosInC, Half.POLL));
    add(points, queues, "post + poll", both, sum(of(nanosInJava, Half.POST), polls));
    add(points, queues, "prepared + poll", both, sum(of(nanosInJava, Half.PREPARED), polls));
    return points;
  }

  private boolean isMeasured(Half half) {
    return switch (half) {
      case INLINE -> !extended;
      case POST_ALONE, POLL_ALONE, EMPTY_ALONE -> alone != null;
      case POST_BY_C, INLINE_BY_C, CHAIN_BY_C -> inPlace != null;
      default -> true;
    };
  }

  /** Returns what C does for the same purpose. It posts a request that it writes each time. */
  private static Half inC(Half half) {
    return switch (half) {
      case PREPARED, POST_ALONE, POST_BY_C -> Half.POST;
      case INLINE_BY_C -> Half.INLINE;
      case CHAIN_BY_C -> Half.CHAIN;
      case POLL_ALONE -> Half.POLL;
      case EMPTY_ALONE -> Half.EMPTY;
      default -> half;
    };
  }

  private static double[] of(Map<Half, double[]> times, Half half) {
    return requireNonNull(times.get(half));
  }

  private static double[] sum(double[] left, double[] right) {
    double[] sum = new double[ROUNDS];
    Arrays.setAll(sum, i -> left[i] + right[i]);
    return sum;
  }

  private static void add(
      List<Point> points, String queues, String row, double[] inC, double[] inJava) {
    double[] ratios = new double[ROUNDS];
    Arrays.setAll(ratios, i -> inJava[i] / inC[i]);
    points.add(new Point(queues, PostsTable.C, row, median(inC)));
    points.add(new Point(queues, PostsTable.JAVA, row, median(inJava)));
    points.add(new Point(queues, PostsTable.RATIO, row, median(ratios)));
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
