package org.rdma4j.cm;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.StandIn.assertAsInC;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.StandIn;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.AsyncEventType;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.Ece;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.address.StaticRate;

/** Calls of the connection manager have the bytes of C, and its events are read as in C. */
@Tag(StandIn.TAG)
final class CmBytesTest {
  private static final byte[] RAW = HexFormat.of().parseHex("fe800102030405060708090a0b0c0d0e");
  private static final Gid GID = Gid.ofHex("fe800102030405060708090a0b0c0d0e");
  private static final InetSocketAddress IPV4 = new InetSocketAddress("192.0.2.1", 0x1d2f);
  private static final ByteBuffer SAID =
      ByteBuffer.wrap("what the peer said\0".getBytes(US_ASCII)).asReadOnlyBuffer();
  private static final Duration SOON = Duration.ofSeconds(10);

  private static final long CONTEXT = 0x123456789aL;
  private static final long REMOTE = 0xf1f2f3f4f5f6f7f8L;
  private static final int KEY = 0x81828384;

  static {
    // Before librdmacm is loaded.
    StandIn.open().close();
  }

  private final EventChannel channel = EventChannel.open();

  @AfterEach
  void close() {
    channel.close();
    CmDevices.list().forEach(RdmaDevice::close);
  }

  private static InetSocketAddress ipv6() throws UnknownHostException {
    InetAddress address = Inet6Address.getByAddress(null, RAW, 3);
    return new InetSocketAddress(address, 0x1d30);
  }

  private static ByteBuffer told() {
    return ByteBuffer.wrap("what we send".getBytes(US_ASCII));
  }

  @Test
  void identifiersOfEachPortSpace() {
    channel.createId(PortSpace.TCP);
    assertAsInC(
        "create_identifiers",
        () -> {
          channel.createId(PortSpace.TCP);
          channel.createId(PortSpace.UDP);
          channel.createId(PortSpace.IPOIB);
          channel.createId(PortSpace.IB);
        });
    assertAsInC("destroy_the_identifier", channel.createId(PortSpace.TCP)::close);
  }

  @Test
  void identifiersOfAnyType() {
    channel.createId(PortSpace.TCP);
    assertAsInC(
        "create_identifiers_of_any_type",
        () -> {
          channel.createId(PortSpace.IB, QueuePairType.XRC_SEND, IPV4);
          channel.createId(PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, IPV4);
        });
    CmId listener = channel.createId(PortSpace.IB, QueuePairType.XRC_RECEIVE, IPV4);
    assertThat(listener.queuePairType()).isEqualTo(QueuePairType.XRC_RECEIVE);
    CmEvent.ConnectRequest request =
        (CmEvent.ConnectRequest) raise(rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(), 0);
    assertThat(request.id().queuePairType()).isEqualTo(QueuePairType.XRC_RECEIVE);
    assertThat(channel.createId(PortSpace.UDP).queuePairType())
        .isEqualTo(QueuePairType.UNRELIABLE_DATAGRAM);
  }

  @Test
  void anIdentifierThatCannotMoveToTheChannelIsDestroyed() {
    StandIn.answer(ErrorNumber.EIO.value());
    assertThat(
            StandIn.transcriptOf(
                () ->
                    assertThatThrownBy(
                            () -> channel.createId(PortSpace.IB, QueuePairType.XRC_SEND, IPV4))
                        .isInstanceOf(RdmaException.class)
                        .hasMessageContaining("rdma_migrate_id failed: EIO")))
        .contains("\nrdma_destroy_ep");
  }

  @Test
  void xrcQueuePairs() {
    CmId sender = channel.createId(PortSpace.IB, QueuePairType.XRC_SEND, IPV4);
    CmId receiver = channel.createId(PortSpace.IB, QueuePairType.XRC_RECEIVE, IPV4);
    RdmaDevice device = sender.device();
    ProtectionDomain domain = device.allocateProtectionDomain();
    QueuePairConfig sending =
        QueuePairConfig.xrcSend(device.createCompletionQueue(CompletionQueueConfig.of(100)))
            .sendDepth(3);
    QueuePairConfig receiving = QueuePairConfig.xrcReceive(device.openXrcDomain());
    assertAsInC(
        "create_an_xrc_receive_queue_pair", () -> receiver.createQueuePair(domain, receiving));
    CmId another = channel.createId(PortSpace.IB, QueuePairType.XRC_SEND, IPV4);
    assertAsInC("create_an_xrc_send_queue_pair", () -> another.createQueuePair(domain, sending));
    assertThatThrownBy(() -> sender.createQueuePair(domain, receiving))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("type is XRC_RECEIVE, must be XRC_SEND");
  }

  @Test
  void addresses() throws Exception {
    CmId id = channel.createId(PortSpace.TCP);
    assertAsInC(
        "bind_and_listen",
        () -> {
          id.bind(IPV4);
          id.listen(0x1234);
        });
    assertThat(id.localAddress()).isEqualTo(IPV4);
    assertThat(id.port()).isEqualTo(2);
    InetSocketAddress ipv6 = ipv6();
    assertAsInC(
        "resolve",
        () -> {
          id.resolveAddress(ipv6, IPV4, Duration.ofMillis(12345));
          id.resolveAddress(ipv6, Duration.ofNanos(1));
          id.resolveRoute(Duration.ofMillis(54321));
        });
    assertThat(id.peerAddress()).isEqualTo(ipv6);
    IbAddress infiniband =
        new IbAddress(
            GID, 0x8001, 0x0102030405060708L, 0xf1f2f3f4f5f6f7f8L, 0xfedcb, 0x2122232425262728L);
    assertAsInC("bind_to_infiniband", () -> id.bind(infiniband));
    assertThat(id.addresses().local()).isEqualTo(infiniband);
  }

  @Test
  void eachStepOfAConnection() {
    CmId id = channel.createId(PortSpace.TCP);
    ConnectionConfig parameters =
        new ConnectionConfig(told(), 201, 202, true, 5, 6, true, 0xfedcba);
    assertAsInC(
        "connect_and_accept",
        () -> {
          id.connect(parameters);
          id.accept(parameters);
          id.externalQueuePair().establish();
          id.reject(told());
          id.rejectEce(told());
          id.notifyOf(AsyncEventType.COMMUNICATION_ESTABLISHED);
          id.disconnect();
        });
  }

  private static QueuePair queuePair(CmId id, boolean isDatagram) {
    ProtectionDomain domain = id.device().allocateProtectionDomain();
    CompletionQueue completions = id.device().createCompletionQueue(CompletionQueueConfig.of(100));
    return id.createQueuePair(
        domain,
        (isDatagram ? QueuePairConfig.datagram(completions) : QueuePairConfig.reliable(completions))
            .sendDepth(3)
            .receiveDepth(4));
  }

  @Test
  void queuePairs() {
    CmId id = channel.createId(PortSpace.TCP);
    ProtectionDomain domain = id.device().allocateProtectionDomain();
    QueuePairConfig config =
        QueuePairConfig.reliable(id.device().createCompletionQueue(CompletionQueueConfig.of(100)))
            .sendDepth(3)
            .receiveDepth(4);
    assertAsInC("create_a_queue_pair", () -> id.createQueuePair(domain, config));
    CmId other = channel.createId(PortSpace.TCP);
    assertAsInC("destroy_the_queue_pair", other.createQueuePair(domain, config)::close);
  }

  @Test
  void options() {
    CmId id = channel.createId(PortSpace.TCP);
    PathRecord path =
        new PathRecord(
            PathRecord.BIDIRECTIONAL_PRIMARY_AND_GMP,
            0x0102030405060708L,
            GID,
            Gid.ofHex("fe800102030405060708090a0b0c0d09"),
            0xfedc,
            0xba98,
            0xabcde,
            250,
            0xb8,
            true,
            0x8001,
            13,
            4,
            16,
            18);
    assertAsInC(
        "set_options",
        () -> {
          id.options().typeOfService(0xb8);
          id.options().reuseAddress(true);
          id.options().ipv6Only(true);
          id.options().ackTimeout(29);
          id.options().paths(List.of(path));
        });
  }

  @Test
  void externalQueuePairs() {
    CmId id = channel.createId(PortSpace.TCP);
    ProtectionDomain domain = id.device().allocateProtectionDomain();
    QueuePair queuePair =
        domain.createQueuePair(
            QueuePairConfig.reliable(
                id.device().createCompletionQueue(CompletionQueueConfig.of(100))));
    assertAsInC(
        "use_an_external_queue_pair",
        () -> {
          queuePair.modify(id.externalQueuePair().changeTo(QueuePairState.READY_TO_RECEIVE));
          id.externalQueuePair().localEce(new Ece(0x81828384, 0x91929394, 0));
        });
    assertThat(id.externalQueuePair().remoteEce())
        .isEqualTo(new Ece(0xf1e2d3c4, 0xb5a69788, 0x1234));
  }

  @Test
  void multicastGroups() throws Exception {
    CmId id = channel.createId(PortSpace.UDP);
    SocketAddress ipv6 = ipv6();
    assertAsInC(
        "join_and_leave",
        () -> {
          id.multicast().join(IPV4);
          id.multicast().join(ipv6, JoinFlag.SEND_ONLY_FULL_MEMBER);
          id.multicast().leave(IPV4);
          id.multicast().leave(ipv6);
        });
  }

  @Test
  void lookUps() throws Exception {
    AddressHints hints =
        AddressHints.DEFAULT
            .passive(true)
            .numericHost(true)
            .noRoute(true)
            .family(AddressFamily.IPV6)
            .space(PortSpace.UDP)
            .source(ipv6());
    assertAsInC(
        "look_up",
        () -> {
          try {
            AddressInfo.resolve("fe80::1", "7471", hints, SOON);
            AddressInfo.resolve(null, "7471", AddressHints.DEFAULT, SOON);
            AddressInfo.resolve(
                null,
                "7471",
                AddressHints.DEFAULT.space(PortSpace.IB).type(QueuePairType.XRC_SEND),
                SOON);
          } catch (InterruptedException | TimeoutException ended) {
            throw new AssertionError(ended);
          }
        });
    List<AddressInfo> found = AddressInfo.resolve("x", "1", AddressHints.DEFAULT, SOON);
    assertThat(found).hasSize(2);
    AddressInfo first = found.get(0);
    assertThat(first.passive()).isTrue();
    assertThat(first.source()).isEqualTo(new InetSocketAddress("192.0.2.1", 0x1234));
    assertThat(first.destination()).isEqualTo(new InetSocketAddress("198.51.100.2", 0x5678));
    assertThat(first.canonicalName()).isEqualTo("peer.example");
    assertThat(first.route()).hasSize(1);
    assertThat(first.route().get(0).flags()).isEqualTo(7);
    assertThat(first.route().get(0).serviceId()).isEqualTo(0x0102030405060708L);
    assertThat(first.connectData()).isEqualTo(SAID);
    AddressInfo second = found.get(1);
    assertThat(second.passive()).isFalse();
    assertThat(second.source()).isNull();
    assertThat(second.destination()).isNull();
    assertThat(second.canonicalName()).isNull();
    assertThat(second.route()).isEmpty();
  }

  @Test
  void aWrittenEvent() {
    CmId id = channel.createId(PortSpace.TCP);
    assertAsInC("write_an_event", () -> id.writeEvent(-5, 0xf1f2f3f4f5f6f7f8L));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_USER(), -7))
        .isEqualTo(new CmEvent.Written(id, -7, 0xfedcba9876543210L));
  }

  @Test
  void aService() {
    CmId id = channel.createId(PortSpace.IB);
    List<List<AddressInfo>> found = new ArrayList<>();
    assertAsInC(
        "find_a_service",
        () -> {
          id.service().resolve("a service");
          found.add(id.service().addresses());
        });
    assertThat(found.getFirst()).hasSize(2);
    assertThat(found.getFirst().getFirst().canonicalName()).isEqualTo("peer.example");
    assertThat(found.getFirst().getFirst().space()).isEqualTo(PortSpace.IB);
    StandIn.answer(ErrorNumber.EIO.value());
    assertThatThrownBy(id.service()::addresses)
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("rdma_query_addrinfo failed: EIO");
    assertThat(raise(rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED(), 0))
        .isEqualTo(new CmEvent.ServiceResolved(id));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR(), -5))
        .isEqualTo(new CmEvent.ServiceFailed(id, 5));
  }

  /** Raises an event, and returns it as it was read; it is acknowledged by then. */
  private CmEvent raise(int type, int status) {
    CmEvent[] event = new CmEvent[1];
    StandIn.call("raise_cm_event", type, status);
    assertThat(StandIn.transcriptOf(() -> event[0] = channel.pollEvent().orElseThrow()))
        .isEqualTo(StandIn.transcriptOfC("acknowledge_cm_event", type));
    return event[0];
  }

  private static final ConnectionConfig PARAMETERS_OF_PEER =
      new ConnectionConfig(SAID, 0xf1, 0xf2, true, 5, 6, true, 0xabcdef);
  private static final DatagramDestination DESTINATION =
      new DatagramDestination(
          new AddressVector(
              2,
              0xc0de,
              13,
              0x55,
              StaticRate.GBPS_100,
              new GlobalRoute(Gid.ZERO, 3, 0xabcde, 250, 0xb8)),
          0xfedcba,
          0x81828384);

  @Test
  void eventsOfConnections() {
    CmId id = channel.createId(PortSpace.TCP);
    assertThat(raise(rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(), 0))
        .isEqualTo(new CmEvent.AddressResolved(id));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_ADDR_ERROR(), -110))
        .isEqualTo(new CmEvent.AddressFailed(id, 110));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(), 0))
        .isEqualTo(new CmEvent.RouteResolved(id));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_ROUTE_ERROR(), -22))
        .isEqualTo(new CmEvent.RouteFailed(id, 22));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(), 0))
        .isInstanceOfSatisfying(
            CmEvent.ConnectRequest.class,
            request -> {
              assertThat(request.listener()).isSameAs(id);
              assertThat(request.id()).isNotSameAs(id);
              assertThat(request.config()).isEqualTo(PARAMETERS_OF_PEER);
            });
    assertThat(raise(rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(), 0))
        .isEqualTo(new CmEvent.ConnectResponse(id, PARAMETERS_OF_PEER));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_CONNECT_ERROR(), -104))
        .isEqualTo(new CmEvent.ConnectFailed(id, 104));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_UNREACHABLE(), -110))
        .isEqualTo(new CmEvent.Unreachable(id, -110));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_REJECTED(), 28))
        .isEqualTo(new CmEvent.Rejected(id, 28, SAID));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_ESTABLISHED(), 0))
        .isEqualTo(new CmEvent.Established(id, PARAMETERS_OF_PEER, null));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_DISCONNECTED(), 0))
        .isEqualTo(new CmEvent.Disconnected(id));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_DEVICE_REMOVAL(), 0))
        .isEqualTo(new CmEvent.DeviceRemoved(id));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_ADDR_CHANGE(), 0))
        .isEqualTo(new CmEvent.AddressChanged(id));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_TIMEWAIT_EXIT(), 0))
        .isEqualTo(new CmEvent.TimeWaitExited(id));
  }

  @Test
  void eventsOfDatagrams() {
    CmId id = channel.createId(PortSpace.UDP);
    ConnectionConfig said = ConnectionConfig.DEFAULT.privateData(SAID);
    assertThat(raise(rdma_h.RDMA_CM_EVENT_ESTABLISHED(), 0))
        .isEqualTo(new CmEvent.Established(id, said, DESTINATION));
    id.multicast().join(IPV4);
    assertThat(raise(rdma_h.RDMA_CM_EVENT_MULTICAST_JOIN(), 0))
        .isEqualTo(new CmEvent.MulticastJoined(id, IPV4, DESTINATION));
    assertThat(raise(rdma_h.RDMA_CM_EVENT_MULTICAST_ERROR(), -12))
        .isEqualTo(new CmEvent.MulticastFailed(id, IPV4, ErrorNumber.ENOMEM.value()));
  }

  /** By then, librdmacm has brought the queue pair to ERROR, where sends are flushed. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aQueuePairOfARefusedConnectionTakesSendsToFlushThem(boolean isRejected) {
    CmId id = channel.createId(PortSpace.TCP);
    QueuePair queuePair = queuePair(id, false);
    SendRequests requests = queuePair.sendRequests(1);
    requests.add(1);
    assertThatThrownBy(requests::post).isInstanceOf(IllegalStateException.class);
    raise(
        isRejected ? rdma_h.RDMA_CM_EVENT_REJECTED() : rdma_h.RDMA_CM_EVENT_CONNECT_ERROR(),
        isRejected ? 28 : -104);
    assertThat(requests.post()).isEqualTo(1);
  }

  @Test
  void aQueuePairOfAnEstablishedConnectionTakesSends() {
    CmId id = channel.createId(PortSpace.TCP);
    SendRequests requests = queuePair(id, false).sendRequests(1);
    raise(rdma_h.RDMA_CM_EVENT_ESTABLISHED(), 0);
    requests.add(1);
    assertThat(requests.post()).isEqualTo(1);
  }

  @Test
  void simpleMessages() {
    CmId id = channel.createId(PortSpace.TCP);
    SimpleMessages messages = SimpleMessages.create(id, 8, 8);
    raise(rdma_h.RDMA_CM_EVENT_ESTABLISHED(), 0);
    MemoryRegion region = messages.registerMessages(4096);
    assertAsInC(
        "post_simple_pieces",
        () -> {
          MemorySlice[] two = {region.slice(8, 16), region.slice(32, 64)};
          messages.postReceive(CONTEXT, two);
          messages.postSend(CONTEXT, two);
          messages.postRead(CONTEXT, REMOTE, KEY, two);
          messages.postWrite(CONTEXT, REMOTE, KEY, two);
        });
    assertAsInC(
        "post_simple_messages",
        () -> {
          MemorySlice one = region.slice(8, 16);
          messages.postReceive(CONTEXT, one);
          messages.postSend(CONTEXT, one);
          messages.postRead(CONTEXT, REMOTE, KEY, one);
          messages.postWrite(CONTEXT, REMOTE, KEY, one);
        });
  }

  @Test
  void simpleMessagesWithFlags() {
    CmId id = channel.createId(PortSpace.TCP);
    SimpleMessages messages = SimpleMessages.create(id, 8, 8);
    raise(rdma_h.RDMA_CM_EVENT_ESTABLISHED(), 0);
    MemorySlice one = messages.registerMessages(4096).slice(8, 16);
    assertAsInC(
        "post_simple_messages_with_flags",
        () -> {
          messages.post(CONTEXT, request -> request.from(one).solicited());
          messages.post(CONTEXT, request -> request.read(REMOTE, KEY).from(one).fenced());
          messages.post(
              CONTEXT, request -> request.write(REMOTE, KEY).from(one).fenced().signaled());
        });
  }

  @Test
  void aSimpleDatagram() {
    CmId id = channel.createId(PortSpace.UDP);
    SimpleMessages messages = SimpleMessages.create(id, 8, 8);
    MemoryRegion region = messages.registerMessages(4096);
    AddressHandle handle = messages.domain().createAddressHandle(DESTINATION.addressVector());
    assertAsInC(
        "post_a_simple_datagram",
        () -> messages.postDatagram(CONTEXT, handle, 0xfedcba, region.slice(8, 16)));
  }

  @Test
  void memoryOfSimpleMessages() {
    CmId id = channel.createId(PortSpace.TCP);
    SimpleMessages messages = SimpleMessages.create(id, 8, 8);
    assertAsInC(
        "register_simple_memory",
        () -> {
          messages.registerMessages(100);
          messages.registerRead(200);
          messages.registerWrite(300);
        });
  }
}
