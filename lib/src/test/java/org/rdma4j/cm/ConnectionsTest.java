package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.ErrorNumber;
import org.rdma4j.LocalAddress;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.attribute.TransportType;

@Tag("device")
final class ConnectionsTest {
  private static final byte MARK = 0x5a;

  private static ByteBuffer text(String text) {
    return StandardCharsets.US_ASCII.encode(text);
  }

  private static String text(ByteBuffer privateData, int length) {
    return StandardCharsets.US_ASCII.decode(privateData.slice(0, length)).toString();
  }

  @Test
  void messagesArriveOverAConnection() throws Exception {
    try (var pair = CmLoopback.connected(PortSpace.TCP)) {
      pair.b().receive(1, 0, 64);
      pair.a().region.segment().set(ValueLayout.JAVA_BYTE, 7, MARK);
      pair.a().send(2, 0, 64);
      assertThat(pair.b().await(1)).containsExactly(CompletionOpcode.RECEIVE);
      assertThat(pair.b().region.segment().get(ValueLayout.JAVA_BYTE, 7)).isEqualTo(MARK);
      assertThat(pair.a().await(1)).containsExactly(CompletionOpcode.SEND);
    }
  }

  @Tag("needs-unreliable-connections")
  @Test
  void messagesArriveOverAnUnreliableConnection() throws Exception {
    String host = CmLoopback.host().getHostAddress();
    AddressHints hints =
        AddressHints.DEFAULT
            .space(PortSpace.IB)
            .type(QueuePairType.UNRELIABLE_CONNECTION)
            .numericHost(true)
            .noRoute(true);
    AddressInfo local = AddressInfo.resolve(host, "0", hints.passive(true), PATIENCE).getFirst();
    SynchronousCmId listener = SynchronousCmId.open(local, PATIENCE);
    listener.id().listen(1);
    String port = Integer.toString(CmLoopback.address(listener).getPort());
    AddressInfo remote = AddressInfo.resolve(host, port, hints, PATIENCE).getFirst();
    try (var pair =
        CmLoopback.connected(
            listener,
            SynchronousCmId.open(remote, PATIENCE),
            PortSpace.IB,
            ConnectionConfig.DEFAULT,
            ConnectionConfig.DEFAULT)) {
      assertThat(pair.server().id().queuePairType()).isEqualTo(QueuePairType.UNRELIABLE_CONNECTION);
      pair.b().receive(1, 0, 64);
      pair.a().send(2, 0, 64);
      assertThat(pair.b().await(1)).containsExactly(CompletionOpcode.RECEIVE);
      assertThat(pair.a().await(1)).containsExactly(CompletionOpcode.SEND);
    }
  }

  @Test
  void anIpv6AddressWithItsScopeLeadsToThePeer() throws Exception {
    Inet6Address host = LocalAddress.linkLocal();
    try (var pair =
        CmLoopback.connected(
            CmLoopback.listener(PortSpace.TCP, host),
            PortSpace.TCP,
            ConnectionConfig.DEFAULT,
            ConnectionConfig.DEFAULT)) {
      assertThat(pair.client().id().peerAddress().getAddress())
          .isEqualTo(host)
          .isInstanceOfSatisfying(
              Inet6Address.class,
              peer -> assertThat(peer.getScopeId()).isEqualTo(host.getScopeId()));
      CmId accepted = pair.server().id();
      for (InetSocketAddress each : List.of(accepted.localAddress(), accepted.peerAddress())) {
        assertThat(each.getAddress())
            .isInstanceOfSatisfying(
                Inet6Address.class,
                address -> assertThat(address.getScopeId()).isEqualTo(host.getScopeId()));
      }
      pair.b().receive(1, 0, 8);
      pair.a().send(2, 0, 8);
      pair.b().await(1);
    }
  }

  @Test
  void eachSideLearnsThePrivateDataOfTheOther() throws Exception {
    try (var pair =
        CmLoopback.connected(
            PortSpace.TCP,
            ConnectionConfig.DEFAULT.privateData(text("question")),
            ConnectionConfig.DEFAULT.privateData(text("answer")))) {
      var request = pair.server().request().orElseThrow();
      assertThat(text(request.config().privateData(), 8)).isEqualTo("question");
      assertThat(text(pair.established().config().privateData(), 6)).isEqualTo("answer");
    }
  }

  @Test
  void bothSidesKnowBothAddresses() throws Exception {
    try (var pair = CmLoopback.connected(PortSpace.TCP)) {
      InetSocketAddress client = pair.client().id().localAddress();
      InetSocketAddress server = CmLoopback.address(pair.listener());
      assertThat(pair.client().id().peerAddress()).isEqualTo(server);
      assertThat(pair.server().id().peerAddress()).isEqualTo(client);
      assertThat(pair.server().id().localAddress()).isEqualTo(server);
    }
  }

  @Test
  void aRejectionThrowsWithItsReasonAndPrivateData() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP);
        var client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
        var side = new CmLoopback.Side(client.id())) {
      FutureTask<CmEvent.Established> connect =
          CmLoopback.start(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE));
      try (var server = listener.awaitRequest(PATIENCE).orElseThrow()) {
        server.id().reject(text("no"));
        assertThatThrownBy(() -> CmLoopback.get(connect))
            .cause()
            .isInstanceOfSatisfying(
                ConnectionRejectedException.class,
                rejected -> {
                  assertThat(rejected.reason())
                      .isEqualTo(reason(CmEvent.Rejected.CONSUMER_DEFINED, ErrorNumber.ECONNRESET));
                  assertThat(text(rejected.privateData(), 2)).isEqualTo("no");
                })
            .hasMessageContaining(CmLoopback.address(listener).toString());
      }
      assertThatThrownBy(() -> side.queuePair.number()).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aPortWithoutListenerRejects() throws Exception {
    InetSocketAddress unused = CmLoopback.address(9);
    try (var client = CmLoopback.resolved(PortSpace.TCP, unused);
        var side = new CmLoopback.Side(client.id())) {
      assertThat(side.queuePair.number()).isPositive();
      assertThatThrownBy(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE))
          .isInstanceOfSatisfying(
              ConnectionRejectedException.class,
              rejected ->
                  assertThat(rejected.reason())
                      .isEqualTo(
                          reason(CmEvent.Rejected.INVALID_SERVICE_ID, ErrorNumber.ECONNREFUSED)))
          .hasMessageContaining(unused.toString());
    }
  }

  /** Returns the reason of a rejection: one of InfiniBand's, or over iWARP an errno value. */
  private static int reason(int infiniband, ErrorNumber iwarp) {
    boolean isIwarp = CmDevices.list().getFirst().info().transport() == TransportType.IWARP;
    return isIwarp ? -iwarp.value() : infiniband;
  }

  @Test
  void aConnectThatTimesOutLeavesNothingBehind() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP);
        var client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
        var side = new CmLoopback.Side(client.id())) {
      Duration timeout = Duration.ofMillis(300);
      assertThatThrownBy(() -> client.connect(ConnectionConfig.DEFAULT, timeout))
          .isInstanceOf(TimeoutException.class)
          .hasMessageContaining("no answer within 300 ms")
          .hasMessageContaining(CmLoopback.address(listener).toString());
      assertThatThrownBy(() -> side.queuePair.number()).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> client.id().port()).isInstanceOf(IllegalStateException.class);
    }
  }

  /** As a server does whose JVM has just started, on a machine that is busy. */
  @Tag("needs-infiniband-connection-manager")
  @Test
  void aServerThatIsTooSlowLearnsThatItsPeerHasProbablyGivenUp() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP);
        var request = ShortRequest.to(listener)) {
      request.awaitItsEnd();
      assertThatThrownBy(() -> new CmLoopback.Side(request.server.id()).close())
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("rdma_create_qp_ex")
          .hasMessageContaining("EINVAL")
          .hasMessageContaining("its peer has probably given up");
    }
  }

  @Tag("needs-infiniband-connection-manager")
  @Test
  void aServerThatAcceptsTooLateLearnsThatItsPeerHasProbablyGivenUp() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP);
        var request = ShortRequest.to(listener);
        var side = new CmLoopback.Side(request.server.id())) {
      request.awaitItsEnd();
      assertThatThrownBy(() -> request.server.accept(ConnectionConfig.DEFAULT, PATIENCE))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("rdma_accept")
          .hasMessageContaining("EINVAL")
          .hasMessageContaining("its peer has probably given up");
      assertThatThrownBy(() -> side.queuePair.number()).isInstanceOf(IllegalStateException.class);
    }
  }

  /** A request whose peer waits for three seconds, then gives up. */
  private record ShortRequest(SynchronousCmId server, FutureTask<CmEvent.Established> connect)
      implements AutoCloseable {
    static ShortRequest to(SynchronousCmId listener) throws Exception {
      SynchronousCmId client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
      FutureTask<CmEvent.Established> connect = CmLoopback.start(() -> connect(client));
      return new ShortRequest(listener.awaitRequest(PATIENCE).orElseThrow(), connect);
    }

    private static CmEvent.Established connect(SynchronousCmId client) throws Exception {
      try (client;
          var side = new CmLoopback.Side(client.id())) {
        assertThat(side.queuePair.number()).isPositive();
        return client.connect(ConnectionConfig.DEFAULT, Duration.ofSeconds(3));
      }
    }

    void awaitItsEnd() throws Exception {
      assertThatThrownBy(() -> CmLoopback.get(connect))
          .hasMessageContaining("no answer within 3 s");
      // The kernel takes a moment to notify the other side, which notices it by nothing else.
      Thread.sleep(1000);
    }

    @Override
    public void close() {
      server.close();
    }
  }

  @Test
  void anInterruptEndsAConnectAndLeavesNothingBehind() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP);
        var client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
        var side = new CmLoopback.Side(client.id())) {
      Thread waiting = Thread.currentThread();
      FutureTask<SynchronousCmId> interrupt =
          CmLoopback.start(
              () -> {
                SynchronousCmId server = listener.awaitRequest(PATIENCE).orElseThrow();
                waiting.interrupt();
                return server;
              });
      assertThatThrownBy(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE))
          .isInstanceOf(InterruptedException.class);
      CmLoopback.get(interrupt).close();
      assertThatThrownBy(() -> side.queuePair.number()).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aDisconnectReachesThePeer() throws Exception {
    try (var pair = CmLoopback.connected(PortSpace.TCP)) {
      FutureTask<Boolean> disconnect =
          CmLoopback.start(
              () -> {
                pair.client().disconnect(PATIENCE);
                return true;
              });
      assertThat(pair.server().awaitDisconnected(PATIENCE)).isTrue();
      pair.server().disconnect(PATIENCE);
      assertThat(CmLoopback.get(disconnect)).isTrue();
    }
  }

  @Tag("needs-infiniband-connection-manager")
  @Test
  void aRejectionBecauseOfEceHasThatReason() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP);
        var client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
        var side = new CmLoopback.Side(client.id())) {
      assertThat(side.queuePair.number()).isPositive();
      FutureTask<CmEvent.Established> connect =
          CmLoopback.start(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE));
      try (var server = listener.awaitRequest(PATIENCE).orElseThrow()) {
        server.id().rejectEce(ByteBuffer.allocate(0));
        assertThatThrownBy(() -> CmLoopback.get(connect))
            .cause()
            .isInstanceOfSatisfying(
                ConnectionRejectedException.class,
                rejected ->
                    assertThat(rejected.reason())
                        .isEqualTo(CmEvent.Rejected.VENDOR_OPTION_NOT_SUPPORTED));
      }
    }
  }

  @Test
  void twoConnectionsReceiveFromOneSharedQueue() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP)) {
      CmId listening = listener.id();
      try (var queue = listening.device().createCompletionQueue(64);
          var domain = listening.device().allocateProtectionDomain();
          var shared = domain.createSharedReceiveQueue(8, 1);
          var region = domain.register(64, AccessFlag.LOCAL_WRITE)) {
        var receives = shared.receiveRequests(2);
        receives.add(1).into(region, 0, 32);
        receives.add(2).into(region, 32, 32);
        receives.post();
        Set<Integer> numbers = new HashSet<>();
        Deque<AutoCloseable> open = new ArrayDeque<>();
        for (int i = 0; i < 2; i++) {
          var client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
          open.push(client);
          var side = new CmLoopback.Side(client.id());
          open.push(side);
          var connect = CmLoopback.start(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE));
          var server = listener.awaitRequest(PATIENCE).orElseThrow();
          open.push(server);
          var config = QueuePairConfig.reliable(queue).sharedReceiveQueue(shared);
          numbers.add(server.id().createQueuePair(domain, config).number());
          server.accept(ConnectionConfig.DEFAULT, PATIENCE);
          CmLoopback.get(connect);
          side.send(1, 0, 16);
          side.await(1);
        }
        assertThat(receivers(queue)).isEqualTo(numbers).hasSize(2);
        for (AutoCloseable each : open) {
          each.close();
        }
      }
    }
  }

  private static Set<Integer> receivers(CompletionQueue queue) {
    Set<Integer> numbers = new HashSet<>();
    var completions = queue.completions(1);
    while (completions.poll() > 0) {
      completions.requireSuccess(0);
      numbers.add(completions.queuePairNumber(0));
    }
    return numbers;
  }
}
