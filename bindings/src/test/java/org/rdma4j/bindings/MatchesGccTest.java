package org.rdma4j.bindings;

import static java.util.stream.Collectors.toUnmodifiableSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The bindings say about C what gcc says, whatever the version of the headers: everything that both
 * know lies in the same place, and what only one of them knows is growth that the ABI allows.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MatchesGccTest {
  private List<Fact> facts;
  private Comparison comparison;

  @BeforeAll
  void compare() {
    facts =
        Stream.concat(
                Aarch64.withoutDifferences(Facts.ofTypes()).stream(), Facts.ofConstants().stream())
            .toList();
    comparison = Comparison.of(facts, Gcc.NATIVE);
  }

  @Test
  void theBindingsMakeManyClaims() {
    assertThat(facts.size()).isGreaterThan(4000);
  }

  @Test
  void everyClaimHolds() {
    assertThat(comparison.wrong()).isEmpty();
  }

  @Test
  void headersLackOnlyWhatIsNewer() {
    assertThat(symbols(comparison.unknown())).allMatch(Growth::isNewer);
  }

  @Test
  void onlyHeadersOfAnOlderVersionLackAnything() {
    assertThat(comparison.unknown().isEmpty())
        .as("the headers are those of rdma-core %d", Headers.VERSION)
        .isEqualTo(Headers.VERSION >= Headers.OF_THE_BINDINGS);
  }

  @Test
  void whatIsNewerIsInTheBindings() {
    Set<String> all =
        Stream.concat(
                symbols(Set.copyOf(facts)).stream(),
                Filter.symbols().stream().map(Filter.Symbol::name))
            .collect(toUnmodifiableSet());
    assertThat(Growth.newerThan44()).hasSizeGreaterThan(80);
    assertThat(Growth.newerThan44())
        .filteredOn(name -> !name.toLowerCase(Locale.ROOT).matches(".*(mlx5|efadv).*"))
        .isSubsetOf(all);
  }

  /** If gcc took everything for right, the tests above would pass for any bindings. */
  @Test
  void gccTellsWhatIsWrongAndWhatIsUnknown() {
    Fact right = new Fact("int", "size of int", "sizeof(int)", 4);
    Fact wrong = new Fact("short", "size of short", "sizeof(short)", 4);
    Fact unknown = new Fact("IBV_NO_SUCH", "size of it", "sizeof(IBV_NO_SUCH)", 4);
    Fact alsoUnknown = new Fact("IBV_NO_SUCH", "value of it", "IBV_NO_SUCH", 4);
    assertThat(Comparison.of(List.of(right, wrong, unknown, alsoUnknown), Gcc.NATIVE))
        .isEqualTo(new Comparison(Set.of(wrong), Set.of(unknown, alsoUnknown)));
  }

  private static Set<String> symbols(Set<Fact> facts) {
    return facts.stream().map(Fact::symbol).collect(toUnmodifiableSet());
  }
}
