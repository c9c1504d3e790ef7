package org.rdma4j.bench.connections;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The pairs of figures of one comparison, ours and the other's, and what was aimed at; or our
 * figures alone.
 */
final class ConnectionComparison {
  private final String title;
  private final String unit;
  private final double aim;
  private final boolean isAtLeast;
  private final List<Double> ours = new ArrayList<>();
  private final List<Double> others = new ArrayList<>();
  private @Nullable String whyNot;

  private ConnectionComparison(String title, String unit, double aim, boolean isAtLeast) {
    this.title = title;
    this.unit = unit;
    this.aim = aim;
    this.isAtLeast = isAtLeast;
  }

  /** A comparison of rates, of which ours should be at least a part of the other. */
  static ConnectionComparison atLeast(double aim, String title, String unit) {
    return new ConnectionComparison(title, unit, aim, true);
  }

  /** A comparison of times, of which ours should be at most a multiple of the other. */
  static ConnectionComparison atMost(double aim, String title, String unit) {
    return new ConnectionComparison(title, unit, aim, false);
  }

  /** A comparison or a figure that nothing is aimed at. */
  static ConnectionComparison withoutAim(String title, String unit) {
    return new ConnectionComparison(title, unit, Double.NaN, false);
  }

  /** Adds a figure that has no other beside it: the aim is for the figure itself. */
  void add(double our) {
    ours.add(our);
    System.out.printf(Locale.ROOT, "  %s: %.4g %s%n", title, our, unit);
  }

  void add(double our, double other) {
    ours.add(our);
    others.add(other);
    System.out.printf(
        Locale.ROOT, "  %s: %.4g, other %.4g %s: %.3f%n", title, our, other, unit, our / other);
  }

  /** Makes this say why it has no figures. */
  ConnectionComparison withoutFigures(String why) {
    whyNot = why;
    System.out.printf("  %s: not measured, %s%n", title, why);
    return this;
  }

  static String header() {
    return """
        | what | unit | ours | other | ours / other | half of them | aim | |
        |---|---|---|---|---|---|---|---|""";
  }

  String row() {
    if (whyNot != null) {
      return "| %s | | | | | | not measured: %s | |".formatted(title, whyNot);
    }
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < others.size(); i++) {
      ratios.add(ours.get(i) / others.get(i));
    }
    if (others.isEmpty()) {
      double figure = quantile(ours, 0.5);
      return String.format(
          Locale.ROOT,
          "| %s | %s | %s | | | | %s",
          title,
          unit,
          rounded(figure),
          // What the JVM itself allocates meanwhile is less than what is printed.
          aimed("at most " + rounded(aim), figure < aim + 0.05));
    }
    double median = quantile(ratios, 0.5);
    boolean met = isAtLeast ? median >= aim : median <= aim;
    String bound = String.format(Locale.ROOT, "%s %.2f", isAtLeast ? "at least" : "at most", aim);
    return String.format(
        Locale.ROOT,
        "| %s | %s | %s | %s | %.2f | %.2f to %.2f | %s",
        title,
        unit,
        rounded(quantile(ours, 0.5)),
        rounded(quantile(others, 0.5)),
        median,
        quantile(ratios, 0.25),
        quantile(ratios, 0.75),
        aimed(bound, met));
  }

  /** Returns the last two columns of a row. */
  private String aimed(String bound, boolean met) {
    return Double.isNaN(aim) ? "| |" : bound + (met ? " | met |" : " | MISSED |");
  }

  private static String rounded(double figure) {
    return String.format(Locale.ROOT, figure < 100 ? "%.1f" : "%.0f", figure);
  }

  private static double quantile(List<Double> figures, double part) {
    List<Double> sorted = new ArrayList<>(figures);
    Collections.sort(sorted);
    double at = part * (sorted.size() - 1);
    int low = (int) at;
    int high = Math.min(low + 1, sorted.size() - 1);
    return sorted.get(low) + (at - low) * (sorted.get(high) - sorted.get(low));
  }
}
