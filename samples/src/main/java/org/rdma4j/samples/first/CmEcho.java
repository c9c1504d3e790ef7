package org.rdma4j.samples.first;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.RdmaDevice;

/**
 * A client sends a message to a server, which sends it back. They find each other by IP address:
 * the connection manager (librdmacm) chooses the device and exchanges the queue pairs' addresses.
 *
 * <p>Start the server without an argument, then the client with the server's IP address. It must be
 * an address of an RDMA device's network interface, so 127.0.0.1 does not work.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp samples/target/rdma4j-samples.jar \
 *   org.rdma4j.samples.first.CmEcho [HOST]
 * </pre>
 */
public final class CmEcho {
  private static final int PORT = 18602; // of the connection manager: TCP has ports of its own
  private static final int BUFFER_BYTES = 1024;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final Duration CLIENT_TIMEOUT = Duration.ofMinutes(5);

  public static void main(String[] args) throws InterruptedException {
    try {
      if (RdmaDevice.list().isEmpty()) {
        throw new IllegalArgumentException("This machine has no RDMA device: run doctor.");
      }
      if (args.length == 0) {
        serve();
      } else {
        connect(args[0]);
      }
    } catch (RdmaException | IllegalArgumentException | TimeoutException failure) {
      System.err.println("CmEcho: " + failure.getMessage()); // what failed, why, and what to do
      System.exit(1);
    }
  }

  private static void serve() throws InterruptedException, TimeoutException {
    // An identifier is to the connection manager what a socket is to TCP. C: rdma_create_id. Its
    // steps report their outcome as events; a SynchronousCmId waits for them. PortSpace.TCP means
    // a reliable connection, not the protocol TCP.
    try (SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP)) {
      listener.id().bind(new InetSocketAddress(PORT)); // C: rdma_bind_addr
      listener.id().listen(1); // C: rdma_listen
      System.out.println("waiting for a client on port " + PORT);
      // A client comes with an identifier of its own. C: rdma_get_request. If none comes in time,
      // the Optional is empty, and the program ends.
      try (SynchronousCmId peer = listener.awaitRequest(CLIENT_TIMEOUT).orElseThrow();
          // A queue pair with a protection domain and completion queues, for one send and one
          // receive at a time. C: rdma_create_qp. For more, peer.id().createQueuePair makes a
          // queue pair that is used as in RcPingPong.
          SimpleMessages queues = SimpleMessages.create(peer.id(), 1, 1)) {
        MemoryRegion memory = queues.registerMessages(BUFFER_BYTES); // C: rdma_reg_msgs

        // The receive is posted before the client can send: before accepting. C: rdma_post_recv.
        queues.postReceive(1, memory.slice(0, BUFFER_BYTES));
        peer.accept(ConnectionConfig.DEFAULT, TIMEOUT); // C: rdma_accept

        // A completion says how long the message is. C: rdma_get_recv_comp.
        long bytes = queues.awaitReceive(TIMEOUT).orElseThrow().bytes();
        System.out.println("received " + bytes + " bytes from " + peer.id().peerAddress());
        send(queues, memory.slice(0, bytes));
        peer.awaitDisconnected(TIMEOUT); // The client disconnects when it has the echo.
      }
    }
  }

  private static void connect(String host) throws InterruptedException, TimeoutException {
    try (SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP)) {
      // Find the device that leads to the server, then the route. C: rdma_resolve_addr,
      // rdma_resolve_route. A queue pair needs a device, so it can be created only now.
      id.resolveAddress(new InetSocketAddress(host, PORT), TIMEOUT);
      id.resolveRoute(TIMEOUT);
      System.out.println("using the device " + id.id().device().info().name());
      try (SimpleMessages queues = SimpleMessages.create(id.id(), 1, 1)) {
        MemoryRegion outgoing = queues.registerMessages(BUFFER_BYTES);
        MemoryRegion incoming = queues.registerMessages(BUFFER_BYTES);
        queues.postReceive(1, incoming.slice(0, BUFFER_BYTES));
        id.connect(ConnectionConfig.DEFAULT, TIMEOUT); // C: rdma_connect

        ByteBuffer text = StandardCharsets.UTF_8.encode("Hello, connection manager");
        int length = text.remaining();
        outgoing.byteBuffer().put(text);
        send(queues, outgoing.slice(0, length));
        long bytes = queues.awaitReceive(TIMEOUT).orElseThrow().bytes();

        ByteBuffer echo = incoming.slice(0, bytes).byteBuffer();
        if (!echo.equals(outgoing.slice(0, length).byteBuffer())) {
          throw new IllegalStateException("the echo differs from what was sent");
        }
        System.out.println("echo: " + StandardCharsets.UTF_8.decode(echo));
        id.disconnect(TIMEOUT); // C: rdma_disconnect
      }
    }
  }

  /** Sends a message, and waits until its memory may change again. */
  private static void send(SimpleMessages queues, MemorySlice message) throws InterruptedException {
    queues.postSend(2, message); // C: rdma_post_send
    if (queues.awaitSend(TIMEOUT).isEmpty()) { // C: rdma_get_send_comp
      throw new IllegalStateException("the send did not complete in time");
    }
  }
}
