package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.verbs.RdmaDevice;

/**
 * A node without the object that users hold, because its threads refer to it: its devices, its
 * events, and what has to be done at intervals.
 */
final class NodeState {
  /** What a node looks after at intervals of a second or less. */
  interface Periodic {
    void tick();
  }

  private final NodeConfig config;
  private final CmEvents events;
  private final Map<RdmaDevice, DeviceShare> shares = new HashMap<>();
  private final Set<Periodic> periodic = ConcurrentHashMap.newKeySet();
  private final Lifetime lifetime;
  private final Recording recording;

  NodeState(NodeConfig config) {
    this.config = config;
    this.events = new CmEvents(this);
    this.lifetime = new Lifetime("the node", this::destroy);
    this.recording = Recording.of(this);
    events.start();
  }

  NodeConfig config() {
    return config;
  }

  CmEvents events() {
    return events;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** Returns this node's share of a device, which is created if there is none. */
  DeviceShare share(RdmaDevice device) {
    return lifetime.whileOpen(
        () -> {
          synchronized (shares) {
            DeviceShare known = shares.get(device);
            if (known == null || !known.isUsable()) {
              known = new DeviceShare(this, device);
              shares.put(device, known);
            }
            return known;
          }
        });
  }

  /** Creates the shares of all devices, so that the first connections do not wait for that. */
  void prepareAll() {
    for (RdmaDevice device : CmDevices.list()) {
      try {
        share(device);
      } catch (RdmaException unusable) {
        log(Level.WARNING, device.info().name() + " cannot be used for connections", unusable);
      }
    }
  }

  List<DeviceShare> shares() {
    synchronized (shares) {
      return List.copyOf(shares.values());
    }
  }

  /** Returns what the node has and uses, for all devices together. */
  NodeStatistics statistics() {
    int connections = 0;
    int buffers = 0;
    int buffersInUse = 0;
    int receives = 0;
    long largeBytes = 0;
    for (DeviceShare share : shares()) {
      connections += share.connections();
      buffers += share.buffers().size();
      buffersInUse += share.buffers().inUse();
      receives += share.receives().posted();
      largeBytes += share.largeBuffers().registeredBytes();
    }
    return new NodeStatistics(connections, buffers, buffersInUse, receives, largeBytes);
  }

  void forget(DeviceShare share) {
    synchronized (shares) {
      shares.remove(share.device(), share);
    }
  }

  void add(Periodic each) {
    periodic.add(each);
  }

  void remove(Periodic each) {
    periodic.remove(each);
  }

  /** Looks after what has to be done at intervals. Called by the thread of the events. */
  void tick() {
    periodic.forEach(Periodic::tick);
    long keepAlive = config.keepAlive().toNanos();
    shares().forEach(share -> share.links().forEach(link -> link.tick(keepAlive)));
  }

  /** Runs something soon, in a thread that holds no lock. */
  void later(Runnable action) {
    Thread.ofVirtual().name("rdma4j-node").start(action);
  }

  private void destroy() {
    recording.close();
    shares().forEach(DeviceShare::close);
    events.close();
  }

  void log(Level level, String message, @Nullable Throwable thrown) {
    System.getLogger("org.rdma4j").log(level, message, thrown);
  }
}
