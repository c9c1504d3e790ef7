package org.rdma4j.bindings;

import static java.util.stream.Collectors.toUnmodifiableSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Compares the bindings with a cross compiler. The headers under test are the same on every
 * architecture. Those of the C library are not: the compiler finds them in its own directory first.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MatchesGccForAarch64Test {
  private List<Fact> facts;
  private Comparison comparison;

  @BeforeAll
  void compare() {
    facts = Stream.concat(Facts.ofTypes().stream(), Facts.ofConstants().stream()).toList();
    comparison = Comparison.of(facts, Gcc.AARCH64, "-idirafter", Headers.include().toString());
  }

  @Test
  void everythingButTheKnownDifferencesIsTheSameOnArm64() {
    assertThat(facts.size()).isGreaterThan(4000);
    assertThat(comparison.wrong())
        .filteredOn(fact -> !Aarch64.DIFFERENCES.contains(fact.name()))
        .isEmpty();
    assertThat(comparison.unknown()).extracting(Fact::symbol).allMatch(Growth::isNewer);
  }

  @Test
  void everyKnownDifferenceExists() {
    Set<String> different =
        Stream.concat(comparison.wrong().stream(), comparison.unknown().stream())
            .map(Fact::name)
            .collect(toUnmodifiableSet());
    assertThat(Aarch64.DIFFERENCES).isSubsetOf(different);
  }
}
