package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Features of queue pairs that few devices support, and soft-RoCE does not. */
@Tag("device")
final class QueuePairOptionsTest {
  private Loopback loopback;
  private QueuePair queuePair;

  @BeforeEach
  void create() {
    loopback = Loopback.unconnected();
    queuePair = loopback.a.queuePair;
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  @Tag("needs-refusals-of-software")
  @Test
  void enhancedConnectionEstablishmentIsRefusedWithTheDevicesName() {
    Refusals.unsupported("ibv_query_ece", loopback.device, queuePair::ece);
    Refusals.unsupported(
        "ibv_set_ece", loopback.device, () -> queuePair.setEce(new Ece(0x1234, 1, 0)));
    Refusals.unsupported("ibv_set_ece", loopback.device, () -> queuePair.setEce(new Ece(0, 1, 0)));
  }

  @Tag("needs-refusals-of-software")
  @Test
  void aLimitOfTheRateIsRefusedWithTheDevicesName() {
    Refusals.unsupported(
        "ibv_modify_qp_rate_limit",
        loopback.device,
        () -> queuePair.limitRate(new RateLimit(1000, 0, 0)));
  }

  @Test
  void aRateOutOfRangeIsRefusedBeforeTheCall() {
    assertThatThrownBy(() -> new RateLimit(-1, 0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rate is -1");
    assertThatThrownBy(() -> new RateLimit(0, -1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("maxBurst is -1");
    assertThatThrownBy(() -> new RateLimit(0, 0, 0x10000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("typicalPacket is 65536");
  }

  @ParameterizedTest
  @EnumSource
  void softRoceDoesNotGuaranteeTheOrderOfBytes(SendOperation operation) {
    assertThat(queuePair.isDataInOrder(operation)).isFalse();
  }

  @Test
  void aClosedQueuePairCannotBeQueried() {
    queuePair.close();
    assertThatThrownBy(queuePair::ece).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> queuePair.setEce(new Ece(1, 1, 0)))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> queuePair.limitRate(new RateLimit(0, 0, 0)))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> queuePair.isDataInOrder(SendOperation.WRITE))
        .isInstanceOf(IllegalStateException.class);
  }
}
