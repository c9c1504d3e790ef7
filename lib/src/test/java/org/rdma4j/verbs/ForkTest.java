package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Without a device, and so before the first is opened. */
final class ForkTest {
  @Test
  void registeredMemoryIsKeptFromChildrenOnceInitialised() {
    ForkStatus status = RdmaDevice.initializeFork();
    assertThat(status).isIn(ForkStatus.ENABLED, ForkStatus.UNNEEDED);
    assertThat(RdmaDevice.forkStatus()).isEqualTo(status);
    assertThat(RdmaDevice.initializeFork()).isEqualTo(status);
  }
}
