package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.RdmaException;

/** The objects of verbs that soft-RoCE has not: it says so, and leaves nothing behind. */
@Tag("device")
@Timeout(120)
final class FurtherObjectsTest {
  private Loopback loopback;
  private RdmaDevice device;
  private ProtectionDomain domain;
  private CompletionQueue completions;

  @BeforeEach
  void create() {
    loopback = Loopback.unconnected();
    device = loopback.device;
    domain = loopback.domain;
    completions = device.createCompletionQueue(64);
  }

  @AfterEach
  void close() {
    loopback.close();
  }

  private void unsupported(String call, Runnable use) {
    Refusals.unsupported(call, device, use);
  }

  private static void refusedBefore(String message, Runnable use) {
    assertThatThrownBy(use::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void threadDomainsAndParentDomains() {
    unsupported("ibv_alloc_td", device::allocateThreadDomain);
    unsupported("ibv_alloc_parent_domain", () -> domain.allocateParentDomain(null));
  }

  @Test
  void xrcDomains(@TempDir Path directory) throws IOException {
    unsupported("ibv_open_xrcd", device::openXrcDomain);
    Path file = Files.createFile(directory.resolve("shared"));
    unsupported("ibv_open_xrcd", () -> device.openXrcDomain(file, true));
    unsupported("ibv_open_xrcd", () -> device.openXrcDomain(file, false));
    assertThatThrownBy(() -> device.openXrcDomain(directory.resolve("missing"), true))
        .isInstanceOfSatisfying(
            RdmaException.class, thrown -> assertThat(thrown.errnoName()).isEqualTo("ENOENT"))
        .hasMessageContaining("missing");
  }

  @Test
  void openingAnXrcDomainByAFileLeavesNoDescriptorBehind(@TempDir Path directory)
      throws IOException {
    Path file = Files.createFile(directory.resolve("shared"));
    long before = openDescriptors();
    for (int i = 0; i < 50; i++) {
      assertThatThrownBy(() -> device.openXrcDomain(file, true)).isInstanceOf(RdmaException.class);
    }
    assertThat(openDescriptors()).isLessThan(before + 50);
  }

  private static long openDescriptors() throws IOException {
    try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.count();
    }
  }

  @Test
  void theSendingHalfOfAnExtendedConnection() {
    unsupported(
        "EXTENDED_SEND",
        () -> domain.createQueuePair(QueuePairConfig.extendedSend(completions).sendDepth(4)));
    assertThatAllIsGivenBack();
  }

  @Test
  void rawPackets() {
    unsupported(
        "RAW_PACKET", () -> domain.createQueuePair(QueuePairConfig.rawPackets(completions)));
    assertThatAllIsGivenBack();
  }

  @Test
  void segmentedSendsAndFlagsOfQueuePairs() {
    unsupported(
        "ibv_create_qp",
        () -> domain.createQueuePair(QueuePairConfig.datagram(completions).segmentHeaderBytes(64)));
    assertThatThrownBy(
            () ->
                domain.createQueuePair(
                    QueuePairConfig.datagram(completions).flags(QueuePairFlag.SCATTER_FCS)))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("ibv_create_qp");
    assertThatAllIsGivenBack();
  }

  @Test
  void tagMatching() {
    SharedReceiveQueueConfig config = SharedReceiveQueueConfig.of(8);
    unsupported(
        "TAG_MATCHING",
        () -> domain.createSharedReceiveQueue(config.tagMatching(completions, 16, 8)));
    assertThatAllIsGivenBack();
    SharedReceiveQueue basic = domain.createSharedReceiveQueue(config);
    assertThat(basic.type()).isEqualTo(SharedReceiveQueueType.BASIC);
    unsupported("ibv_get_srq_num", basic::number);
    assertThatThrownBy(() -> basic.tagOperations(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("TAG_MATCHING");
  }

  @Test
  void workQueues() {
    unsupported(
        "ibv_create_wq",
        () ->
            domain.createWorkQueue(
                WorkQueueConfig.of(completions, 8).sges(2).flags(WorkQueueFlag.SCATTER_FCS)));
    assertThatAllIsGivenBack();
    refusedBefore("there are 0 entries", device::createIndirectionTable);
  }

  @Test
  void flowsCountersAndFlowActions() {
    QueuePair datagrams = domain.createQueuePair(QueuePairConfig.datagram(completions));
    FlowRule rule = FlowRule.of(1, new FlowSpecification.Drop());
    unsupported("ibv_create_flow", () -> datagrams.createFlow(rule));
    refusedBefore("port is 77", () -> datagrams.createFlow(FlowRule.of(77)));
    unsupported("ibv_create_counters", () -> Counters.create(device));
    EspAttributes attributes = EspAttributes.of(1, EspFlag.ENCRYPT);
    unsupported(
        "ibv_create_flow_action_esp",
        () -> FlowAction.create(device, attributes.key(new AesGcmKey(new byte[16], 1, 2, 16))));
    refusedBefore("key is missing", () -> FlowAction.create(device, attributes));
  }

  /** What was refused has left no promise to it behind. */
  private void assertThatAllIsGivenBack() {
    int all = completions.capacity();
    domain
        .createQueuePair(QueuePairConfig.reliable(completions).sendDepth(all).receiveDepth(0))
        .close();
  }

  @Test
  void whatDoesNotGoTogetherIsRefusedBefore() {
    refusedBefore(
        "sendCompletions is missing",
        () ->
            domain.createQueuePair(
                QueuePairConfig.of(QueuePairType.RELIABLE_CONNECTION, null, completions)));
    refusedBefore(
        "receiveCompletions is given",
        () ->
            domain.createQueuePair(
                QueuePairConfig.of(QueuePairType.EXTENDED_SEND, completions, completions)));
    refusedBefore(
        "xrcDomain is missing",
        () ->
            domain.createQueuePair(QueuePairConfig.of(QueuePairType.EXTENDED_RECEIVE, null, null)));
    SharedReceiveQueue shared = domain.createSharedReceiveQueue(8, 1);
    refusedBefore(
        "sharedReceiveQueue is given",
        () ->
            domain.createQueuePair(
                QueuePairConfig.extendedSend(completions).sharedReceiveQueue(shared)));
    refusedBefore(
        "completions is missing",
        () ->
            new SharedReceiveQueueConfig(
                SharedReceiveQueueType.TAG_MATCHING, 1, 1, null, null, 1, 1));
    refusedBefore(
        "xrcDomain is missing",
        () ->
            new SharedReceiveQueueConfig(
                SharedReceiveQueueType.EXTENDED, 1, 1, completions, null, 0, 0));
    refusedBefore(
        "maxTags is given",
        () -> new SharedReceiveQueueConfig(SharedReceiveQueueType.BASIC, 1, 1, null, null, 1, 0));
    refusedBefore("depth is 0", () -> domain.createWorkQueue(WorkQueueConfig.of(completions, 0)));
  }

  @Test
  void whatAQueuePairOfAnotherTypeHasNotIsRefused() {
    SendRequests sends = loopback.a.queuePair.sendRequests(1);
    sends.add(1);
    assertThatThrownBy(() -> sends.toSharedReceiveQueue(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RELIABLE_CONNECTION");
    assertThatThrownBy(() -> sends.segmented(MemorySegment.ofArray(new byte[8]), 0, 8, 100))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RELIABLE_CONNECTION");
    assertThatThrownBy(() -> sends.atomicWrite(0, 0, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RELIABLE_CONNECTION");
    assertThatThrownBy(() -> loopback.a.queuePair.startRawPackets(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RAW_PACKET");
  }

  @Test
  void nothingIsCreatedOfAClosedDevice() {
    FlowRule rule = FlowRule.of(1);
    EspAttributes attributes = EspAttributes.of(1).key(new AesGcmKey(new byte[16], 1, 2, 16));
    QueuePair queuePair = loopback.a.queuePair;
    SharedReceiveQueue shared = domain.createSharedReceiveQueue(8, 1);
    device.close();
    List<Runnable> uses =
        List.of(
            device::allocateThreadDomain,
            () -> domain.allocateParentDomain(null),
            device::openXrcDomain,
            () -> domain.createSharedReceiveQueue(SharedReceiveQueueConfig.of(1)),
            () -> domain.createWorkQueue(WorkQueueConfig.of(completions, 1)),
            () -> queuePair.createFlow(rule),
            () -> Counters.create(device),
            () -> FlowAction.create(device, attributes),
            shared::number);
    for (Runnable use : uses) {
      assertThatThrownBy(use::run)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is closed");
    }
  }
}
