package org.rdma4j.bench.reporting;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReportTest {
  @Test
  void theTableOfADocumentIsReplaced(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("points");
    List<Point> points = new ArrayList<>();
    for (String calls : List.of("critical", "plain")) {
      String[] series = {"C", "Java", "ratio", "low", "high", "bytes", "max"};
      double[] values = {10, 12, calls.equals("plain") ? 1.4 : 1.2, 1.1, 1.5, 0, 1.3};
      for (int i = 0; i < series.length; i++) {
        points.add(new Point("posts and polls", calls + " " + series[i], "post", values[i]));
      }
    }
    Point.append(file, points);

    Path document = report(file, folder);
    report(file, folder);

    assertThat(document)
        .hasContent(
            """
            before
            <!-- Written by dev/bench report. -->

            a machine.

            | operation | C ns | Java ns | Java / C (quartiles) | plain calls: Java / C | B/op | at most |
            |---|---|---|---|---|---|---|
            | post | 10.00 | 12.00 | 1.20 (1.10 to 1.50) | 1.40 (1.10 to 1.50) | 0.00 | 1.30: met; plain missed |

            <!-- The end of what dev/bench report wrote. -->
            after
            """);
  }

  /** Reports on points, and returns the document with the table. */
  private static Path report(Path points, Path folder) throws IOException {
    Path document = folder.resolve("document.md");
    Files.writeString(
        document,
        """
        before
        <!-- Written by dev/bench report. -->
        an older table
        <!-- The end of what dev/bench report wrote. -->
        after
        """);
    Report.main(new String[] {points.toString(), document.toString(), "a machine"});
    return document;
  }

  @Test
  void pointsAreReadBackAsWritten(@TempDir Path folder) throws IOException {
    List<Point> points = List.of(new Point("chart", "series", "8 in a chain, each", 0.125));
    Path file = folder.resolve("points");

    Point.append(file, points);

    assertThat(Point.read(file)).isEqualTo(points);
  }
}
