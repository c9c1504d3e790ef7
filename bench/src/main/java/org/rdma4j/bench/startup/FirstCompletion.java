package org.rdma4j.bench.startup;

import java.time.Duration;
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
import org.rdma4j.verbs.SendRequests;

/**
 * The minimum that a program does until its first completion, on a real device. {@code dev/bench
 * start} times the whole process.
 */
public final class FirstCompletion {
  private static final int BYTES = 64;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private FirstCompletion() {}

  /**
   * Writes some bytes from one part of a memory region to another, and ends after the completion.
   *
   * @param arguments the device's name, and the index of a GID of its port 1; without arguments,
   *     the program only prints a line, which is the minimum for any program
   */
  public static void main(String[] arguments) {
    if (arguments.length == 0) {
      System.out.println("hello");
      return;
    }
    int gid = Integer.parseInt(arguments[1]);
    try (RdmaDevice device = RdmaDevice.open(arguments[0]);
        CompletionQueue queue = device.createCompletionQueue(CompletionQueueConfig.of(2));
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region =
            domain.register(2 * BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        QueuePair queuePair =
            domain.createQueuePair(QueuePairConfig.reliable(queue).sendDepth(1).receiveDepth(1))) {
      queuePair.connect(
          PathConfig.to(queuePair.address(1, gid)).gidIndex(gid).access(AccessFlag.REMOTE_WRITE));
      SendRequests requests = queuePair.sendRequests(1);
      Completions completions = queue.completions(1);
      requests
          .add(1)
          .write(region.remoteAddress() + BYTES, region.remoteKey())
          .from(region, 0, BYTES)
          .signaled();
      requests.post();
      long begin = System.nanoTime();
      while (completions.poll() == 0) {
        if (System.nanoTime() - begin > PATIENCE.toNanos()) {
          throw new IllegalStateException("there was no completion within " + PATIENCE);
        }
      }
      completions.requireSuccess(0);
      System.out.println("written");
    }
  }
}
