package org.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.cm.CmLoopback.PATIENCE;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

@Tag("device")
@Tag("needs-datagrams")
final class DatagramConnectionsTest {
  private static final InetSocketAddress GROUP = new InetSocketAddress("239.1.1.3", 0);
  private static final byte MARK = 0x37;

  private static void send(CmLoopback.Side from, DatagramDestination to) {
    try (var handle = from.domain.createAddressHandle(to.addressVector())) {
      from.region.segment().set(ValueLayout.JAVA_BYTE, 0, MARK);
      from.sends
          .add(1)
          .send()
          .signaled()
          .to(handle, to.queuePairNumber(), to.queueKey())
          .from(from.region, 0, 16);
      from.sends.post();
      from.await(1);
    }
  }

  private static void assertReceived(CmLoopback.Side side) {
    side.await(1);
    assertThat(side.region.segment().get(ValueLayout.JAVA_BYTE, GlobalRoutingHeader.BYTES))
        .isEqualTo(MARK);
  }

  @Test
  void datagramsReachThePeerThatAccepted() throws Exception {
    try (var pair = CmLoopback.connected(PortSpace.UDP)) {
      DatagramDestination to = Objects.requireNonNull(pair.established().destination());
      assertThat(to.queuePairNumber()).isEqualTo(pair.b().queuePair.number());
      pair.b().receive(1, 0, 64);
      send(pair.a(), to);
      assertReceived(pair.b());
    }
  }

  @Test
  void aRejectionOfDatagramsTellsThatThePeerIsUnreachable() throws Exception {
    try (var listener = CmLoopback.listener(PortSpace.UDP);
        var client = CmLoopback.resolved(PortSpace.UDP, CmLoopback.address(listener));
        var side = new CmLoopback.Side(client.id())) {
      FutureTask<CmEvent.Established> connect =
          CmLoopback.start(() -> client.connect(ConnectionConfig.DEFAULT, PATIENCE));
      try (var server = listener.awaitRequest(PATIENCE).orElseThrow()) {
        server.id().reject(ByteBuffer.allocate(0));
        assertThatThrownBy(() -> CmLoopback.get(connect))
            .cause()
            .isInstanceOf(RdmaException.class)
            .hasMessageContaining("ECONNREFUSED");
      }
      assertThatThrownBy(side.queuePair::number).isInstanceOf(IllegalStateException.class);
    }
  }

  private static SynchronousCmId member() throws InterruptedException, TimeoutException {
    SynchronousCmId member = SynchronousCmId.open(PortSpace.UDP);
    member.resolveAddress(CmLoopback.address(0), GROUP, PATIENCE);
    return member;
  }

  @Test
  void aDatagramToAGroupReachesItsMembers() throws Exception {
    try (var sender = member();
        var receiver = member();
        var a = new CmLoopback.Side(sender.id());
        var b = new CmLoopback.Side(receiver.id())) {
      b.receive(1, 0, 64);
      receiver.joinMulticast(GROUP, PATIENCE);
      CmEvent.MulticastJoined joined = sender.joinMulticast(GROUP, PATIENCE);
      assertThat(joined.group()).isEqualTo(GROUP);
      send(a, joined.destination());
      assertReceived(b);
    }
  }

  @Test
  void aSendOnlyMemberReceivesNothing() throws Exception {
    try (var sender = member();
        var receiver = member();
        var a = new CmLoopback.Side(sender.id());
        var b = new CmLoopback.Side(receiver.id())) {
      a.receive(2, 1024, 64);
      b.receive(1, 0, 64);
      receiver.joinMulticast(GROUP, JoinFlag.FULL_MEMBER, PATIENCE);
      CmEvent.MulticastJoined joined =
          sender.joinMulticast(GROUP, JoinFlag.SEND_ONLY_FULL_MEMBER, PATIENCE);
      send(a, joined.destination());
      assertReceived(b);
      assertThat(a.completions.poll()).isZero();
    }
  }

  @Test
  void aMemberThatLeftReceivesNothing() throws Exception {
    try (var sender = member();
        var left = member();
        var stays = member();
        var a = new CmLoopback.Side(sender.id());
        var b = new CmLoopback.Side(left.id());
        var c = new CmLoopback.Side(stays.id())) {
      CmEvent.MulticastJoined joined = sender.joinMulticast(GROUP, PATIENCE);
      left.joinMulticast(GROUP, PATIENCE);
      stays.joinMulticast(GROUP, PATIENCE);
      b.receive(1, 0, 64);
      c.receive(1, 0, 64);
      left.id().multicast().leave(GROUP);
      send(a, joined.destination());
      assertReceived(c);
      assertThat(b.completions.poll()).isZero();
      assertThatThrownBy(() -> left.id().multicast().leave(GROUP))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("239.1.1.3");
    }
  }

  @Test
  void aQueuePairClosesWhileItsIdentifierIsAMember() throws Exception {
    try (var member = member()) {
      var side = new CmLoopback.Side(member.id());
      member.joinMulticast(GROUP, PATIENCE);
      side.close();
      assertThat(member.id().queuePair()).isEmpty();
      try (var again = new CmLoopback.Side(member.id())) {
        member.joinMulticast(GROUP, PATIENCE);
        assertThat(member.id().queuePair()).contains(again.queuePair);
      }
    }
  }
}
