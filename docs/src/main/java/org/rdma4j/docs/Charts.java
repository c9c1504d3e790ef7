package org.rdma4j.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Draws the points that dev/bench measured as bars, one chart for each name of a chart. */
final class Charts {
  /** The cells of the table in calls.md, which have no common unit. */
  private static final String TABLE = "posts and polls";

  private static final Pattern LINE =
      Pattern.compile(
          "\\{\"chart\": \"(.*)\", \"series\": \"(.*)\", \"x\": \"(.*)\", \"y\": (.*)}");
  private static final String[] COLOURS = {"#1f6feb", "#d9822b", "#2a9d5c", "#a855c7", "#777"};
  private static final int WIDTH = 720;
  private static final int LABELS = 240;
  private static final int BARS = WIDTH - LABELS - 70;
  private static final int BAR = 12;

  private Charts() {}

  /** A line of the file. */
  private record Point(String chart, String series, String category, double value) {}

  /** Returns the charts of a file as SVG in HTML. */
  static String html(Path file) throws IOException {
    Map<String, List<Point>> charts = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      Matcher point = LINE.matcher(line);
      if (!point.matches()) {
        throw new IOException(file + " has a line that is not a point: " + line);
      }
      charts
          .computeIfAbsent(point.group(1), chart -> new ArrayList<>())
          .add(
              new Point(
                  point.group(1),
                  point.group(2),
                  point.group(3),
                  Double.parseDouble(point.group(4))));
    }
    charts.remove(TABLE);
    StringBuilder html = new StringBuilder();
    charts.forEach((name, points) -> append(html, name, points));
    return html.toString();
  }

  private static void append(StringBuilder html, String name, List<Point> points) {
    List<String> series = points.stream().map(Point::series).distinct().toList();
    List<String> categories = points.stream().map(Point::category).distinct().toList();
    double min = points.stream().mapToDouble(Point::value).min().orElseThrow();
    double max = points.stream().mapToDouble(Point::value).max().orElseThrow();
    // In a chart that ranges from nanoseconds to milliseconds, the short bars would not be visible.
    boolean logarithmic = min > 0 && max / min > 100;
    html.append("<h2>").append(JavaCode.escape(name)).append("</h2>\n<p>");
    for (int i = 0; i < series.size(); i++) {
      html.append("<span style=\"color: ").append(colour(i)).append("\">&#9632;</span> ");
      html.append(JavaCode.escape(series.get(i))).append(' ');
    }
    html.append(logarithmic ? "(logarithmic)</p>\n" : "</p>\n");
    int y = 0;
    StringBuilder bars = new StringBuilder();
    for (String category : categories) {
      bars.append(text(LABELS - 8, y + BAR, "end", category));
      for (int i = 0; i < series.size(); i++) {
        for (Point point : points) {
          if (point.category().equals(category) && point.series().equals(series.get(i))) {
            double part =
                logarithmic
                    ? Math.log(2 * point.value() / min) / Math.log(2 * max / min)
                    : point.value() / max;
            bars.append(bar(y, Math.max(0, part) * BARS, colour(i), point.value()));
            y += BAR + 2;
          }
        }
      }
      y += BAR / 2;
    }
    html.append(
        "<svg class=\"wide\" viewBox=\"0 0 %d %d\" width=\"%1$d\" font-size=\"11\">\n"
            .formatted(WIDTH, y));
    html.append(bars).append("</svg>\n");
  }

  private static String colour(int series) {
    return COLOURS[series % COLOURS.length];
  }

  private static String bar(int y, double length, String colour, double value) {
    return String.format(
            Locale.ROOT,
            "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
            LABELS,
            y,
            length,
            BAR,
            colour)
        + text(LABELS + (int) length + 4, y + BAR - 2, "start", number(value));
  }

  private static String text(int x, int y, String anchor, String text) {
    return "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" fill=\"currentColor\">%s</text>\n"
        .formatted(x, y, anchor, JavaCode.escape(text));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%.2f" : "%.0f", value);
  }
}
