package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.nio.ChannelPair.waiting;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.nio.handover.Handover;
import org.rdma4j.nio.handover.Messages;
import org.rdma4j.nio.handover.Proof;
import org.rdma4j.nio.handover.Resume;
import org.rdma4j.testing.DeviceAddress;

/** A client that proves what it must, and then does not keep to the protocol. */
@Tag("device")
@Timeout(100)
final class LyingPeerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int GREETING = 64;

  private RdmaSelectorProvider servers;
  private RdmaNode node;
  private SocketChannel client;
  private SocketChannel server;
  private RdmaConnection link;

  @BeforeEach
  void join() throws Exception {
    servers = UpgradeTest.provider("");
    node = RdmaNode.open();
    try (ServerSocketChannel listener = UpgradeTest.listen(servers)) {
      client = JdkProvider.find().openSocketChannel();
      client.connect(listener.getLocalAddress());
      server = listener.accept();
      int port = ((InetSocketAddress) client.getLocalAddress()).getPort();
      int serverPort = ((InetSocketAddress) client.getRemoteAddress()).getPort();
      Handover handover =
          new Handover(
              new Proof(new byte[0], 32), "127.0.0.1 " + port + " 127.0.0.1 " + serverPort);
      ByteBuffer greeting = ByteBuffer.allocate(GREETING);
      client.write(greeting);
      handover.wrote(greeting, 0, GREETING);
      server.write(ByteBuffer.wrap(UpgradeTest.read(server, GREETING)));
      handover.read(ByteBuffer.wrap(UpgradeTest.read(client, GREETING)), 0, GREETING);
      link = node.connect(new InetSocketAddress(DeviceAddress.ipv4(), serverPort), PATIENCE);
      try (MessageBuffer challenge = link.receive(PATIENCE).orElseThrow()) {
        byte[] random = Messages.readChallenge(challenge.byteBuffer());
        link.send(handover.claim(random).encode(), PATIENCE);
      }
      try (MessageBuffer grant = link.receive(PATIENCE).orElseThrow()) {
        handover.granted(Messages.readGrant(grant.byteBuffer()));
      }
      link.send(Messages.confirmation(), PATIENCE);
    }
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    server.close();
    node.close();
    servers.rendezvous().close();
  }

  @Test
  void moreBytesOverTcpThanTheOffsetSaysResetTheConnection() throws Exception {
    var reader = waiting(() -> server.read(ByteBuffer.allocate(100)));
    link.send(Messages.offset(GREETING + 1), PATIENCE);
    // Until the offset has arrived: it wakes no thread.
    Thread.sleep(500);
    client.write(ByteBuffer.allocate(3));
    assertThatThrownBy(reader::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
    assertThatThrownBy(() -> server.read(ByteBuffer.allocate(100)))
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset");
    assertThatThrownBy(() -> server.write(ByteBuffer.allocate(1))).isInstanceOf(IOException.class);
    assertThat(server.isOpen()).isTrue();
  }

  @Test
  void moreThanARecordBehindTheOffsetResetsTheConnection() throws Exception {
    var reader = waiting(() -> server.read(ByteBuffer.allocate(100)));
    link.send(Messages.offset(GREETING), PATIENCE);
    // Until a byte is asked for that wakes the reader.
    Thread.sleep(500);
    ByteBuffer record = new Resume(new byte[32], true, 0, 0, 0).record(0);
    client.write(
        ByteBuffer.allocate(Resume.RECORD_BYTES + 3).put(1, record, 0, Resume.RECORD_BYTES));
    assertThatThrownBy(reader::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
  }

  @Test
  void aMessageLongerThanChannelsSendResetsTheConnection() throws Exception {
    link.send(Messages.offset(GREETING), PATIENCE);
    link.send(ByteBuffer.allocate(RdmaStream.LONG_PIECE), PATIENCE);
    assertThat(UpgradeTest.read(server, RdmaStream.LONG_PIECE)).containsOnly(0);
    var unused = link.sendAsync(ByteBuffer.allocate(RdmaStream.LONG_PIECE + 1));
    assertThat(link.ended())
        .failsWithin(PATIENCE)
        .withThrowableThat()
        .withMessageContaining("it sent a message of 65537 bytes, more than the 65536");
    assertThatThrownBy(() -> server.read(ByteBuffer.allocate(100)))
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset");
  }

  @Test
  void aReaderThatWaitsForTcpIsWokenByAViolationOverRdma() throws Exception {
    var reader = waiting(() -> server.read(ByteBuffer.allocate(100)));
    link.send(ByteBuffer.allocate(5), PATIENCE);
    assertThatThrownBy(reader::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
  }
}
