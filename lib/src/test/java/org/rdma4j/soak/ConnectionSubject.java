package org.rdma4j.soak;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePairConfig;

/** Connections, and peers whose private data or whose part of the handshake is wrong. */
final class ConnectionSubject implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int BACKLOG = 1024;
  private static final int FIRST_WORD = 0x52344a43;
  private static final int MAX_PRIVATE_DATA = 56;

  // In an emulated guest, the handshakes of a crowd take longer than the default.
  private static final NodeConfig CONFIG =
      NodeConfig.DEFAULT.handshakeTimeout(Duration.ofMinutes(1));

  private final RdmaNode node = RdmaNode.open(CONFIG);

  /** Both ends of a thousand connections need more receives than one node has. */
  private final RdmaNode clients = RdmaNode.open(CONFIG);

  private final RdmaServer server =
      node.bind(new InetSocketAddress(DeviceAddress.ipv4(), 0), BACKLOG);

  /** Returns the address of the server. */
  InetSocketAddress address() {
    return server.localAddress();
  }

  /** Waits for a peer of the server, in any number of threads; null if none came for a while. */
  @Nullable Link accept() throws Exception {
    try {
      return new ConnectionLink(server.accept(Duration.ofSeconds(5)));
    } catch (TimeoutException noClient) {
      return null;
    }
  }

  /** Connects to a server, as a program would. */
  Link connect(InetSocketAddress to) throws Exception {
    return new ConnectionLink(clients.connect(to, PATIENCE));
  }

  private record ConnectionLink(RdmaConnection connection) implements Link {
    @Override
    public void send(byte[] message) throws Exception {
      connection.send(ByteBuffer.wrap(message), PATIENCE);
    }

    @Override
    public byte @Nullable [] receive() throws Exception {
      try {
        Optional<MessageBuffer> received = connection.receive(PATIENCE);
        if (received.isEmpty()) {
          return null;
        }
        try (MessageBuffer buffer = received.get()) {
          byte[] message = new byte[buffer.byteBuffer().remaining()];
          buffer.byteBuffer().get(message);
          return message;
        }
      } catch (TimeoutException silent) {
        return null;
      }
    }

    @Override
    public void close() {
      connection.close();
    }
  }

  /** Is a peer that lies, in a way that it chooses. Returns the name of that way. */
  String lie(Random random) throws Exception {
    Duration patience = Duration.ofMillis(random.nextBoolean() ? 1 : 2000);
    request(random, patience);
    return patience.toMillis() == 1 ? "lied, gave up immediately" : "lied, random private data";
  }

  /** Is a peer whose first words are random. */
  void fuzz(Random random) throws Exception {
    request(random, PATIENCE);
  }

  private void request(Random random, Duration patience) throws Exception {
    ByteBuffer data = ByteBuffer.allocate(random.nextInt(MAX_PRIVATE_DATA + 1));
    random.nextBytes(data.array());
    if (data.remaining() > Integer.BYTES && random.nextBoolean()) {
      data.putInt(0, FIRST_WORD);
    }
    try (SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP)) {
      id.resolveAddress(address(), PATIENCE);
      id.resolveRoute(PATIENCE);
      try (ProtectionDomain domain = id.id().device().allocateProtectionDomain();
          CompletionQueue queue = id.id().device().createCompletionQueue(2)) {
        id.id()
            .createQueuePair(domain, QueuePairConfig.reliable(queue).sendDepth(1).receiveDepth(1));
        id.connect(ConnectionConfig.DEFAULT.privateData(data), patience);
      }
    }
  }

  /**
   * Returns the kinds of objects of which some stay for later peers, as {@link Held} has them: the
   * buffers of the nodes stay registered until these are closed.
   */
  Set<String> kept() {
    return Set.of("mr");
  }

  @Override
  public void close() {
    clients.close();
    node.close();
  }
}
