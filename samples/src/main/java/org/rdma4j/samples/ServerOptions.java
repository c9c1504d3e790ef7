package org.rdma4j.samples;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.AddressFamily;
import org.rdma4j.cm.AddressHints;
import org.rdma4j.cm.AddressInfo;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.EventChannel;
import org.rdma4j.cm.PortSpace;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How ucmatose and udaddy find their peers. */
final class ServerOptions {
  @Option(
      names = "-s",
      paramLabel = "SERVER",
      description = "the server's name or address (default: be the server)")
  @Nullable String host;

  @Option(
      names = "-f",
      paramLabel = "FORMAT",
      description = "what addresses are: name, ip, ipv6 or gid (default: ${DEFAULT-VALUE})")
  Format format = Format.name;

  @Option(
      names = "-t",
      paramLabel = "TOS",
      converter = CNumber.class,
      description = "the type of service, 0 to 255 (default: the system's; client)")
  @Nullable Integer typeOfService;

  @Mixin final NodeOptions nodes;

  /**
   * The options at their defaults.
   *
   * @param program what C's calls itself in what it prints
   */
  ServerOptions(String program) {
    nodes = new NodeOptions(program);
  }

  /** How addresses are written; the names are what the command line has. */
  enum Format {
    name,
    ip,
    ipv6,
    gid
  }

  void check() {
    nodes.check();
    nodes.common.checkRange("-t", typeOfService == null ? 0 : typeOfService, 0, 255);
  }

  /** An identifier that listens. */
  CmId listen(EventChannel channel, PortSpace space, String port) throws InterruptedException {
    nodes.say("starting server");
    AddressInfo address = nodes.common.local(nodes.source, port, hints(space));
    CmId listener = channel.createId(address.space());
    if (address.source() != null) {
      listener.bind(address.source());
    }
    listener.listen(0);
    return listener;
  }

  /**
   * Begins to resolve the server's address, for each connection.
   *
   * @return what has to precede the private data of a request to connect
   */
  ByteBuffer resolve(EventChannel channel, PortSpace space, String server, String port)
      throws InterruptedException {
    nodes.say("starting client");
    AddressInfo address = nodes.common.peer(server, port, hints(space), nodes.source);
    SocketAddress destination = CmOptions.destination(address);
    nodes.say("connecting");
    for (int i = 0; i < nodes.connections; i++) {
      channel
          .createId(address.space())
          .resolveAddress(address.source(), destination, nodes.common.timeout());
    }
    return address.connectData();
  }

  private AddressHints hints(PortSpace space) {
    return AddressHints.DEFAULT
        .space(space)
        .numericHost(format != Format.name)
        .family(format == Format.gid ? AddressFamily.INFINIBAND : null);
  }

  /** What follows where an address was resolved. */
  void resolveRoute(CmId id) {
    if (typeOfService != null) {
      id.options().typeOfService(typeOfService);
    }
    id.resolveRoute(nodes.common.timeout());
  }

  /** Lets a client in; one too many is sent away, and the others are served. */
  void answer(CmId id, int clients, Runnable accept) {
    if (clients == nodes.connections) {
      reject(id);
      return;
    }
    try {
      accept.run();
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
    try (id) {
      nodes.say("failing connection request");
      id.reject(ByteBuffer.allocate(0));
    }
  }

  /** That not all connections came about in time. */
  Failure unconnected(int clients) {
    return host == null && clients < nodes.connections
        ? nodes.common.noClient()
        : nodes.common.late("the connection");
  }
}
