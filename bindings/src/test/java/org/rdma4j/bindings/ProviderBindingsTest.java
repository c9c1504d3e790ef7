package org.rdma4j.bindings;

import static java.util.stream.Collectors.toUnmodifiableSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.bindings.efa.generated.efa_h;
import org.rdma4j.bindings.mlx5.generated.mlx5_h;

/** The bindings of mlx5dv.h and efadv.h are those of their filters, and say what gcc says. */
final class ProviderBindingsTest {
  private enum Provider {
    MLX5("mlx5", mlx5_h.class, 1500),
    EFA("efa", efa_h.class, 200);

    private final String name;
    private final Class<?> header;
    private final int min;

    Provider(String name, Class<?> header, int min) {
      this.name = name;
      this.header = header;
      this.min = min;
    }

    List<Filter.Symbol> symbols() {
      return Filter.symbols(name + "-includes.txt");
    }

    List<Fact> facts() {
      return Stream.concat(
              Facts.ofTypes(header, symbols()).stream(),
              Facts.ofConstants(header, symbols()).stream())
          // New members take the place of reserved ones.
          .filter(fact -> !fact.symbol().contains(".reserved"))
          // C refuses the size of an array without a length, at the end of a struct.
          .filter(fact -> fact.value() != 0 || !fact.expression().startsWith("sizeof"))
          .toList();
    }

    Comparison compare(List<Fact> facts) {
      Path read = Path.of("jextract", name + ".h").toAbsolutePath();
      return Comparison.of(facts, Gcc.NATIVE, "-include", read.toString());
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyTypeAndConstantOfTheFilterIsGeneratedAndNoOther(Provider provider) {
    assertThat(Generated.types(provider.header))
        .extracting(Class::getSimpleName)
        .containsExactlyInAnyOrderElementsOf(
            provider.symbols().stream()
                .filter(Filter.Symbol::isType)
                .map(Filter.Symbol::name)
                .toList());
    assertThat(Generated.constants(provider.header))
        .containsExactlyInAnyOrderElementsOf(
            provider.symbols().stream()
                .filter(Filter.Symbol::isConstant)
                .map(Filter.Symbol::name)
                .toList());
  }

  @ParameterizedTest
  @EnumSource
  void everyClaimHolds(Provider provider) {
    List<Fact> facts = provider.facts();
    assertThat(facts).hasSizeGreaterThan(provider.min);
    Comparison comparison = provider.compare(facts);
    assertThat(comparison.wrong()).isEmpty();
    Set<String> unknown =
        comparison.unknown().stream().map(Fact::symbol).collect(toUnmodifiableSet());
    assertThat(unknown).allMatch(Growth::isNewer);
    assertThat(unknown.isEmpty()).isEqualTo(Headers.VERSION >= Headers.OF_THE_BINDINGS);
  }
}
