package org.rdma4j.tools.pingpong;

import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.SharedReceiveQueue;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.address.StaticRate;

/** A queue pair that sends one message at a time. */
final class PingPongQueuePair {
  /** The ids of requests. As bits, they show which of the two an iteration still waits for. */
  static final long RECEIVE = 1;

  static final long SEND = 2;

  /** The queue key of the programs in C. */
  private static final int QUEUE_KEY = 0x1111_1111;

  private final PingPong.Settings settings;
  private final QueuePair queuePair;
  private final SendRequests sends;
  private final int number;
  private final boolean inline;

  /** The message, which is the same each time; null before the first one. */
  private @Nullable PreparedSends prepared;

  private @Nullable AddressHandle remote;
  private int remoteNumber;
  private long pending;
  private long iterationBegan;

  /** Creates a queue pair that can receive as soon as it is connected. */
  PingPongQueuePair(
      ProtectionDomain domain,
      CompletionQueue queue,
      PingPong.Settings settings,
      @Nullable SharedReceiveQueue shared) {
    this.settings = settings;
    queuePair = domain.createQueuePair(config(queue, shared));
    sends = queuePair.sendRequests(1);
    number = queuePair.number();
    inline = queuePair.capabilities().inlineBytes() >= settings.size();
    if (settings.kind() == PingPongKind.UD) {
      queuePair.initializeDatagrams(settings.port(), 0, QUEUE_KEY);
    } else {
      queuePair.initialize(settings.port(), 0);
    }
  }

  private QueuePairConfig config(CompletionQueue queue, @Nullable SharedReceiveQueue shared) {
    QueuePairConfig config =
        switch (settings.kind()) {
          case RC -> QueuePairConfig.reliable(queue).receiveDepth(settings.receiveDepth());
          case UC -> QueuePairConfig.unreliable(queue).receiveDepth(settings.receiveDepth());
          case UD -> QueuePairConfig.datagram(queue).receiveDepth(settings.receiveDepth());
          case SRQ -> QueuePairConfig.reliable(queue).sharedReceiveQueue(shared);
        };
    return settings.features().of(config.sendDepth(1));
  }

  QueuePair queuePair() {
    return queuePair;
  }

  /** Returns the number by which completions name it. */
  int number() {
    return number;
  }

  void connect(PathConfig path) {
    if (settings.kind() == PingPongKind.UD) {
      queuePair.startDatagrams(path.port(), 0, QUEUE_KEY);
      remote = queuePair.domain().createAddressHandle(vector(path));
      remoteNumber = path.remote().queuePairNumber();
    } else {
      queuePair.connect(path);
    }
    pending = RECEIVE;
    iterationBegan = System.nanoTime();
  }

  private static AddressVector vector(PathConfig path) {
    GlobalRoute route =
        path.gidIndex() == PathConfig.NO_GID
            ? null
            : new GlobalRoute(path.remote().gid(), path.gidIndex(), 0, path.hopLimit(), 0);
    return new AddressVector(
        path.port(), path.remote().lid(), path.serviceLevel(), 0, StaticRate.UNLIMITED, route);
  }

  void send(MemoryRegion message) {
    PreparedSends send = prepared;
    if (send == null) {
      send = prepare(message);
      prepared = send;
    }
    send.post();
    pending = RECEIVE | SEND;
  }

  private PreparedSends prepare(MemoryRegion message) {
    sends.add(SEND).signaled();
    if (inline) {
      sends.inline(message, 0, settings.size());
    } else {
      sends.from(message, 0, settings.size());
    }
    if (remote != null) {
      sends.to(remote, remoteNumber, QUEUE_KEY);
    }
    return sends.prepare();
  }

  /** Records that a send or receive is complete, and returns whether both are. */
  boolean complete(long id) {
    pending &= ~id;
    return pending == 0;
  }

  /** Ends an iteration, begins the next, and returns the time of the first in nanoseconds. */
  long endIteration() {
    long now = System.nanoTime();
    long time = now - iterationBegan;
    iterationBegan = now;
    return time;
  }
}
