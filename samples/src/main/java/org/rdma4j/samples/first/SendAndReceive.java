package org.rdma4j.samples.first;

import java.time.Duration;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * Sends one message from a queue pair to another. Both are in this process, to keep it simple.
 *
 * <p>Every program with queue pairs takes the same steps: open a device, register memory, create
 * queue pairs, connect them, post work requests, wait for their completions, close everything.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp samples/target/rdma4j-samples.jar \
 *   org.rdma4j.samples.first.SendAndReceive [DEVICE]
 * </pre>
 */
public final class SendAndReceive {
  private static final int BUFFER_BYTES = 64;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final long SEND_ID = 1;
  private static final long RECEIVE_ID = 2;

  public static void main(String[] args) {
    // A device is a network adapter that can do RDMA, or a driver that emulates one, such as
    // soft-RoCE. C: ibv_open_device. At its end, the "try" closes everything in reverse order.
    try (RdmaDevice device = RdmaDevice.open(args.length > 0 ? args[0] : firstDevice());
        // A protection domain is a fence: a queue pair can use only memory of its own domain.
        // C: ibv_alloc_pd.
        ProtectionDomain domain = device.allocateProtectionDomain();
        // The device reads and writes memory by itself, without the CPU. So the memory must stay
        // where it is: it lies outside the Java heap, and its registration pins it. The device may
        // read any region, but writes only to those with LOCAL_WRITE. C: ibv_reg_mr.
        MemoryRegion outgoing = domain.register(BUFFER_BYTES);
        MemoryRegion incoming = domain.register(BUFFER_BYTES, AccessFlag.LOCAL_WRITE);
        // On a completion queue, the device reports the requests that it has finished. This one
        // has 4 entries: for one send and one receive of each queue pair. C: ibv_create_cq.
        CompletionQueue queue = device.createCompletionQueue(4);
        // A queue pair is one end of a connection: a queue for sends, and one for receives. Over a
        // reliable connection (RC), each message arrives once, and in order. C: ibv_create_qp.
        QueuePair sender = domain.createQueuePair(QueuePairConfig.reliable(queue));
        QueuePair receiver = domain.createQueuePair(QueuePairConfig.reliable(queue))) {

      // Each queue pair gets the address of the other one: a GID of its port, and its number. GIDs
      // are the addresses of a port: on Ethernet (RoCE), one for each IP address and each version
      // of RoCE. Unless a program names one, it gets that of version 2 with IPv4, which works in
      // most networks; Port.preferredGid() says which. address() means port 1.
      // C: ibv_modify_qp, to the states INIT, RTR (ready to receive) and RTS (ready to send).
      sender.connect(PathConfig.to(receiver.address()));
      receiver.connect(PathConfig.to(sender.address()));

      // A receive says where to write the next message. Post it first: a message that finds no
      // receive has to wait. C: ibv_post_recv.
      receiver.receiveRequests(1).add(RECEIVE_ID).into(incoming, 0, BUFFER_BYTES).post();

      // A send says where the message is. It raises a completion because it is signaled; a request
      // that is not signaled raises a completion only if it fails. C: ibv_post_send.
      String text = "Hello, RDMA";
      outgoing.segment().setString(0, text); // ends with a zero byte, as in C
      int length = text.length() + 1;
      sender.sendRequests(1).add(SEND_ID).send().signaled().from(outgoing, 0, length).post();

      // Both requests complete, in either order. A completion carries the id of its request.
      Completions completions = queue.completions(1);
      for (int i = 0; i < 2; i++) {
        awaitCompletion(completions);
        if (completions.workRequestId(0) == SEND_ID) {
          System.out.println("the send is complete"); // Its memory may be changed again.
        } else {
          System.out.println("the receive is complete: " + completions.byteLength(0) + " bytes");
        }
      }
      String arrived = incoming.segment().getString(0);
      System.out.println("received: " + arrived);
      if (!arrived.equals(text)) {
        throw new IllegalStateException("sent: " + text + ", but received: " + arrived);
      }
    } catch (RdmaException | IllegalArgumentException failure) {
      // The message says what failed, why, and what to do about it.
      System.err.println("SendAndReceive: " + failure.getMessage());
      System.exit(1);
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

  /**
   * Returns the name of the first device that can be used here. The queue pairs of iWARP devices
   * can only be connected by the connection manager. C: ibv_get_device_list; in a shell: rdma link.
   */
  private static String firstDevice() {
    return RdmaDevice.list().stream()
        .filter(device -> device.transport() == TransportType.INFINIBAND) // InfiniBand or RoCE
        .map(DeviceInfo::name)
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "This machine has no RDMA device of InfiniBand or RoCE: run doctor."));
  }
}
