package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.Library;
import org.rdma4j.verbs.AsyncEventType;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Ece;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendOperation;
import org.rdma4j.verbs.address.Gid;

@Tag("device")
final class CmIdTest {
  private EventChannel channel;
  private CmId id;

  @BeforeEach
  void create() {
    channel = EventChannel.open();
    id = channel.createId(PortSpace.TCP);
  }

  @AfterEach
  void close() {
    channel.close();
  }

  @Tag("needs-refusals-of-software")
  @Test
  void xrcQueuePairsAreRefusedByTheDevice() {
    CmId sender = channel.createId(PortSpace.IB, QueuePairType.XRC_SEND, CmLoopback.address(0));
    assertThat(sender.queuePairType()).isEqualTo(QueuePairType.XRC_SEND);
    assertThat(sender.localAddress().getPort()).isPositive();
    ProtectionDomain domain = sender.device().allocateProtectionDomain();
    CompletionQueue completions = sender.device().createCompletionQueue(8);
    assertThatThrownBy(() -> sender.createQueuePair(domain, QueuePairConfig.xrcSend(completions)))
        .isInstanceOf(UnsupportedByDeviceException.class)
        .hasMessageContaining("rdma_create_qp_ex(XRC_SEND");
    assertThatThrownBy(() -> sender.createQueuePair(domain, QueuePairConfig.reliable(completions)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be XRC_SEND");
    domain.close();
    completions.close();
  }

  @Test
  void onlyPortSpaceIbLeavesTheTypeOpen() {
    assertThatThrownBy(
            () -> channel.createId(PortSpace.TCP, QueuePairType.XRC_SEND, CmLoopback.address(0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be RELIABLE_CONNECTION in port space TCP");
    assertThatThrownBy(
            () ->
                channel.createId(
                    PortSpace.IB, QueuePairType.UNRELIABLE_DATAGRAM, CmLoopback.address(0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("XRC_SEND or XRC_RECEIVE in port space IB");
  }

  private void resolve() throws InterruptedException {
    id.resolveAddress(CmLoopback.address(9), PATIENCE);
    assertThat(channel.awaitEvent(PATIENCE)).containsInstanceOf(CmEvent.AddressResolved.class);
  }

  /** Neither rdma-core 44 nor Linux 6.1 has it. */
  @Test
  void anEventIsWrittenOrRefused() throws Exception {
    boolean isWritten = true;
    try {
      id.writeEvent(-3, 0x123456789abcdefL);
    } catch (RdmaException refused) {
      isWritten = false;
      assertThat(refused).hasMessageContaining("rdma_write_cm_event");
      assertThat(refused.errnoName())
          .isIn(
              Library.contains("rdma_write_cm_event")
                  ? List.of("EINVAL", "ENOSYS")
                  : List.of("ENOSYS"));
    }
    assertThat(channel.awaitEvent(isWritten ? PATIENCE : Duration.ZERO))
        .isEqualTo(
            isWritten
                ? Optional.of(new CmEvent.Written(id, -3, 0x123456789abcdefL))
                : Optional.empty());
  }

  @Test
  void noServiceIsFound() throws Exception {
    assertThatThrownBy(id.service()::addresses).isInstanceOf(RdmaException.class);
    resolve();
    assertThatThrownBy(() -> id.service().resolve("a service")).isInstanceOf(RdmaException.class);
  }

  @Test
  void theSystemChoosesThePortIfItIsZero() {
    id.bind(CmLoopback.address(0));
    assertThat(id.localAddress().getAddress()).isEqualTo(CmLoopback.host());
    assertThat(id.localAddress().getPort()).isPositive();
    assertThat(id.hasDevice()).isTrue();
  }

  @Test
  void aTimeoutOfZeroIsValidForARoute() throws Exception {
    resolve();
    assertThatCode(() -> id.resolveRoute(Duration.ZERO)).doesNotThrowAnyException();
  }

  @Test
  void boundToTheWildcardAddressItHasNoDevice() {
    id.bind(new InetSocketAddress("0.0.0.0", 0));
    assertThat(id.hasDevice()).isFalse();
    assertThatThrownBy(id::device)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no device");
  }

  @Test
  void theExceptionNamesThePortThatIsTaken() {
    id.bind(CmLoopback.address(0));
    InetSocketAddress taken = id.localAddress();
    CmId second = channel.createId(PortSpace.TCP);
    assertThatThrownBy(() -> second.bind(taken))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("EADDRINUSE")
        .hasMessageContaining(taken.toString());
  }

  @Test
  void theWildcardAddressCannotShareAPort() {
    id.bind(new InetSocketAddress(0));
    CmId second = channel.createId(PortSpace.TCP);
    assertThatThrownBy(() -> second.bind(CmLoopback.address(id.localAddress().getPort())))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("EADDRNOTAVAIL")
        .hasMessageContaining("the port is in use");
  }

  @Tag("needs-infiniband-connection-manager")
  @Test
  void aLoopbackAddressListensOnAllDevices() throws Exception {
    InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
    try (var listener = CmLoopback.listener(PortSpace.TCP, loopback)) {
      int port = listener.id().localAddress().getPort();
      try (var client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(port));
          var side = new CmLoopback.Side(client.id())) {
        assertThat(client.id().queuePair()).contains(side.queuePair);
        var connect = CmLoopback.start(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE));
        try (var server = listener.awaitRequest(PATIENCE).orElseThrow()) {
          assertThat(server.id().localAddress()).isEqualTo(CmLoopback.address(port));
          server.id().reject(ByteBuffer.allocate(0));
        }
        assertThatThrownBy(() -> CmLoopback.get(connect))
            .hasCauseInstanceOf(ConnectionRejectedException.class);
      }
    }
  }

  @Test
  void twoIdentifiersShareAnAddressIfBothAllowIt() {
    id.options().reuseAddress(true);
    id.bind(CmLoopback.address(0));
    CmId second = channel.createId(PortSpace.TCP);
    second.options().reuseAddress(true);
    second.bind(id.localAddress());
    assertThat(second.localAddress()).isEqualTo(id.localAddress());
  }

  @Test
  void optionsAreAccepted() {
    assertThatCode(
            () -> {
              id.options().typeOfService(0x20);
              id.options().ackTimeout(19);
              id.options().ipv6Only(true);
            })
        .doesNotThrowAnyException();
  }

  @Tag("needs-infiniband-connection-manager")
  @Test
  void theAckTimeoutReachesTheQueuePair() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP);
        var client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
        var side = new CmLoopback.Side(client.id())) {
      client.id().options().ackTimeout(20);
      var connect = CmLoopback.start(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE));
      try (var server = listener.awaitRequest(PATIENCE).orElseThrow();
          var other = new CmLoopback.Side(server.id())) {
        server.accept(ConnectionConfig.DEFAULT, PATIENCE);
        CmLoopback.get(connect);
        assertThat(side.queuePair.query().timeout()).isEqualTo(20);
        assertThat(other.queuePair.query().timeout()).isNotEqualTo(20);
      }
    }
  }

  @Test
  void whatNeedsADeviceIsRefusedWithoutOne() {
    ByteBuffer nothing = ByteBuffer.allocate(0);
    List<ThrowingCallable> calls =
        List.of(
            () -> id.resolveRoute(PATIENCE),
            () -> id.connect(ConnectionConfig.DEFAULT),
            () -> id.accept(ConnectionConfig.DEFAULT),
            id::disconnect,
            () -> id.externalQueuePair().changeTo(QueuePairState.INIT),
            () -> id.multicast().join(new InetSocketAddress("239.1.1.1", 0)),
            () -> id.notifyOf(AsyncEventType.COMMUNICATION_ESTABLISHED));
    for (var call : calls) {
      assertThatThrownBy(call)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("no device");
    }
    assertThatThrownBy(() -> id.reject(nothing)).isInstanceOf(RdmaException.class);
  }

  @Test
  void anythingAfterCloseIsRefused() {
    id.close();
    List<ThrowingCallable> calls =
        List.of(
            () -> id.bind(CmLoopback.address(0)),
            () -> id.listen(1),
            () -> id.resolveAddress(CmLoopback.address(1), PATIENCE),
            () -> id.connect(ConnectionConfig.DEFAULT),
            () -> id.migrate(channel),
            () -> id.externalQueuePair().establish(),
            id::localAddress,
            id::device,
            id::queuePair,
            () -> id.externalQueuePair().remoteEce(),
            id::handle);
    for (var call : calls) {
      assertThatThrownBy(call)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
    id.close();
  }

  @Test
  void privateDataThatIsTooLongIsRefusedWithTheLimit() throws Exception {
    resolve();
    assertThatThrownBy(
            () -> id.connect(ConnectionConfig.DEFAULT.privateData(ByteBuffer.allocate(57))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("57")
        .hasMessageContaining("56");
  }

  @Test
  void connectingWithoutAQueuePairIsRefused() throws Exception {
    resolve();
    assertThatThrownBy(() -> id.connect(ConnectionConfig.DEFAULT))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no queue pair");
  }

  @Test
  void aSecondQueuePairIsRefused() throws Exception {
    resolve();
    try (var side = new CmLoopback.Side(id)) {
      assertThatThrownBy(() -> new CmLoopback.Side(id))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("already");
      assertThat(id.queuePair()).contains(side.queuePair);
    }
  }

  @Tag("needs-extended-queue-pairs")
  @Test
  void anExtendedQueuePairCanBeCreated() throws Exception {
    resolve();
    var queue = id.device().createCompletionQueue(8);
    var domain = id.device().allocateProtectionDomain();
    var queuePair =
        id.createQueuePair(domain, QueuePairConfig.reliable(queue).extended(SendOperation.SEND));
    assertThat(queuePair.query().state()).isEqualTo(QueuePairState.INIT);
    queue.close();
    domain.close();
  }

  @Test
  void aDomainOfASeparatelyOpenedDeviceIsRefused() throws Exception {
    resolve();
    try (RdmaDevice apart = RdmaDevice.open(id.device().info().name())) {
      var queue = apart.createCompletionQueue(8);
      var domain = apart.allocateProtectionDomain();
      assertThatThrownBy(() -> id.createQueuePair(domain, QueuePairConfig.reliable(queue)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("CmId.device");
    }
  }

  @Test
  void aQueuePairOfDatagramsIsRefusedInPortSpaceTcp() throws Exception {
    resolve();
    var queue = id.device().createCompletionQueue(8);
    var domain = id.device().allocateProtectionDomain();
    assertThatThrownBy(() -> id.createQueuePair(domain, QueuePairConfig.datagram(queue)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("RELIABLE_CONNECTION");
    queue.close();
    domain.close();
  }

  @Tag("needs-ip-gids")
  @Test
  void itKnowsItsGids() throws Exception {
    resolve();
    assertThat(id.addresses().sourceGid().toString()).endsWith(CmLoopback.host().getHostAddress());
    assertThat(id.addresses().destinationGid()).isEqualTo(id.addresses().sourceGid());
    // The kernel reports a partition key only on InfiniBand.
    assertThat(id.addresses().partitionKey()).isZero();
    assertThat(id.port()).isEqualTo(1);
  }

  @Test
  void softRoceOffersNoEce() throws Exception {
    resolve();
    assertThat(id.externalQueuePair().remoteEce()).isEqualTo(new Ece(0, 0, 0));
    id.externalQueuePair().localEce(new Ece(0x1234, 1, 0));
    assertThatThrownBy(() -> id.externalQueuePair().localEce(new Ece(0, 1, 0)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void roceHasNoInfinibandAddresses() {
    CmId ib = channel.createId(PortSpace.IB);
    IbAddress address =
        IbAddress.of(CmDevices.list().getFirst().port(1).gid(0), PortSpace.IB, 7471);
    assertThatThrownBy(() -> ib.bind(address))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining(address.toString());
  }

  @Test
  void pathsBeforeTheAddressIsResolvedAreRefused() {
    PathRecord path =
        new PathRecord(
            PathRecord.BIDIRECTIONAL_PRIMARY_AND_GMP,
            0,
            Gid.ZERO,
            Gid.ZERO,
            1,
            2,
            0,
            1,
            0,
            true,
            0xffff,
            0,
            4,
            2,
            14);
    assertThatThrownBy(() -> id.options().paths(List.of(path)))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> id.options().paths(List.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Tag("needs-queue-pair-states")
  @Test
  void establishingWithAManagedQueuePairIsRefused() throws Exception {
    resolve();
    try (var side = new CmLoopback.Side(id)) {
      assertThat(side.queuePair.query().state()).isEqualTo(QueuePairState.INIT);
      assertThatThrownBy(() -> id.externalQueuePair().establish())
          .isInstanceOf(IllegalStateException.class);
    }
  }
}
