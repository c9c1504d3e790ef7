package org.rdma4j.samples;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.EventChannel;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What udaddy does, with which it can play. */
@Command(
    description = {
      "Looks up datagram queue pairs by the address of their server, to each of which the client sends"
          + " messages and is answered with as many, as udaddy does and with it or itself as the"
          + " peer. Without -s it is the server, which is to be started first; both sides take the"
          + " same -c, -C and -S. Datagrams may be lost: then it gives up after --timeout."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class Udaddy implements Callable<Integer> {
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
  public Integer call() throws InterruptedException {
    server.check();
    return nodes.play(
        () -> {
          try (EventChannel channel = EventChannel.open()) {
            if (server.host == null) {
              serve(channel);
            } else {
              play(channel, server.host);
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

  private void play(EventChannel channel, String host) throws InterruptedException {
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
    while (connected < nodes.connections) {
      step(
          channel
              .awaitEvent(nodes.common.timeout())
              .orElseThrow(() -> server.unconnected(connected)));
    }
  }

  private void await(String what, EventChannel channel) throws InterruptedException {
    for (Datagrams each : datagrams.values()) {
      each.await(what, NodeOptions.watch(channel, this::step));
    }
  }

  /** Steps the identifier of an event on. */
  private void step(CmEvent event) {
    CmId id = event.id();
    if (event instanceof CmEvent.AddressResolved) {
      server.resolveRoute(id);
    } else if (event instanceof CmEvent.RouteResolved) {
      prepare(id);
      id.connect(ConnectionParameters.DEFAULT.privateData(connectData));
    } else if (event instanceof CmEvent.ConnectRequest) {
      server.answer(
          id,
          connected,
          () -> {
            prepare(id);
            id.accept(ConnectionParameters.DEFAULT);
            connected++;
          });
    } else if (event instanceof CmEvent.Established established) {
      sendTo(id, established);
      connected++;
    } else {
      nodes.requireNoFailure(event);
    }
  }

  /** The receives are there before the peer knows where to send to. */
  private void prepare(CmId id) {
    Datagrams made = new Datagrams(nodes, id);
    datagrams.put(id, made);
    made.postReceives();
  }

  private void sendTo(CmId id, CmEvent.Established established) {
    Objects.requireNonNull(datagrams.get(id))
        .sendTo(Objects.requireNonNull(established.destination()));
  }
}
