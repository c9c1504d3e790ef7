package org.rdma4j.tools.devices;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.InThisJvm;

class VerifyInPlaceDeviceTest {
  @Tag("mlx5")
  @Tag("in-place")
  @Test
  void bothWaysAreComparedForEachKindOfRequest() {
    Outcome outcome = InThisJvm.run("verify-in-place", "-n", "50");
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.out()).filteredOn(line -> line.startsWith("SEND_INLINE")).hasSize(1);
    assertThat(outcome.out()).last().asString().startsWith("All data and all completions");
    assertThat(outcome.status()).isZero();
  }

  @Tag("device")
  @Tag("needs-soft-roce")
  @Test
  void anotherDeviceIsRefusedWithTheReason() {
    Outcome outcome = InThisJvm.run("verify-in-place", "-n", "50");
    assertThat(outcome.err()).singleElement().asString().contains("cannot be used in place");
    assertThat(outcome.status()).isEqualTo(1);
  }
}
