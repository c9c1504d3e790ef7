package org.rdma4j.bindings.providers;

import static java.util.stream.Collectors.toUnmodifiableSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.rdma4j.bindings.efa.generated.efa_h;
import org.rdma4j.bindings.mlx5.generated.mlx5_h;
import org.rdma4j.testing.headers.AbiGrowth;
import org.rdma4j.testing.headers.Fact;
import org.rdma4j.testing.headers.FactCheck;
import org.rdma4j.testing.headers.Facts;
import org.rdma4j.testing.headers.Filter;
import org.rdma4j.testing.headers.Gcc;
import org.rdma4j.testing.headers.Generated;
import org.rdma4j.testing.headers.Headers;

/** The bindings of mlx5dv.h and efadv.h are those of their filters, and say what gcc says. */
final class ProviderHeadersTest {
  static final List<Provider> PROVIDERS =
      List.of(
          new Provider(
              "mlx5",
              mlx5_h.class,
              400,
              Set.of(
                  "struct mlx5dv_context.max_dc_init_rd_atom",
                  "struct mlx5dv_context.max_dc_rd_atom",
                  "struct mlx5dv_context.ooo_recv_wrs_caps",
                  "struct mlx5dv_context.reg_c0",
                  "struct mlx5dv_context_attr.fds",
                  "struct mlx5dv_obj.devx"),
              // The mask of a function names its members.
              Set.of("struct mlx5dv_obj")),
          new Provider(
              "efa",
              efa_h.class,
              200,
              Set.of(
                  "struct efadv_cq.wc_is_unsolicited",
                  "struct efadv_cq_init_attr.ext_mem_dmabuf",
                  "struct efadv_cq_init_attr.flags",
                  "struct efadv_device_attr.inline_buf_size_ex",
                  "struct efadv_qp_init_attr.flags",
                  "struct efadv_qp_init_attr.sl",
                  "struct efadv_qp_init_attr.wr_flags"),
              Set.of()));

  private static final class Provider {
    private final String name;
    private final Generated generated;
    private final int min;
    private final AbiGrowth growth;

    Provider(String name, Class<?> header, int min, Set<String> newMembers, Set<String> growing) {
      this.name = name;
      this.generated = new Generated(header, name + "-includes.txt");
      this.min = min;
      this.growth = new AbiGrowth(name + "-newer-than-44.txt", newMembers, growing);
    }

    @Override
    public String toString() {
      return name;
    }

    List<Fact> facts() {
      return Stream.concat(
              Facts.ofTypes(generated, growth).stream(), Facts.ofConstants(generated).stream())
          // New members take the place of reserved ones.
          .filter(fact -> !fact.symbol().contains(".reserved"))
          // C refuses the size of an array without a length, at the end of a struct.
          .filter(fact -> fact.value() != 0 || !fact.expression().startsWith("sizeof"))
          .toList();
    }
  }

  @ParameterizedTest
  @FieldSource("PROVIDERS")
  void everyTypeAndConstantOfTheFilterIsGeneratedAndNoOther(Provider provider) {
    Generated generated = provider.generated;
    assertThat(generated.types())
        .extracting(Class::getSimpleName)
        .containsExactlyInAnyOrderElementsOf(
            generated.symbols().stream()
                .filter(Filter.Symbol::isType)
                .map(Filter.Symbol::name)
                .toList());
    assertThat(generated.constants())
        .containsExactlyInAnyOrderElementsOf(
            generated.symbols().stream()
                .filter(Filter.Symbol::isConstant)
                .map(Filter.Symbol::name)
                .toList());
  }

  @ParameterizedTest
  @FieldSource("PROVIDERS")
  void everyClaimHolds(Provider provider) {
    List<Fact> facts = provider.facts();
    assertThat(facts).hasSizeGreaterThan(provider.min);
    FactCheck check = FactCheck.of(facts, provider.name + ".h", Gcc.NATIVE);
    assertThat(check.wrong()).isEmpty();
    Set<String> unknown = check.unknown().stream().map(Fact::symbol).collect(toUnmodifiableSet());
    assertThat(unknown).allMatch(provider.growth::isNewer);
    assertThat(unknown.isEmpty()).isEqualTo(Headers.VERSION >= Headers.OF_THE_BINDINGS);
  }

  @ParameterizedTest
  @FieldSource("PROVIDERS")
  void whatIsNewerIsInTheBindings(Provider provider) {
    Set<String> all =
        Stream.concat(
                provider.facts().stream().map(Fact::symbol),
                provider.generated.symbols().stream().map(Filter.Symbol::name))
            .collect(toUnmodifiableSet());
    assertThat(provider.growth.newerThan44()).hasSizeGreaterThan(20).isSubsetOf(all);
  }
}
