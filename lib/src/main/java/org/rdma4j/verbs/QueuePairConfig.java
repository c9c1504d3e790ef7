package org.rdma4j.verbs;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair is created with: {@code struct ibv_qp_init_attr}. Immutable; each method that
 * takes a value returns a changed copy.
 *
 * @param type what it is
 * @param sendCompletions where it is told how sends ended
 * @param receiveCompletions where it is told how receives ended; may be the same queue
 * @param sharedReceiveQueue where its receives are posted; null, the default, where it has its own
 * @param sendDepth the most outstanding send requests; default 1
 * @param receiveDepth the most outstanding receive requests; default 1
 * @param sendSges the most scatter/gather entries of a send request; default 1
 * @param receiveSges the most scatter/gather entries of a receive request; default 1
 * @param inlineBytes the most bytes of a send that are copied into the request itself; default 0
 * @param signalAll whether every send raises a completion, signalled or not; default false
 * @param mayOverrun whether the completion queues may be shorter than the queues of all queue pairs
 *     that use them; default false
 * @param sendOperations what {@link SendRequests} post by {@code ibv_wr_*}, on an extended queue
 *     pair; default none, and all is posted by {@code ibv_post_send}
 */
public record QueuePairConfig(
    QueuePairType type,
    CompletionQueue sendCompletions,
    CompletionQueue receiveCompletions,
    @Nullable SharedReceiveQueue sharedReceiveQueue,
    int sendDepth,
    int receiveDepth,
    int sendSges,
    int receiveSges,
    int inlineBytes,
    boolean signalAll,
    boolean mayOverrun,
    Set<SendOperation> sendOperations) {
  /** Copies the operations. */
  public QueuePairConfig {
    sendOperations = Set.copyOf(sendOperations);
  }

  /**
   * A reliable connection (RC) whose sends and receives complete on one queue.
   *
   * @param completions the completion queue
   * @return the configuration, everything else at its default
   */
  public static QueuePairConfig reliable(CompletionQueue completions) {
    return of(QueuePairType.RELIABLE_CONNECTION, completions, completions);
  }

  /**
   * A reliable connection (RC).
   *
   * @param sendCompletions the completion queue of sends
   * @param receiveCompletions the completion queue of receives
   * @return the configuration, everything else at its default
   */
  public static QueuePairConfig reliable(
      CompletionQueue sendCompletions, CompletionQueue receiveCompletions) {
    return of(QueuePairType.RELIABLE_CONNECTION, sendCompletions, receiveCompletions);
  }

  /**
   * An unreliable connection (UC) whose sends and receives complete on one queue.
   *
   * @param completions the completion queue
   * @return the configuration, everything else at its default
   */
  public static QueuePairConfig unreliable(CompletionQueue completions) {
    return of(QueuePairType.UNRELIABLE_CONNECTION, completions, completions);
  }

  /**
   * Unreliable datagrams (UD) whose sends and receives complete on one queue.
   *
   * @param completions the completion queue
   * @return the configuration, everything else at its default
   */
  public static QueuePairConfig datagram(CompletionQueue completions) {
    return of(QueuePairType.UNRELIABLE_DATAGRAM, completions, completions);
  }

  /**
   * A queue pair of any type.
   *
   * @param type what it is
   * @param sendCompletions the completion queue of sends
   * @param receiveCompletions the completion queue of receives
   * @return the configuration, everything else at its default
   */
  public static QueuePairConfig of(
      QueuePairType type, CompletionQueue sendCompletions, CompletionQueue receiveCompletions) {
    return new QueuePairConfig(
        type, sendCompletions, receiveCompletions, null, 1, 1, 1, 1, 0, false, false, Set.of());
  }

  /**
   * A copy with a {@link #sharedReceiveQueue()}, whose requests and pieces take the place of {@link
   * #receiveDepth()} and {@link #receiveSges()}.
   *
   * @param sharedReceiveQueue a shared receive queue of the same domain; null for one's own queue
   * @return the copy
   */
  public QueuePairConfig sharedReceiveQueue(@Nullable SharedReceiveQueue sharedReceiveQueue) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        sharedReceiveQueue,
        sendDepth,
        receiveDepth,
        sendSges,
        receiveSges,
        inlineBytes,
        signalAll,
        mayOverrun,
        sendOperations);
  }

  /**
   * A copy with another {@link #sendDepth()}.
   *
   * @param sendDepth the most outstanding send requests, from 0 to {@link
   *     DeviceAttributes#maxWorkRequests}
   * @return the copy
   */
  public QueuePairConfig sendDepth(int sendDepth) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        sharedReceiveQueue,
        sendDepth,
        receiveDepth,
        sendSges,
        receiveSges,
        inlineBytes,
        signalAll,
        mayOverrun,
        sendOperations);
  }

  /**
   * A copy with another {@link #receiveDepth()}.
   *
   * @param receiveDepth the most outstanding receive requests, from 0 to {@link
   *     DeviceAttributes#maxWorkRequests}
   * @return the copy
   */
  public QueuePairConfig receiveDepth(int receiveDepth) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        sharedReceiveQueue,
        sendDepth,
        receiveDepth,
        sendSges,
        receiveSges,
        inlineBytes,
        signalAll,
        mayOverrun,
        sendOperations);
  }

  /**
   * A copy with another {@link #sendSges()}.
   *
   * @param sendSges the most scatter/gather entries of a send request, from 0 to {@link
   *     DeviceAttributes#maxSges}
   * @return the copy
   */
  public QueuePairConfig sendSges(int sendSges) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        sharedReceiveQueue,
        sendDepth,
        receiveDepth,
        sendSges,
        receiveSges,
        inlineBytes,
        signalAll,
        mayOverrun,
        sendOperations);
  }

  /**
   * A copy with another {@link #receiveSges()}.
   *
   * @param receiveSges the most scatter/gather entries of a receive request, from 0 to {@link
   *     DeviceAttributes#maxSges}
   * @return the copy
   */
  public QueuePairConfig receiveSges(int receiveSges) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        sharedReceiveQueue,
        sendDepth,
        receiveDepth,
        sendSges,
        receiveSges,
        inlineBytes,
        signalAll,
        mayOverrun,
        sendOperations);
  }

  /**
   * A copy with another {@link #inlineBytes()}.
   *
   * @param inlineBytes the most bytes that are copied into the request itself
   * @return the copy
   */
  public QueuePairConfig inlineBytes(int inlineBytes) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        sharedReceiveQueue,
        sendDepth,
        receiveDepth,
        sendSges,
        receiveSges,
        inlineBytes,
        signalAll,
        mayOverrun,
        sendOperations);
  }

  /**
   * A copy with another {@link #signalAll()}.
   *
   * @param signalAll whether every send raises a completion
   * @return the copy
   */
  public QueuePairConfig signalAll(boolean signalAll) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        sharedReceiveQueue,
        sendDepth,
        receiveDepth,
        sendSges,
        receiveSges,
        inlineBytes,
        signalAll,
        mayOverrun,
        sendOperations);
  }

  /**
   * A copy with another {@link #mayOverrun()}.
   *
   * @param mayOverrun true promises that never more completions are signalled and unpolled than the
   *     completion queues hold; a completion queue that overruns loses completions for good
   * @return the copy
   */
  public QueuePairConfig mayOverrun(boolean mayOverrun) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        sharedReceiveQueue,
        sendDepth,
        receiveDepth,
        sendSges,
        receiveSges,
        inlineBytes,
        signalAll,
        mayOverrun,
        sendOperations);
  }

  /**
   * A copy that makes an extended queue pair, {@code ibv_create_qp_ex}: the same requests are
   * posted by {@code ibv_wr_*}, in several calls instead of one, all or none.
   *
   * @param operations the operations that are to be posted; no others can be
   * @return the copy
   */
  public QueuePairConfig extended(SendOperation... operations) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        sharedReceiveQueue,
        sendDepth,
        receiveDepth,
        sendSges,
        receiveSges,
        inlineBytes,
        signalAll,
        mayOverrun,
        Set.of(operations));
  }

  /** Refuses what the device does not offer. */
  void check(ProtectionDomain domain) {
    RdmaDevice device = domain.device();
    DeviceAttributes limits = device.limits();
    if (sharedReceiveQueue != null && sharedReceiveQueue.domain() != domain) {
      throw new IllegalArgumentException(
          "the " + sharedReceiveQueue + " belongs to another protection domain");
    }
    Arguments.checkSameDevice("send completion queue", sendCompletions.device(), device);
    Arguments.checkSameDevice("receive completion queue", receiveCompletions.device(), device);
    Arguments.checkRange("sendDepth", sendDepth, 0, limits.maxWorkRequests());
    Arguments.checkRange("receiveDepth", receiveDepth, 0, limits.maxWorkRequests());
    Arguments.checkRange("sendSges", sendSges, 0, limits.maxSges());
    Arguments.checkRange("receiveSges", receiveSges, 0, limits.maxSges());
    Arguments.checkRange("inlineBytes", inlineBytes, 0, MOST_INLINE_BYTES);
  }

  /**
   * No device of today inlines more than some hundred bytes; what it grants, it says at creation.
   */
  private static final int MOST_INLINE_BYTES = 1 << 16;
}
