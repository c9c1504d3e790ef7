package org.rdma4j.misuse;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.NodeMemory;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;

/**
 * Calls of connections: calls that get them connected, and calls with arguments that {@link
 * AnyMethod} cannot draw.
 */
final class ConnectionOperations {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private ConnectionOperations() {}

  static void addTo(Operations to) {
    to.rarely(
        4,
        "RdmaNode.open",
        d -> d.add(d.connections.nodes, RdmaNode.open(d.connections.config(d))));
    to.rarely(2, "DrivenNode.open", ConnectionOperations::openDriven);
    to.rarely(
        8,
        "RdmaNode.bind",
        d ->
            d.add(
                d.connections.servers,
                d.any(d.connections.nodes).bind(d.connections.anyPort(), d.few())));
    to.rarely(30, "RdmaNode.connect", ConnectionOperations::connect);
    to.rarely(8, "RdmaServer.onConnect", ConnectionOperations::decide);
    to.rarely(
        5,
        "RdmaNode.pollUntil",
        d -> d.any(d.connections.nodes).pollUntil(d.random::nextBoolean, () -> {}));
    to.rarely(1, "RdmaNode.close", d -> d.any(d.connections.nodes).close());
    to.rarely(1, "DrivenNode.close", d -> d.any(d.connections.drivenNodes).close());
    to.rarely(1, "RdmaServer.close", d -> d.any(d.connections.servers).close());
    to.rarely(3, "RdmaConnection.close", d -> d.any(d.connections.connections).close());
    to.rarely(20, "RdmaNode.register", ConnectionOperations::registerWithNode);
    to.add(
        20,
        "RdmaConnection.register",
        d ->
            d.add(
                d.objects.regions,
                d.any(d.connections.connections).register(d.regionBytes(), d.access())));
    to.add(20, "RdmaConnection.expose", ConnectionOperations::expose);
    to.add(2, "NodeMemory.close", d -> d.any(d.connections.nodeMemories).close());
    to.add(2, "ExposedMemory.close", d -> d.any(d.connections.exposed).close());
    messages(to);
    copies(to);
    streams(to);
  }

  private static void messages(Operations to) {
    to.add(
        20,
        "RdmaConnection.buffer(Duration)",
        d -> d.add(d.connections.messages, d.any(d.connections.connections).buffer(d.patience())));
    to.add(
        5,
        "RdmaConnection.buffer()",
        d ->
            d.add(
                d.connections.messages,
                Impatience.limit(2, () -> d.any(d.connections.connections).buffer())));
    to.add(
        20,
        "RdmaConnection.buffer(long, Duration)",
        d ->
            d.add(
                d.connections.messages,
                d.any(d.connections.connections).buffer(d.random.nextInt(1 << 18), d.patience())));
    to.add(
        20,
        "RdmaConnection.allocateBuffer",
        d ->
            d.add(
                d.connections.messages,
                d.any(d.connections.connections)
                    .allocateBuffer(
                        d.oneIn(8) ? d.number() & Long.MIN_VALUE : d.random.nextInt(1 << 18))));
    to.add(10, "MessageBuffer.close", d -> d.any(d.connections.messages).close());
    to.add(
        20,
        "RdmaConnection.sendAsync",
        d ->
            d.connections.keep(
                d, d.any(d.connections.connections).sendAsync(ByteBuffer.allocate(d.few()))));
    to.add(
        10,
        "RdmaConnection.trySend",
        d -> d.any(d.connections.connections).trySend(ByteBuffer.allocate(d.few())));
    to.add(
        20,
        "RdmaConnection.receive",
        d -> d.connections.keep(d, d.any(d.connections.connections).receive(d.patience())));
  }

  private static void copies(Operations to) {
    to.add(
        20,
        "RdmaConnection.receive(ByteBuffer, Duration)",
        d -> d.any(d.connections.connections).receive(d.connections.bytes(d), d.patience()));
    to.add(
        5,
        "RdmaConnection.receive(ByteBuffer)",
        d ->
            Impatience.limit(
                2, () -> d.any(d.connections.connections).receive(d.connections.bytes(d))));
  }

  private static void streams(Operations to) {
    to.add(
        5,
        "ByteChannel.read",
        d -> Impatience.limit(2, () -> d.any(d.connections.channels).read(d.connections.bytes(d))));
    to.add(
        5,
        "ByteChannel.write",
        d ->
            Impatience.limit(2, () -> d.any(d.connections.channels).write(d.connections.bytes(d))));
    to.add(2, "ByteChannel.isOpen", d -> d.any(d.connections.channels).isOpen());
    to.rarely(2, "ByteChannel.close", d -> d.any(d.connections.channels).close());
    to.add(
        5, "InputStream.read", d -> Impatience.limit(2, () -> d.any(d.connections.inputs).read()));
    to.add(
        5,
        "InputStream.read some",
        d ->
            Impatience.limit(
                2, () -> d.any(d.connections.inputs).read(new byte[d.few()], 0, d.mostly(1))));
    to.add(2, "InputStream.close", d -> d.any(d.connections.inputs).close());
    to.add(
        5,
        "OutputStream.write",
        d ->
            Impatience.limit(
                2,
                () -> {
                  d.any(d.connections.outputs).write(new byte[d.few()], 0, d.mostly(1));
                  return true;
                }));
    to.rarely(2, "OutputStream.close", d -> d.any(d.connections.outputs).close());
  }

  /** Exposes memory of the connection's own domain half of the time, because others are refused. */
  private static void expose(Draw d) throws Exception {
    RdmaConnection connection = d.any(d.connections.connections);
    MemorySlice memory;
    if (d.yes()) {
      MemoryRegion region = connection.register(64, AccessFlag.LOCAL_WRITE);
      d.add(d.objects.regions, region);
      memory = region.slice(0, 64);
    } else {
      memory = d.any(d.objects.slices);
    }
    d.add(d.connections.exposed, connection.expose(memory, d.remoteAccess()));
  }

  /** Opens a node that a thread drives, whatever others do with it, until it is closed. */
  private static void openDriven(Draw d) throws Exception {
    DrivenNode driven = DrivenNode.open(d.connections.config(d));
    d.add(d.connections.drivenNodes, driven);
    d.add(d.connections.nodes, driven.node());
    Thread.ofPlatform().daemon().name("drives").start(() -> drive(driven));
  }

  private static void drive(DrivenNode driven) {
    try {
      while (true) {
        if (driven.poll() == 0 && driven.awaitReady(PATIENCE)) {
          driven.drive(PATIENCE);
        }
      }
    } catch (IllegalStateException | InterruptedException closed) {
      // Only user code interrupts this thread of the test, in which case others drive.
    }
  }

  /** Registers memory with any node, for a connection that can be of another one. */
  private static void registerWithNode(Draw d) throws Exception {
    NodeMemory memory = d.any(d.connections.nodes).register(d.regionBytes(), d.access());
    d.add(d.connections.nodeMemories, memory);
    d.add(d.objects.regions, memory.region(d.any(d.connections.connections)));
  }

  /** Connects to a server that no other code knows, and that chooses its peers. */
  private static void decide(Draw d) throws Exception {
    try (RdmaServer server = d.any(d.connections.nodes).bind(d.connections.anyPort())) {
      server.onConnect(d.connections.connectHandler(d));
      d.add(
          d.connections.connections,
          d.any(d.connections.nodes).connect(server.localAddress(), Duration.ofSeconds(1)));
    }
  }

  /** Connects one node to another, or to itself. */
  private static void connect(Draw d) throws Exception {
    RdmaServer server = d.any(d.connections.servers);
    RdmaNode node = d.any(d.connections.nodes);
    FutureTask<RdmaConnection> accepted = new FutureTask<>(() -> server.accept(PATIENCE));
    Thread.ofVirtual().start(accepted);
    d.add(d.connections.connections, node.connect(server.localAddress(), PATIENCE));
    try {
      d.add(d.connections.connections, accepted.get());
    } catch (ExecutionException ended) {
      throw ended.getCause() instanceof Exception cause ? cause : ended;
    }
  }
}
