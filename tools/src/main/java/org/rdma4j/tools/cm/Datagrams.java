package org.rdma4j.tools.cm;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.rdma4j.cm.CmId;
import org.rdma4j.cm.DatagramDestination;
import org.rdma4j.tools.command.CommonOptions;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.AddressHandle;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.PreparedSends;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairFlag;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/**
 * The datagrams of one identifier of udaddy or mckey. Each carries the number of its sender's queue
 * pair. The rest of their content has no meaning, so all datagrams share the same memory.
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
    int max = device.port(port).attributes().activeMtu().bytes();
    if (options.messages() > 0 && options.size > max) {
      throw new Failure(
          "message_size %d is larger than active mtu %d".formatted(options.size, max));
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
    PreparedReceives receive =
        queuePair.receiveRequests(1).add(0).into(memory, 0, memory.byteSize()).prepare();
    for (int i = 0; i < options.messages(); i++) {
      receive.id(0, i).post();
    }
  }

  /** Sets where the datagrams are sent. */
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

  /** Sends all datagrams. Only signaled ones have completions. */
  void send(boolean signaled) {
    if (remote == null) {
      throw new IllegalStateException("sendTo must be called before send");
    }
    PreparedSends datagram =
        queuePair
            .sendRequests(1)
            .add(0)
            .sendWithImmediate(queuePair.number())
            .to(remote, remoteNumber, remoteKey)
            .from(memory, 0, options.size)
            .prepare();
    datagram.signaled(0, signaled);
    for (int i = 0; i < options.messages(); i++) {
      datagram.id(0, i).post();
    }
  }

  /** Waits for as many completions as there are messages. */
  void await(String what, CommonOptions.Wait ended) throws InterruptedException {
    for (int i = 0; i < options.messages(); i++) {
      options.common.await(what, this::take, ended);
      if (remote == null) {
        answerToSender();
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

  /** Sends the answers to the sender of the first datagram. */
  private void answerToSender() {
    if (!completions.hasImmediate(0)) {
      throw new Failure(
          "a datagram without the number of its queue pair arrived; check that the peer is udaddy");
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
