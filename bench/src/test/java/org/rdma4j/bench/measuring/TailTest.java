package org.rdma4j.bench.measuring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.bench.reporting.Point;
import org.rdma4j.bench.standin.ChildJvm;

final class TailTest {
  @Test
  void percentilesOfCAndJavaAreRecorded(@TempDir Path folder)
      throws IOException, InterruptedException {
    Path file = folder.resolve("points");

    ChildJvm.run(
        Duration.ofMinutes(1),
        List.of("-Xmx256m"),
        Tail.class,
        "some collector",
        "100000",
        file.toString());

    List<Point> points = Point.read(file);
    assertThat(points).extracting(Point::series).contains("Java, some collector");
    assertThat(points).filteredOn(Point::x, "max").hasSize(2).allMatch(point -> point.y() >= 1);
  }
}
