package org.rdma4j.tools.perftest;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The ratios of pairs of measurements, and what can be concluded from them. */
final class Ratios {
  private static final int FEW = 5;

  /** If half of the ratios span more than this part of their median, they say nothing. */
  private static final double MAX_SPREAD = 0.2;

  private final List<Double> ratios = new ArrayList<>();

  /** Adds the ratio of a pair. */
  void add(double ratio) {
    ratios.add(ratio);
  }

  int count() {
    return ratios.size();
  }

  /**
   * Returns a quantile, interpolated between the two ratios next to it.
   *
   * @param fraction the part of the ratios that are less, from 0 to 1
   */
  double quantile(double fraction) {
    List<Double> sorted = ratios.stream().sorted().toList();
    double at = fraction * (sorted.size() - 1);
    int low = (int) at;
    double lower = sorted.get(low);
    return low + 1 == sorted.size() ? lower : lower + (at - low) * (sorted.get(low + 1) - lower);
  }

  /** Returns a line with the median, the quartiles, and the extremes. */
  String summary() {
    return String.format(
        Locale.ROOT,
        "median ratio %.3f, half of them from %.3f to %.3f, all from %.3f to %.3f",
        quantile(0.5),
        quantile(0.25),
        quantile(0.75),
        quantile(0),
        quantile(1));
  }

  /** Returns a line that says what follows, or that nothing does. */
  String conclusion() {
    double low = quantile(0.25);
    double high = quantile(0.75);
    double median = quantile(0.5);
    if (ratios.size() < FEW) {
      return "no conclusion: %d pairs are too few, use -N %d or more".formatted(ratios.size(), FEW);
    }
    if ((high - low) / median > MAX_SPREAD) {
      return String.format(
          Locale.ROOT,
          "no conclusion: half of the ratios span %.0f %% of their median; use a larger -n, more pairs, or a machine with less other work",
          100 * (high - low) / median);
    }
    if (low <= 1 && high >= 1) {
      return "no difference: the quartiles include 1";
    }
    return String.format(
        Locale.ROOT,
        "Java's figure is %.1f %% %s",
        100 * Math.abs(median - 1),
        median > 1 ? "more" : "less");
  }
}
