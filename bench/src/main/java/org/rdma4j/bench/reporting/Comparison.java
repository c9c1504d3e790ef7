package org.rdma4j.bench.reporting;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/** The times of one benchmark in Java and in C. C's are NaN if C has no counterpart. */
final class Comparison {
  private final List<Double> java;
  private final List<Double> c;
  private final List<Double> unmerged;
  private final List<Double> ratios;
  private final List<Double> ratiosToUnmerged;
  private final double bytes;

  Comparison(RunResult result) {
    List<IterationResult> iterations = new ArrayList<>();
    for (BenchmarkResult fork : result.getBenchmarkResults()) {
      iterations.addAll(fork.getIterationResults());
    }
    // JMH adds up the counters of all threads.
    int threads = result.getParams().getThreads();
    java = sorted(iterations, Comparison::java);
    c = sorted(iterations, iteration -> c(iteration) / threads);
    unmerged = sorted(iterations, iteration -> unmerged(iteration) / threads);
    ratios = sorted(iterations, iteration -> java(iteration) / c(iteration) * threads);
    ratiosToUnmerged =
        sorted(iterations, iteration -> java(iteration) / unmerged(iteration) * threads);
    bytes =
        quantile(sorted(iterations, iteration -> secondary(iteration, "gc.alloc.rate.norm")), 0.5);
  }

  private static double java(IterationResult iteration) {
    return iteration.getPrimaryResult().getScore();
  }

  private static double c(IterationResult iteration) {
    return secondary(iteration, "nanosInC");
  }

  private static double unmerged(IterationResult iteration) {
    return secondary(iteration, "nanosInUnmergedC");
  }

  private static double secondary(IterationResult iteration, String name) {
    Result<?> result = iteration.getSecondaryResults().get(name);
    return result == null ? Double.NaN : result.getScore();
  }

  private static List<Double> sorted(
      List<IterationResult> iterations, ToDoubleFunction<IterationResult> value) {
    List<Double> values = new ArrayList<>();
    for (IterationResult iteration : iterations) {
      values.add(value.applyAsDouble(iteration));
    }
    Collections.sort(values);
    return values;
  }

  private static double quantile(List<Double> sorted, double fraction) {
    return sorted.get((int) Math.round(fraction * (sorted.size() - 1)));
  }

  /** Returns the median time of an operation in Java, in nanoseconds. */
  double java() {
    return quantile(java, 0.5);
  }

  /** Returns the median time of an operation in C, in nanoseconds. */
  double c() {
    return quantile(c, 0.5);
  }

  /** Returns the same for C that was compiled without joining small stores, in nanoseconds. */
  double unmerged() {
    return quantile(unmerged, 0.5);
  }

  /** Returns the median of Java's time divided by {@link #unmerged() unmerged} C's. */
  double ratioToUnmerged() {
    return quantile(ratiosToUnmerged, 0.5);
  }

  /** Returns a quantile of Java's time divided by C's of the same iteration. */
  double ratio(double fraction) {
    return quantile(ratios, fraction);
  }

  /** Returns the median number of bytes allocated by an operation. */
  double bytes() {
    return bytes;
  }
}
