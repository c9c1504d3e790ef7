package org.rdma4j.tools.cm;

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
import org.rdma4j.tools.command.Failure;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options by which ucmatose and udaddy find their peers, and the steps they share. */
final class ServerOptions {
  @Option(
      names = "-s",
      paramLabel = "SERVER",
      description = "the server's name or address; without it, this program is the server")
  @Nullable String host;

  @Option(
      names = "-f",
      paramLabel = "FORMAT",
      description = "the format of addresses: name, ip, ipv6 or gid (default: ${DEFAULT-VALUE})")
  Format format = Format.name;

  @Option(
      names = "-t",
      paramLabel = "TOS",
      converter = CNumber.class,
      description = "the type of service, 0 to 255 (default: the system's; client only)")
  @Nullable Integer typeOfService;

  @Option(
      names = "-c",
      paramLabel = "COUNT",
      description =
          "the number of queue pairs on each side, each with one of the peer's as its partner"
              + " (default: ${DEFAULT-VALUE})")
  int connections = 1;

  @Mixin final NodeOptions nodes;

  /**
   * Creates the options with their defaults.
   *
   * @param program the name that the program in C prints
   */
  ServerOptions(String program) {
    nodes = new NodeOptions(program);
  }

  /** The formats of addresses. The constants have the names that the command line uses. */
  enum Format {
    name,
    ip,
    ipv6,
    gid
  }

  void check() {
    nodes.check();
    nodes.common.checkRange("-c", connections, 1, 1 << 16);
    nodes.common.checkRange("-t", typeOfService == null ? 0 : typeOfService, 0, 255);
  }

  /** Creates an identifier that listens. */
  CmId listen(EventChannel channel, PortSpace space, String port) throws InterruptedException {
    nodes.say("starting server");
    AddressInfo address =
        AddressLookup.local(nodes.source, port, hints(space), nodes.common.timeout());
    CmId listener = channel.createId(address.space());
    if (address.source() != null) {
      listener.bind(address.source());
    }
    listener.listen(0);
    return listener;
  }

  /**
   * Starts to resolve the server's address for each connection.
   *
   * @return the bytes that must come first in the private data of each request to connect
   */
  ByteBuffer resolve(EventChannel channel, PortSpace space, String server, String port)
      throws InterruptedException {
    nodes.say("starting client");
    AddressInfo address =
        AddressLookup.server(server, port, hints(space), nodes.source, nodes.common.timeout());
    SocketAddress destination = AddressLookup.destination(address);
    nodes.say("connecting");
    for (int i = 0; i < connections; i++) {
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

  /** Starts to resolve the route, once the address is resolved. */
  void resolveRoute(CmId id) {
    if (typeOfService != null) {
      id.options().typeOfService(typeOfService);
    }
    id.resolveRoute(nodes.common.timeout());
  }

  /** Accepts a client, or rejects it if there are enough. The others are served all the same. */
  void answer(CmId id, int clients, Runnable accept) {
    if (clients == connections) {
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

  /** Returns a failure for connections that were not made in time. */
  Failure unconnected(int clients) {
    return host == null && clients < connections
        ? nodes.common.noClient()
        : nodes.common.late("the connection");
  }
}
