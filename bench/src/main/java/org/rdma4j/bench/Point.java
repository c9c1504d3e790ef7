package org.rdma4j.bench;

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
 * One thing that was measured: a line of JSON in the file of results.
 *
 * @param chart which chart it is of, a name without quotation marks as those below
 * @param series which series of the chart
 * @param x where in the series
 * @param y the value
 */
record Point(String chart, String series, String x, double y) {
  private static final Pattern LINE =
      Pattern.compile(
          "\\{\"chart\": \"(.*)\", \"series\": \"(.*)\", \"x\": \"(.*)\", \"y\": (.*)}");

  static void append(Path file, List<Point> points) throws IOException {
    Files.write(
        file,
        points.stream().map(Point::line).toList(),
        UTF_8,
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  static List<Point> read(Path file) throws IOException {
    List<Point> points = new ArrayList<>();
    for (String line : Files.readAllLines(file, UTF_8)) {
      Matcher matcher = LINE.matcher(line);
      if (!matcher.matches()) {
        throw new IOException(file + " has a line that is no point: " + line);
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
