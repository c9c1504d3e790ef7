package org.rdma4j.tools.selftest;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueueAccess;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.AtomicCapability;
import org.rdma4j.verbs.attribute.TransportType;

/** Two connected queue pairs of the device, of which one sends to the other. */
final class LoopedPair implements AutoCloseable {
  static final int INLINE_BYTES = 64;

  private static final AccessFlag[] REMOTE = {
    AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC
  };

  private static final int DEPTH = 16;
  private static final long PATIENCE_SECONDS = 10;

  final RdmaDevice device;
  final ProtectionDomain domain;
  final QueuePair from;
  final QueuePair to;
  final CompletionQueue queueOfReceives;
  private final TestedDevice tested;
  private final Completions sent;
  private final Completions received;

  private LoopedPair(
      TestedDevice tested,
      UnaryOperator<CompletionQueueConfig> queues,
      UnaryOperator<QueuePairConfig> pairs) {
    this.tested = tested;
    device = tested.open();
    boolean done = false;
    try {
      if (device.info().transport() == TransportType.IWARP) {
        throw new NotSupported("only the connection manager connects queue pairs over iWARP");
      }
      domain = device.allocateProtectionDomain();
      CompletionQueue queueOfSends = queue(queues);
      queueOfReceives = queue(queues);
      from = create(queueOfSends, pairs);
      to = create(queueOfReceives, pairs);
      connect(from, to);
      sent = queueOfSends.completions(1);
      received = queueOfReceives.completions(1);
      done = true;
    } finally {
      if (!done) {
        device.close();
      }
    }
  }

  /** Connects queue pairs whose queues are used by functions of the provider. */
  static LoopedPair connect(TestedDevice tested) {
    return connect(tested, QueueAccess.BY_PROVIDER);
  }

  static LoopedPair connect(TestedDevice tested, QueueAccess access) {
    return connect(tested, config -> config.access(access), config -> config);
  }

  static LoopedPair connect(
      TestedDevice tested,
      UnaryOperator<CompletionQueueConfig> queues,
      UnaryOperator<QueuePairConfig> pairs) {
    return new LoopedPair(tested, queues, pairs);
  }

  /** Connects two queue pairs of the device with each other. */
  void connect(QueuePair one, QueuePair other) {
    one.connect(path(other));
    other.connect(path(one));
  }

  private CompletionQueue queue(UnaryOperator<CompletionQueueConfig> config) {
    CompletionChannel channel = device.createCompletionChannel();
    return device.createCompletionQueue(
        config.apply(CompletionQueueConfig.of(4 * DEPTH).channel(channel)));
  }

  private QueuePair create(CompletionQueue queue, UnaryOperator<QueuePairConfig> config) {
    return domain.createQueuePair(
        config.apply(
            QueuePairConfig.reliable(queue)
                .sendDepth(DEPTH)
                .receiveDepth(DEPTH)
                .inlineBytes(INLINE_BYTES)));
  }

  private PathConfig path(QueuePair peer) {
    return PathConfig.to(peer.address(tested.port(), PathConfig.PREFERRED_GID))
        .port(tested.port())
        // With 7 retries, soft-RoCE repeats a request forever.
        .retries(6)
        .access(remoteAccess());
  }

  private AccessFlag[] remoteAccess() {
    return hasAtomics() ? REMOTE : Arrays.copyOf(REMOTE, REMOTE.length - 1);
  }

  boolean hasAtomics() {
    return device.attributes().atomicCapability() != AtomicCapability.NONE;
  }

  /** Registers memory that the peer may access in all ways. */
  MemoryRegion expose(long bytes) {
    EnumSet<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, remoteAccess());
    return domain.register(bytes, access);
  }

  /** Waits for the next completion of the queue pair that sends, which must be a success. */
  Completions awaitSent(String what, long id) {
    return await(sent, what, id);
  }

  /** Waits for the next completion of the queue pair that sends, which may have failed. */
  Completions pollSent(String what) {
    poll(sent, what);
    return sent;
  }

  /** Waits for the next completion of the queue pair that receives, which must be a success. */
  Completions awaitReceived(String what, long id) {
    return await(received, what, id);
  }

  private static Completions await(Completions completions, String what, long id) {
    poll(completions, what);
    completions.requireSuccess(0);
    Expected.equal(what, "id", completions.workRequestId(0), id);
    return completions;
  }

  /** Polls until there is a completion, which may have failed. */
  static void poll(Completions completions, String what) {
    long begin = System.nanoTime();
    while (completions.poll() == 0) {
      if (System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
        throw new Failure("%s did not complete within %d s".formatted(what, PATIENCE_SECONDS));
      }
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    device.close();
  }
}
