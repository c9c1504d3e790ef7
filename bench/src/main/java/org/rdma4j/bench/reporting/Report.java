package org.rdma4j.bench.reporting;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;

/** Draws charts of the measured points, and writes their table: {@code dev/bench report}. */
public final class Report {
  private static final int WIDTH = 1000;
  private static final int HEIGHT = 600;

  private Report() {}

  /**
   * Draws each chart into its own file, and replaces the table of a document.
   *
   * @param arguments the file with the points; the folder for the charts, as SVG; the document; and
   *     what was measured on
   * @throws IOException if a file cannot be read or written
   */
  public static void main(String[] arguments) throws IOException {
    Map<String, List<Point>> charts = new LinkedHashMap<>();
    List<Point> points = Point.read(Path.of(arguments[0]));
    new Summary(points).replaceIn(Path.of(arguments[2]), arguments[3]);
    for (Point point : points) {
      if (point.chart().equals(Summary.CHART)) {
        continue;
      }
      charts.computeIfAbsent(point.chart(), chart -> new ArrayList<>()).add(point);
    }
    for (Map.Entry<String, List<Point>> chart : charts.entrySet()) {
      Path file = Path.of(arguments[1], fileName(chart.getKey()));
      VectorGraphicsEncoder.saveVectorGraphic(
          draw(chart.getKey(), chart.getValue()), file.toString(), VectorGraphicsFormat.SVG);
      System.out.println(file);
    }
  }

  private static String fileName(String chart) {
    return chart.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-") + ".svg";
  }

  private static CategoryChart draw(String title, List<Point> points) {
    CategoryChart chart =
        new CategoryChartBuilder().width(WIDTH).height(HEIGHT).title(title).build();
    chart.getStyler().setXAxisLabelRotation(45);
    // In a chart that ranges from nanoseconds to milliseconds the short bars would not be visible.
    double min = points.stream().mapToDouble(Point::y).min().orElseThrow();
    double max = points.stream().mapToDouble(Point::y).max().orElseThrow();
    if (min > 0 && max / min > 100) {
      chart.getStyler().setYAxisLogarithmic(true);
      chart.getStyler().setYAxisMin(min / 2);
    }
    List<String> categories = points.stream().map(Point::x).distinct().toList();
    for (String series : points.stream().map(Point::series).distinct().toList()) {
      List<@Nullable Double> values = new ArrayList<>();
      for (String category : categories) {
        values.add(
            points.stream()
                .filter(point -> point.series().equals(series) && point.x().equals(category))
                .map(Point::y)
                .findAny()
                .orElse(null));
      }
      chart.addSeries(series, categories, values);
    }
    return chart;
  }
}
