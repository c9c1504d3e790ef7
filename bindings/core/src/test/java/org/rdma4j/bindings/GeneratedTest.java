package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.headers.Facts;
import org.rdma4j.testing.headers.Filter;
import org.rdma4j.testing.headers.Generated;
import org.rdma4j.testing.headers.Generated.Member;

/** The generated classes are those in the filter, and their accessors agree with their layouts. */
final class GeneratedTest {
  @Test
  void everyTypeOfTheFilterIsGeneratedAndNoOther() {
    assertThat(Rdma.GENERATED.types())
        .extracting(Class::getSimpleName)
        .containsExactlyInAnyOrderElementsOf(
            Rdma.GENERATED.symbols().stream()
                .filter(Filter.Symbol::isType)
                .map(Filter.Symbol::name)
                .toList());
  }

  @Test
  void everyConstantOfTheFilterIsGeneratedAndNoOther() {
    assertThat(Rdma.GENERATED.constants())
        .containsExactlyInAnyOrderElementsOf(
            Rdma.GENERATED.symbols().stream()
                .filter(Filter.Symbol::isConstant)
                .map(Filter.Symbol::name)
                .toList());
  }

  @Test
  void everyAccessorHasTheOffsetAndTheLayoutOfItsMember() {
    List<String> checked = new ArrayList<>();
    Rdma.GENERATED.types().forEach(type -> check(type, checked));
    assertThat(checked).hasSizeGreaterThan(900);
  }

  private static void check(Class<?> type, List<String> checked) {
    for (Member member : Generated.members(Generated.layout(type))) {
      String name = type.getName() + "." + member.name();
      assertThat(Generated.get(type, member.name() + "$offset"))
          .as(name)
          .isEqualTo(member.offset());
      assertThat(Generated.get(type, member.name() + "$layout"))
          .as(name)
          .isEqualTo(member.layout());
      checked.add(name);
      Generated.nestedType(type, member)
          .ifPresent(
              nested -> {
                assertThat(Facts.sameLayout(Generated.layout(nested), member.layout()))
                    .as(name)
                    .isTrue();
                check(nested, checked);
              });
    }
  }
}
