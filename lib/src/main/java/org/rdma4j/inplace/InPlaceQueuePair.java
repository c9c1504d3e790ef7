package org.rdma4j.inplace;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_qp;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.QueueUse;
import org.rdma4j.inplace.InPlaceSends.Registers;
import org.rdma4j.inplace.Mlx5Objects.QueuePairMemory;

/** The queues of a queue pair that are used in place. */
public final class InPlaceQueuePair {
  private final int number;
  private final QueueUse use;
  private final InPlaceSends sends;
  private final @Nullable InPlaceReceives receives;
  private final @Nullable InPlaceSharedReceives shared;
  private final InPlaceCompletions sendCompletions;
  private final InPlaceCompletions receiveCompletions;

  /**
   * What is known of a queue pair.
   *
   * @param sendDepth how many sends libmlx5 allows to be outstanding
   * @param receiveDepth how many receives libmlx5 allows to be outstanding
   * @param datagrams whether it is of type UD, and not of RC or UC
   * @param signalAll whether each send creates a completion
   */
  public record Shape(int sendDepth, int receiveDepth, boolean datagrams, boolean signalAll) {}

  private InPlaceQueuePair(
      int number,
      QueueUse use,
      InPlaceSends sends,
      @Nullable InPlaceReceives receives,
      @Nullable InPlaceSharedReceives shared,
      InPlaceCompletions sendCompletions,
      InPlaceCompletions receiveCompletions) {
    this.sendCompletions = sendCompletions;
    this.receiveCompletions = receiveCompletions;
    this.number = number;
    this.use = use;
    this.sends = sends;
    this.receives = receives;
    this.shared = shared;
  }

  /**
   * Takes over the queues of a queue pair, to which nothing was posted.
   *
   * @param use whether several threads post to it
   * @param shared its shared receive queue; null if it has a receive queue
   */
  public static InPlaceQueuePair of(
      InPlaceSupport support,
      MemorySegment queuePair,
      Shape shape,
      QueueUse use,
      @Nullable InPlaceSharedReceives shared,
      InPlaceCompletions sendCompletions,
      InPlaceCompletions receiveCompletions) {
    QueuePairMemory memory = support.objects().queuePair(queuePair);
    if (memory.sendBlocks() != 0 && memory.sendStride() != RequestSegments.BLOCK) {
      throw new IllegalArgumentException(
          "the blocks of the send queue have "
              + memory.sendStride()
              + " bytes, must have "
              + RequestSegments.BLOCK);
    }
    int number = ibv_qp.qp_num(queuePair);
    return new InPlaceQueuePair(
        number,
        use,
        new InPlaceSends(
            support.objects(),
            memory,
            number,
            shape.sendDepth,
            shape.datagrams,
            shape.signalAll,
            new Registers(support.usesRegisters(), support.prefersRegisters()),
            use),
        shared == null ? new InPlaceReceives(memory, shape.receiveDepth, use) : null,
        shared,
        sendCompletions,
        receiveCompletions);
  }

  /** Returns the number of the queue pair. */
  int number() {
    return number;
  }

  /** Returns what posts to the send queue. */
  public InPlaceSends sends() {
    return sends;
  }

  /** Returns what posts to the receive queue; null if the queue pair has a shared one. */
  public @Nullable ChainPosting receives() {
    return receives;
  }

  /** Returns all calls that post to the queues. */
  public HotCalls calls() {
    return use.calls();
  }

  @Nullable InPlaceSharedReceives shared() {
    return shared;
  }

  /** Returns the id of the receive at a position of the queue or the shared queue. */
  long completeReceive(int position) {
    if (receives != null) {
      return receives.complete(position);
    }
    return shared == null ? 0 : shared.complete(position);
  }

  /** Lets polls find this. */
  public void join() {
    sendCompletions.add(this);
    receiveCompletions.add(this);
  }

  /**
   * Removes this, and the completions that were not polled. To be called after the queue pair was
   * destroyed.
   */
  public void leave() {
    sendCompletions.remove(this);
    receiveCompletions.remove(this);
  }

  /**
   * Begins at the beginning of the queues, and removes the completions that were not polled. To be
   * called after the queue pair was reset.
   */
  public void reset() {
    sendCompletions.forget(this);
    receiveCompletions.forget(this);
    use.whileShared(
        () -> {
          sends.reset();
          if (receives != null) {
            receives.reset();
          }
        });
  }
}
