package org.rdma4j.bench.posts;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One measured value: a line of JSON in the file of results. None of the names contains a quotation
 * mark.
 *
 * @param chart the name of its chart
 * @param series the name of its series in the chart
 * @param x its category in the series
 * @param y the value
 */
record Point(String chart, String series, String x, double y) {
  private static final Pattern LINE =
      Pattern.compile(
          "\\{\"chart\": \"(.*)\", \"series\": \"(.*)\", \"x\": \"(.*)\", \"y\": (.*)}");

  /**
   * Appends points to a file, and creates the file if necessary.
   *
   * @param file the file
   * @param points the points
   * @throws IOException if the file cannot be written
   */
  static void append(Path file, List<Point> points) throws IOException {
    Files.write(
        file,
        points.stream().map(Point::line).toList(),
        UTF_8,
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /**
   * Reads all points of a file.
   *
   * @param file the file
   * @return its points, in order
   * @throws IOException if the file cannot be read, or has a line that is not a point
   */
  static List<Point> read(Path file) throws IOException {
    List<Point> points = new ArrayList<>();
    for (String line : Files.readAllLines(file, UTF_8)) {
      Matcher matcher = LINE.matcher(line);
      if (!matcher.matches()) {
        throw new IOException(file + " has a line that is not a point: " + line);
      }
      double y = Double.parseDouble(matcher.group(4));
      points.add(new Point(matcher.group(1), matcher.group(2), matcher.group(3), y));
    }
    return points;
  }

  private String line() {
    return String.format(
        Locale.ROOT,
        "{\"chart\": \"%s\", \"series\": \"%s\", \"x\": \"%s\", \"y\": %.3f}",
        chart,
        series,
        x,
        y);
  }
}
