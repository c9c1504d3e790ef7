package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.StandIn.assertAsInC;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rdma4j.RdmaException;
import org.rdma4j.Reading;
import org.rdma4j.StandIn;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.verbs.attribute.CompletionCounterCapabilities;
import org.rdma4j.verbs.attribute.CountedOperation;

/** What rdma-core 44 does not have is called as C calls it. */
@Tag(StandIn.TAG)
final class NewerBytesTest {
  private static final int ENOMEM = 12;

  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void theSpeedOfAPort() {
    long[] speed = new long[1];
    String inJava = StandIn.transcriptOf(() -> speed[0] = device.port(2).speed());
    assertThat(inJava + " speed=0x" + Long.toHexString(speed[0]))
        .isEqualTo(StandIn.transcriptOfC("query_the_speed_of_port", 2));
    assertThatThrownBy(() -> device.port(3).speed()).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void dmaHandles() {
    assertAsInC(
        "allocate_dma_handles",
        () -> {
          device.allocateDmaHandle(DmaHandleConfig.DEFAULT);
          device.allocateDmaHandle(
              DmaHandleConfig.DEFAULT.cpu(0x71727374).processingHint(3).persistent(true));
          device.allocateDmaHandle(DmaHandleConfig.DEFAULT.persistent(false));
        });
    assertAsInC(
        "deallocate_the_dma_handle", device.allocateDmaHandle(DmaHandleConfig.DEFAULT)::close);
    assertThatThrownBy(() -> DmaHandleConfig.DEFAULT.processingHint(4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("processingHint is 4");
  }

  @Test
  void regionsWithADmaHandle() {
    DmaHandle handle = device.allocateDmaHandle(DmaHandleConfig.DEFAULT);
    MemoryRegionConfig config =
        MemoryRegionConfig.allocate(5000)
            .dmaHandle(handle)
            .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    assertAsInC("register_with_a_dma_handle", () -> domain.register(config));
    assertAsInC(
        "register_with_a_dma_handle_at_another_address",
        () ->
            domain.register(
                MemoryRegionConfig.allocate(4096)
                    .access(AccessFlag.REMOTE_READ)
                    .remoteAddress(0xfedcba9876543000L)
                    .dmaHandle(handle)));
    assertAsInC(
        "register_a_dma_buffer_with_a_dma_handle",
        () ->
            domain.register(
                MemoryRegionConfig.ofDmaBuffer(0x7fff, 0x100, 5000)
                    .access(AccessFlag.LOCAL_WRITE)
                    .remoteAddress(0xfedcba9876543100L)
                    .dmaHandle(handle)));
  }

  @Test
  void memoryThatIsNotReachedOverTheBusHasNoDmaHandle() {
    DmaHandle handle = device.allocateDmaHandle(DmaHandleConfig.DEFAULT);
    DeviceMemory memory = device.allocateDeviceMemory(64, 0);
    for (MemoryRegionConfig config :
        List.of(MemoryRegionConfig.of(memory, 0, 64), MemoryRegionConfig.nullRegion())) {
      assertThatThrownBy(() -> domain.register(config.dmaHandle(handle)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("dmaHandle is DMA handle");
    }
  }

  /** Also the region that a re-registration made. */
  @Test
  void closingADmaHandleClosesItsRegionsFirst() {
    DmaHandle handle = device.allocateDmaHandle(DmaHandleConfig.DEFAULT);
    MemoryRegion region = domain.register(MemoryRegionConfig.allocate(4096).dmaHandle(handle));
    region.reregister(MemoryRegionChange.none().access(AccessFlag.REMOTE_READ));
    assertAsInC("close_the_dma_handle_of_a_region", handle::close);
  }

  @Test
  void exportedDeviceMemory() {
    DeviceMemory memory = device.allocateDeviceMemory(64, 0);
    DmaBuffer[] exported = new DmaBuffer[1];
    assertAsInC("export_device_memory", () -> exported[0] = memory.exportDmaBuffer());
    assertThat(exported[0].fileDescriptor()).isNotNegative();
    exported[0].close();
    assertThatThrownBy(exported[0]::fileDescriptor).isInstanceOf(IllegalStateException.class);
    StandIn.answer(ENOMEM);
    assertThatThrownBy(memory::exportDmaBuffer)
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("ibv_dm_export_dmabuf_fd")
        .hasMessageContaining("ENOMEM");
  }

  @Test
  void theCapabilitiesOfCompletionCounters() {
    CompletionCounterCapabilities read = device.completionCounters();
    assertThat(
            new Reading()
                .line("read_capabilities_of_completion_counters")
                .number("caps.max_value", read.maxValue())
                .number("caps.max_counters", read.maxCounters())
                .number("caps.supported_qp_attach_ops", NativeConstants.mask(read.operations())))
        .hasToString(StandIn.transcriptOfC("read_capabilities_of_completion_counters"));
  }

  @Test
  void completionCounters() {
    assertAsInC(
        "create_completion_counters",
        () -> {
          device.createCompletionCounter(CompletionCounterType.REQUESTS);
          device.createCompletionCounter(CompletionCounterType.BYTES);
        });
    QueuePair queuePair = queuePair();
    CompletionCounter counter = device.createCompletionCounter(CompletionCounterType.REQUESTS);
    long[] read = new long[2];
    String inJava =
        StandIn.transcriptOf(
            () -> {
              counter.setCompleted(0xf1f2f3f4f5f6f7f8L);
              counter.setFailed(0xe1e2e3e4e5e6e7e8L);
              counter.addCompleted(0xd1d2d3d4d5d6d7d8L);
              counter.addFailed(0xc1c2c3c4c5c6c7c8L);
              queuePair.attach(counter, CountedOperation.SEND, CountedOperation.WRITE_BY_PEER);
              read[0] = counter.completed();
              read[1] = counter.failed();
            });
    assertThat(inJava)
        .isEqualTo(
            StandIn.transcriptOfC("use_the_completion_counter")
                .replaceAll(" (completed|failed)=\\w+", ""));
    assertThat(read).containsExactly(0xf1f2f3f4f5f6f7f8L, 0xe1e2e3e4e5e6e7e8L);
    assertThatThrownBy(() -> queuePair.attach(counter))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("operations is empty");
  }

  @Test
  void closingACounterClosesItsQueuePairsFirst() {
    CompletionCounter counter = device.createCompletionCounter(CompletionCounterType.REQUESTS);
    QueuePair queuePair = queuePair();
    queuePair.attach(counter, CountedOperation.SEND);
    assertAsInC("destroy_the_completion_counter", counter::close);
    assertThatThrownBy(queuePair::query).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aRefusedAttachmentLeavesTheQueuePairOpen() {
    CompletionCounter counter = device.createCompletionCounter(CompletionCounterType.REQUESTS);
    QueuePair queuePair = queuePair();
    StandIn.answer(ENOMEM);
    assertThatThrownBy(() -> queuePair.attach(counter, CountedOperation.SEND))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("ibv_qp_attach_comp_cntr([SEND])");
    counter.close();
    assertThat(queuePair.number()).isPositive();
  }

  @Test
  void theOrderOfBytes() {
    QueuePair queuePair = queuePair();
    assertAsInC(
        "query_data_in_order",
        () -> {
          queuePair.dataOrder(SendOperation.WRITE, false);
          queuePair.dataOrder(SendOperation.SEND, true);
        });
    StandIn.answer(2);
    assertThat(queuePair.dataOrder(SendOperation.WRITE, false))
        .containsExactly(DataOrder.ALIGNED_128_BYTES);
    StandIn.answer(3);
    assertThat(queuePair.dataOrder(SendOperation.WRITE, false)).containsOnly(DataOrder.values());
  }

  @ParameterizedTest
  @EnumSource(names = {"ALLOCATE_DMA_HANDLE", "EXPORT_DEVICE_MEMORY", "CREATE_COMPLETION_COUNTER"})
  void whatTheDeviceHasIsSupported(DeviceOperation operation) {
    assertThat(device.supports(operation)).isTrue();
  }

  private QueuePair queuePair() {
    return domain.createQueuePair(
        QueuePairConfig.reliable(device.createCompletionQueue(CompletionQueueConfig.of(1000))));
  }
}
