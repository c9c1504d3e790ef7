package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * The coverage documents in docs/ name every function of the C headers, and only methods and tests
 * that exist.
 */
final class CoverageTest {
  static final List<Coverage> DOCUMENTS =
      List.of(
          new Coverage(
              Path.of("..", "docs", "verbs-coverage.md"),
              "infiniband/verbs.h",
              Pattern.compile("\\b_*(\\w*ibv_\\w+)\\s*\\("),
              150),
          new Coverage(
              Path.of("..", "docs", "cm-coverage.md"),
              "rdma/rdma_verbs.h",
              Pattern.compile("\\b(rdma_\\w+)\\s*\\("),
              55));

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyFunctionHasARow(Coverage coverage, @TempDir Path directory) throws Exception {
    assertThat(coverage.missing(directory)).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyRowNamesAMethodOrTheReasonForNone(Coverage coverage) throws Exception {
    coverage.checkRows();
  }

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyMethodThatIsNamedExists(Coverage coverage) throws Exception {
    assertThat(coverage.unknownMethods()).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyTestThatIsNamedExists(Coverage coverage) throws Exception {
    assertThat(coverage.unknownTests()).isEmpty();
  }
}
