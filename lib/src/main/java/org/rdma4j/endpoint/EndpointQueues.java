package org.rdma4j.endpoint;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;

/**
 * The native objects of one endpoint: any thread posts to their queues, one at a time for each
 * queue, and awaits what it posted. They are all closed with the device.
 */
final class EndpointQueues {
  private final RdmaDevice device;
  private final String name;
  private final MemoryRegion buffer;
  private final QueuePair queuePair;
  private final Mailbox mailbox;

  private final ReentrantLock sending = new ReentrantLock();
  private final SendRequests sends;
  private final ReentrantLock receiving = new ReentrantLock();
  private final ReceiveRequests receives;

  /**
   * Creates the objects; if this fails, closing the device closes those that were created.
   *
   * @param name the name of the endpoint in messages
   */
  EndpointQueues(RdmaDevice device, EndpointConfig config, String name) {
    this.device = device;
    this.name = name;
    CompletionSource source =
        new CompletionSource(
            device,
            Math.clamp((long) config.sendDepth() + config.receiveDepth(), 1, Integer.MAX_VALUE));
    ProtectionDomain domain = device.allocateProtectionDomain();
    Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
    access.addAll(config.remoteAccess());
    buffer = domain.register(config.bufferBytes(), access);
    queuePair =
        domain.createQueuePair(
            QueuePairConfig.reliable(source.queue())
                .sendDepth(config.sendDepth())
                .receiveDepth(config.receiveDepth()));
    sends = queuePair.sendRequests(1);
    receives = queuePair.receiveRequests(1);
    mailbox = new Mailbox(name, source, config.sendDepth(), config.receiveDepth());
  }

  RdmaDevice device() {
    return device;
  }

  MemoryRegion buffer() {
    return buffer;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  /** Posts one request to the send queue, signaled. */
  void postSend(long id, Consumer<SendRequests> description) {
    post(
        id,
        Mailbox.Lane.SEND,
        sending,
        () -> {
          boolean posted = false;
          try {
            description.accept(sends.add(id).signaled());
            sends.post();
            posted = true;
          } finally {
            if (!posted) {
              sends.clear();
            }
            sends.release();
          }
        });
  }

  /** Posts one receive into a part of the buffer. */
  void postReceive(long id, long offset, long length) {
    post(
        id,
        Mailbox.Lane.RECEIVE,
        receiving,
        () -> {
          boolean posted = false;
          try {
            receives.add(id).into(buffer, offset, length).post();
            posted = true;
          } finally {
            if (!posted) {
              receives.clear();
            }
            receives.release();
          }
        });
  }

  /** Takes a place in the mailbox for a request that is then posted, or gives it up again. */
  private void post(long id, Mailbox.Lane lane, ReentrantLock lock, Runnable posting) {
    mailbox.expect(id, lane);
    boolean posted = false;
    lock.lock();
    try {
      posting.run();
      posted = true;
    } finally {
      lock.unlock();
      if (!posted) {
        mailbox.forget(id);
      }
    }
  }

  /** Waits for the outcome of a request. */
  Outcome await(long id, Deadline deadline) throws InterruptedException, TimeoutException {
    return mailbox.await(id, deadline);
  }

  void close() {
    // First, so that waiting threads are told that the endpoint is closed, not one of its parts.
    mailbox.close();
    device.close();
  }

  @Override
  public String toString() {
    return name;
  }
}
