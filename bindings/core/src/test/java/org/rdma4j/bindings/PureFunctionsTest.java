package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.bindings.generated.rdma_h;

/** The functions of the libraries that need no device. */
final class PureFunctionsTest {
  @ParameterizedTest
  @CsvSource({"2500, 1", "10000, 4", "5000, 2"})
  void ratesAreConvertedBothWays(int mbps, int multiple) {
    int rate = rdma_h.mbps_to_ibv_rate(mbps);
    assertThat(rate).isNotEqualTo(rdma_h.IBV_RATE_MAX());
    assertThat(rdma_h.ibv_rate_to_mbps(rate)).isEqualTo(mbps);
    assertThat(rdma_h.mult_to_ibv_rate(multiple)).isEqualTo(rate);
    assertThat(rdma_h.ibv_rate_to_mult(rate)).isEqualTo(multiple);
  }

  @Test
  void aRateThatIsNoneIsTheMaximum() {
    assertThat(rdma_h.mbps_to_ibv_rate(1)).isEqualTo(rdma_h.IBV_RATE_MAX());
    assertThat(rdma_h.mult_to_ibv_rate(7)).isEqualTo(rdma_h.IBV_RATE_MAX());
  }

  @Test
  void opcodesHaveNamesIfTheLibraryIsNewEnough() {
    if (Library.contains("ibv_wr_opcode_str")) {
      assertThat(rdma_h.ibv_wr_opcode_str(rdma_h.IBV_WR_FLUSH()).getString(0))
          .containsIgnoringCase("flush");
    } else {
      assertThatThrownBy(() -> rdma_h.ibv_wr_opcode_str(0))
          .isInstanceOf(UnsatisfiedLinkError.class)
          .hasMessageContaining("install a newer version of rdma-core");
    }
  }
}
