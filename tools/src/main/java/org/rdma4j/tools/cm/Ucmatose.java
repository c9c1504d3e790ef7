package org.rdma4j.tools.cm;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.Version;
import org.rdma4j.verbs.MemoryRegion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Does what ucmatose does, and works with it. */
@Command(
    description = {
      "Makes connections over which first the server and then the client sends messages, as"
          + " ucmatose does.",
      "The peer is this program or ucmatose. Without -s this program is the server, which must be"
          + " started first. Both sides need the same -c, -C, -S and -P."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Ucmatose implements Callable<Integer> {
  @Mixin final ServerOptions server = new ServerOptions("cmatose");

  @Option(
      names = "-P",
      paramLabel = "SPACE",
      description = "the port space: tcp or ib (default: ${DEFAULT-VALUE})")
  Space space = Space.tcp;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the server's port or service (default: ${DEFAULT-VALUE})")
  String port = "7471";

  @Option(names = "-m", description = "move to another event channel before disconnecting")
  boolean migrate;

  @Option(
      names = "-a",
      paramLabel = "TIMEOUT",
      converter = CNumber.class,
      description =
          "how long to wait for acknowledgements: 4.096 us x 2^TIMEOUT, TIMEOUT from 0 to" + " 31")
  @Nullable Integer ackTimeout;

  /** The port spaces for connections. The constants have the names that the command line uses. */
  enum Space {
    tcp,
    ib
  }

  /** The queues and the memory of a connection. */
  private record Node(SimpleMessages queues, MemoryRegion message) {}

  /** What is done with one connection. */
  private interface Step {
    void run(CmId id, Node node) throws InterruptedException;
  }

  /** A wait for a message of one connection. */
  private interface Completion {
    boolean await(Node node, Duration timeout) throws InterruptedException;
  }

  private final NodeOptions options = server.nodes;
  private final Map<CmId, Node> nodes = new LinkedHashMap<>();
  private ByteBuffer connectData = ByteBuffer.allocate(0);
  private final Set<CmId> established = new HashSet<>();
  private final Set<CmId> disconnected = new HashSet<>();
  private boolean exchanging;
  private boolean ending;
  private int lost;

  @Override
  public Integer call() throws InterruptedException, TimeoutException {
    server.check();
    options.common.checkRange("-a", ackTimeout == null ? 0 : ackTimeout, 0, 31);
    return options.run(
        () -> {
          try (EventChannel channel = EventChannel.open();
              EventChannel last = migrate ? EventChannel.open() : channel) {
            if (server.host == null) {
              serve(channel, last);
            } else {
              connect(channel, last, server.host);
            }
          } finally {
            nodes.values().forEach(node -> node.queues.close());
          }
        });
  }

  private void serve(EventChannel channel, EventChannel last) throws InterruptedException {
    CmId listener = server.listen(channel, space(), port);
    awaitEstablished(channel);
    // Until now, another client could replace a lost one.
    lost = 0;
    exchanging = true;
    if (options.messages() > 0) {
      options.out().println("initiating data transfers");
      forEachNode((id, node) -> send(node));
      options.out().println("completing sends");
      awaitSends(channel);
      options.out().println("receiving data transfers");
      awaitReceives(channel);
      options.out().println("data transfers complete");
    }
    if (migrate) {
      move(last);
      listener.migrate(last);
    }
    options.say("disconnecting");
    nodes.keySet().forEach(CmId::disconnect);
    awaitDisconnects(last);
    options.out().println("disconnected");
    if (exchanging && lost > 0) {
      throw new Failure("%d of %d clients were lost".formatted(lost, server.connections));
    }
  }

  private void connect(EventChannel channel, EventChannel last, String host)
      throws InterruptedException {
    connectData = server.resolve(channel, space(), host, port);
    awaitEstablished(channel);
    if (options.messages() > 0) {
      options.out().println("receiving data transfers");
      awaitReceives(channel);
      options.out().println("sending replies");
      forEachNode((id, node) -> send(node));
      options.out().println("data transfers complete");
    }
    if (migrate) {
      move(last);
    }
    awaitDisconnects(last);
  }

  private PortSpace space() {
    return space == Space.ib ? PortSpace.IB : PortSpace.TCP;
  }

  private void move(EventChannel to) {
    options.out().println("migrating to new event channel");
    nodes.keySet().forEach(id -> id.migrate(to));
  }

  private void awaitEstablished(EventChannel channel) throws InterruptedException {
    while (established.size() < server.connections) {
      handle(
          channel
              .awaitEvent(options.common.timeout())
              .orElseThrow(() -> server.unconnected(nodes.size())));
    }
  }

  private void awaitDisconnects(EventChannel channel) throws InterruptedException {
    ending = true;
    while (disconnected.size() < nodes.size()) {
      handle(
          channel
              .awaitEvent(options.common.timeout())
              .orElseThrow(() -> options.common.late("the disconnection")));
    }
  }

  /** Takes the next step for the identifier of an event. */
  private void handle(CmEvent event) {
    CmId id = event.id();
    if (event instanceof CmEvent.AddressResolved) {
      setAckTimeout(id);
      server.resolveRoute(id);
    } else if (event instanceof CmEvent.RouteResolved) {
      prepare(id);
      id.connect(
          ConnectionConfig.DEFAULT
              .remoteReads(1)
              .reads(1)
              .retries(5)
              .rnrRetries(0)
              .privateData(connectData));
    } else if (event instanceof CmEvent.ConnectRequest) {
      server.answer(
          id,
          nodes.size(),
          () -> {
            prepare(id);
            setAckTimeout(id);
            accept(id);
          });
    } else if (event instanceof CmEvent.Established) {
      established.add(id);
    } else if (event instanceof CmEvent.Disconnected) {
      if (ending) {
        id.disconnect();
        disconnected.add(id);
      } else {
        lose(id, new Failure("a peer disconnected early; check its output"));
      }
    } else {
      try {
        options.requireNoFailure(event, server.host == null);
      } catch (RdmaException failed) {
        lose(id, failed);
      }
    }
  }

  /**
   * Accepts a client. If what it asked for cannot be accepted, the others are served all the same.
   */
  private void accept(CmId id) {
    try {
      id.accept(ConnectionConfig.DEFAULT);
    } catch (RdmaException refused) {
      lose(id, refused);
    }
  }

  /**
   * Closes a connection that failed. A server goes on with its other clients. Before the messages
   * are exchanged, it also waits for another client instead. If no connection is left, the program
   * fails with the same failure, as a client does.
   */
  private void lose(CmId id, RuntimeException why) {
    boolean last = exchanging && nodes.size() == 1 && nodes.containsKey(id);
    if (server.host != null || last) {
      throw why;
    }
    options.common.report("a client was lost", why);
    established.remove(id);
    disconnected.remove(id);
    Node node = nodes.remove(id);
    if (node != null) {
      lost++;
      node.queues.close();
    }
    id.close();
  }

  private void setAckTimeout(CmId id) {
    if (ackTimeout != null) {
      id.options().ackTimeout(ackTimeout);
    }
  }

  /** Posts all receives before the peer can send, since it does not retry. */
  private void prepare(CmId id) {
    int depth = Math.max(1, options.messages());
    SimpleMessages queues = SimpleMessages.create(id, depth, depth);
    try {
      MemoryRegion message = queues.registerMessages(Math.max(1, options.size));
      for (int i = 0; i < options.messages(); i++) {
        queues.postReceive(i, message.slice(0, options.size));
      }
      nodes.put(id, new Node(queues, message));
    } catch (RuntimeException failed) {
      queues.close();
      throw failed;
    }
  }

  private void send(Node node) {
    for (int i = 0; i < options.messages(); i++) {
      node.queues.postSend(i, node.message.slice(0, options.size));
    }
  }

  private void awaitSends(EventChannel channel) throws InterruptedException {
    await("the send", (node, timeout) -> node.queues.awaitSend(timeout).isPresent(), channel);
  }

  private void awaitReceives(EventChannel channel) throws InterruptedException {
    await("the receive", (node, timeout) -> node.queues.awaitReceive(timeout).isPresent(), channel);
  }

  /** Waits for the messages of all connections, except for connections that are lost meanwhile. */
  private void await(String what, Completion completion, EventChannel channel)
      throws InterruptedException {
    forEachNode(
        (id, node) -> {
          for (int i = 0; i < options.messages() && nodes.containsKey(id); i++) {
            options.common.await(
                what,
                timeout -> !nodes.containsKey(id) || completion.await(node, timeout),
                NodeOptions.watch(channel, this::handle));
          }
        });
  }

  private void forEachNode(Step step) throws InterruptedException {
    for (Map.Entry<CmId, Node> each : List.copyOf(nodes.entrySet())) {
      if (nodes.containsKey(each.getKey())) {
        try {
          step.run(each.getKey(), each.getValue());
        } catch (Failure | RdmaException failed) {
          lose(each.getKey(), failed);
        }
      }
    }
  }
}
