package org.rdma4j.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ChartsTest {
  @TempDir Path folder;

  private String charts(String... lines) throws IOException {
    return Charts.html(Files.writeString(folder.resolve("points"), String.join("\n", lines)));
  }

  private static String point(String chart, String series, String x, String y) {
    return "{\"chart\": \"%s\", \"series\": \"%s\", \"x\": \"%s\", \"y\": %s}"
        .formatted(chart, series, x, y);
  }

  @Test
  void eachPointIsABarAndTheLongestFillsTheWidth() throws IOException {
    String html =
        charts(
            point("ns", "C", "post", "10"),
            point("ns", "Java", "post", "20"),
            point("other", "C", "<1>", "1"));

    assertThat(html).contains("<h2>ns</h2>", "<h2>other</h2>", "&lt;1&gt;");
    assertThat(html.split("<rect ")).hasSize(4);
    assertThat(html).contains("width=\"205.0\"", "width=\"410.0\"", ">20.00</text>");
    assertThat(html).doesNotContain("logarithmic");
  }

  @Test
  void valuesOfVeryDifferentMagnitudesAreDrawnOnALogarithmicScale() throws IOException {
    assertThat(charts(point("tail", "C", "p50", "12"), point("tail", "C", "max", "1000000")))
        .contains("logarithmic", ">1000000</text>");
  }

  @Test
  void theCellsOfTheTableAreNoChart() throws IOException {
    assertThat(charts(point("posts and polls", "critical C", "post", "10"))).isEmpty();
  }

  @Test
  void aLineThatIsNoPointIsRefused() {
    assertThatThrownBy(() -> charts("post 10"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("a line that is not a point: post 10");
  }

  @Test
  void theRecordedPointsCanBeDrawn() throws IOException {
    for (String machine : new String[] {"amd-epyc", "intel-xeon-processor"}) {
      assertThat(Charts.html(Path.of("../docs/benchmarks", machine, "points.jsonl")))
          .contains("<h2>Java / C</h2>", "</svg>");
    }
  }
}
