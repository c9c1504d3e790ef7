package org.rdma4j.bench.reporting;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * The table of posts and polls in a document: it takes the place of what is between two comments
 * there.
 */
final class Summary {
  /** The chart whose points are the cells of the table. It is not drawn. */
  static final String CHART = "posts and polls";

  private static final String BEGIN = "<!-- Written by dev/bench report. -->";
  private static final String END = "<!-- The end of what dev/bench report wrote. -->";
  private static final String HEADER =
      """
      | operation | C ns | Java ns | Java / C (quartiles) | plain calls: Java / C | B/op | at most |
      |---|---|---|---|---|---|---|
      """;

  private final List<Point> points;

  Summary(List<Point> points) {
    this.points = points.stream().filter(point -> point.chart().equals(CHART)).toList();
  }

  /** Returns the points of an operation. */
  static List<Point> points(String operation, String calls, double max, Comparison comparison) {
    List<Point> cells = new ArrayList<>();
    cells.add(new Point(CHART, calls + " C", operation, comparison.c()));
    cells.add(new Point(CHART, calls + " Java", operation, comparison.java()));
    cells.add(new Point(CHART, calls + " ratio", operation, comparison.ratio(0.5)));
    cells.add(new Point(CHART, calls + " low", operation, comparison.ratio(0.25)));
    cells.add(new Point(CHART, calls + " high", operation, comparison.ratio(0.75)));
    cells.add(new Point(CHART, calls + " bytes", operation, comparison.bytes()));
    if (!Double.isNaN(max)) {
      cells.add(new Point(CHART, calls + " max", operation, max));
    }
    return cells;
  }

  /**
   * Replaces the table of a document.
   *
   * @param document the document, which has both comments
   * @param machine what was measured on, and when
   * @throws IOException if the document cannot be read or written, or lacks a comment
   */
  void replaceIn(Path document, String machine) throws IOException {
    String text = Files.readString(document, UTF_8);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IOException(
          "%s does not have the lines \"%s\" and \"%s\"".formatted(document, BEGIN, END));
    }
    Files.writeString(
        document,
        text.substring(0, begin + BEGIN.length())
            + "\n\n"
            + table(machine)
            + "\n"
            + text.substring(end),
        UTF_8);
  }

  private String table(String machine) {
    StringBuilder table = new StringBuilder(machine).append(".\n\n").append(HEADER);
    for (String operation : points.stream().map(Point::x).distinct().toList()) {
      table
          .append("| ")
          .append(
              String.join(
                  " | ",
                  operation,
                  number(cell(operation, "critical C")),
                  number(cell(operation, "critical Java")),
                  ratio(operation, "critical"),
                  ratio(operation, "plain"),
                  number(
                      OptionalDouble.of(
                          Math.max(
                              cell(operation, "critical bytes").orElse(0),
                              cell(operation, "plain bytes").orElse(0)))),
                  verdicts(operation)))
          .append(" |\n");
    }
    return table.toString();
  }

  private String ratio(String operation, String calls) {
    OptionalDouble ratio = cell(operation, calls + " ratio");
    return ratio.isEmpty() || Double.isNaN(ratio.getAsDouble())
        ? ""
        : "%s (%s to %s)"
            .formatted(
                number(ratio),
                number(cell(operation, calls + " low")),
                number(cell(operation, calls + " high")));
  }

  /** Returns the limit of an operation, and whether either style of calls keeps it. */
  private String verdicts(String operation) {
    OptionalDouble max = cell(operation, "critical max");
    return max.isEmpty()
        ? ""
        : "%s: %s; plain %s"
            .formatted(
                number(max),
                verdict(max, cell(operation, "critical ratio")),
                verdict(max, cell(operation, "plain ratio")));
  }

  private static String verdict(OptionalDouble max, OptionalDouble ratio) {
    return ratio.orElse(Double.MAX_VALUE) <= max.orElseThrow() ? "met" : "missed";
  }

  private OptionalDouble cell(String operation, String series) {
    return points.stream()
        .filter(point -> point.x().equals(operation) && point.series().equals(series))
        .mapToDouble(Point::y)
        .findAny();
  }

  private static String number(OptionalDouble value) {
    return value.isEmpty() || Double.isNaN(value.getAsDouble())
        ? ""
        : String.format(Locale.ROOT, "%.2f", value.getAsDouble());
  }
}
