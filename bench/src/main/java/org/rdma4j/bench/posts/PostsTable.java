package org.rdma4j.bench.posts;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Prints what {@link Posts} has measured in several JVMs: for each row the medians of the JVMs, and
 * the range of their ratios.
 */
public final class PostsTable {
  static final String C = "C ns";
  static final String JAVA = "ns";
  static final String RATIO = "ratio";

  private PostsTable() {}

  /**
   * Prints a table in Markdown.
   *
   * @param arguments the file of points
   * @throws IOException if the file cannot be read
   */
  public static void main(String[] arguments) throws IOException {
    List<Point> points = Point.read(Path.of(arguments[0]));
    System.out.println("| on libmlx5 | C ns | ns | ratio | JVMs from, to |");
    System.out.println("|---|---|---|---|---|");
    rows(points)
        .forEach(
            (row, series) ->
                System.out.printf(
                    Locale.ROOT,
                    "| %s | %.1f | %.1f | %.2f | %.2f, %.2f |%n",
                    row,
                    quantile(series, C, 0.5),
                    quantile(series, JAVA, 0.5),
                    quantile(series, RATIO, 0.5),
                    quantile(series, RATIO, 0),
                    quantile(series, RATIO, 1)));
  }

  /** Returns the values of all JVMs by row and series, in the order of the file. */
  private static Map<String, Map<String, List<Double>>> rows(List<Point> points) {
    return points.stream()
        .collect(
            Collectors.groupingBy(
                point -> point.x() + ", " + point.chart(),
                LinkedHashMap::new,
                Collectors.groupingBy(
                    Point::series, Collectors.mapping(Point::y, Collectors.toList()))));
  }

  private static double quantile(Map<String, List<Double>> series, String name, double part) {
    List<Double> sorted = series.getOrDefault(name, List.of()).stream().sorted().toList();
    return sorted.get((int) Math.round(part * (sorted.size() - 1)));
  }
}
