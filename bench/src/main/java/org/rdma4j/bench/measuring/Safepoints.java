package org.rdma4j.bench.measuring;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.HdrHistogram.Histogram;
import org.rdma4j.bench.reporting.Point;
import org.rdma4j.bench.standin.CallStyle;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.Completions;

/**
 * Measures how long it takes until all threads have reached a safepoint while some of them spin on
 * empty queues: {@code dev/bench safepoints}.
 */
public final class Safepoints {
  private static final List<Integer> SPINNERS = List.of(0, 1, 2, 4);
  private static final String EVENT = "jdk.SafepointStateSynchronization";
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private Safepoints() {}

  /**
   * Measures for some seconds, and prints a table.
   *
   * @param arguments the style of calls; a suffix for it in the table, which names the JVM's
   *     options; the number of safepoints; the file to which points are appended
   * @throws IOException if the file cannot be written
   * @throws InterruptedException if this thread is interrupted
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    CallStyle style = CallStyle.valueOf(arguments[0]);
    String series = style.name().toLowerCase(Locale.ROOT) + arguments[1];
    int safepoints = Integer.parseInt(arguments[2]);
    List<Point> points = new ArrayList<>();
    System.out.printf(
        "%-44s%8s%12s%12s%12s%n",
        "to a safepoint, " + series, "number", "median us", "p99 us", "max us");
    for (int spinners : SPINNERS) {
      Histogram nanos = measure(style, spinners, safepoints);
      String name = spinners + " threads spin";
      double max = nanos.getMaxValue() / 1000.0;
      System.out.printf(
          Locale.ROOT,
          "%-44s%8d%12.1f%12.1f%12.1f%n",
          name,
          nanos.getTotalCount(),
          nanos.getValueAtPercentile(50) / 1000.0,
          nanos.getValueAtPercentile(99) / 1000.0,
          max);
      points.add(
          new Point(
              "us to a safepoint, median", series, name, nanos.getValueAtPercentile(50) / 1000.0));
      points.add(new Point("us to a safepoint, longest", series, name, max));
    }
    Point.append(Path.of(arguments[3]), points);
  }

  private static Histogram measure(CallStyle style, int spinners, int safepoints)
      throws IOException, InterruptedException {
    List<StandIn> standIns = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    CountDownLatch warm = new CountDownLatch(spinners);
    try {
      for (int i = 0; i < spinners; i++) {
        StandIn standIn = StandIn.open(StandIn.FAST, style);
        standIns.add(standIn);
        Completions completions = standIn.completionQueue().completions(1);
        threads.add(Thread.ofPlatform().daemon().start(new EmptyQueueSpinner(completions, warm)));
      }
      if (!warm.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("the loops that spin were not compiled within " + PATIENCE);
      }
      return record(safepoints);
    } finally {
      standIns.forEach(StandIn::close);
      for (Thread thread : threads) {
        thread.join(PATIENCE);
      }
    }
  }

  private static Histogram record(int safepoints) throws IOException, InterruptedException {
    ThreadMXBean dumps = ManagementFactory.getThreadMXBean();
    Path file = Files.createTempFile("safepoints", ".jfr");
    try (Recording recording = new Recording()) {
      recording.enable(EVENT).withThreshold(Duration.ZERO);
      recording.start();
      for (int i = 0; i < safepoints; i++) {
        TimeUnit.MILLISECONDS.sleep(5);
        dumps.dumpAllThreads(false, false);
      }
      recording.stop();
      recording.dump(file);
      Histogram nanos = new Histogram(PATIENCE.toNanos(), 3);
      for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
        nanos.recordValue(Math.min(event.getDuration().toNanos(), PATIENCE.toNanos()));
      }
      return nanos;
    } finally {
      Files.delete(file);
    }
  }
}
