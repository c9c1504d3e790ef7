package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.CompletionOpcode;

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

  @Test
  void eachSideLearnsThePrivateDataOfTheOther() throws Exception {
    try (var pair =
        CmLoopback.connected(
            PortSpace.TCP,
            ConnectionParameters.DEFAULT.privateData(text("question")),
            ConnectionParameters.DEFAULT.privateData(text("answer")))) {
      var request = pair.server().request().orElseThrow();
      assertThat(text(request.parameters().privateData(), 8)).isEqualTo("question");
      assertThat(text(pair.established().parameters().privateData(), 6)).isEqualTo("answer");
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
          CmLoopback.start(() -> client.connect(ConnectionParameters.DEFAULT, PATIENCE));
      try (var server = listener.awaitRequest(PATIENCE).orElseThrow()) {
        server.id().reject(text("no"));
        assertThatThrownBy(() -> CmLoopback.get(connect))
            .cause()
            .isInstanceOfSatisfying(
                ConnectionRejectedException.class,
                rejected -> {
                  assertThat(rejected.reason()).isEqualTo(CmEvent.Rejected.CONSUMER_DEFINED);
                  assertThat(text(rejected.privateData(), 2)).isEqualTo("no");
                })
            .hasMessageContaining(CmLoopback.address(listener).toString());
      }
      assertThatThrownBy(() -> side.queuePair.number()).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aPortWithoutListenerRejects() throws Exception {
    InetSocketAddress nobody = CmLoopback.address(9);
    try (var client = CmLoopback.resolved(PortSpace.TCP, nobody);
        var side = new CmLoopback.Side(client.id())) {
      assertThat(side.queuePair.number()).isPositive();
      assertThatThrownBy(() -> client.connect(ConnectionParameters.DEFAULT, PATIENCE))
          .isInstanceOfSatisfying(
              ConnectionRejectedException.class,
              rejected ->
                  assertThat(rejected.reason()).isEqualTo(CmEvent.Rejected.INVALID_SERVICE_ID))
          .hasMessageContaining(nobody.toString());
    }
  }

  @Test
  void aListenerThatNeverAcceptsLeavesNothingBehindOnceTimeIsUp() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP);
        var client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
        var side = new CmLoopback.Side(client.id())) {
      Duration timeout = Duration.ofMillis(300);
      assertThatThrownBy(() -> client.connect(ConnectionParameters.DEFAULT, timeout))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("ETIMEDOUT")
          .hasMessageContaining(CmLoopback.address(listener).toString());
      assertThatThrownBy(() -> side.queuePair.number()).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> client.id().port()).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void anInterruptEndsAConnectAndLeavesNothingBehind() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.TCP);
        var client = CmLoopback.resolved(PortSpace.TCP, CmLoopback.address(listener));
        var side = new CmLoopback.Side(client.id())) {
      Thread waiting = Thread.currentThread();
      FutureTask<Boolean> interrupt =
          CmLoopback.start(
              () -> {
                boolean arrived = listener.awaitRequest(PATIENCE).isPresent();
                waiting.interrupt();
                return arrived;
              });
      assertThatThrownBy(() -> client.connect(ConnectionParameters.DEFAULT, PATIENCE))
          .isInstanceOf(InterruptedException.class);
      assertThat(CmLoopback.get(interrupt)).isTrue();
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
}
