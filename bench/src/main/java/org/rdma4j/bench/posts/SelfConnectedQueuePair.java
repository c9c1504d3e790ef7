package org.rdma4j.bench.posts;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionField;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueueAccess;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendOperation;

/**
 * A queue pair of libmlx5 that is connected to itself, with its completion queue and a region. The
 * adapter works only in {@link #work}, so that it is no part of what is measured.
 */
final class SelfConnectedQueuePair implements AutoCloseable {
  /** More than the requests that are posted at a time. */
  private static final int DEPTH = 512;

  /** The length of a message in bytes. */
  static final int MESSAGE = 64;

  private static final MethodHandle STEP = linkStep();

  private final RdmaDevice device;
  private final ProtectionDomain domain;
  private final MemoryRegion region;
  private final CompletionQueue completionQueue;
  private final QueuePair queuePair;

  SelfConnectedQueuePair(CallStyle style, QueuesOfJava queues) {
    device = style.open(RdmaDevice.list().get(0).name());
    ProtectionDomain all = device.allocateProtectionDomain();
    domain =
        queues.areOfOneThread() ? all.allocateParentDomain(device.allocateThreadDomain()) : all;
    region = domain.register(MESSAGE, AccessFlag.LOCAL_WRITE);
    completionQueue = device.createCompletionQueue(completions(queues, domain));
    QueuePairConfig config =
        QueuePairConfig.reliable(completionQueue)
            .sendDepth(DEPTH)
            .receiveDepth(1)
            .inlineBytes(MESSAGE);
    queuePair =
        domain.createQueuePair(queues.areExtended() ? config.extended(SendOperation.SEND) : config);
    queuePair.connect(PathConfig.to(queuePair.address()));
  }

  private static CompletionQueueConfig completions(QueuesOfJava queues, ProtectionDomain domain) {
    CompletionQueueConfig plain = CompletionQueueConfig.of(2 * DEPTH - 1);
    if (queues.areExtended()) {
      return plain.extended(CompletionField.BYTE_LENGTH);
    }
    CompletionQueueConfig config =
        queues.areOfOneThread()
            ? plain.extended(CompletionField.BYTE_LENGTH).parentDomain(domain)
            : plain;
    return queues.areInPlace() ? config.access(QueueAccess.IN_PLACE) : config;
  }

  /** The library is loaded already, by LD_PRELOAD. */
  private static MethodHandle linkStep() {
    String library = System.getenv("LD_PRELOAD");
    if (library == null) {
      throw new IllegalStateException(
          "LD_PRELOAD is not set, must be the simulated adapter: run dev/bench posts");
    }
    return Linker.nativeLinker()
        .downcallHandle(
            SymbolLookup.libraryLookup(Path.of(library), Arena.global())
                .find("mlx5sim_step")
                .orElseThrow(),
            FunctionDescriptor.of(JAVA_INT));
  }

  /** Lets the adapter do all that was posted, on the queues of any object of this process. */
  void work() {
    try {
      while ((int) STEP.invokeExact() > 0) {}
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  ProtectionDomain domain() {
    return domain;
  }

  MemoryRegion region() {
    return region;
  }

  CompletionQueue completionQueue() {
    return completionQueue;
  }

  QueuePair queuePair() {
    return queuePair;
  }

  @Override
  public void close() {
    device.close();
  }
}
