package org.rdma4j.datapath;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class SingleClaimTest {
  @Test
  void aQueueInAThreadDomainHasOneBatch() {
    SingleClaim only = new SingleClaim(true);
    only.claim("queue pair 7", "SendRequests");
    assertThatThrownBy(() -> only.claim("queue pair 7", "SendRequests"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("queue pair 7 is in a thread domain")
        .hasMessageContaining("one SendRequests");
  }

  @Test
  void anyOtherQueueHasAnyNumberOfBatches() {
    SingleClaim only = new SingleClaim(false);
    only.claim("queue pair 7", "SendRequests");
    assertThatCode(() -> only.claim("queue pair 7", "SendRequests")).doesNotThrowAnyException();
  }
}
