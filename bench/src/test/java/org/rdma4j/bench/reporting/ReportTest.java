package org.rdma4j.bench.reporting;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReportTest {
  /** Colours of XChart's theme. Series are told apart by colour because text is drawn as shapes. */
  private static final String FIRST_SERIES = "fill:rgb(0,55,255)";

  private static final String SECOND_SERIES = "fill:rgb(255,172,0)";

  @Test
  void eachChartIsDrawnToItsOwnFileWithItsSeries(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("points");
    Point.append(
        file,
        List.of(
            new Point("Java / C", "critical", "post + poll", 1.5),
            new Point("Java / C", "plain", "post + poll", 2)));
    Point.append(file, List.of(new Point("another", "C", "1", 1)));

    Report.main(new String[] {file.toString(), folder.toString()});

    assertThat(folder.resolve("java-c.svg")).content().contains(FIRST_SERIES, SECOND_SERIES);
    assertThat(folder.resolve("another.svg"))
        .content()
        .contains(FIRST_SERIES)
        .doesNotContain(SECOND_SERIES);
  }

  @Test
  void seriesWithDifferentCategoriesAndMagnitudesAreDrawn(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("points");
    Point.append(
        file,
        List.of(new Point("tail", "C", "p50", 12), new Point("tail", "Java", "max", 1_000_000)));

    Report.main(new String[] {file.toString(), folder.toString()});

    assertThat(folder.resolve("tail.svg")).content().contains(FIRST_SERIES, SECOND_SERIES);
  }

  @Test
  void pointsAreReadBackAsWritten(@TempDir Path folder) throws IOException {
    List<Point> points = List.of(new Point("chart", "series", "8 in a chain, each", 0.125));
    Path file = folder.resolve("points");

    Point.append(file, points);

    assertThat(Point.read(file)).isEqualTo(points);
  }
}
