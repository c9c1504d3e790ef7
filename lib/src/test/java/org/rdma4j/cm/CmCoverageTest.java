package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.Coverage;

/**
 * docs/cm-coverage.md names every function of rdma_cma.h and rdma_verbs.h, and only methods and
 * tests there are.
 */
final class CmCoverageTest {
  private static final Coverage COVERAGE =
      new Coverage(
          Path.of("..", "docs", "cm-coverage.md"),
          "rdma/rdma_verbs.h",
          Pattern.compile("\\b(rdma_\\w+)\\s*\\("));

  @Test
  void everyFunctionOfTheConnectionManagerHasARow(@TempDir Path directory) throws Exception {
    assertThat(COVERAGE.missing(directory, 55)).isEmpty();
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
