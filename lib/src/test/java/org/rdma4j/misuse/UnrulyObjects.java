package org.rdma4j.misuse;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.IncomingRequest;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;

/** The nodes, servers, connections and messages that all user code has, in any state. */
final class UnrulyObjects {
  static final Duration CLOSE_TIMEOUT = Duration.ofMillis(200);
  static final int KEPT_POLLERS = 2;

  private static final Duration DRIVEN = Duration.ofSeconds(1);

  /** Where users give an executor to a node. */
  static final String EXECUTOR = "NodeConfig.handlers(Executor)";

  private static final NodeConfig CONFIG =
      NodeConfig.DEFAULT
          .pollers(1)
          .maxBuffers(4096)
          .maxMessageBytes(4 << 20)
          .closeTimeout(CLOSE_TIMEOUT)
          .keepAlive(Duration.ofSeconds(1));

  /** A node, and memory that its peers may use. */
  static final class Member implements AutoCloseable {
    final RdmaNode node;
    private MemoryRegion memory;

    Member(RdmaNode node) {
      this.node = node;
    }

    /** Returns the memory, which is registered with the first connection of the node. */
    synchronized MemoryRegion memory(RdmaConnection connection, AccessFlag... access) {
      if (memory == null) {
        memory = connection.register(4096, access);
      }
      return memory;
    }

    synchronized MemoryRegion memory() {
      if (memory == null) {
        throw new Pool.NothingYet();
      }
      return memory;
    }

    @Override
    public void close() {
      node.close();
    }
  }

  /** A server of a node. */
  record Server(Member member, RdmaServer server) implements AutoCloseable {
    @Override
    public void close() {
      server.close();
    }
  }

  /** A connection of one node to another. */
  record Held(Member member, Member peer, RdmaConnection connection) implements AutoCloseable {
    @Override
    public void close() {
      connection.close();
    }
  }

  /** A request, which may have been answered. */
  record Asked(IncomingRequest request) implements AutoCloseable {
    @Override
    public void close() {
      request.message().close();
    }
  }

  /** It stays open until the end. */
  final Member kept = new Member(RdmaNode.open(CONFIG.pollers(KEPT_POLLERS)));

  final Pool<Member> members = new Pool<>(4);

  /** The nodes that threads drive, also closed ones. */
  private final List<DrivenNode> drivenNodes = new CopyOnWriteArrayList<>();

  final Pool<Server> servers = new Pool<>(5);
  final Pool<Held> connections = new Pool<>(16);
  final Pool<MessageBuffer> messages = new Pool<>(24);
  final Pool<Asked> requests = new Pool<>(12);

  /** All nodes that were ever opened. */
  final List<RdmaNode> everOpened = new CopyOnWriteArrayList<>(List.of(kept.node));

  private final InetAddress host = DeviceAddress.ipv4();

  InetSocketAddress anyPort() {
    return new InetSocketAddress(host, 0);
  }

  Member open(Random random, UnrulyCode code) {
    Executor handlers =
        random.nextInt(3) == 0 ? code.executor(EXECUTOR) : NodeConfig.WHERE_IT_HAPPENS;
    NodeConfig config =
        CONFIG
            .pollers(1 + random.nextInt(2))
            .handlers(handlers)
            .receives(random.nextBoolean() ? 4 : 64)
            .sends(random.nextBoolean() ? 4 : 32)
            .bufferBytes(random.nextBoolean() ? 256 : 4096);
    RdmaNode node =
        switch (random.nextInt(8)) {
          case 0, 1 -> RdmaNode.shared();
          case 2, 3 -> openDriven(config);
          default -> RdmaNode.open(config);
        };
    everOpened.add(node);
    return new Member(node);
  }

  /** Opens a node that a thread drives until it is closed, also if user code interrupts it. */
  private RdmaNode openDriven(NodeConfig config) {
    DrivenNode driven = DrivenNode.open(config);
    drivenNodes.add(driven);
    Thread.ofPlatform().daemon().name("drives").start(() -> drive(driven));
    return driven.node();
  }

  private static void drive(DrivenNode driven) {
    while (true) {
      try {
        if (driven.poll() == 0) {
          driven.awaitReady(DRIVEN);
        }
      } catch (InterruptedException byUserCode) {
        // It goes on for all others.
      } catch (IllegalStateException closed) {
        return;
      }
    }
  }

  /** Returns one of the last nodes that a thread drives. */
  DrivenNode drivenNode(Random random) {
    int count = drivenNodes.size();
    if (count == 0) {
      throw new Pool.NothingYet();
    }
    return drivenNodes.get(count - 1 - random.nextInt(Math.min(3, count)));
  }

  /** Returns the node that stays open, or another. */
  Member member(Random random) {
    return random.nextInt(3) == 0 ? kept : members.any(random);
  }

  /** Returns a connection, mostly an open one. */
  Held connection(Random random) {
    Held held = connections.any(random);
    for (int i = 0; i < 4 && !held.connection().isOpen() && random.nextInt(16) > 0; i++) {
      held = connections.any(random);
    }
    return held;
  }

  void closeAll() throws Exception {
    messages.closeAll();
    requests.closeAll();
    connections.closeAll();
    servers.closeAll();
    members.closeAll();
    kept.close();
    RdmaNode.shared().close();
  }
}
