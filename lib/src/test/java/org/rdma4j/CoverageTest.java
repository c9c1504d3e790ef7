package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * The coverage documents in docs/ name every function of the C headers, and only methods and tests
 * that exist, and say how each function is proven.
 */
final class CoverageTest {
  private static final Coverage VERBS =
      new Coverage(
          Path.of("..", "docs", "verbs-coverage.md"),
          "infiniband/verbs.h",
          Pattern.compile("\\b_*(\\w*ibv_\\w+)\\s*\\("),
          150);
  static final List<Coverage> DOCUMENTS =
      List.of(
          VERBS,
          new Coverage(
              Path.of("..", "docs", "cm-coverage.md"),
              "rdma/rdma_verbs.h",
              Pattern.compile("\\b(rdma_\\w+)\\s*\\("),
              55));

  @TempDir private Path directory;

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyFunctionHasARow(Coverage coverage) throws Exception {
    assertThat(coverage.missing(directory)).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyRowIsThatOfAFunction(Coverage coverage) throws Exception {
    assertThat(coverage.undeclared(directory)).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyRowNamesAMethodAndATestOrTheReasonForNone(Coverage coverage) throws Exception {
    assertThat(coverage.malformed()).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyMethodThatIsNamedExists(Coverage coverage) throws Exception {
    assertThat(coverage.unknownMethods()).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyTestThatIsNamedRuns(Coverage coverage) throws Exception {
    assertThat(coverage.unknownTests()).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyRowSaysHowItIsProven(Coverage coverage) throws Exception {
    assertThat(coverage.wrongProofs()).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("DOCUMENTS")
  void everyRowWhoseFunctionIsNotCalledSaysSo(Coverage coverage) throws Exception {
    assertThat(coverage.wrongCalls()).isEmpty();
  }

  @Test
  void theFunctionsThatNoDeviceHasRunAreListed() throws Exception {
    assertThat(VERBS.listedAsRunByNoDevice()).isEqualTo(VERBS.runByNoDevice());
  }

  /** Returns the document of the verbs with a change. */
  private Coverage with(String replaced, String replacement) throws IOException {
    String document = Files.readString(VERBS.document(), StandardCharsets.UTF_8);
    assertThat(document).contains(replaced);
    Path broken =
        Files.writeString(directory.resolve("broken.md"), document.replace(replaced, replacement));
    return new Coverage(broken, VERBS.header(), VERBS.function(), VERBS.min());
  }

  @Test
  void aMissingRowIsNoticed() throws Exception {
    assertThat(with("| `ibv_poll_cq` |", "| `ibv_start_poll` |").missing(directory))
        .containsExactly("ibv_poll_cq");
  }

  @Test
  void aRowOfAFunctionThatNoHeaderDeclaresIsNoticed() throws Exception {
    assertThat(with("| `ibv_poll_cq` |", "| `ibv_poll_queue` |").undeclared(directory))
        .containsExactly("ibv_poll_queue");
  }

  @Test
  void aRowOfANewerFunctionSaysSinceWhen() throws Exception {
    Coverage coverage = with("| `ibv_poll_cq` |", "| `ibv_poll_queue`, since 99 |");
    assertThat(coverage.undeclared(directory)).isEmpty();
    assertThat(coverage.malformed()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "`Completions.poll`; ",
        "`Completions.poll`; Completions.poll",
        "`Completions.poll`; not yet",
        "not needed: `CompletionQueue` is both; not needed",
        "`MessagesTest.aMessageArrivesCompleteAndAtItsOffset`; ",
        "`MessagesTest.aMessageArrivesCompleteAndAtItsOffset`; see MessagesTest",
      })
  void aMalformedRowIsNoticed(String cell, String replacement) throws Exception {
    assertThat(with(cell, replacement == null ? "" : replacement).malformed()).isNotEmpty();
  }

  @Test
  void aMethodThatDoesNotExistOrIsNotPublicIsNoticed() throws Exception {
    assertThat(with("`Completions.poll`", "`Completions.pol`").unknownMethods())
        .containsExactly("Completions.pol");
    assertThat(with("`Completions.poll`", "`Completions.copy`").unknownMethods())
        .containsExactly("Completions.copy");
  }

  /**
   * No test of the library, and none that anyone skips: an example of what a row must not name. The
   * build does not run nested classes.
   */
  static final class ExampleOfADisabledTest {
    @Test
    @Disabled("an example for aTestThatDoesNotRunIsNoticed")
    void doesNotRun() {}
  }

  @ParameterizedTest
  @CsvSource({
    // It does not exist.
    "CyclesTest.nothing",
    // They exist, but are no tests.
    "CyclesTest.nothingIsLeft",
    "CyclesTest.count",
    "Loopback.openDevice",
    "CoverageTest.with",
    // It does not run.
    "CoverageTest.ExampleOfADisabledTest.doesNotRun",
  })
  void aTestThatDoesNotRunIsNoticed(String test) throws Exception {
    assertThat(with("`CyclesTest.protectionDomains`", "`" + test + "`").unknownTests())
        .containsExactly(test);
  }

  @Test
  void aWrongProofIsNoticed() throws Exception {
    String row = "`CapabilitiesTest.aPartitionKeyIsFoundByItsValue` | ";
    String right = "by bytes, on a device";
    String tests = "`DeviceBytesTest.thePlaceOfAPartitionKey`, " + row;
    assertThat(with(tests + right, tests + "on a device").wrongProofs()).hasSize(1);
    assertThat(with(tests + right, tests + "by bytes").wrongProofs()).hasSize(1);
    assertThat(with(tests + right, tests).wrongProofs()).hasSize(1);
    assertThat(with(tests + right, tests + right + ", refused").wrongProofs()).hasSize(1);
    assertThat(with(tests + right, row + right).wrongProofs()).hasSize(1);
    assertThat(with(tests + right, "refused: " + row + right).wrongProofs()).hasSize(1);
  }

  @Test
  void aFunctionThatIsNotCalledIsNoticed() throws Exception {
    assertThat(with("| not needed: each completion ", "| `Completions.poll` ").wrongCalls())
        .singleElement()
        .asString()
        .contains("ibv_next_poll");
    assertThat(with("| `RdmaDevice.rawClock`", "| in Java: `RdmaDevice.rawClock`").wrongCalls())
        .singleElement()
        .asString()
        .contains("ibv_query_rt_values_ex");
  }
}
