package org.rdma4j.samples;

import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.AddressFamily;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.ConnectionRejectedException;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.MessageQueues;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.verbs.MemoryRegion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What ucmatose does, with which it can play. */
@Command(
    name = "ucmatose",
    description = {
      "Makes connections, over each of which the server sends messages and then the client, as ucmatose"
          + " does and with it or itself as the peer. Without -s it is the server, which is to be"
          + " started first; both sides take the same -c, -C, -S and -P."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class Ucmatose implements Callable<Integer> {
  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CmOptions common;

  @Option(
      names = "-s",
      paramLabel = "SERVER",
      description = "the server's name or address (default: be the server)")
  @Nullable String server;

  @Option(
      names = "-b",
      paramLabel = "ADDRESS",
      description = "the own name or address (default: any that will do)")
  @Nullable String source;

  @Option(
      names = "-f",
      paramLabel = "FORMAT",
      description = "what addresses are: name, ip, ipv6 or gid (default: ${DEFAULT-VALUE})")
  Format format = Format.name;

  @Option(
      names = "-P",
      paramLabel = "SPACE",
      description = "the port space: tcp or ib (default: ${DEFAULT-VALUE})")
  Space space = Space.tcp;

  @Option(
      names = "-c",
      paramLabel = "COUNT",
      description = "how many connections there are (default: ${DEFAULT-VALUE})")
  int connections = 1;

  @Option(
      names = "-C",
      paramLabel = "COUNT",
      description = "how many messages each side sends over each (default: ${DEFAULT-VALUE})")
  int messages = 10;

  @Option(
      names = "-S",
      paramLabel = "BYTES",
      description = "the length of a message, 0 for no messages (default: ${DEFAULT-VALUE})")
  int size = 100;

  @Option(
      names = "-t",
      paramLabel = "TOS",
      description = "the type of service, 0 to 255 (default: the system's; client)")
  @Nullable Integer typeOfService;

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
      description = "how long to wait for acknowledgements, 4.096 us x 2^n, 0 to 31")
  @Nullable Integer ackTimeout;

  /** How addresses are written; the names are what the command line has. */
  enum Format {
    name,
    ip,
    ipv6,
    gid
  }

  /** The port spaces for connections; the names are what the command line has. */
  enum Space {
    tcp,
    ib
  }

  /** A connection that has its queues. */
  private record Node(MessageQueues queues, MemoryRegion message) {}

  /** How soon an event is noticed, while nothing completes. */
  private static final Duration LOOK_AROUND = Duration.ofMillis(20);

  private final Map<CmId, Node> nodes = new LinkedHashMap<>();
  private ConnectionParameters parameters = ConnectionParameters.DEFAULT;
  private int established;
  private boolean ending;
  private int disconnected;

  @Override
  public Integer call() throws InterruptedException {
    common.check();
    common.checkRange("-c", connections, 1, 1 << 16);
    common.checkRange("-C", messages, 0, 1 << 16);
    common.checkRange("-S", size, 0, 1 << 30);
    common.checkRange("-t", typeOfService == null ? 0 : typeOfService, 0, 255);
    common.checkRange("-a", ackTimeout == null ? 0 : ackTimeout, 0, 31);
    messages = size == 0 ? 0 : messages;
    int status = 1;
    try (EventChannel channel = EventChannel.open();
        EventChannel last = migrate ? EventChannel.open() : channel) {
      if (server == null) {
        serve(channel, last);
      } else {
        play(channel, last, server);
      }
      status = 0;
    } finally {
      nodes.values().forEach(node -> node.queues.close());
      out().println("test complete");
      out().println("return status " + status);
    }
    return status;
  }

  private void serve(EventChannel channel, EventChannel last) throws InterruptedException {
    out().println("cmatose: starting server");
    AddressInfo address = resolve(source, port, hints().passive(true));
    CmId listener = channel.createId(address.space());
    if (address.source() != null) {
      listener.bind(address.source());
    }
    listener.listen(0);
    awaitEstablished(channel);
    if (messages > 0) {
      out().println("initiating data transfers");
      nodes.values().forEach(this::send);
      out().println("completing sends");
      awaitSends(channel);
      out().println("receiving data transfers");
      awaitReceives(channel);
      out().println("data transfers complete");
    }
    if (migrate) {
      move(last);
      listener.migrate(last);
    }
    out().println("cmatose: disconnecting");
    nodes.keySet().forEach(CmId::disconnect);
    awaitDisconnects(last);
    out().println("disconnected");
  }

  private void play(EventChannel channel, EventChannel last, String host)
      throws InterruptedException {
    out().println("cmatose: starting client");
    AddressHints hints = hints();
    if (source != null) {
      hints = hints.source(resolve(source, null, hints.passive(true)).source());
    }
    AddressInfo address = resolve(host, port, hints);
    if (address.destination() == null) {
      throw new Failure(host + " has no address");
    }
    parameters =
        ConnectionParameters.DEFAULT
            .responderResources(1)
            .initiatorDepth(1)
            .retryCount(5)
            .rnrRetryCount(0)
            .privateData(address.connectData());
    out().println("cmatose: connecting");
    for (int i = 0; i < connections; i++) {
      channel
          .createId(address.space())
          .resolveAddress(address.source(), address.destination(), common.timeout());
    }
    awaitEstablished(channel);
    if (messages > 0) {
      out().println("receiving data transfers");
      awaitReceives(channel);
      out().println("sending replies");
      nodes.values().forEach(this::send);
      out().println("data transfers complete");
    }
    if (migrate) {
      move(last);
    }
    awaitDisconnects(last);
  }

  private AddressHints hints() {
    return AddressHints.DEFAULT
        .space(space == Space.ib ? PortSpace.IB : PortSpace.TCP)
        .numericHost(format != Format.name)
        .family(format == Format.gid ? AddressFamily.INFINIBAND : null);
  }

  private AddressInfo resolve(@Nullable String node, @Nullable String service, AddressHints hints)
      throws InterruptedException {
    return AddressInfo.resolve(node, service, hints, common.timeout()).get(0);
  }

  private void move(EventChannel to) {
    out().println("migrating to new event channel");
    nodes.keySet().forEach(id -> id.migrate(to));
  }

  private void awaitEstablished(EventChannel channel) throws InterruptedException {
    while (established < connections) {
      step(channel.awaitEvent(common.timeout()).orElseThrow(this::unconnected));
    }
  }

  private Failure unconnected() {
    return server == null && nodes.size() < connections
        ? common.noClient()
        : common.late("the connection");
  }

  private void awaitDisconnects(EventChannel channel) throws InterruptedException {
    ending = true;
    while (disconnected < connections) {
      step(
          channel.awaitEvent(common.timeout()).orElseThrow(() -> common.late("the disconnection")));
    }
  }

  /** Steps the identifier of an event on. */
  private void step(CmEvent event) {
    CmId id = event.id();
    if (event instanceof CmEvent.AddressResolved) {
      if (typeOfService != null) {
        id.typeOfService(typeOfService);
      }
      limitWait(id);
      id.resolveRoute(common.timeout());
    } else if (event instanceof CmEvent.RouteResolved) {
      prepare(id);
      id.connect(parameters);
    } else if (event instanceof CmEvent.ConnectRequest) {
      answer(id);
    } else if (event instanceof CmEvent.Established) {
      established++;
    } else if (event instanceof CmEvent.Disconnected) {
      if (!ending) {
        throw new Failure("a peer disconnected before the end: what does it print?");
      }
      id.disconnect();
      disconnected++;
    } else if (event instanceof CmEvent.Rejected rejected) {
      out().println("cmatose: event: RDMA_CM_EVENT_REJECTED, error: " + rejected.reason());
      throw new ConnectionRejectedException("rdma_connect", rejected);
    } else if (event instanceof CmEvent.Failure failure) {
      throw new Failure("no connection came about: " + failure);
    }
  }

  private void limitWait(CmId id) {
    if (ackTimeout != null) {
      id.ackTimeout(ackTimeout);
    }
  }

  /** A client too many is sent away, and the others are served. */
  private void answer(CmId id) {
    if (nodes.size() == connections) {
      reject(id);
      id.close();
      return;
    }
    try {
      prepare(id);
      limitWait(id);
      id.accept(parameters);
    } catch (RuntimeException failed) {
      try {
        reject(id);
      } catch (RdmaException unanswered) {
        failed.addSuppressed(unanswered);
      }
      throw failed;
    }
  }

  private void reject(CmId id) {
    out().println("cmatose: failing connection request");
    id.reject(ByteBuffer.allocate(0));
  }

  /** All receives are posted before the peer can send: it would not try again. */
  private void prepare(CmId id) {
    int depth = Math.max(1, messages);
    MessageQueues queues = MessageQueues.create(id, depth, depth);
    try {
      MemoryRegion message = queues.registerMessages(Math.max(1, size));
      for (int i = 0; i < messages; i++) {
        queues.postReceive(i, message.slice(0, size));
      }
      nodes.put(id, new Node(queues, message));
    } catch (RuntimeException failed) {
      queues.close();
      throw failed;
    }
  }

  private void send(Node node) {
    for (int i = 0; i < messages; i++) {
      node.queues.postSend(i, node.message.slice(0, size));
    }
  }

  private void awaitSends(EventChannel channel) throws InterruptedException {
    for (Node node : nodes.values()) {
      common.await("send", messages, timeout -> watch(channel, node.queues::awaitSend, timeout));
    }
  }

  private void awaitReceives(EventChannel channel) throws InterruptedException {
    for (Node node : nodes.values()) {
      common.await(
          "receive", messages, timeout -> watch(channel, node.queues::awaitReceive, timeout));
    }
  }

  /** Waits, and meanwhile takes what happens to the connections. */
  private Optional<MessageQueues.Completed> watch(
      EventChannel channel, CmOptions.Wait wait, Duration timeout) throws InterruptedException {
    long began = System.nanoTime();
    Optional<MessageQueues.Completed> done = wait.await(LOOK_AROUND);
    while (done.isEmpty() && System.nanoTime() - began < timeout.toNanos()) {
      channel.pollEvent().ifPresent(this::step);
      done = wait.await(LOOK_AROUND);
    }
    return done;
  }

  private PrintWriter out() {
    return common.spec.commandLine().getOut();
  }
}
