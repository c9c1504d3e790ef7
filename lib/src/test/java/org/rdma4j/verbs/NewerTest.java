package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.Library;
import org.rdma4j.verbs.attribute.DeviceCapability;

/**
 * What rdma-core 44 does not have, and software devices do not support either, is refused: by the
 * lack of the function, or by the device.
 */
@Tag("device")
final class NewerTest {
  private Loopback loopback;
  private RdmaDevice device;

  @BeforeEach
  void create() {
    loopback = Loopback.unconnected();
    device = loopback.device;
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private void refused(String function, ThrowingCallable use) {
    assertThatThrownBy(use)
        .as(function)
        .isInstanceOfSatisfying(
            UnsupportedByDeviceException.class,
            thrown -> {
              assertThat(thrown.device()).contains(device.info().name());
              assertThat(thrown.errnoName())
                  .isEqualTo(Library.contains(function) ? "EOPNOTSUPP" : "ENOSYS");
              if (!Library.contains(function)) {
                assertThat(thrown).hasMessageContaining("install version");
              }
            })
        .hasMessageContaining(function.replaceFirst("^_", ""));
  }

  @Test
  void theSpeedOfAPort() {
    refused("ibv_query_port_speed", () -> device.port(1).speed());
  }

  @Test
  void dmaHandles() {
    refused("ibv_alloc_dmah", () -> device.allocateDmaHandle(DmaHandleConfig.DEFAULT.cpu(0)));
  }

  @Test
  void completionCounters() {
    refused("_ibv_query_comp_cntr_caps", device::completionCounters);
    refused(
        "ibv_create_comp_cntr",
        () -> device.createCompletionCounter(CompletionCounterType.REQUESTS));
  }

  @ParameterizedTest
  @EnumSource(names = {"ALLOCATE_DMA_HANDLE", "EXPORT_DEVICE_MEMORY", "CREATE_COMPLETION_COUNTER"})
  void operationsThatAreRefusedAreNotSupported(DeviceOperation operation) {
    assertThat(device.supports(operation)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void noOrderOfBytesIsGuaranteed(SendOperation operation) {
    assertThat(loopback.a.queuePair.dataOrder(operation, false)).isEmpty();
    assertThat(loopback.a.queuePair.dataOrder(operation, true)).isEmpty();
  }

  /** Soft-RoCE flushes since Linux 6.2, if the installed library knows of it. */
  @Test
  void queuePairsThatFlushNeedADeviceThatCan() {
    Throwable refused =
        catchThrowable(
            () ->
                loopback
                    .domain
                    .createQueuePair(
                        QueuePairConfig.reliable(loopback.a.queue)
                            .extended(SendOperation.SEND, SendOperation.FLUSH))
                    .close());
    if (refused == null) {
      assertThat(device.extendedAttributes().capabilities())
          .containsAnyOf(DeviceCapability.FLUSH_GLOBAL, DeviceCapability.FLUSH_PERSISTENT);
    } else {
      assertThat(refused)
          .isInstanceOf(UnsupportedByDeviceException.class)
          .hasMessageContaining("ibv_create_qp");
    }
  }
}
