package org.rdma4j.inplace;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Tests that the instruction is executed on the processors on which queues are used in place. */
@EnabledIfSystemProperty(named = "os.arch", matches = "amd64")
final class StoreFenceTest {
  @Test
  void theInstructionIsCalledAndReturns() {
    StoreFence.fence();

    assertThat(StoreFence.isCalled()).isTrue();
  }
}
