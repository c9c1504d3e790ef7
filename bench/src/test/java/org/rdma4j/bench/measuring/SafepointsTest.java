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

final class SafepointsTest {
  @Test
  void timeToSafepointIsMeasuredForEachNumberOfThreads(@TempDir Path folder)
      throws IOException, InterruptedException {
    Path file = folder.resolve("points");

    ChildJvm.run(
        Duration.ofMinutes(2), List.of(), Safepoints.class, "CRITICAL", "", "5", file.toString());

    assertThat(Point.read(file))
        .filteredOn(Point::chart, "us to a safepoint, longest")
        .hasSize(4)
        .allMatch(point -> point.y() > 0);
  }
}
