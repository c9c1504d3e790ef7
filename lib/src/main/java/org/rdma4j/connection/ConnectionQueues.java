package org.rdma4j.connection;

import java.util.function.Consumer;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/**
 * The native objects of one connection: they are created together, posted to, polled, and closed
 * together. All receives are posted from the start.
 *
 * <p>Posting requires the lock of the connection, once there is one.
 */
final class ConnectionQueues {
  /**
   * The number of receives set aside for messages of the protocol itself. Three of those can be
   * unread at a time: two that return credits, and the end.
   */
  static final int CONTROLS = 4;

  private static final int MAX_POLLED = 16;

  private final SynchronousCmId id;
  private final ProtectionDomain domain;
  private final Lifetime lifetime;
  private final Completions completions;
  private final Buffers buffers;
  private final QueuePair queuePair;
  private final SendRequests sends;
  private final ReceiveRequests receives;

  /**
   * Creates the objects for an identifier that has a device.
   *
   * @param id the identifier, which closes with them, also if this fails
   */
  ConnectionQueues(SynchronousCmId id, ConnectionConfig config) {
    this.id = id;
    String name = "connection " + id.id().localAddress() + " to " + id.id().peerAddress();
    RdmaDevice device = id.id().device();
    domain = device.allocateProtectionDomain();
    CompletionChannel channel = createChannel(domain);
    lifetime =
        new Lifetime(
            name,
            () -> {
              id.close();
              channel.close();
              domain.close();
            });
    try {
      int receiveSlots = config.receives() + CONTROLS;
      // A buffer that was received may be sent too.
      int sendDepth = config.receives() + config.sends() + CONTROLS + RemoteOperations.MAX;
      CompletionQueue queue = device.createCompletionQueue(sendDepth + receiveSlots, channel);
      completions = queue.completions(Math.min(MAX_POLLED, queue.capacity()));
      buffers = Buffers.register(domain, receiveSlots, config.sends(), config.messageBytes());
      queuePair =
          id.id()
              .createQueuePair(
                  domain,
                  QueuePairConfig.reliable(queue).sendDepth(sendDepth).receiveDepth(receiveSlots));
      sends = queuePair.sendRequests(1);
      receives = queuePair.receiveRequests(1);
      for (int slot = 0; slot < receiveSlots; slot++) {
        postReceive(slot);
      }
    } catch (RuntimeException failed) {
      lifetime.close();
      throw failed;
    }
  }

  private static CompletionChannel createChannel(ProtectionDomain domain) {
    try {
      return domain.device().createCompletionChannel();
    } catch (RuntimeException failed) {
      domain.close();
      throw failed;
    }
  }

  /** Returns the identifier, which tells when the connection ends. */
  SynchronousCmId synchronousId() {
    return id;
  }

  /** Returns the identifier, which has the addresses. */
  CmId id() {
    return id.id();
  }

  ProtectionDomain domain() {
    return domain;
  }

  /** Returns the life of all objects together, whose name is that of the connection. */
  Lifetime lifetime() {
    return lifetime;
  }

  Buffers buffers() {
    return buffers;
  }

  /** Returns what {@link #await} polled last. */
  Completions completions() {
    return completions;
  }

  /**
   * Waits for completions, without the lock. The calling thread then owns {@link #completions},
   * until it releases them.
   *
   * @return the number of completions; 0 if the deadline came first
   * @throws IllegalStateException if the connection is closed, also while waiting
   */
  int await(Deadline deadline) throws InterruptedException {
    try {
      return completions.await(deadline.remaining());
    } catch (IllegalStateException closed) {
      throw lifetime.isOpen() ? closed : lifetime.closed();
    }
  }

  /** Posts a request to the send queue, signaled. */
  void post(long requestId, Consumer<SendRequests> description) {
    boolean posted = false;
    try {
      description.accept(sends.add(requestId).signaled());
      sends.post();
      posted = true;
    } finally {
      if (!posted) {
        sends.clear();
      }
      sends.release();
    }
  }

  /** Posts a receive into a slot. */
  void postReceive(int slot) {
    receives.add(RequestKind.RECEIVE.id(slot)).into(buffers.memory(slot));
    receives.post();
    receives.release();
  }

  /** Flushes all requests and refuses further ones; their completions wake waiting threads. */
  void toError() {
    queuePair.toError();
  }
}
