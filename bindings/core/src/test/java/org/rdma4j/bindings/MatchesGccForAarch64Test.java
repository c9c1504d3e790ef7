package org.rdma4j.bindings;

import static java.util.stream.Collectors.toUnmodifiableSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.rdma4j.testing.headers.Fact;
import org.rdma4j.testing.headers.FactCheck;
import org.rdma4j.testing.headers.Facts;
import org.rdma4j.testing.headers.Gcc;
import org.rdma4j.testing.headers.Headers;

/**
 * Compares the bindings with a cross compiler. The headers under test are the same on every
 * architecture. Those of the C library are not: the compiler finds them in its own directory first.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MatchesGccForAarch64Test {
  private List<Fact> facts;
  private FactCheck check;

  @BeforeAll
  void compare() {
    facts =
        Stream.concat(
                Facts.ofTypes(Rdma.GENERATED, Rdma.GROWTH).stream(),
                Facts.ofConstants(Rdma.GENERATED).stream())
            .toList();
    check =
        FactCheck.of(facts, Rdma.HEADER, Gcc.AARCH64, "-idirafter", Headers.include().toString());
  }

  @Test
  void everythingButTheKnownDifferencesIsTheSameOnArm64() {
    assertThat(facts.size()).isGreaterThan(4000);
    assertThat(check.wrong())
        .filteredOn(fact -> !Aarch64.DIFFERENCES.contains(fact.name()))
        .isEmpty();
    assertThat(check.unknown()).extracting(Fact::symbol).allMatch(Rdma.GROWTH::isNewer);
  }

  @Test
  void everyKnownDifferenceExists() {
    Set<String> different =
        Stream.concat(check.wrong().stream(), check.unknown().stream())
            .map(Fact::name)
            .collect(toUnmodifiableSet());
    assertThat(Aarch64.DIFFERENCES).isSubsetOf(different);
  }
}
