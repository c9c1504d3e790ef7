package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.StandIn.assertAsInC;

import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.Reading;
import org.rdma4j.StandIn;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.address.StaticRate;
import org.rdma4j.verbs.attribute.Mtu;
import org.rdma4j.verbs.attribute.ReceiveHashField;
import org.rdma4j.verbs.attribute.ReceiveHashFunction;

/** Queue pairs and addresses are described to C, and read, byte by byte as C does it. */
@Tag(StandIn.TAG)
final class QueuePairBytesTest {
  private static final Gid GID = Gid.ofHex("fe800102030405060708090a0b0c0d0e");

  private final RdmaDevice device = StandIn.open();
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final CompletionQueue completions =
      device.createCompletionQueue(CompletionQueueConfig.of(1000));

  @AfterEach
  void close() {
    device.close();
  }

  private void assertCreated(String inC, QueuePairConfig config) {
    assertAsInC(inC, () -> domain.createQueuePair(config));
  }

  @Test
  void aReliableConnection() {
    assertCreated(
        "create_reliable",
        QueuePairConfig.reliable(completions)
            .sendDepth(101)
            .receiveDepth(102)
            .sendSges(3)
            .receiveSges(4)
            .inlineBytes(105)
            .signalAll(true));
  }

  @Test
  void aConnectionWithTwoCompletionQueues() {
    CompletionQueue receives = device.createCompletionQueue(CompletionQueueConfig.of(10));
    assertCreated(
        "create_with_two_completion_queues", QueuePairConfig.reliable(completions, receives));
  }

  @Test
  void anUnreliableConnection() {
    assertCreated("create_unreliable", QueuePairConfig.unreliable(completions));
  }

  @Test
  void datagramsWithASharedReceiveQueue() {
    SharedReceiveQueue shared = domain.createSharedReceiveQueue(10, 1);
    assertCreated(
        "create_with_shared_receive_queue",
        QueuePairConfig.datagram(completions).sharedReceiveQueue(shared));
  }

  @Test
  void anExtendedQueuePairForRawPackets() {
    assertCreated(
        "create_extended",
        QueuePairConfig.rawPackets(completions)
            .sendDepth(7)
            .receiveDepth(8)
            .segmentHeaderBytes(0xfedc)
            .flags(QueuePairFlag.values())
            .extended(
                SendOperation.SEND, SendOperation.SEGMENTED_SEND, SendOperation.ATOMIC_WRITE));
  }

  @Test
  void aQueuePairThatSpreadsPackets() {
    WorkQueue queue = domain.createWorkQueue(WorkQueueConfig.of(completions, 4));
    IndirectionTable table = device.createIndirectionTable(queue);
    byte[] key = new byte[40];
    IntStream.range(0, key.length).forEach(i -> key[i] = (byte) (i + 1));
    assertCreated(
        "create_spread",
        QueuePairConfig.spread(
            new ReceiveHash(
                table,
                ReceiveHashFunction.TOEPLITZ,
                key,
                ReceiveHashField.SOURCE_IPV4,
                ReceiveHashField.INNER)));
  }

  @Test
  void xrcConnections() {
    XrcDomain xrcDomain = device.openXrcDomain();
    assertCreated("create_xrc_send", QueuePairConfig.xrcSend(completions));
    assertCreated("create_xrc_receive", QueuePairConfig.xrcReceive(xrcDomain));
    assertAsInC("open_xrc_receive", () -> domain.openQueuePair(xrcDomain, 0xfedcba));
  }

  @Test
  void aChangeOfEachAttribute() {
    QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(completions));
    assertAsInC(
        "change_everything",
        () ->
            queuePair.modify(
                QueuePairChange.none()
                    .state(QueuePairState.READY_TO_SEND)
                    .currentState(QueuePairState.SEND_QUEUE_DRAINED)
                    .mtu(Mtu.MTU_512)
                    .pathMigrationState(PathMigrationState.ARMED)
                    .queueKey(0x81828384)
                    .receiveSequenceNumber(0xa1b2c3)
                    .sendSequenceNumber(0xd4e5f6)
                    .remoteQueuePairNumber(0x918273)
                    .access(
                        List.of(
                            AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_WRITE,
                            AccessFlag.REMOTE_READ,
                            AccessFlag.REMOTE_ATOMIC))
                    .capabilities(new QueuePairCapabilities(11, 12, 13, 14, 15))
                    .addressVector(
                        new AddressVector(
                            211,
                            0xfedc,
                            14,
                            0x7e,
                            StaticRate.GBPS_1200,
                            new GlobalRoute(GID, 201, 0xfedcb, 202, 203)))
                    .alternatePath(
                        new AddressVector(212, 0xabcd, 9, 5, StaticRate.GBPS_40, null), 0xf3f4, 29)
                    .partitionKeyIndex(0xf1f2)
                    .notifyWhenDrained(true)
                    .reads(221)
                    .remoteReads(222)
                    .minimumRnrTimer(23)
                    .port(224)
                    .timeout(25)
                    .retries(6)
                    .rnrRetries(5)
                    .rateLimit(0x71727374)));
  }

  private PathConfig path() {
    return PathConfig.to(new QueuePairAddress(0xc0de, 0x112233, 0x445566, GID))
        .port(2)
        .gidIndex(3)
        .partitionKeyIndex(0x8001)
        .mtu(Mtu.MTU_4096)
        .serviceLevel(13)
        .trafficClass(0xb8)
        .flowLabel(0xabcde)
        .hopLimit(250)
        .access(AccessFlag.REMOTE_WRITE)
        .remoteReads(15)
        .reads(14)
        .minimumRnrTimer(31)
        .timeout(17)
        .retries(5)
        .rnrRetries(4);
  }

  private void assertConnected(String inC, QueuePairConfig config, PathConfig path) {
    QueuePair queuePair = domain.createQueuePair(config.sequenceNumber(0x778899));
    assertAsInC(inC, () -> queuePair.connect(path));
  }

  @Test
  void connectingAReliableConnection() {
    assertConnected("connect_reliable", QueuePairConfig.reliable(completions), path());
  }

  @Test
  void connectingToALocalIdentifier() {
    assertConnected(
        "connect_reliable_by_lid",
        QueuePairConfig.reliable(completions),
        path().gidIndex(PathConfig.NO_GID));
  }

  @Test
  void connectingAnUnreliableConnection() {
    assertConnected("connect_unreliable", QueuePairConfig.unreliable(completions), path());
  }

  @Test
  void connectingXrcConnections() {
    assertConnected("connect_xrc_send", QueuePairConfig.xrcSend(completions), path());
    assertConnected(
        "connect_xrc_receive", QueuePairConfig.xrcReceive(device.openXrcDomain()), path());
  }

  @Test
  void startingDatagramsAndRawPackets() {
    QueuePair datagrams =
        domain.createQueuePair(QueuePairConfig.datagram(completions).sequenceNumber(0x123456));
    assertAsInC("start_datagrams", () -> datagrams.startDatagrams(2, 9, 0xfedcba98));
    QueuePair raw = domain.createQueuePair(QueuePairConfig.rawPackets(completions));
    assertAsInC("start_raw_packets", () -> raw.startRawPackets(2));
  }

  @Test
  void theStatesOfASendQueue() {
    QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(completions));
    assertAsInC(
        "drain_resume_fail_and_reset",
        () -> {
          queuePair.drainSendQueue();
          queuePair.resumeSendQueue();
          queuePair.toError();
          queuePair.reset();
        });
  }

  @Test
  void aRateLimit() {
    QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(completions));
    assertAsInC(
        "limit_rate", () -> queuePair.limitRate(new RateLimit(0x7a7b7c7d, 0x6a6b6c6d, 0xfedc)));
  }

  @Test
  void enhancedConnectionEstablishment() {
    QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(completions));
    assertAsInC("set_ece", () -> queuePair.setEce(new Ece(0x81828384, 0x91929394, 0xa1a2a3a4)));
    assertThat(queuePair.ece()).isEqualTo(new Ece(0xf1e2d3c4, 0xb5a69788, 0x1234));
  }

  @Test
  void theOrderOfBytesIsThatOfTheAnswer() {
    QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(completions));
    assertAsInC(
        "ask_for_data_in_order",
        () -> assertThat(queuePair.isDataInOrder(SendOperation.WRITE)).isFalse());
    StandIn.answer(1);
    assertThat(queuePair.isDataInOrder(SendOperation.WRITE)).isTrue();
  }

  @Test
  void multicastGroups() {
    QueuePair queuePair = domain.createQueuePair(QueuePairConfig.datagram(completions));
    assertAsInC(
        "attach_and_detach",
        () -> {
          queuePair.attachMulticast(GID, 0xc001);
          queuePair.detachMulticast(GID, 0xc001);
        });
  }

  @Test
  void addressHandles() {
    AddressVector vector =
        new AddressVector(
            2, 0xc0de, 13, 0x55, StaticRate.GBPS_100, new GlobalRoute(GID, 3, 0xabcde, 250, 0xb8));
    assertAsInC("create_address_handle", () -> domain.createAddressHandle(vector));
    assertAsInC(
        "create_address_handle_by_lid",
        () ->
            domain.createAddressHandle(
                new AddressVector(2, 0xc0de, 13, 0, StaticRate.UNLIMITED, null)));
  }

  @Test
  void anAddressHandleOfACompletion() {
    MemoryRegion region = domain.register(4096, AccessFlag.LOCAL_WRITE);
    for (int i = 0; i < 40; i++) {
      region.byteBuffer().put(i, (byte) (0x80 + i));
    }
    StandIn.call("complete_a_datagram");
    Completions polled = completions.completions(1);
    assertThat(polled.poll()).isEqualTo(1);
    assertAsInC(
        "create_address_handle_of_completion",
        () -> domain.createAddressHandle(polled, 0, region.segment(), 2));
  }

  @Test
  void theAttributesOfAQueuePair() {
    QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(completions));
    queuePair.toError();
    QueuePairAttributes read = queuePair.query();
    QueuePairCapabilities capabilities = read.capabilities();
    Reading reading =
        new Reading()
            .line("read_queue_pair")
            .number("qp_state", read.state().value())
            .number("path_mtu", read.mtu())
            .number("path_mig_state", read.pathMigrationState().value())
            .number("qkey", read.queueKey())
            .number("rq_psn", read.receiveSequenceNumber())
            .number("sq_psn", read.sendSequenceNumber())
            .number("dest_qp_num", read.remoteQueuePairNumber())
            .number("qp_access_flags", NativeConstants.mask(read.access()))
            .number("max_send_wr", capabilities.sendDepth())
            .number("max_recv_wr", capabilities.receiveDepth())
            .number("max_send_sge", capabilities.sendSges())
            .number("max_recv_sge", capabilities.receiveSges())
            .number("max_inline_data", capabilities.inlineBytes())
            .number("pkey_index", read.partitionKeyIndex())
            .number("sq_draining", read.draining() ? 1 : 0)
            .number("max_rd_atomic", read.reads())
            .number("max_dest_rd_atomic", read.remoteReads())
            .number("min_rnr_timer", read.minimumRnrTimer())
            .number("port_num", read.port())
            .number("timeout", read.timeout())
            .number("retry_cnt", read.retries())
            .number("rnr_retry", read.rnrRetries())
            .number("rate_limit", read.rateLimit());
    Function<AddressVector, GlobalRoute> route =
        vector -> Objects.requireNonNull(vector.globalRoute());
    for (AddressVector vector :
        List.of(
            Objects.requireNonNull(read.addressVector()),
            Objects.requireNonNull(read.alternatePath()))) {
      reading
          .line(vector.equals(read.addressVector()) ? "ah_attr" : "alt_ah_attr")
          .number("dlid", vector.lid())
          .number("sl", vector.serviceLevel())
          .number("src_path_bits", vector.sourcePathBits())
          .number("static_rate", vector.staticRate().value())
          .number("port_num", vector.port())
          .gid("dgid", route.apply(vector).destination())
          .number("flow_label", route.apply(vector).flowLabel())
          .number("sgid_index", route.apply(vector).gidIndex())
          .number("hop_limit", route.apply(vector).hopLimit())
          .number("traffic_class", route.apply(vector).trafficClass());
    }
    assertThat(reading).hasToString(StandIn.transcriptOfC("read_queue_pair"));
  }
}
