package org.rdma4j.needs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class NeedTest {
  @Test
  void tagsDeclareNeeds() {
    assertThat(Need.of(List.of("device", "needs-datagrams", "needs-connecting-by-address")))
        .containsExactly(Need.DATAGRAMS, Need.CONNECTING_BY_ADDRESS);
  }

  @Test
  void aMisspelledNeedIsReported() {
    assertThatThrownBy(() -> Need.of(List.of("needs-datagram")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the tag needs-datagram is none of [needs-connecting-by-address");
  }
}
