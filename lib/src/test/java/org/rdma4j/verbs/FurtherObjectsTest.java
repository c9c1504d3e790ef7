package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.generated.ibv_qp_cap;
import org.rdma4j.bindings.generated.ibv_qp_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_srq_attr;
import org.rdma4j.bindings.generated.ibv_srq_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_tm_cap;
import org.rdma4j.bindings.generated.ibv_wq_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.flow.AesGcmKey;
import org.rdma4j.flow.Counters;
import org.rdma4j.flow.EspConfig;
import org.rdma4j.flow.EspFlag;
import org.rdma4j.flow.Flow;
import org.rdma4j.flow.FlowAction;
import org.rdma4j.flow.FlowRule;
import org.rdma4j.flow.FlowSpecification;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/** Creating objects that soft-RoCE does not support is refused, and leaves nothing behind. */
@Tag("device")
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

  private static void refused(String message, Runnable use) {
    assertThatThrownBy(use::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Tag("needs-refusals-of-software")
  @Test
  void threadDomainsAndParentDomains() {
    unsupported("ibv_alloc_td", device::allocateThreadDomain);
    unsupported("ibv_alloc_parent_domain", () -> domain.allocateParentDomain(null));
  }

  @Tag("needs-refusals-of-software")
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

  @Tag("needs-refusals-of-software")
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

  @Tag("needs-soft-roce")
  @Test
  void xrcSendQueuePairs() {
    unsupported(
        "XRC_SEND",
        () -> domain.createQueuePair(QueuePairConfig.xrcSend(completions).sendDepth(4)));
    assertNothingIsReserved();
  }

  @Tag("needs-soft-roce")
  @Test
  void scalableReliableDatagrams() {
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> domain.createQueuePair(QueuePairConfig.reliableDatagram(completions)),
            () ->
                device.createCompletionQueue(
                    CompletionQueueConfig.of(4).extended(CompletionField.SOURCE_GID)),
            device::efaAttributes)) {
      assertThatThrownBy(call)
          .isInstanceOf(UnsupportedByDeviceException.class)
          .hasMessageContaining(device.info().name() + " is not one of EFA")
          .hasMessageContaining("UNRELIABLE_DATAGRAM");
    }
    assertNothingIsReserved();
  }

  @Tag("needs-soft-roce")
  @Test
  void rawPackets() {
    unsupported(
        "RAW_PACKET", () -> domain.createQueuePair(QueuePairConfig.rawPackets(completions)));
    assertNothingIsReserved();
  }

  @Test
  void rawPacketQueuePairsBeyondTheLimitsAreRefusedBeforeTheCall() {
    DeviceAttributes limits = device.attributes();
    QueuePairConfig config = QueuePairConfig.rawPackets(completions);
    refused(
        "sendDepth is",
        () -> domain.createQueuePair(config.sendDepth(limits.maxWorkRequests() + 1)));
    refused(
        "receiveDepth is",
        () -> domain.createQueuePair(config.receiveDepth(limits.maxWorkRequests() + 1)));
    refused("sendSges is", () -> domain.createQueuePair(config.sendSges(limits.maxSges() + 1)));
    refused(
        "receiveSges is", () -> domain.createQueuePair(config.receiveSges(limits.maxSges() + 1)));
  }

  @Tag("needs-refusals-of-software")
  @Tag("needs-datagrams")
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
    assertNothingIsReserved();
  }

  @Tag("needs-soft-roce")
  @Test
  void tagMatching() {
    SharedReceiveQueueConfig config = SharedReceiveQueueConfig.of(8);
    unsupported(
        "TAG_MATCHING",
        () -> domain.createSharedReceiveQueue(config.tagMatching(completions, 16, 8)));
    assertNothingIsReserved();
    SharedReceiveQueue basic = domain.createSharedReceiveQueue(config);
    assertThat(basic.type()).isEqualTo(SharedReceiveQueueType.BASIC);
    unsupported("ibv_get_srq_num", basic::number);
    assertThatThrownBy(() -> basic.tagOperations(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("TAG_MATCHING");
  }

  @Tag("needs-soft-roce")
  @Test
  void workQueues() {
    unsupported(
        "ibv_create_wq",
        () ->
            domain.createWorkQueue(
                WorkQueueConfig.of(completions, 8).sges(2).flags(WorkQueueFlag.SCATTER_FCS)));
    assertNothingIsReserved();
    refused("the number of work queues is 0", device::createIndirectionTable);
  }

  @Tag("needs-refusals-of-software")
  @Tag("needs-datagrams")
  @Test
  void flowsCountersAndFlowActions() {
    QueuePair datagrams = domain.createQueuePair(QueuePairConfig.datagram(completions));
    FlowRule rule = FlowRule.of(1, new FlowSpecification.Drop());
    unsupported("ibv_create_flow", () -> Flow.create(datagrams, rule));
    refused("port is 77", () -> Flow.create(datagrams, FlowRule.of(77)));
    unsupported("ibv_create_counters", () -> Counters.create(device));
    EspConfig attributes = EspConfig.of(1, EspFlag.ENCRYPT);
    unsupported(
        "ibv_create_flow_action_esp",
        () -> FlowAction.create(device, attributes.key(new AesGcmKey(new byte[16], 1, 2, 16))));
    refused("the configuration has no key", () -> FlowAction.create(device, attributes));
  }

  @Test
  void aSharedReceiveQueueIsRequestedAsConfigured() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_srq_init_attr_ex.layout());
      SharedReceiveQueueConfig.of(8).sges(2).tagMatching(completions, 16, 4).write(init, domain);
      assertThat(ibv_srq_init_attr_ex.comp_mask(init))
          .isEqualTo(
              rdma_h.IBV_SRQ_INIT_ATTR_TYPE()
                  | rdma_h.IBV_SRQ_INIT_ATTR_PD()
                  | rdma_h.IBV_SRQ_INIT_ATTR_CQ()
                  | rdma_h.IBV_SRQ_INIT_ATTR_TM());
      assertThat(ibv_srq_init_attr_ex.srq_type(init)).isEqualTo(rdma_h.IBV_SRQT_TM());
      assertThat(ibv_srq_init_attr_ex.pd(init)).isEqualTo(domain.handle());
      assertThat(ibv_srq_init_attr_ex.cq(init)).isEqualTo(completions.handle());
      MemorySegment attributes = ibv_srq_init_attr_ex.attr(init);
      assertThat(ibv_srq_attr.max_wr(attributes)).isEqualTo(8);
      assertThat(ibv_srq_attr.max_sge(attributes)).isEqualTo(2);
      MemorySegment tags = ibv_srq_init_attr_ex.tm_cap(init);
      assertThat(ibv_tm_cap.max_num_tags(tags)).isEqualTo(16);
      assertThat(ibv_tm_cap.max_ops(tags)).isEqualTo(4);
    }
  }

  @Test
  void aWorkQueueIsRequestedAsConfigured() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_wq_init_attr.layout());
      WorkQueueConfig.of(completions, 8)
          .sges(2)
          .flags(WorkQueueFlag.DELAY_DROP, WorkQueueFlag.VLAN_STRIPPING)
          .write(init, domain);
      assertThat(ibv_wq_init_attr.wq_type(init)).isEqualTo(rdma_h.IBV_WQT_RQ());
      assertThat(ibv_wq_init_attr.max_wr(init)).isEqualTo(8);
      assertThat(ibv_wq_init_attr.max_sge(init)).isEqualTo(2);
      assertThat(ibv_wq_init_attr.pd(init)).isEqualTo(domain.handle());
      assertThat(ibv_wq_init_attr.cq(init)).isEqualTo(completions.handle());
      assertThat(ibv_wq_init_attr.comp_mask(init)).isEqualTo(rdma_h.IBV_WQ_INIT_ATTR_FLAGS());
      assertThat(ibv_wq_init_attr.create_flags(init))
          .isEqualTo(rdma_h.IBV_WQ_FLAGS_DELAY_DROP() | rdma_h.IBV_WQ_FLAGS_CVLAN_STRIPPING());
    }
  }

  @Tag("needs-extended-queue-pairs")
  @Test
  void anXrcSendQueuePairIsRequestedWithoutAReceiveQueue() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_qp_init_attr_ex.layout());
      QueuePairConfig.xrcSend(completions)
          .sendDepth(4)
          .receiveDepth(5)
          .extended(SendOperation.WRITE)
          .write(init, domain.pointer(), arena);
      assertThat(ibv_qp_init_attr_ex.qp_type(init)).isEqualTo(rdma_h.IBV_QPT_XRC_SEND());
      assertThat(ibv_qp_init_attr_ex.send_cq(init)).isEqualTo(completions.handle());
      assertThat(ibv_qp_init_attr_ex.recv_cq(init)).isEqualTo(MemorySegment.NULL);
      MemorySegment cap = ibv_qp_init_attr_ex.cap(init);
      assertThat(ibv_qp_cap.max_send_wr(cap)).isEqualTo(4);
      assertThat(ibv_qp_cap.max_recv_wr(cap)).isZero();
      assertThat(ibv_qp_cap.max_recv_sge(cap)).isZero();
      assertThat(ibv_qp_init_attr_ex.comp_mask(init))
          .isEqualTo(rdma_h.IBV_QP_INIT_ATTR_PD() | rdma_h.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS());
      assertThat(ibv_qp_init_attr_ex.send_ops_flags(init))
          .isEqualTo(rdma_h.IBV_QP_EX_WITH_RDMA_WRITE());
    }
  }

  @Test
  void aRawPacketQueuePairIsRequestedWithSegmentsAndFlags() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_qp_init_attr_ex.layout());
      QueuePairConfig.rawPackets(completions)
          .segmentHeaderBytes(0xfffe)
          .flags(QueuePairFlag.SCATTER_FCS)
          .write(init, domain.pointer(), arena);
      assertThat(ibv_qp_init_attr_ex.qp_type(init)).isEqualTo(rdma_h.IBV_QPT_RAW_PACKET());
      assertThat(ibv_qp_init_attr_ex.comp_mask(init))
          .isEqualTo(
              rdma_h.IBV_QP_INIT_ATTR_PD()
                  | rdma_h.IBV_QP_INIT_ATTR_MAX_TSO_HEADER()
                  | rdma_h.IBV_QP_INIT_ATTR_CREATE_FLAGS());
      assertThat(ibv_qp_init_attr_ex.max_tso_header(init)).isEqualTo((short) 0xfffe);
      assertThat(ibv_qp_init_attr_ex.create_flags(init))
          .isEqualTo(rdma_h.IBV_QP_CREATE_SCATTER_FCS());
    }
  }

  /** Checks that no refused object has kept entries of the completion queue reserved. */
  private void assertNothingIsReserved() {
    int all = completions.capacity();
    domain
        .createQueuePair(QueuePairConfig.reliable(completions).sendDepth(all).receiveDepth(0))
        .close();
  }

  @Test
  void inconsistentConfigurationsAreRefusedBeforeTheCall() {
    refused(
        "sendCompletions is not set",
        () ->
            domain.createQueuePair(
                QueuePairConfig.of(QueuePairType.RELIABLE_CONNECTION, null, completions)));
    refused(
        "receiveCompletions is set",
        () ->
            domain.createQueuePair(
                QueuePairConfig.of(QueuePairType.XRC_SEND, completions, completions)));
    refused(
        "xrcDomain is not set",
        () -> domain.createQueuePair(QueuePairConfig.of(QueuePairType.XRC_RECEIVE, null, null)));
    SharedReceiveQueue shared = domain.createSharedReceiveQueue(8, 1);
    refused(
        "sharedReceiveQueue is set",
        () ->
            domain.createQueuePair(
                QueuePairConfig.xrcSend(completions).sharedReceiveQueue(shared)));
    refused(
        "completions is not set",
        () ->
            new SharedReceiveQueueConfig(
                SharedReceiveQueueType.TAG_MATCHING, 1, 1, null, null, 1, 1, QueueAccess.DEFAULT));
    refused(
        "xrcDomain is not set",
        () ->
            new SharedReceiveQueueConfig(
                SharedReceiveQueueType.XRC, 1, 1, completions, null, 0, 0, QueueAccess.DEFAULT));
    refused(
        "maxTags is set",
        () ->
            new SharedReceiveQueueConfig(
                SharedReceiveQueueType.BASIC, 1, 1, null, null, 1, 0, QueueAccess.DEFAULT));
    refused("depth is 0", () -> domain.createWorkQueue(WorkQueueConfig.of(completions, 0)));
  }

  @Test
  void operationsOfOtherTypesOfQueuePairsAreRefused() {
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
  void nothingIsCreatedFromAClosedDevice() {
    FlowRule rule = FlowRule.of(1);
    EspConfig attributes = EspConfig.of(1).key(new AesGcmKey(new byte[16], 1, 2, 16));
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
            () -> Flow.create(queuePair, rule),
            () -> Counters.create(device),
            () -> FlowAction.create(device, attributes),
            shared::number);
    for (Runnable use : uses) {
      assertThatThrownBy(use::run)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is closed");
    }
  }

  /** Soft-iWARP has no query of shared receive queues. */
  @Test
  void aSharedReceiveQueueKnowsWhatWasGrantedAlsoWithoutAQuery() {
    try (ProtectionDomain owner = device.allocateProtectionDomain();
        SharedReceiveQueue shared = owner.createSharedReceiveQueue(32, 2)) {
      assertThat(shared.depth()).isGreaterThanOrEqualTo(32);
      MemoryRegion region = owner.register(64, AccessFlag.LOCAL_WRITE);
      assertThat(shared.receiveRequests(1).add(1).into(region, 0, 32).into(region, 32, 32).post())
          .isEqualTo(1);
    }
  }
}
