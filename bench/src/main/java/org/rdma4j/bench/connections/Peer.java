package org.rdma4j.bench.connections;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.ExposedMemory;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.nio.RdmaSelectorProvider;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/**
 * The other side of all measurements, a process of its own. The first message of a connection says
 * what this side does with it:
 *
 * <ul>
 *   <li>{@code sink}: a handler closes the messages;
 *   <li>{@code echo}: a thread receives the messages and sends them back;
 *   <li>{@code answer}: a handler sends the messages back;
 *   <li>{@code memory N}: this side exposes N bytes, and sends their name;
 *   <li>{@code end}: the process ends.
 * </ul>
 *
 * It answers requests with the milliseconds that the compilers of its JVM have worked.
 */
public final class Peer {
  private static final OperationHandler IGNORE = (token, failure) -> {};

  /** As many clients as {@link Connections} opens at once. */
  private static final int BACKLOG = 1000;

  private Peer() {}

  /**
   * Serves until its standard input ends.
   *
   * @param arguments the address and the port to listen on
   */
  public static void main(String[] arguments) throws IOException {
    InetSocketAddress local = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
    // A thousand clients at once take their time in an emulated guest.
    NodeConfig config =
        Connections.LARGE.handshakeTimeout(Duration.ofMinutes(1)).maxConnectionsPerAddress(0);
    try (RdmaNode node = RdmaNode.open(config);
        RdmaServer server = node.bind(local, BACKLOG)) {
      Thread.ofPlatform().daemon().start(() -> acceptAll(server));
      RdmaSelectorProvider rdma = new RdmaSelectorProvider();
      ChannelPeer.start(rdma, channelPort(local));
      NettyEcho.serveChannels(rdma, new InetSocketAddress(nettyChannelPort(local)));
      NettyEcho.serveTransport(netty(local));
      ChannelPeer.start(SelectorProvider.provider(), tcpChannelPort(local));
      System.out.println("listening");
      while (System.in.read() >= 0) {
        // Standard input only says how long this process is needed.
      }
    }
  }

  /** Returns the port of the channels that go over to RDMA. */
  static int channelPort(InetSocketAddress other) {
    return other.getPort() + 20;
  }

  /** Returns the port of the channels that stay with TCP. */
  static int tcpChannelPort(InetSocketAddress other) {
    return other.getPort() + 30;
  }

  /** Returns the port of Netty over channels that go over to RDMA. */
  static int nettyChannelPort(InetSocketAddress other) {
    return other.getPort() + 40;
  }

  /** Returns the address of the server of Netty's transport for RDMA. */
  static InetSocketAddress netty(InetSocketAddress other) {
    return new InetSocketAddress(other.getAddress(), other.getPort() + 50);
  }

  private static void acceptAll(RdmaServer server) {
    try {
      while (true) {
        RdmaConnection connection = server.accept();
        Thread.ofVirtual().start(() -> serve(connection));
      }
    } catch (InterruptedException | IllegalStateException closed) {
      // The process ends.
    }
  }

  private static void serve(RdmaConnection connection) {
    try (MessageBuffer first = connection.receive().orElse(null)) {
      if (first == null) {
        connection.close();
        return;
      }
      connection.onRequest(request -> request.answer(Compilers.write()));
      String[] words = StandardCharsets.UTF_8.decode(first.byteBuffer()).toString().split(" ", -1);
      switch (words[0]) {
        case "sink" -> connection.onMessage(MessageBuffer::close);
        case "echo" -> Thread.ofPlatform().daemon().start(() -> echo(connection));
        case "answer" -> connection.onMessage(message -> connection.sendAsync(message, 0, IGNORE));
        case "memory" -> expose(connection, Long.parseLong(words[1]));
        case "end" -> Runtime.getRuntime().exit(0);
        default -> throw new IllegalArgumentException("no measurement is called " + words[0]);
      }
      var unused = connection.ended().whenComplete((nothing, failure) -> connection.close());
    } catch (RdmaException ended) {
      // The client has closed its node, which ends connections without a goodbye.
      connection.close();
    } catch (InterruptedException never) {
      throw new IllegalStateException(never);
    }
  }

  private static void echo(RdmaConnection connection) {
    try {
      Optional<MessageBuffer> message = connection.receive();
      while (message.isPresent()) {
        connection.send(message.get());
        message = connection.receive();
      }
    } catch (InterruptedException | IllegalStateException closed) {
      // The client is done.
    }
  }

  private static void expose(RdmaConnection connection, long bytes) throws InterruptedException {
    MemoryRegion region =
        connection.register(
            bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    ExposedMemory exposed =
        connection.expose(region.slice(0, bytes), AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    ByteBuffer name = ByteBuffer.allocate(RemoteMemory.BYTES);
    exposed.name().write(name);
    connection.send(name.flip());
    var unused = connection.ended().whenComplete((nothing, failure) -> region.close());
  }
}
