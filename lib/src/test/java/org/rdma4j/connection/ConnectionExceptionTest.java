package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.ErrorNumber;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.ConnectionRejectedException;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.WorkCompletionException;

/** The reasons why there is no connection, or no longer. */
@Tag("device")
final class ConnectionExceptionTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private RdmaNode node;
  private RdmaServer listener;

  @BeforeEach
  void open() {
    node = RdmaNode.open();
    listener = node.bind(RdmaConnectionTest.local());
  }

  @AfterEach
  void close() {
    node.close();
  }

  private static ConnectionException thrownBy(ThrowingCallable call) {
    ConnectionException[] caught = new ConnectionException[1];
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(ConnectionException.class, thrown -> caught[0] = thrown);
    return caught[0];
  }

  @Test
  void nobodyListens() {
    InetSocketAddress address = listener.localAddress();
    listener.close();
    ConnectionException thrown = thrownBy(() -> node.connect(address, PATIENCE));
    assertThat(thrown.reason()).isEqualTo(Reason.REFUSED);
    assertThat(thrown.errno()).isEqualTo(ErrorNumber.ECONNREFUSED.value());
    assertThat(thrown).hasMessageContaining("No program listens on that port");
    assertThat(thrown).hasCauseInstanceOf(ConnectionRejectedException.class);
  }

  @Test
  void theServerSaysWhyItRejects() throws Exception {
    try (RdmaServer full = node.bind(RdmaConnectionTest.local(), 1);
        RdmaConnection first = node.connect(full.localAddress(), PATIENCE)) {
      assertThat(first.isOpen()).isTrue();
      ConnectionException thrown = thrownBy(() -> node.connect(full.localAddress(), PATIENCE));
      assertThat(thrown.reason()).isEqualTo(Reason.REFUSED);
      assertThat(thrown)
          .hasMessageContaining("as many peers wait to be accepted as the backlog allows, 1");
    }
  }

  @Test
  void noDeviceLeadsToTheAddress() {
    InetSocketAddress nowhere = new InetSocketAddress("198.51.100.1", 1);
    ConnectionException thrown = thrownBy(() -> node.connect(nowhere, PATIENCE));
    assertThat(thrown.reason()).isEqualTo(Reason.UNREACHABLE);
    assertThat(thrown).hasMessageContaining("198.51.100.1");
  }

  @Test
  void anotherProgramListens() throws Exception {
    try (SynchronousCmId other = SynchronousCmId.open(PortSpace.TCP)) {
      other.id().bind(RdmaConnectionTest.local());
      other.id().listen(1);
      FutureTask<Boolean> accepted =
          RdmaConnectionTest.start(
              () -> {
                try (SynchronousCmId peer = other.awaitRequest(PATIENCE).orElseThrow();
                    SimpleMessages queues = SimpleMessages.create(peer.id(), 4, 4)) {
                  peer.accept(ConnectionConfig.DEFAULT, PATIENCE);
                  return queues.queuePair().number() > 0 && peer.awaitDisconnected(PATIENCE);
                }
              });
      InetSocketAddress address = other.id().localAddress();
      ConnectionException thrown = thrownBy(() -> node.connect(address, PATIENCE));
      assertThat(thrown.reason()).isEqualTo(Reason.PROTOCOL);
      assertThat(thrown.errno()).isEqualTo(ErrorNumber.EPROTO.value());
      assertThat(RdmaConnectionTest.get(accepted)).isTrue();
    }
  }

  @Test
  void thePeerCloses() throws Exception {
    try (RdmaConnection client = node.connect(listener.localAddress(), PATIENCE)) {
      listener.accept(PATIENCE).close();
      assertThat(client.receive(PATIENCE)).isEmpty();
      ConnectionException thrown = thrownBy(() -> client.send(ByteBuffer.allocate(1), PATIENCE));
      assertThat(thrown.reason()).isEqualTo(Reason.CLOSED_BY_PEER);
    }
  }

  @Test
  void aHandlerThrowsWhichResetsThePeer() throws Exception {
    try (RdmaConnection client = node.connect(listener.localAddress(), PATIENCE);
        RdmaConnection server = listener.accept(PATIENCE)) {
      server.onMessage(
          message -> {
            message.close();
            throw new UnsupportedOperationException("not today");
          });
      client.send(ByteBuffer.allocate(1), PATIENCE);
      ConnectionException ofClient = thrownBy(() -> client.receive(PATIENCE));
      assertThat(ofClient.reason()).isEqualTo(Reason.RESET);
      assertThat(ofClient).hasMessageContaining("not today");
      ConnectionException ofServer = thrownBy(server::endOutput);
      assertThat(ofServer.reason()).isEqualTo(Reason.BROKEN_HERE);
      assertThat(ofServer).hasCauseInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  @Tag("needs-remote-errors")
  void anOperationIsRefusedByThePeersDevice() throws Exception {
    try (RdmaConnection client = node.connect(listener.localAddress(), PATIENCE);
        RdmaConnection server = listener.accept(PATIENCE);
        MemoryRegion hidden = server.register(64, AccessFlag.LOCAL_WRITE);
        MessageBuffer data = client.allocateBuffer(64)) {
      RemoteMemory name =
          new RemoteMemory(hidden.remoteAddress(), hidden.remoteKey(), hidden.byteSize());
      ConnectionException thrown =
          thrownBy(() -> client.memory().writeAndNotify(data.memory(), name, 1, PATIENCE));
      assertThat(thrown.reason()).isEqualTo(Reason.BROKEN_HERE);
      assertThat(thrown).hasCauseInstanceOf(WorkCompletionException.class);
      assertThat(thrownBy(client::endOutput).reason()).isEqualTo(Reason.BROKEN_HERE);
    }
  }
}
