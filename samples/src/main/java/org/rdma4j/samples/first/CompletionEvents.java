package org.rdma4j.samples.first;

import java.time.Duration;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * Sleeps until a message arrives. Polling a completion queue, as the other programs do, is fastest,
 * but it keeps a processor busy. A thread that waits for an event does not.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp samples/target/rdma4j-samples.jar \
 *   org.rdma4j.samples.first.CompletionEvents [DEVICE]
 * </pre>
 */
public final class CompletionEvents {
  private static final int MESSAGES = 3;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  public static void main(String[] args) throws InterruptedException {
    // Device, domain, completion queue, queue pairs: SendAndReceive explains them.
    try (RdmaDevice device = RdmaDevice.open(args.length > 0 ? args[0] : firstDevice());
        ProtectionDomain domain = device.allocateProtectionDomain();
        // A completion channel brings the events of completion queues. An event carries no
        // completion, it only says that the queue should be polled. C: ibv_create_comp_channel.
        CompletionChannel channel = device.createCompletionChannel();
        CompletionQueue queue = device.createCompletionQueue(2 * (MESSAGES + 1), channel);
        QueuePair sender =
            domain.createQueuePair(QueuePairConfig.reliable(queue).sendDepth(MESSAGES));
        QueuePair receiver =
            domain.createQueuePair(QueuePairConfig.reliable(queue).receiveDepth(MESSAGES))) {

      sender.connect(PathConfig.to(receiver.address()));
      receiver.connect(PathConfig.to(sender.address()));

      // The messages have no bytes, so the receives need no memory. One call posts them all.
      ReceiveRequests receives = receiver.receiveRequests(MESSAGES);
      for (int i = 0; i < MESSAGES; i++) {
        receives.add(i);
      }
      receives.post();
      Thread thread = new Thread(() -> sendSlowly(sender));
      thread.start();

      Completions completions = queue.completions(MESSAGES);
      int next = 0;
      while (next < MESSAGES) {
        long start = System.nanoTime();
        int polled = awaitCompletions(channel, queue, completions);
        long millis = (System.nanoTime() - start) / 1_000_000;
        for (int i = 0; i < polled; i++) {
          completions.requireSuccess(i);
          int number = completions.immediate(i);
          System.out.println("message " + number + " after " + millis + " ms of sleep");
          if (number != next) {
            throw new IllegalStateException("expected message " + next);
          }
          next++;
        }
      }
      thread.join();
    } catch (RdmaException | IllegalArgumentException failure) {
      System.err.println("CompletionEvents: " + failure.getMessage());
      System.exit(1);
    }
  }

  /**
   * Sleeps until there are completions, and returns how many it has polled. That may be 0, if the
   * event was for a completion that step 2 of an earlier call had polled already.
   *
   * <p>These are the steps that a C program takes. In Java, Completions.await does all of them.
   */
  private static int awaitCompletions(
      CompletionChannel channel, CompletionQueue queue, Completions completions)
      throws InterruptedException {
    // 1. Arm the queue: the next completion raises one event. C: ibv_req_notify_cq. (With true,
    // only messages that the peer sent as solicited would raise an event.)
    queue.requestNotification(false);
    // 2. Poll. A completion that came before the queue was armed raises no event. Without this
    // step, the program would sleep although there is something to do. C: ibv_poll_cq.
    int polled = completions.poll();
    if (polled > 0) {
      return polled;
    }
    // 3. Sleep until the event arrives. C: ibv_get_cq_event, ibv_ack_cq_events.
    if (channel.awaitEvent(TIMEOUT).isEmpty()) {
      throw new IllegalStateException("no event within " + TIMEOUT.toSeconds() + " seconds");
    }
    // 4. Poll what raised the event. The queue raises no other event until it is armed again.
    return completions.poll();
  }

  /** Sends messages that have no bytes, but an immediate value: 32 bits for the completion. */
  private static void sendSlowly(QueuePair sender) {
    PreparedSends send = sender.sendRequests(1).add(0).sendWithImmediate(0).prepare();
    try {
      for (int i = 0; i < MESSAGES; i++) {
        Thread.sleep(300);
        send.immediate(0, i).post(); // not signaled, so it raises no completion
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

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
