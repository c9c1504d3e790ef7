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
import org.rdma4j.testing.headers.Filter;
import org.rdma4j.testing.headers.Gcc;
import org.rdma4j.testing.headers.Headers;

/**
 * The bindings say about C what gcc says, whatever the version of the headers: everything that both
 * know lies in the same place, and what only one of them knows is growth that the ABI allows.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MatchesGccTest {
  private List<Fact> facts;
  private FactCheck check;

  @BeforeAll
  void compare() {
    facts =
        Stream.concat(
                Aarch64.withoutDifferences(Facts.ofTypes(Rdma.GENERATED, Rdma.GROWTH)).stream(),
                Facts.ofConstants(Rdma.GENERATED).stream())
            .toList();
    check = FactCheck.of(facts, Rdma.HEADER, Gcc.NATIVE);
  }

  @Test
  void theBindingsMakeManyClaims() {
    assertThat(facts.size()).isGreaterThan(4000);
  }

  @Test
  void everyClaimHolds() {
    assertThat(check.wrong()).isEmpty();
  }

  @Test
  void headersLackOnlyWhatIsNewer() {
    assertThat(symbols(check.unknown())).allMatch(Rdma.GROWTH::isNewer);
  }

  @Test
  void onlyHeadersOfAnOlderVersionLackAnything() {
    assertThat(check.unknown().isEmpty())
        .as("the headers are those of rdma-core %d", Headers.VERSION)
        .isEqualTo(Headers.VERSION >= Headers.OF_THE_BINDINGS);
  }

  @Test
  void whatIsNewerIsInTheBindings() {
    Set<String> all =
        Stream.concat(
                symbols(Set.copyOf(facts)).stream(),
                Rdma.GENERATED.symbols().stream().map(Filter.Symbol::name))
            .collect(toUnmodifiableSet());
    assertThat(Rdma.GROWTH.newerThan44()).hasSizeGreaterThan(80);
    assertThat(Rdma.GROWTH.newerThan44()).isSubsetOf(all);
  }

  /** If gcc took everything for right, the tests above would pass for any bindings. */
  @Test
  void gccTellsWhatIsWrongAndWhatIsUnknown() {
    Fact right = new Fact("int", "size of int", "sizeof(int)", 4);
    Fact wrong = new Fact("short", "size of short", "sizeof(short)", 4);
    Fact unknown = new Fact("IBV_NO_SUCH", "size of it", "sizeof(IBV_NO_SUCH)", 4);
    Fact alsoUnknown = new Fact("IBV_NO_SUCH", "value of it", "IBV_NO_SUCH", 4);
    assertThat(FactCheck.of(List.of(right, wrong, unknown, alsoUnknown), Rdma.HEADER, Gcc.NATIVE))
        .isEqualTo(new FactCheck(Set.of(wrong), Set.of(unknown, alsoUnknown)));
  }

  private static Set<String> symbols(Set<Fact> facts) {
    return facts.stream().map(Fact::symbol).collect(toUnmodifiableSet());
  }
}
