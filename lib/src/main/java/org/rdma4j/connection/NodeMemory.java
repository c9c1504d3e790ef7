package org.rdma4j.connection;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rdma4j.RdmaException;
import org.rdma4j.lifetime.Attempts;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.ProtectionDomain;

/**
 * Memory that all connections of a node can use, whichever device they are over. {@link
 * RdmaNode#register(long, AccessFlag...)} creates it.
 *
 * <p>The memory is registered once with each device of the machine. {@link #region} returns the
 * region for a connection:
 *
 * {@snippet :
 * NodeMemory table = node.register(1 << 20, AccessFlag.REMOTE_READ);
 * ...
 * RemoteMemory name = RemoteMemory.of(table.region(connection));
 * }
 *
 * <p>With REMOTE_READ, REMOTE_WRITE or REMOTE_ATOMIC, every peer of the node that knows or guesses
 * the key of a region can access all of it. Without them, {@link RdmaConnection#expose} grants a
 * part to one peer.
 *
 * <p>All methods may be called from any thread.
 */
public final class NodeMemory implements AutoCloseable {
  private final NodeState node;
  private final MemorySegment segment;
  private final MemoryRegionConfig config;
  private final AccessFlag[] access;
  private final Runnable free;
  private final Map<ProtectionDomain, MemoryRegion> regions = new ConcurrentHashMap<>();
  private boolean closed;

  /**
   * Registers memory with all devices.
   *
   * @param free frees the memory, after its regions were closed
   */
  NodeMemory(
      NodeState node,
      MemorySegment segment,
      MemoryRegionConfig config,
      Runnable free,
      AccessFlag... access) {
    this.node = node;
    this.segment = segment;
    this.config = config;
    this.access = access.clone();
    this.free = free;
    boolean done = false;
    try {
      node.prepareAll();
      for (DeviceShare share : node.shares()) {
        register(share);
      }
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  /**
   * Returns the memory.
   *
   * @return the memory that was registered
   */
  public MemorySegment segment() {
    return segment;
  }

  /**
   * Returns the region of this memory for a connection, which is the same one for all connections
   * over the same device. Registers the memory if the device was added to the machine after {@link
   * RdmaNode#register(long, AccessFlag...)}.
   *
   * @param connection a connection of the node
   * @return the region, in the {@link RdmaConnection#domain} of the connection
   * @throws IllegalArgumentException if the connection belongs to another node
   * @throws RdmaException if the memory cannot be registered
   */
  public MemoryRegion region(RdmaConnection connection) {
    if (connection.share().node() != node) {
      throw new IllegalArgumentException(
          connection + " belongs to another node: register the memory with that node too");
    }
    MemoryRegion known = regions.get(connection.domain());
    return known == null ? register(connection.share()) : known;
  }

  private synchronized MemoryRegion register(DeviceShare share) {
    if (closed) {
      throw new IllegalStateException("the memory of the node is closed");
    }
    return regions.computeIfAbsent(
        share.domain(), each -> share.exposures().register(config, access));
  }

  /**
   * Closes the regions, and then frees the memory if the node has allocated it. When this returns,
   * no device accesses the memory any more: operations in progress fail, those of peers and those
   * of this node, and break their connections. Does nothing if this is closed. The end of the node
   * closes the regions too.
   *
   * @throws RdmaException if a region could not be closed; the others were closed all the same, and
   *     the memory is not freed
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    Attempts attempts = new Attempts();
    for (MemoryRegion region : regions.values()) {
      attempts.attempt(region::close);
    }
    regions.clear();
    attempts.finish();
    // Not if a region is still registered: a device would access what uses the memory next.
    free.run();
  }

  @Override
  public String toString() {
    return "memory of a node, " + segment.byteSize() + " bytes";
  }
}
