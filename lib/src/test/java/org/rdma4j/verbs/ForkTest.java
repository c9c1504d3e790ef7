package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Fork support without a device, so no device has been opened before. */
final class ForkTest {
  @Test
  void registeredMemoryIsKeptFromChildrenOnceInitialized() {
    ForkStatus status = ForkSupport.initialize();
    assertThat(status).isIn(ForkStatus.ENABLED, ForkStatus.UNNEEDED);
    assertThat(ForkSupport.status()).isEqualTo(status);
    assertThat(ForkSupport.initialize()).isEqualTo(status);
  }
}
