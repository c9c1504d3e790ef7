package org.rdma4j.tools.cm;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Does what udaddy does, and works with it. */
@Command(
    description = {
      "Sends datagrams to a server that it finds by its address, and receives as many answers, as"
          + " udaddy does.",
      "The peer is this program or udaddy. Without -s this program is the server, which must be"
          + " started first. Both sides need the same -c, -C and -S. Lost datagrams are not"
          + " sent again: if one is lost, the program fails after its --timeout."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class Udaddy implements Callable<Integer> {
  private static final String PORT = "7174";

  @Mixin final ServerOptions server = new ServerOptions("udaddy");

  @Option(
      names = {"-P", "-p"},
      paramLabel = "SPACE",
      converter = DatagramSpace.Converter.class,
      description = "the port space: udp or ipoib, or its number (default: udp)")
  DatagramSpace space = DatagramSpace.UDP;

  private final NodeOptions nodes = server.nodes;
  private final Map<CmId, Datagrams> datagrams = new LinkedHashMap<>();
  private ByteBuffer connectData = ByteBuffer.allocate(0);
  private int connected;

  @Override
  public Integer call() throws InterruptedException, TimeoutException {
    server.check();
    return nodes.run(
        () -> {
          try (EventChannel channel = EventChannel.open()) {
            if (server.host == null) {
              serve(channel);
            } else {
              connect(channel, server.host);
            }
          } finally {
            datagrams.values().forEach(Datagrams::close);
          }
        });
  }

  private void serve(EventChannel channel) throws InterruptedException {
    server.listen(channel, space.space(), PORT);
    awaitConnected(channel);
    if (nodes.messages() > 0) {
      nodes.out().println("receiving data transfers");
      await("the receive", channel);
      nodes.out().println("sending replies");
      datagrams.values().forEach(each -> each.send(true));
      await("the send", channel);
      nodes.out().println("data transfers complete");
    }
  }

  private void connect(EventChannel channel, String host) throws InterruptedException {
    connectData = server.resolve(channel, space.space(), host, PORT);
    awaitConnected(channel);
    if (nodes.messages() > 0) {
      nodes.out().println("initiating data transfers");
      datagrams.values().forEach(each -> each.send(false));
      nodes.out().println("receiving data transfers");
      await("the receive", channel);
      nodes.out().println("data transfers complete");
    }
  }

  private void awaitConnected(EventChannel channel) throws InterruptedException {
    while (connected < server.connections) {
      handle(
          channel
              .awaitEvent(nodes.common.timeout())
              .orElseThrow(() -> server.unconnected(connected)));
    }
  }

  private void await(String what, EventChannel channel) throws InterruptedException {
    for (Datagrams each : datagrams.values()) {
      each.await(what, NodeOptions.watch(channel, this::handle));
    }
  }

  /** Takes the next step for the identifier of an event. */
  private void handle(CmEvent event) {
    CmId id = event.id();
    if (event instanceof CmEvent.AddressResolved) {
      server.resolveRoute(id);
    } else if (event instanceof CmEvent.RouteResolved) {
      prepare(id);
      id.connect(ConnectionConfig.DEFAULT.privateData(connectData));
    } else if (event instanceof CmEvent.ConnectRequest) {
      server.answer(
          id,
          connected,
          () -> {
            prepare(id);
            id.accept(ConnectionConfig.DEFAULT);
            connected++;
          });
    } else if (event instanceof CmEvent.Established established) {
      sendTo(id, established);
      connected++;
    } else {
      nodes.requireNoFailure(event, server.host == null);
    }
  }

  /** Posts the receives before the peer learns where to send. */
  private void prepare(CmId id) {
    Datagrams created = new Datagrams(nodes, id);
    datagrams.put(id, created);
    created.postReceives();
  }

  private void sendTo(CmId id, CmEvent.Established established) {
    Objects.requireNonNull(datagrams.get(id))
        .sendTo(Objects.requireNonNull(established.destination()));
  }
}
