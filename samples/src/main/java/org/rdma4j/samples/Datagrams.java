package org.rdma4j.samples;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.DatagramDestination;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairFlag;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/**
 * The datagrams of an identifier of udaddy or mckey. Each carries the number of its sender's queue
 * pair; what else they contain is of no meaning, so that all share one memory.
 */
final class Datagrams implements AutoCloseable {
  private final NodeOptions options;
  private final int port;
  private final DomainAndChannel parts;
  private final QueuePair queuePair;
  private final Completions completions;
  private final MemoryRegion memory;
  private @Nullable AddressHandle remote;
  private int remoteNumber;
  private int remoteKey;

  Datagrams(NodeOptions options, CmId id, QueuePairFlag... flags) {
    this.options = options;
    RdmaDevice device = id.device();
    port = id.port();
    int longest = device.port(port).activeMtu().bytes();
    if (options.messages() > 0 && options.size > longest) {
      throw new Failure(
          "message_size %d is larger than active mtu %d".formatted(options.size, longest));
    }
    int depth = Math.max(1, options.messages());
    parts = DomainAndChannel.of(device);
    try {
      ProtectionDomain domain = parts.domain();
      CompletionQueue queue = device.createCompletionQueue(2 * depth, parts.channel());
      completions = queue.completions(1);
      queuePair =
          id.createQueuePair(
              domain,
              QueuePairConfig.datagram(queue).sendDepth(depth).receiveDepth(depth).flags(flags));
      memory =
          domain.register(GlobalRoutingHeader.BYTES + (long) options.size, AccessFlag.LOCAL_WRITE);
    } catch (RuntimeException failed) {
      parts.close();
      throw failed;
    }
  }

  void postReceives() {
    ReceiveRequests receives = queuePair.receiveRequests(1);
    for (int i = 0; i < options.messages(); i++) {
      receives.add(i).into(memory, 0, memory.byteSize()).post();
    }
  }

  /** Has them sent there. */
  void sendTo(DatagramDestination destination) {
    sendTo(
        parts.domain().createAddressHandle(destination.addressVector()),
        destination.queuePairNumber(),
        destination.queueKey());
  }

  private void sendTo(AddressHandle handle, int number, int key) {
    remote = handle;
    remoteNumber = number;
    remoteKey = key;
  }

  /** Sends all, of which completions come only where asked for. */
  void send(boolean signaled) {
    if (remote == null) {
      throw new IllegalStateException("nobody to send to");
    }
    SendRequests sends = queuePair.sendRequests(1);
    for (int i = 0; i < options.messages(); i++) {
      sends
          .add(i)
          .sendWithImmediate(queuePair.number())
          .to(remote, remoteNumber, remoteKey)
          .from(memory, 0, options.size);
      if (signaled) {
        sends.signaled();
      }
      sends.post();
    }
  }

  /** Waits for as many completions as there are messages. */
  void await(String what, CmOptions.Wait ended) throws InterruptedException {
    for (int i = 0; i < options.messages(); i++) {
      options.common.await(what, this::take, ended);
      if (remote == null) {
        answerTo();
      }
    }
  }

  private boolean take(Duration timeout) throws InterruptedException {
    if (completions.await(timeout) == 0) {
      return false;
    }
    completions.requireSuccess(0);
    return true;
  }

  /** Where the first datagram came from, answers go to. */
  private void answerTo() {
    if (!completions.hasImmediate(0)) {
      throw new Failure(
          "a datagram came without the number of its queue pair: is the peer udaddy?");
    }
    sendTo(
        parts.domain().createAddressHandle(completions, 0, memory.segment(), port),
        completions.immediate(0),
        queuePair.query().queueKey());
  }

  @Override
  public void close() {
    parts.close();
  }
}
