package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.testing.SimulatedAdapter;

/** Channels while no memory can be registered, which the simulated adapter can bring about. */
@Tag("mlx5")
@Timeout(100)
final class MissingMemoryTest {
  /** Takes the buffers that are registered and not in use, except for those of the protocol. */
  private static List<MessageBuffer> takeAll(SocketChannel channel) {
    Upgrade upgrade = Objects.requireNonNull(((StreamChannel) channel).upgrade().get());
    List<MessageBuffer> taken = new ArrayList<>();
    try {
      while (true) {
        taken.add(upgrade.stream().connection().allocateBuffer(1));
      }
    } catch (RdmaException noMemory) {
      return taken;
    }
  }

  private RdmaSelectorProvider provider;
  private ServerSocketChannel listener;
  private SocketChannel client;
  private SocketChannel server;

  @BeforeEach
  void upgrade() throws Exception {
    provider = UpgradeTest.provider("");
    listener = UpgradeTest.listen(provider);
    client = provider.openSocketChannel();
    client.connect(listener.getLocalAddress());
    server = listener.accept();
    UpgradeTest.greet(client, server);
    UpgradeTest.await(() -> UpgradeTest.isMoved(client) && UpgradeTest.isMoved(server));
  }

  @AfterEach
  void close() throws Exception {
    SimulatedAdapter.pinLimit(-1);
    SimulatedAdapter.breakDown(false);
    try {
      client.close();
      server.close();
      listener.close();
    } finally {
      provider.rendezvous().close();
    }
  }

  @Test
  void aWriteForWhichThereIsNoMemoryHasNoRoomAndGoesOnLater() throws Exception {
    client.configureBlocking(false);
    ByteBuffer bytes = ByteBuffer.allocate(16 << 10);
    int count = 0;
    SimulatedAdapter.pinLimit(SimulatedAdapter.pinned());
    List<MessageBuffer> rest = takeAll(client);
    int written = client.write(bytes.clear());
    while (written > 0) {
      count += written;
      written = client.write(bytes.clear());
    }
    assertThat(count).as("bytes written before memory was missing").isLessThan(1 << 20);
    client.configureBlocking(true);
    SimulatedAdapter.pinLimit(-1);
    assertThat(client.write(bytes.clear())).isEqualTo(bytes.capacity());
    count += bytes.capacity();
    assertThat(UpgradeTest.read(server, count)).hasSize(count);
    rest.forEach(MessageBuffer::close);
  }

  /** The device refuses memory for another reason, before the connection notices the failure. */
  @Test
  void aWriteAtTheFailureOfTheDeviceIsNoFailureOfTheChannel() throws Exception {
    SimulatedAdapter.pinLimit(SimulatedAdapter.pinned());
    List<MessageBuffer> rest = takeAll(client);
    SimulatedAdapter.pinLimit(-1);
    SimulatedAdapter.breakDown(true);
    ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
    var writer = ChannelPair.waiting(() -> client.write(bytes));
    assertThat(UpgradeTest.read(server, bytes.capacity())).hasSize(bytes.capacity());
    assertThat(writer.get()).isEqualTo(bytes.capacity());
    rest.forEach(MessageBuffer::close);
  }
}
