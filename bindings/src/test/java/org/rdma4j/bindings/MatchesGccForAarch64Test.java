package org.rdma4j.bindings;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toUnmodifiableSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the bindings with static assertions, which a cross compiler checks without running. */
final class MatchesGccForAarch64Test {
  /**
   * The directory of the headers under test, which are the same on every architecture. The headers
   * of the C library are not: the cross compiler finds them in its own directory first.
   */
  private static final String INCLUDE = "/usr/include";

  /** An error: fact n is on line n of what the compiler takes for a file of this name. */
  private static final Pattern REFUTED = Pattern.compile("facts:(\\d+):.*");

  @TempDir private Path directory;

  @Test
  void everythingButTheKnownDifferencesIsTheSameOnArm64() throws IOException {
    assertThat(refuted(facts()))
        .filteredOn(fact -> !Aarch64.DIFFERENCES.contains(fact.name()))
        .isEmpty();
  }

  @Test
  void everyKnownDifferenceExists() throws IOException {
    Set<String> refuted = refuted(facts()).stream().map(Fact::name).collect(toUnmodifiableSet());
    assertThat(Aarch64.DIFFERENCES).filteredOn(name -> !refuted.contains(name)).isEmpty();
  }

  private static List<Fact> facts() {
    List<Fact> facts =
        Stream.concat(Facts.ofTypes().stream(), Facts.ofConstants().stream()).toList();
    assertThat(facts).hasSizeGreaterThan(4000);
    return facts;
  }

  /** Returns the facts that are wrong. The compiler may report one more than once. */
  private Set<Fact> refuted(List<Fact> facts) throws IOException {
    Path source = directory.resolve("facts.c");
    Files.writeString(
        source,
        facts.stream()
            .map(MatchesGccForAarch64Test::assertion)
            .collect(joining("\n", Gcc.HEADERS + "#line 1 \"facts\"\n", "\n")));
    List<String> errors =
        Gcc.AARCH64.run("-fsyntax-only", "-idirafter", INCLUDE, source.toString()).output().stream()
            .filter(line -> line.contains("error: "))
            .toList();
    assertThat(errors).allSatisfy(error -> assertThat(error).matches(REFUTED));
    return errors.stream()
        .map(REFUTED::matcher)
        .filter(Matcher::matches)
        .map(refuted -> facts.get(Integer.parseInt(refuted.group(1)) - 1))
        .collect(toUnmodifiableSet());
  }

  private static String assertion(Fact fact) {
    return "_Static_assert((%s) == %d, \"%s\");"
        .formatted(fact.expression(), fact.value(), fact.name());
  }
}
