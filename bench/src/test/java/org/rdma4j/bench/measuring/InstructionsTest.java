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

final class InstructionsTest {
  private static final List<Point> BEFORE =
      List.of(
          new Point("instructions", "critical", "post + poll", 100),
          new Point("instructions", "plain", "post + poll", 200));

  @Test
  void growthByLessThanATenthPasses() {
    List<Point> now = List.of(new Point("instructions", "critical", "post + poll", 109));
    assertThat(Instructions.compare(BEFORE, now)).isTrue();
  }

  @Test
  void growthByMoreThanATenthFails() {
    List<Point> now = List.of(new Point("instructions", "critical", "post + poll", 111));
    assertThat(Instructions.compare(BEFORE, now)).isFalse();
  }

  @Test
  void instructionsAreCountedIfTheMachineCan(@TempDir Path folder)
      throws IOException, InterruptedException {
    Path file = folder.resolve("instructions");

    String printed =
        ChildJvm.run(Duration.ofMinutes(2), List.of(), Instructions.class, file.toString());

    if (printed.contains("cannot count instructions")) {
      assertThat(printed.strip().lines()).hasSize(1);
    } else {
      assertThat(Point.read(file)).hasSize(10).allMatch(point -> point.y() > 10);
    }
  }
}
