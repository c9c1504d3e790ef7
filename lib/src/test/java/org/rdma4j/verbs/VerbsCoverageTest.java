package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.Coverage;

/** docs/verbs-coverage.md names every function of verbs.h, and only methods and tests there are. */
final class VerbsCoverageTest {
  private static final Coverage COVERAGE =
      new Coverage(
          Path.of("..", "docs", "verbs-coverage.md"),
          "infiniband/verbs.h",
          Pattern.compile("\\b_*(\\w*ibv_\\w+)\\s*\\("));

  @Test
  void everyFunctionOfVerbsHasARow(@TempDir Path directory) throws Exception {
    assertThat(COVERAGE.missing(directory, 150)).isEmpty();
  }

  @Test
  void everyRowTellsAMethodOrWhyThereIsNone() throws Exception {
    COVERAGE.checkRows();
  }

  @Test
  void everyMethodThatIsNamedExists() throws Exception {
    assertThat(COVERAGE.unknownMethods()).isEmpty();
  }

  @Test
  void everyTestThatIsNamedExists() throws Exception {
    assertThat(COVERAGE.unknownTests()).isEmpty();
  }
}
