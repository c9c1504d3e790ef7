package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.rdma4j.UnsupportedByDeviceException;

/** Checks how a device refuses an operation that it does not support. */
final class Refusals {
  private Refusals() {}

  static void unsupported(String call, RdmaDevice device, Runnable use) {
    assertThatThrownBy(use::run)
        .as(call)
        .isInstanceOfSatisfying(
            UnsupportedByDeviceException.class,
            thrown -> {
              assertThat(thrown.errnoName()).isEqualTo("EOPNOTSUPP");
              assertThat(thrown.device()).contains(device.info().name());
            })
        .hasMessageContaining(call);
  }
}
