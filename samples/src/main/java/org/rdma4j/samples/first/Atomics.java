package org.rdma4j.samples.first;

import java.lang.foreign.ValueLayout;
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
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.attribute.AtomicCapability;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * Changes a number in the memory of a peer. Each request reads and writes the number in one step,
 * so no change is lost even if many machines do this at the same time. This is what shared counters
 * and locks are made of.
 *
 * <p>One process plays both sides here. What would belong to the other machine is called "remote".
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp samples/target/rdma4j-samples.jar \
 *   org.rdma4j.samples.first.Atomics [DEVICE]
 * </pre>
 */
public final class Atomics {
  private static final int BYTES = Long.BYTES; // RDMA atomics always change 8 bytes.
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  public static void main(String[] args) {
    // Device, domain, memory, completion queue, queue pairs: SendAndReceive explains them.
    try (RdmaDevice device = RdmaDevice.open(args.length > 0 ? args[0] : firstDevice());
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion result = domain.register(BYTES, AccessFlag.LOCAL_WRITE);
        // The number that is changed. Its address must be divisible by 8, as a region's always is.
        MemoryRegion remote =
            domain.register(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
        CompletionQueue queue = device.createCompletionQueue(4);
        QueuePair localQueuePair = domain.createQueuePair(QueuePairConfig.reliable(queue));
        QueuePair remoteQueuePair = domain.createQueuePair(QueuePairConfig.reliable(queue))) {

      // Not every device can do this. Most devices are atomic only among their own requests: the
      // program that owns the number should not change it with the CPU at the same time.
      if (device.attributes().atomicCapability() == AtomicCapability.NONE) {
        throw new IllegalArgumentException(device.info().name() + " has no atomics");
      }

      // The remote queue pair must allow atomics, as the remote memory does.
      localQueuePair.connect(PathConfig.to(remoteQueuePair.address()));
      remoteQueuePair.connect(
          PathConfig.to(localQueuePair.address()).access(AccessFlag.REMOTE_ATOMIC));

      long address = remote.remoteAddress();
      int key = remote.remoteKey();
      SendRequests requests = localQueuePair.sendRequests(1);
      Completions completions = queue.completions(1);
      remote.segment().set(ValueLayout.JAVA_LONG, 0, 40);

      // Fetch-and-add: adds to the remote number, and brings back what it was before.
      // C: ibv_post_send with IBV_WR_ATOMIC_FETCH_AND_ADD.
      requests.add(1).fetchAndAdd(address, key, 2).signaled().into(result, 0, BYTES).post();
      awaitCompletion(completions);
      show("fetch-and-add of 2", result, 40, remote, 42);

      // Compare-and-swap: replaces the remote number only if it is the expected one, and brings
      // back what it was before. C: ibv_post_send with IBV_WR_ATOMIC_CMP_AND_SWP.
      requests.add(2).compareAndSwap(address, key, 42, 100).signaled();
      requests.into(result, 0, BYTES).post();
      awaitCompletion(completions);
      show("compare-and-swap of 42 to 100", result, 42, remote, 100);

      // The number is no longer 42. That is not an error: the request succeeds, but what it brings
      // back is not the expected number, so nothing was replaced.
      requests.add(3).compareAndSwap(address, key, 42, 7).signaled();
      requests.into(result, 0, BYTES).post();
      awaitCompletion(completions);
      show("compare-and-swap of 42 to 7", result, 100, remote, 100);
    } catch (RdmaException | IllegalArgumentException failure) {
      System.err.println("Atomics: " + failure.getMessage());
      System.exit(1);
    }
  }

  /** Prints the number before and after, and checks both. */
  private static void show(
      String operation, MemoryRegion result, long before, MemoryRegion remote, long after) {
    long was = result.segment().get(ValueLayout.JAVA_LONG, 0);
    long is = remote.segment().get(ValueLayout.JAVA_LONG, 0);
    System.out.println(operation + ": was " + was + ", is " + is);
    if (was != before || is != after) {
      throw new IllegalStateException("expected " + before + " and " + after);
    }
  }

  private static void awaitCompletion(Completions completions) {
    long start = System.nanoTime();
    while (completions.poll() == 0) {
      if (System.nanoTime() - start > TIMEOUT.toNanos()) {
        throw new IllegalStateException("no completion within " + TIMEOUT.toSeconds() + " seconds");
      }
      Thread.onSpinWait();
    }
    completions.requireSuccess(0);
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
