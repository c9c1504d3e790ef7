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
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * Writes to the memory of a peer, and reads from it. The peer's program takes no part in that: it
 * posts no receive and gets no completion. Its device does all the work.
 *
 * <p>One process plays both sides here. What would belong to the other machine is called "remote".
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp samples/target/rdma4j-samples.jar \
 *   org.rdma4j.samples.first.WriteAndRead [DEVICE]
 * </pre>
 */
public final class WriteAndRead {
  private static final int BYTES = 4096;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  public static void main(String[] args) {
    // Device, domain, memory, completion queue, queue pairs: SendAndReceive explains them.
    try (RdmaDevice device = RdmaDevice.open(args.length > 0 ? args[0] : firstDevice());
        ProtectionDomain domain = device.allocateProtectionDomain();
        // What is read from the peer is written to local memory, so that needs LOCAL_WRITE.
        MemoryRegion local = domain.register(BYTES, AccessFlag.LOCAL_WRITE);
        // A peer may use a region only for what its owner allowed. Remote writes need LOCAL_WRITE
        // too. C: IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ.
        MemoryRegion remote =
            domain.register(
                BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
        CompletionQueue queue = device.createCompletionQueue(4);
        QueuePair localQueuePair = domain.createQueuePair(QueuePairConfig.reliable(queue));
        QueuePair remoteQueuePair = domain.createQueuePair(QueuePairConfig.reliable(queue))) {

      // The remote queue pair must allow it, too. So the owner can choose which peers may do what.
      localQueuePair.connect(PathConfig.to(remoteQueuePair.address()));
      remoteQueuePair.connect(
          PathConfig.to(localQueuePair.address())
              .access(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));

      // To reach remote memory, a program needs its address and its remote key (C: rkey). Between
      // two machines, the owner of the memory sends both in a message.
      long address = remote.remoteAddress();
      int key = remote.remoteKey();
      SendRequests requests = localQueuePair.sendRequests(1);
      Completions completions = queue.completions(1);

      // RDMA write: from local memory to remote memory. C: ibv_post_send with IBV_WR_RDMA_WRITE.
      local.segment().setString(0, "written by RDMA");
      requests.add(1).write(address, key).signaled().from(local, 0, 64).post();
      awaitCompletion(completions);
      // A completed write has arrived. But only the writer knows. To let the peer know, send a
      // message after the write, or use writeWithImmediate, which takes a receive of the peer.
      String written = remote.segment().getString(0);
      System.out.println("remote memory: " + written);

      // RDMA read: from remote memory to local memory, here to offset 1024. An offset is simply
      // added to the remote address. C: ibv_post_send with IBV_WR_RDMA_READ.
      remote.segment().setString(2048, "read by RDMA");
      requests.add(2).read(address + 2048, key).signaled().into(local, 1024, 64).post();
      awaitCompletion(completions);
      String read = local.segment().getString(1024);
      System.out.println("local memory: " + read);

      if (!written.equals("written by RDMA") || !read.equals("read by RDMA")) {
        throw new IllegalStateException("wrong: \"" + written + "\", \"" + read + "\"");
      }
    } catch (RdmaException | IllegalArgumentException failure) {
      System.err.println("WriteAndRead: " + failure.getMessage());
      System.exit(1);
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
    // Fails if the address or the key was wrong, or the peer does not allow the access.
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
