package org.rdma4j.bench.standin;

import org.rdma4j.memory.SlabPool;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionField;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendOperation;
import org.rdma4j.verbs.attribute.Mtu;

/**
 * A queue pair on a stand-in device, ready to send, together with its completion queue and a memory
 * region.
 */
public final class StandIn implements AutoCloseable {
  /** The device that completes each request immediately. */
  public static final String FAST = "standin0";

  /** The device whose posts and polls take a while. */
  public static final String SLOW = "standin1";

  /** The usual number of requests that can be outstanding. */
  public static final int DEPTH = 64;

  /** The length of a message in bytes. */
  public static final int MESSAGE = 64;

  static {
    StandInLibraries.load();
  }

  private final RdmaDevice device;
  private final ProtectionDomain domain;
  private final MemoryRegion region;
  private final CompletionQueue completionQueue;
  private final QueuePair queuePair;

  private StandIn(
      RdmaDevice device,
      ProtectionDomain domain,
      MemoryRegion region,
      CompletionQueue completionQueue,
      QueuePair queuePair) {
    this.device = device;
    this.domain = domain;
    this.region = region;
    this.completionQueue = completionQueue;
    this.queuePair = queuePair;
  }

  /**
   * Opens a device for {@code ibv_post_send} and {@code ibv_poll_cq}.
   *
   * @param name {@link #FAST} or {@link #SLOW}
   * @param style how posts and polls call C
   * @return a queue pair with the usual depth, and a region for one message
   */
  public static StandIn open(String name, CallStyle style) {
    return open(name, style, Queues.PLAIN);
  }

  /**
   * Opens a device.
   *
   * @param name {@link #FAST} or {@link #SLOW}
   * @param style how posts and polls call C
   * @param queues the functions that post and poll
   * @return a queue pair with the usual depth, and a region for one message
   */
  public static StandIn open(String name, CallStyle style, Queues queues) {
    return open(name, style, queues, DEPTH, MESSAGE);
  }

  /**
   * Opens a device.
   *
   * @param name {@link #FAST} or {@link #SLOW}
   * @param style how posts and polls call C
   * @param queues the functions that post and poll
   * @param depth the number of sends, and of receives, that can be outstanding
   * @param bytes the size of the region
   * @return a queue pair with its region
   */
  public static StandIn open(String name, CallStyle style, Queues queues, int depth, long bytes) {
    RdmaDevice device = style.open(name);
    CompletionQueueConfig completions = CompletionQueueConfig.of(2 * depth);
    CompletionQueue completionQueue =
        device.createCompletionQueue(
            queues.extendsPolls()
                ? completions.extended(CompletionField.BYTE_LENGTH)
                : completions);
    ProtectionDomain domain = device.allocateProtectionDomain();
    MemoryRegion region =
        domain.register(
            bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    QueuePair queuePair = connect(domain, completionQueue, queues, depth);
    return new StandIn(device, domain, region, completionQueue, queuePair);
  }

  private static QueuePair connect(
      ProtectionDomain domain, CompletionQueue completionQueue, Queues queues, int depth) {
    // Queue pairs that share a completion queue are used in turn, so it does not overrun.
    QueuePairConfig config =
        QueuePairConfig.reliable(completionQueue)
            .sendDepth(depth)
            .receiveDepth(depth)
            .inlineBytes(MESSAGE)
            .ignoreOverrun(true);
    QueuePair queuePair =
        domain.createQueuePair(
            queues.extendsPosts() ? config.extended(SendOperation.SEND) : config);
    queuePair.connect(PathConfig.to(queuePair.address(1, 0)).gidIndex(0).mtu(Mtu.MTU_1024));
    return queuePair;
  }

  /**
   * Creates another queue pair on the same completion queue.
   *
   * @param depth the number of sends, and of receives, that can be outstanding
   * @return the other queue pair, with the same region
   */
  public StandIn withOtherQueuePair(int depth) {
    return new StandIn(
        device,
        domain,
        region,
        completionQueue,
        connect(domain, completionQueue, Queues.PLAIN, depth));
  }

  /**
   * Registers the memory of the region once more.
   *
   * @return the same queue pair, with the other region
   */
  public StandIn withOtherRegion() {
    return new StandIn(
        device,
        domain,
        domain.register(MemoryRegionConfig.of(region.segment())),
        completionQueue,
        queuePair);
  }

  /**
   * Returns the memory region.
   *
   * @return the region
   */
  public MemoryRegion region() {
    return region;
  }

  /**
   * Returns the completion queue.
   *
   * @return the queue for completions of sends and receives
   */
  public CompletionQueue completionQueue() {
    return completionQueue;
  }

  /**
   * Returns the queue pair.
   *
   * @return the queue pair, ready to send
   */
  public QueuePair queuePair() {
    return queuePair;
  }

  /**
   * Returns the protection domain.
   *
   * @return the domain of the region and the queue pair
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Creates a pool of registered memory.
   *
   * @param slabs the number of slabs
   * @param slabBytes the size of a slab in bytes
   * @return the pool
   */
  public SlabPool pool(int slabs, long slabBytes) {
    return SlabPool.register(domain, slabs, slabBytes);
  }

  /** Closes the device, and with it everything that depends on it. */
  @Override
  public void close() {
    device.close();
  }
}
