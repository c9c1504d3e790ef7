package org.rdma4j.samples;

import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.SharedReceiveQueue;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.address.StaticRate;

/** A queue pair in a game, which has one message at a time on its way. */
final class Player {
  /** The ids of requests; as bits, they tell which of the two an iteration still waits for. */
  static final long RECEIVE = 1;

  static final long SEND = 2;

  /** That of rdma-core's programs. */
  private static final int QUEUE_KEY = 0x1111_1111;

  private final PingPong.Rules rules;
  private final QueuePair queuePair;
  private final SendRequests sends;
  private final int number;
  private final boolean inline;
  private @Nullable AddressHandle remote;
  private int remoteNumber;
  private long pending;
  private long iterationBegan;

  /** A queue pair that can receive as soon as it is connected. */
  Player(
      ProtectionDomain domain,
      CompletionQueue queue,
      PingPong.Rules rules,
      @Nullable SharedReceiveQueue shared) {
    this.rules = rules;
    queuePair = domain.createQueuePair(config(queue, shared));
    sends = queuePair.sendRequests(1);
    number = queuePair.number();
    inline = queuePair.capabilities().inlineBytes() >= rules.size();
    if (rules.kind() == PingPongKind.UD) {
      queuePair.initializeDatagrams(rules.port(), 0, QUEUE_KEY);
    } else {
      queuePair.initialize(rules.port(), 0);
    }
  }

  private QueuePairConfig config(CompletionQueue queue, @Nullable SharedReceiveQueue shared) {
    QueuePairConfig config =
        switch (rules.kind()) {
          case RC -> QueuePairConfig.reliable(queue).receiveDepth(rules.receiveDepth());
          case UC -> QueuePairConfig.unreliable(queue).receiveDepth(rules.receiveDepth());
          case UD -> QueuePairConfig.datagram(queue).receiveDepth(rules.receiveDepth());
          case SRQ -> QueuePairConfig.reliable(queue).sharedReceiveQueue(shared);
        };
    return rules.features().of(config.sendDepth(1));
  }

  QueuePair queuePair() {
    return queuePair;
  }

  /** By which completions name it. */
  int number() {
    return number;
  }

  void connect(PathConfig path) {
    if (rules.kind() == PingPongKind.UD) {
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
    sends.add(SEND).signaled();
    if (inline) {
      sends.inline(message.segment(), 0, rules.size());
    } else {
      sends.from(message, 0, rules.size());
    }
    if (remote != null) {
      sends.to(remote, remoteNumber, QUEUE_KEY);
    }
    sends.post();
    pending = RECEIVE | SEND;
  }

  /** Takes note that one of the two is done; returns whether both are. */
  boolean done(long id) {
    pending &= ~id;
    return pending == 0;
  }

  /** How long the iteration took that ends now, when the next one begins, in ns. */
  long iterationTime() {
    long now = System.nanoTime();
    long time = now - iterationBegan;
    iterationBegan = now;
    return time;
  }
}
