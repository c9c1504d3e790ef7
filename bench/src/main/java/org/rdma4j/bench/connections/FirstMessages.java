package org.rdma4j.bench.connections;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/**
 * How long a new JVM takes until it sends half as fast as it will: from the first message on, over
 * a connection or with the verbs themselves. Prints milliseconds.
 */
public final class FirstMessages {
  private static final int BYTES = 64;
  private static final int CHAIN = 16;
  private static final int PART = 32 * CHAIN;
  private static final int PARTS = 200;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private FirstMessages() {}

  /**
   * Measures.
   *
   * @param arguments {@code connection} or {@code verbs}, the device, the index of its GID, and its
   *     address
   */
  public static void main(String[] arguments) throws Exception {
    List<Long> ends =
        arguments[0].equals("connection")
            ? connection(arguments[3])
            : verbs(arguments[1], Integer.parseInt(arguments[2]));
    System.out.println(millisUntilHalf(ends));
  }

  /** Sends some messages. */
  private interface Part {
    void send() throws Exception;
  }

  /** Returns the begin, and the end of each part. */
  private static List<Long> run(Part part) throws Exception {
    List<Long> ends = new ArrayList<>(List.of(System.nanoTime()));
    for (int i = 0; i < PARTS; i++) {
      part.send();
      ends.add(System.nanoTime());
    }
    return ends;
  }

  private static double millisUntilHalf(List<Long> ends) {
    long warm = (ends.get(PARTS) - ends.get(PARTS - PARTS / 4)) / (PARTS / 4);
    int part = 1;
    while (ends.get(part) - ends.get(part - 1) > 2 * warm) {
      part++;
    }
    return (ends.get(part - 1) - ends.getFirst()) / 1e6;
  }

  private static List<Long> connection(String address) throws Exception {
    try (RdmaNode node = RdmaNode.open();
        RdmaServer listener = node.bind(new InetSocketAddress(address, 0));
        RdmaConnection client = node.connect(listener.localAddress(), PATIENCE);
        RdmaConnection server = listener.accept(PATIENCE)) {
      server.onMessage(MessageBuffer::close);
      ByteBuffer message = ByteBuffer.allocate(BYTES);
      return run(
          () -> {
            for (int i = 0; i < PART; i++) {
              client.send(message.clear());
            }
          });
    }
  }

  private static List<Long> verbs(String name, int gid) throws Exception {
    try (RdmaDevice device = RdmaDevice.open(name);
        CompletionQueue queue = device.createCompletionQueue(CompletionQueueConfig.of(4 * CHAIN));
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region = domain.register(BYTES * (CHAIN + 1), AccessFlag.LOCAL_WRITE);
        QueuePair sender = domain.createQueuePair(config(queue));
        QueuePair receiver = domain.createQueuePair(config(queue))) {
      sender.connect(PathConfig.to(receiver.address(1, gid)).gidIndex(gid));
      receiver.connect(PathConfig.to(sender.address(1, gid)).gidIndex(gid));
      ReceiveRequests receives = receiver.receiveRequests(CHAIN);
      SendRequests sends = sender.sendRequests(CHAIN);
      Completions completions = queue.completions(2 * CHAIN);
      return run(
          () -> {
            for (int i = 0; i < PART; i += CHAIN) {
              exchange(receives, sends, completions, region);
            }
          });
    }
  }

  private static QueuePairConfig config(CompletionQueue queue) {
    return QueuePairConfig.reliable(queue).sendDepth(CHAIN).receiveDepth(CHAIN);
  }

  private static void exchange(
      ReceiveRequests receives, SendRequests sends, Completions completions, MemoryRegion region) {
    for (int i = 0; i < CHAIN; i++) {
      receives.add(i).into(region, (long) BYTES * (i + 1), BYTES);
    }
    receives.post();
    for (int i = 0; i < CHAIN; i++) {
      sends.add(i).send().from(region, 0, BYTES);
    }
    sends.signaled();
    sends.post();
    int missing = CHAIN + 1;
    while (missing > 0) {
      int polled = completions.poll();
      for (int i = 0; i < polled; i++) {
        completions.requireSuccess(i);
      }
      missing -= polled;
    }
  }
}
