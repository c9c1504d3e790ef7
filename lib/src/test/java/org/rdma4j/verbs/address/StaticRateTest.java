package org.rdma4j.verbs.address;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeLibraries;

/** The numbers of each rate are the same as in libibverbs. */
final class StaticRateTest {
  private static final int NONE = -1;
  private static final int UNUSED = 7;

  @BeforeAll
  static void load() {
    NativeLibraries.require();
  }

  @ParameterizedTest
  @EnumSource
  void itsNumbersAreThoseOfLibibverbs(StaticRate rate) {
    assertThat(rate.megabits().orElse(NONE)).isEqualTo(rdma_h.ibv_rate_to_mbps(rate.value()));
    assertThat(rate.multiplier().orElse(NONE)).isEqualTo(rdma_h.ibv_rate_to_mult(rate.value()));
  }

  @ParameterizedTest
  @EnumSource
  void itIsFoundByItsNumbers(StaticRate rate) {
    rate.megabits().ifPresent(n -> assertThat(StaticRate.ofMegabits(n)).contains(rate));
    rate.multiplier().ifPresent(n -> assertThat(StaticRate.ofMultiplier(n)).contains(rate));
  }

  @Test
  void numbersWithoutARateAreNotFound() {
    assertThat(StaticRate.ofMegabits(UNUSED)).isEqualTo(Optional.empty());
    assertThat(StaticRate.ofMultiplier(UNUSED)).isEqualTo(Optional.empty());
    assertThat(StaticRate.ofMegabits(NONE)).isEqualTo(Optional.empty());
    assertThat(StaticRate.ofMultiplier(NONE)).isEqualTo(Optional.empty());
  }
}
