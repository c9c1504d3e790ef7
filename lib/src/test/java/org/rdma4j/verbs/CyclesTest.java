package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.Resources;

/**
 * Opening and closing 10,000 objects leaves no file descriptor and no object in the kernel. In the
 * default guest, whose processor is emulated, a tenth of them.
 */
@Tag("device")
@Tag("slow")
@Timeout(300)
final class CyclesTest {
  private static final int CYCLES =
      "default".equals(System.getenv("RDMA4J_GUEST")) ? 1_000 : 10_000;

  private RdmaDevice device;
  private ProtectionDomain domain;
  private Resources before;

  @BeforeEach
  void count() throws Exception {
    device = Loopback.openDevice();
    domain = device.allocateProtectionDomain();
    before = Resources.now();
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(Resources.now()).isEqualTo(before);
    device.close();
  }

  @Test
  void devices() {
    for (int i = 0; i < CYCLES; i++) {
      RdmaDevice.open(device.info().name()).close();
    }
  }

  @Test
  void protectionDomains() {
    for (int i = 0; i < CYCLES; i++) {
      device.allocateProtectionDomain().close();
    }
  }

  @Test
  void memoryRegions() {
    for (int i = 0; i < CYCLES; i++) {
      domain.register(4096, AccessFlag.LOCAL_WRITE).close();
    }
  }

  @Test
  void completionChannelsAndQueues() {
    for (int i = 0; i < CYCLES; i++) {
      CompletionChannel channel = device.createCompletionChannel();
      device.createCompletionQueue(16, channel);
      channel.close();
    }
  }

  @Test
  void queuePairs() {
    CompletionQueue queue = device.createCompletionQueue(16);
    QueuePairConfig config = QueuePairConfig.reliable(queue).sendDepth(4).receiveDepth(4);
    for (int i = 0; i < CYCLES; i++) {
      QueuePair queuePair = domain.createQueuePair(config);
      queuePair.sendRequests(1).add(1);
      queuePair.close();
    }
    queue.close();
  }
}
