package org.rdma4j.samples.first;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * Two processes send a message back and forth over a reliable connection (RC), and measure how long
 * that takes. Start the server without an argument, then the client with the server's host.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp samples/target/rdma4j-samples.jar \
 *   org.rdma4j.samples.first.RcPingPong [HOST [DEVICE]]
 * </pre>
 */
public final class RcPingPong {
  private static final int TCP_PORT = 18601;
  private static final int BYTES = 64;
  private static final int ROUND_TRIPS = 1000;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  public static void main(String[] args) throws IOException {
    boolean client = args.length > 0;
    // A device is a network adapter that can do RDMA, or a driver that emulates one, such as
    // soft-RoCE. C: ibv_open_device. The "try" closes everything at its end, in reverse order.
    try (RdmaDevice device = RdmaDevice.open(args.length > 1 ? args[1] : firstDevice());
        // To connect, queue pairs need each other's address, which comes over TCP here.
        Socket peer = client ? new Socket(args[0], TCP_PORT) : acceptClient();
        // A queue pair can use only memory of its own protection domain. C: ibv_alloc_pd.
        ProtectionDomain domain = device.allocateProtectionDomain();
        // The device reads and writes memory by itself, without the CPU. So the memory must stay
        // where it is: it lies outside the Java heap, and its registration pins it. The device may
        // read any region, but writes only to those with LOCAL_WRITE. C: ibv_reg_mr.
        MemoryRegion outgoing = domain.register(BYTES);
        MemoryRegion incoming = domain.register(BYTES, AccessFlag.LOCAL_WRITE);
        // On a completion queue, the device reports the requests that it has finished. One entry
        // is enough if there is only one request at a time. C: ibv_create_cq.
        CompletionQueue sendQueue = device.createCompletionQueue(1);
        CompletionQueue receiveQueue = device.createCompletionQueue(1);
        // A queue pair is one end of a connection: a queue for sends, and one for receives. Over a
        // reliable connection, each message arrives once, and in order. C: ibv_create_qp.
        QueuePair queuePair =
            domain.createQueuePair(QueuePairConfig.reliable(sendQueue, receiveQueue))) {

      // Exchange the addresses: port (LID on InfiniBand, GID on Ethernet), queue pair number, and
      // the number of the first packet.
      QueuePairAddress local = queuePair.address();
      peer.setSoTimeout((int) TIMEOUT.toMillis());
      OutputStream out = peer.getOutputStream();
      out.write(local.toBytes());
      DataInputStream in = new DataInputStream(peer.getInputStream());
      QueuePairAddress remote = QueuePairAddress.of(in.readNBytes(QueuePairAddress.BYTES));
      System.out.println("local:  " + local + "\nremote: " + remote);

      // Connect to the peer's queue pair. C: ibv_modify_qp, to the states INIT, RTR (ready to
      // receive) and RTS (ready to send).
      queuePair.connect(PathConfig.to(remote));

      // A receive says where to write the next message. Post it before the peer may send: a
      // message that finds no receive has to wait. C: ibv_post_recv.
      // All receives of this program are the same, so it builds one, and posts it again and again.
      PreparedReceives receive =
          queuePair.receiveRequests(1).add(0).into(incoming, 0, BYTES).prepare();
      receive.post();
      out.write(1); // Notify the peer that it may send,
      in.readByte(); // and wait until it says the same.

      // A signaled send always raises a completion, others only if they fail.
      PreparedSends send =
          queuePair.sendRequests(1).add(0).send().signaled().from(outgoing, 0, BYTES).prepare();
      Completions sent = sendQueue.completions(1);
      Completions received = receiveQueue.completions(1);
      long start = 0;
      boolean sending = client; // The client begins. Then the two sides take turns.
      for (int turn = 0; turn < 4 * ROUND_TRIPS; turn++) {
        if (turn == 2 * ROUND_TRIPS) { // Measure the second half, when Java has compiled this.
          start = System.nanoTime();
        }
        if (sending) {
          outgoing.byteBuffer().putInt(0, turn);
          send.id(0, turn).post(); // C: ibv_post_send
          awaitCompletion(sent); // Only now may its memory change.
        } else {
          awaitCompletion(received);
          if (incoming.byteBuffer().getInt(0) != turn) {
            throw new IllegalStateException("message " + turn + " is wrong");
          }
          receive.id(0, turn).post(); // for the next message
        }
        sending = !sending;
      }
      double micros = (System.nanoTime() - start) / 1e3 / ROUND_TRIPS;
      System.out.printf("%d round trips of %d bytes, %.1f us each%n", ROUND_TRIPS, BYTES, micros);
      out.write(1); // Wait for the peer again: if this side closed first,
      in.readByte(); // the peer's last send could fail.
    } catch (RdmaException | IllegalArgumentException failure) {
      System.err.println("RcPingPong: " + failure.getMessage()); // what failed, why, and what to do
      System.exit(1);
    }
  }

  private static Socket acceptClient() throws IOException {
    try (ServerSocket listener = new ServerSocket(TCP_PORT)) {
      System.out.println("waiting for a client on TCP port " + TCP_PORT);
      return listener.accept();
    }
  }

  /** Waits until a request has completed. C: ibv_poll_cq, which itself returns immediately. */
  private static void awaitCompletion(Completions completions) {
    long start = System.nanoTime();
    while (completions.poll() == 0) {
      if (System.nanoTime() - start > TIMEOUT.toNanos()) {
        throw new IllegalStateException("no completion within " + TIMEOUT.toSeconds() + " seconds");
      }
      Thread.onSpinWait();
    }
    completions.requireSuccess(0); // A request can also complete because it failed.
  }

  /** Returns the first InfiniBand or RoCE device. C: ibv_get_device_list; in a shell: rdma link. */
  private static String firstDevice() {
    return RdmaDevice.list().stream()
        .filter(device -> device.transport() == TransportType.INFINIBAND) // InfiniBand or RoCE
        .map(DeviceInfo::name)
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("This machine has no RDMA device: run doctor."));
  }
}
