package org.rdma4j.samples;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.verbs.MemoryRegion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What ucmatose does, with which it can play. */
@Command(
    description = {
      "Makes connections, over each of which the server sends messages and then the client, as"
          + " ucmatose does and with it or itself as the peer. Without -s it is the server, which"
          + " is to be started first; both sides take the same -c, -C, -S and -P."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class Ucmatose implements Callable<Integer> {
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

  @Option(names = "-m", description = "move to another event channel before the end")
  boolean migrate;

  @Option(
      names = "-a",
      paramLabel = "TIMEOUT",
      converter = CNumber.class,
      description = "how long to wait for acknowledgements, 4.096 us x 2^n, 0 to 31")
  @Nullable Integer ackTimeout;

  /** The port spaces for connections; the names are what the command line has. */
  enum Space {
    tcp,
    ib
  }

  /** A connection that has its queues. */
  private record Node(SimpleMessages queues, MemoryRegion message) {}

  private final NodeOptions options = server.nodes;
  private final Map<CmId, Node> nodes = new LinkedHashMap<>();
  private ByteBuffer connectData = ByteBuffer.allocate(0);
  private int established;
  private boolean ending;
  private int disconnected;

  @Override
  public Integer call() throws InterruptedException {
    server.check();
    options.common.checkRange("-a", ackTimeout == null ? 0 : ackTimeout, 0, 31);
    return options.play(
        () -> {
          try (EventChannel channel = EventChannel.open();
              EventChannel last = migrate ? EventChannel.open() : channel) {
            if (server.host == null) {
              serve(channel, last);
            } else {
              play(channel, last, server.host);
            }
          } finally {
            nodes.values().forEach(node -> node.queues.close());
          }
        });
  }

  private void serve(EventChannel channel, EventChannel last) throws InterruptedException {
    CmId listener = server.listen(channel, space(), port);
    awaitEstablished(channel);
    if (options.messages() > 0) {
      options.out().println("initiating data transfers");
      nodes.values().forEach(this::send);
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
  }

  private void play(EventChannel channel, EventChannel last, String host)
      throws InterruptedException {
    connectData = server.resolve(channel, space(), host, port);
    awaitEstablished(channel);
    if (options.messages() > 0) {
      options.out().println("receiving data transfers");
      awaitReceives(channel);
      options.out().println("sending replies");
      nodes.values().forEach(this::send);
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
    while (established < options.connections) {
      step(
          channel
              .awaitEvent(options.common.timeout())
              .orElseThrow(() -> server.unconnected(nodes.size())));
    }
  }

  private void awaitDisconnects(EventChannel channel) throws InterruptedException {
    ending = true;
    while (disconnected < options.connections) {
      step(
          channel
              .awaitEvent(options.common.timeout())
              .orElseThrow(() -> options.common.late("the disconnection")));
    }
  }

  /** Steps the identifier of an event on. */
  private void step(CmEvent event) {
    CmId id = event.id();
    if (event instanceof CmEvent.AddressResolved) {
      limitWait(id);
      server.resolveRoute(id);
    } else if (event instanceof CmEvent.RouteResolved) {
      prepare(id);
      id.connect(
          ConnectionParameters.DEFAULT
              .responderResources(1)
              .initiatorDepth(1)
              .retryCount(5)
              .rnrRetryCount(0)
              .privateData(connectData));
    } else if (event instanceof CmEvent.ConnectRequest) {
      server.answer(
          id,
          nodes.size(),
          () -> {
            prepare(id);
            limitWait(id);
            id.accept(ConnectionParameters.DEFAULT);
          });
    } else if (event instanceof CmEvent.Established) {
      established++;
    } else if (event instanceof CmEvent.Disconnected) {
      if (!ending) {
        throw new Failure("a peer disconnected before the end: what does it print?");
      }
      id.disconnect();
      disconnected++;
    } else {
      options.requireNoFailure(event);
    }
  }

  private void limitWait(CmId id) {
    if (ackTimeout != null) {
      id.options().ackTimeout(ackTimeout);
    }
  }

  /** All receives are posted before the peer can send: it would not try again. */
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
    for (Node node : nodes.values()) {
      await("the send", timeout -> node.queues.awaitSend(timeout).isPresent(), channel);
    }
  }

  private void awaitReceives(EventChannel channel) throws InterruptedException {
    for (Node node : nodes.values()) {
      await("the receive", timeout -> node.queues.awaitReceive(timeout).isPresent(), channel);
    }
  }

  private void await(String what, CmOptions.Wait wanted, EventChannel channel)
      throws InterruptedException {
    for (int i = 0; i < options.messages(); i++) {
      options.common.await(what, wanted, NodeOptions.watch(channel, this::step));
    }
  }
}
