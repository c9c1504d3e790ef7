package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_qp_cap;
import org.rdma4j.bindings.generated.ibv_qp_init_attr_ex;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.datapath.PollPause;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/**
 * The attributes that a queue pair is created with: {@code struct ibv_qp_init_attr_ex}. Instances
 * are immutable; each method that takes a value returns a changed copy.
 *
 * <pre>{@code
 * QueuePair queuePair =
 *     domain.createQueuePair(
 *         QueuePairConfig.reliable(completionQueue).sendDepth(64).receiveDepth(64));
 * }</pre>
 *
 * <p>A completion queue must have room for all requests of all queue pairs that use it, so for 128
 * completions in this example; otherwise the creation fails, see {@link #ignoreOverrun()}.
 *
 * @param type the type of the queue pair
 * @param sendCompletions the completion queue of sends; null if the queue pair does not send,
 *     because it is of type XRC_RECEIVE or has a receive hash
 * @param receiveCompletions the completion queue of receives, which may be the same; null if the
 *     queue pair does not receive itself, because it is of type XRC_SEND or XRC_RECEIVE or has a
 *     receive hash
 * @param sharedReceiveQueue the shared receive queue that receives are posted to; null if the queue
 *     pair has a receive queue of its own; default null
 * @param xrcDomain the XRC domain of a queue pair of type XRC_RECEIVE; null for other types
 * @param receiveHash how received packets are spread over work queues; null if they are not;
 *     default null
 * @param sendDepth the maximum number of outstanding send requests; default 1
 * @param receiveDepth the maximum number of outstanding receive requests; default 1
 * @param sendSges the maximum number of pieces (scatter/gather elements) of a send request; default
 *     1
 * @param receiveSges the maximum number of pieces (scatter/gather elements) of a receive request;
 *     default 1
 * @param inlineBytes the maximum number of bytes of a send that can be copied into the request
 *     itself; default 0
 * @param segmentHeaderBytes the maximum length in bytes of the header of a {@link
 *     SendRequests#segmented segmented} send; default 0, which allows no such sends
 * @param signalAll whether every send creates a completion, even if it is not signaled; default
 *     false
 * @param ignoreOverrun whether the completion queues may be shorter than the queues of all queue
 *     pairs that use them; default false
 * @param sequenceNumber the packet sequence number of the first packet that is sent, 0 to 0xffffff;
 *     by default it is chosen at random when the queue pair is created
 * @param flags special features, which few devices support; default none
 * @param sendOperations the operations that {@link SendRequests} posts by {@code ibv_wr_*}, on an
 *     extended queue pair; by default none, and everything is posted by {@code ibv_post_send}
 * @see ProtectionDomain#createQueuePair
 * @see QueuePairType
 * @see QueuePairFlag
 */
public record QueuePairConfig(
    QueuePairType type,
    @Nullable CompletionQueue sendCompletions,
    @Nullable CompletionQueue receiveCompletions,
    @Nullable SharedReceiveQueue sharedReceiveQueue,
    @Nullable XrcDomain xrcDomain,
    @Nullable ReceiveHash receiveHash,
    int sendDepth,
    int receiveDepth,
    int sendSges,
    int receiveSges,
    int inlineBytes,
    int segmentHeaderBytes,
    boolean signalAll,
    boolean ignoreOverrun,
    OptionalInt sequenceNumber,
    Set<QueuePairFlag> flags,
    Set<SendOperation> sendOperations) {
  /**
   * Copies the sets.
   *
   * @throws IllegalArgumentException if the sequence number is out of range
   */
  public QueuePairConfig {
    sequenceNumber.ifPresent(number -> Range.check("sequenceNumber", number, 0, 0xff_ffff));
    flags = Set.copyOf(flags);
    sendOperations = Set.copyOf(sendOperations);
  }

  /**
   * Returns the configuration of a reliable connection (RC) whose sends and receives complete on
   * one queue.
   *
   * @param completions the completion queue
   * @return the configuration, with the default of everything else
   */
  public static QueuePairConfig reliable(CompletionQueue completions) {
    return complete(QueuePairType.RELIABLE_CONNECTION, completions, completions);
  }

  /**
   * Returns the configuration of a reliable connection (RC) with two completion queues.
   *
   * @param sendCompletions the completion queue of sends
   * @param receiveCompletions the completion queue of receives
   * @return the configuration, with the default of everything else
   */
  public static QueuePairConfig reliable(
      CompletionQueue sendCompletions, CompletionQueue receiveCompletions) {
    return complete(QueuePairType.RELIABLE_CONNECTION, sendCompletions, receiveCompletions);
  }

  /**
   * Returns the configuration of an unreliable connection (UC) whose sends and receives complete on
   * one queue.
   *
   * @param completions the completion queue
   * @return the configuration, with the default of everything else
   */
  public static QueuePairConfig unreliable(CompletionQueue completions) {
    return complete(QueuePairType.UNRELIABLE_CONNECTION, completions, completions);
  }

  /**
   * Returns the configuration of a queue pair for unreliable datagrams (UD) whose sends and
   * receives complete on one queue.
   *
   * @param completions the completion queue
   * @return the configuration, with the default of everything else
   */
  public static QueuePairConfig datagram(CompletionQueue completions) {
    return complete(QueuePairType.UNRELIABLE_DATAGRAM, completions, completions);
  }

  /**
   * Returns the configuration of a queue pair for scalable reliable datagrams (SRD), which EFA
   * devices have. Its sends and receives complete on one queue.
   *
   * <p>Such a queue pair is always {@linkplain #extended extended}. Reads and writes must be asked
   * for: {@code extended(SendOperation.SEND, SendOperation.READ)}. Each request must create a
   * completion, so {@link #signalAll} is true.
   *
   * @param completions the completion queue
   * @return the configuration, with the operations SEND and SEND_WITH_IMMEDIATE, and the default of
   *     everything else
   */
  public static QueuePairConfig reliableDatagram(CompletionQueue completions) {
    return complete(QueuePairType.SCALABLE_RELIABLE_DATAGRAM, completions, completions)
        .signalAll(true)
        .extended(SendOperation.SEND, SendOperation.SEND_WITH_IMMEDIATE);
  }

  /**
   * Returns the configuration of a queue pair that sends and receives complete Ethernet frames. Its
   * sends and receives complete on one queue. Linux requires CAP_NET_RAW for such a queue pair.
   *
   * @param completions the completion queue
   * @return the configuration, with the default of everything else
   */
  public static QueuePairConfig rawPackets(CompletionQueue completions) {
    return complete(QueuePairType.RAW_PACKET, completions, completions);
  }

  /**
   * Returns the configuration of the sending side of an XRC connection.
   *
   * @param completions the completion queue
   * @return the configuration, with the default of everything else
   */
  public static QueuePairConfig xrcSend(CompletionQueue completions) {
    return of(QueuePairType.XRC_SEND, Objects.requireNonNull(completions, "completions"), null);
  }

  /**
   * Returns the configuration of the receiving side of an XRC connection. Its messages go to the
   * shared receive queues of an XRC domain.
   *
   * @param xrcDomain the XRC domain
   * @return the configuration, with the default of everything else
   */
  public static QueuePairConfig xrcReceive(XrcDomain xrcDomain) {
    Objects.requireNonNull(xrcDomain, "xrcDomain");
    return of(QueuePairType.XRC_RECEIVE, null, null).with(draft -> draft.xrcDomain = xrcDomain);
  }

  /**
   * Returns the configuration of a queue pair that spreads its packets over work queues (receive
   * side scaling).
   *
   * @param hash how the packets are spread
   * @return the configuration, of type RAW_PACKET, with the default of everything else
   */
  public static QueuePairConfig spread(ReceiveHash hash) {
    Objects.requireNonNull(hash, "hash");
    return of(QueuePairType.RAW_PACKET, null, null).with(draft -> draft.receiveHash = hash);
  }

  /**
   * Returns the configuration of a queue pair of any type.
   *
   * @param type the type
   * @param sendCompletions the completion queue of sends; null if the queue pair does not send
   * @param receiveCompletions the completion queue of receives; null if the queue pair does not
   *     receive itself
   * @return the configuration, with the default of everything else
   */
  public static QueuePairConfig of(
      QueuePairType type,
      @Nullable CompletionQueue sendCompletions,
      @Nullable CompletionQueue receiveCompletions) {
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        null,
        null,
        null,
        1,
        1,
        1,
        1,
        0,
        0,
        false,
        false,
        OptionalInt.empty(),
        Set.of(),
        Set.of());
  }

  /** Here null is a mistake, while {@link #of} takes it for a queue pair that lacks a queue. */
  private static QueuePairConfig complete(
      QueuePairType type, CompletionQueue sendCompletions, CompletionQueue receiveCompletions) {
    return of(
        type,
        Objects.requireNonNull(sendCompletions, "sendCompletions"),
        Objects.requireNonNull(receiveCompletions, "receiveCompletions"));
  }

  /** A mutable copy of the components that can be changed. */
  private static final class Draft {
    private @Nullable SharedReceiveQueue sharedReceiveQueue;
    private @Nullable XrcDomain xrcDomain;
    private @Nullable ReceiveHash receiveHash;
    private int sendDepth;
    private int receiveDepth;
    private int sendSges;
    private int receiveSges;
    private int inlineBytes;
    private int segmentHeaderBytes;
    private boolean signalAll;
    private boolean ignoreOverrun;
    private OptionalInt sequenceNumber;
    private Set<QueuePairFlag> flags;
    private Set<SendOperation> sendOperations;

    Draft(QueuePairConfig from) {
      sharedReceiveQueue = from.sharedReceiveQueue;
      xrcDomain = from.xrcDomain;
      receiveHash = from.receiveHash;
      sendDepth = from.sendDepth;
      receiveDepth = from.receiveDepth;
      sendSges = from.sendSges;
      receiveSges = from.receiveSges;
      inlineBytes = from.inlineBytes;
      segmentHeaderBytes = from.segmentHeaderBytes;
      signalAll = from.signalAll;
      ignoreOverrun = from.ignoreOverrun;
      sequenceNumber = from.sequenceNumber;
      flags = from.flags;
      sendOperations = from.sendOperations;
    }
  }

  private QueuePairConfig with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return new QueuePairConfig(
        type,
        sendCompletions,
        receiveCompletions,
        draft.sharedReceiveQueue,
        draft.xrcDomain,
        draft.receiveHash,
        draft.sendDepth,
        draft.receiveDepth,
        draft.sendSges,
        draft.receiveSges,
        draft.inlineBytes,
        draft.segmentHeaderBytes,
        draft.signalAll,
        draft.ignoreOverrun,
        draft.sequenceNumber,
        draft.flags,
        draft.sendOperations);
  }

  /**
   * Returns a copy with another {@link #sharedReceiveQueue()}. {@link #receiveDepth()} and {@link
   * #receiveSges()} then have no effect.
   *
   * @param sharedReceiveQueue a shared receive queue of the same protection domain; null for a
   *     receive queue of the queue pair's own
   * @return the copy
   */
  public QueuePairConfig sharedReceiveQueue(@Nullable SharedReceiveQueue sharedReceiveQueue) {
    return with(draft -> draft.sharedReceiveQueue = sharedReceiveQueue);
  }

  /**
   * Returns a copy with another {@link #sendDepth()}.
   *
   * @param sendDepth the maximum number of outstanding send requests, from 0 to {@link
   *     DeviceAttributes#maxWorkRequests}
   * @return the copy
   */
  public QueuePairConfig sendDepth(int sendDepth) {
    return with(draft -> draft.sendDepth = sendDepth);
  }

  /**
   * Returns a copy with another {@link #receiveDepth()}.
   *
   * @param receiveDepth the maximum number of outstanding receive requests, from 0 to {@link
   *     DeviceAttributes#maxWorkRequests}
   * @return the copy
   */
  public QueuePairConfig receiveDepth(int receiveDepth) {
    return with(draft -> draft.receiveDepth = receiveDepth);
  }

  /**
   * Returns a copy with another {@link #sendSges()}.
   *
   * @param sendSges the maximum number of pieces (scatter/gather elements) of a send request, from
   *     0 to {@link DeviceAttributes#maxSges}
   * @return the copy
   */
  public QueuePairConfig sendSges(int sendSges) {
    return with(draft -> draft.sendSges = sendSges);
  }

  /**
   * Returns a copy with another {@link #receiveSges()}.
   *
   * @param receiveSges the maximum number of pieces (scatter/gather elements) of a receive request,
   *     from 0 to {@link DeviceAttributes#maxSges}
   * @return the copy
   */
  public QueuePairConfig receiveSges(int receiveSges) {
    return with(draft -> draft.receiveSges = receiveSges);
  }

  /**
   * Returns a copy with another {@link #inlineBytes()}.
   *
   * @param inlineBytes the maximum number of bytes that can be copied into the request itself
   * @return the copy
   */
  public QueuePairConfig inlineBytes(int inlineBytes) {
    return with(draft -> draft.inlineBytes = inlineBytes);
  }

  /**
   * Returns a copy with another {@link #segmentHeaderBytes()}.
   *
   * @param segmentHeaderBytes the maximum length in bytes of the header of a segmented send, 0 to
   *     65535
   * @return the copy
   */
  public QueuePairConfig segmentHeaderBytes(int segmentHeaderBytes) {
    return with(draft -> draft.segmentHeaderBytes = segmentHeaderBytes);
  }

  /**
   * Returns a copy with other {@link #flags()}.
   *
   * @param flags special features, which few devices support
   * @return the copy
   */
  public QueuePairConfig flags(QueuePairFlag... flags) {
    return with(draft -> draft.flags = Set.of(flags));
  }

  /**
   * Returns a copy with another {@link #signalAll()}.
   *
   * @param signalAll whether every send creates a completion
   * @return the copy
   */
  public QueuePairConfig signalAll(boolean signalAll) {
    return with(draft -> draft.signalAll = signalAll);
  }

  /**
   * Returns a copy with another {@link #ignoreOverrun()}.
   *
   * @param ignoreOverrun true to skip the check of the length of the completion queues. The program
   *     then promises that there are never more unpolled completions than a completion queue can
   *     hold; a completion queue that overruns loses completions for good
   * @return the copy
   */
  public QueuePairConfig ignoreOverrun(boolean ignoreOverrun) {
    return with(draft -> draft.ignoreOverrun = ignoreOverrun);
  }

  /**
   * Returns a copy with another {@link #sequenceNumber()}, for a protocol that prescribes it.
   * Otherwise keep the random default: it makes the peer drop late packets of an earlier
   * connection.
   *
   * @param sequenceNumber the packet sequence number of the first packet that is sent, 0 to
   *     0xffffff
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairConfig sequenceNumber(int sequenceNumber) {
    return with(draft -> draft.sequenceNumber = OptionalInt.of(sequenceNumber));
  }

  /**
   * Returns a copy that creates an extended queue pair, {@code ibv_create_qp_ex}. {@link
   * SendRequests} has the same methods for it, but posts by {@code ibv_wr_*}, in several calls
   * instead of one; either all requests of a batch are posted or none.
   *
   * @param operations the operations that are to be posted; others are refused
   * @return the copy
   */
  public QueuePairConfig extended(SendOperation... operations) {
    return with(draft -> draft.sendOperations = Set.of(operations));
  }

  int sequenceNumberOrRandom() {
    return sequenceNumber.orElseGet(() -> ThreadLocalRandom.current().nextInt(1 << 24));
  }

  /** Returns whether the queue pair has a send queue. */
  boolean sends() {
    return type != QueuePairType.XRC_RECEIVE && receiveHash == null;
  }

  /** Returns whether the queue pair receives itself, through a queue of its own or a shared one. */
  boolean receives() {
    return type != QueuePairType.XRC_SEND
        && type != QueuePairType.XRC_RECEIVE
        && receiveHash == null;
  }

  /**
   * Throws IllegalArgumentException if the device does not support something, or values contradict
   * each other.
   */
  void check(ProtectionDomain domain) {
    require("sendCompletions", sendCompletions != null, sends());
    require("receiveCompletions", receiveCompletions != null, receives());
    require("xrcDomain", xrcDomain != null, type == QueuePairType.XRC_RECEIVE);
    checkSharedReceiveQueue(domain);
    RdmaDevice device = domain.device();
    if (sendCompletions != null) {
      SameDevice.check("send completion queue", sendCompletions.device(), device);
      domain.checkThreads(sendCompletions);
    }
    if (receiveCompletions != null) {
      SameDevice.check("receive completion queue", receiveCompletions.device(), device);
      domain.checkThreads(receiveCompletions);
    }
    if (xrcDomain != null) {
      SameDevice.check("XRC domain", xrcDomain.device(), device);
    }
    if (receiveHash != null) {
      SameDevice.check("indirection table", receiveHash.table().device(), device);
    }
    DeviceAttributes limits = device.limits();
    Range.check("sendDepth", sendDepth, 0, limits.maxWorkRequests());
    Range.check("receiveDepth", receiveDepth, 0, limits.maxWorkRequests());
    Range.check("sendSges", sendSges, 0, limits.maxSges());
    Range.check("receiveSges", receiveSges, 0, limits.maxSges());
    Range.check("inlineBytes", inlineBytes, 0, MAX_INLINE_BYTES);
    Range.check("segmentHeaderBytes", segmentHeaderBytes, 0, 0xffff);
    AllowedOpcodes.check(sendOperations, device);
    if (type == QueuePairType.SCALABLE_RELIABLE_DATAGRAM) {
      ReliableDatagrams.check(this, device);
    }
  }

  private void checkSharedReceiveQueue(ProtectionDomain domain) {
    if (sharedReceiveQueue == null) {
      return;
    }
    require("sharedReceiveQueue", true, receives());
    if (!domain.isSameAs(sharedReceiveQueue.domain())) {
      throw new IllegalArgumentException(
          "the " + sharedReceiveQueue + " belongs to another protection domain");
    }
    if (sharedReceiveQueue.type() == SharedReceiveQueueType.XRC) {
      throw new IllegalArgumentException(
          "the "
              + sharedReceiveQueue
              + " is of type XRC, which no queue pair can be created with;"
              + " the sender names it in each request");
    }
  }

  private void require(String name, boolean given, boolean needed) {
    if (given != needed) {
      throw new IllegalArgumentException(
          name
              + (given ? " is set, must not be set for " : " is not set, must be set for ")
              + type
              + (receiveHash == null ? "" : " with a receive hash"));
    }
  }

  /** Returns the lifetimes of the objects that a queue pair in this domain depends on. */
  List<Lifetime> dependsOn(ProtectionDomain domain) {
    return Stream.of(
            domain.lifetime(),
            sendCompletions == null ? null : sendCompletions.lifetime(),
            receiveCompletions == null ? null : receiveCompletions.lifetime(),
            sharedReceiveQueue == null ? null : sharedReceiveQueue.lifetime(),
            xrcDomain == null ? null : xrcDomain.lifetime(),
            receiveHash == null ? null : receiveHash.table().lifetime())
        .filter(Objects::nonNull)
        .distinct()
        .toList();
  }

  /** Returns what stops the polls of the queue pair's completions. */
  Set<PollPause> pauses() {
    return CompletionQueue.pauses(sendCompletions, receiveCompletions);
  }

  /** Writes the attributes of a queue pair in a domain. */
  void write(MemorySegment init, MemorySegment domain, Arena arena) {
    MemorySegment cap = ibv_qp_init_attr_ex.cap(init);
    if (sends()) {
      ibv_qp_cap.max_send_wr(cap, sendDepth);
      ibv_qp_cap.max_send_sge(cap, sendSges);
      ibv_qp_cap.max_inline_data(cap, inlineBytes);
    }
    if (receives()) {
      ibv_qp_cap.max_recv_wr(cap, receiveDepth);
      // libefa divides by it, which ends the process if it is 0.
      ibv_qp_cap.max_recv_sge(
          cap, sharedReceiveQueue == null ? Math.max(1, receiveSges) : receiveSges);
    }
    ibv_qp_init_attr_ex.qp_type(init, type.value());
    ibv_qp_init_attr_ex.sq_sig_all(init, signalAll ? 1 : 0);
    if (sendCompletions != null) {
      ibv_qp_init_attr_ex.send_cq(init, sendCompletions.queue());
    }
    if (receiveCompletions != null) {
      ibv_qp_init_attr_ex.recv_cq(init, receiveCompletions.queue());
    }
    if (sharedReceiveQueue != null) {
      ibv_qp_init_attr_ex.srq(init, sharedReceiveQueue.pointer());
    }
    ibv_qp_init_attr_ex.comp_mask(init, writeExtended(init, domain, arena));
  }

  /** Writes the fields that only the extended struct has, and returns their mask. */
  private int writeExtended(MemorySegment init, MemorySegment domain, Arena arena) {
    int mask = 0;
    if (xrcDomain == null) {
      mask |= rdma_h.IBV_QP_INIT_ATTR_PD();
      ibv_qp_init_attr_ex.pd(init, domain);
    } else {
      mask |= rdma_h.IBV_QP_INIT_ATTR_XRCD();
      ibv_qp_init_attr_ex.xrcd(init, xrcDomain.pointer());
    }
    if (receiveHash != null) {
      mask |= rdma_h.IBV_QP_INIT_ATTR_IND_TABLE() | rdma_h.IBV_QP_INIT_ATTR_RX_HASH();
      ibv_qp_init_attr_ex.rwq_ind_tbl(init, receiveHash.table().pointer());
      receiveHash.write(ibv_qp_init_attr_ex.rx_hash_conf(init), arena);
    }
    if (segmentHeaderBytes != 0) {
      mask |= rdma_h.IBV_QP_INIT_ATTR_MAX_TSO_HEADER();
      ibv_qp_init_attr_ex.max_tso_header(init, (short) segmentHeaderBytes);
    }
    if (!flags.isEmpty()) {
      mask |= rdma_h.IBV_QP_INIT_ATTR_CREATE_FLAGS();
      ibv_qp_init_attr_ex.create_flags(init, NativeConstants.mask(flags));
    }
    if (!sendOperations.isEmpty()) {
      mask |= rdma_h.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS();
      ibv_qp_init_attr_ex.send_ops_flags(init, NativeConstants.mask(sendOperations));
    }
    return mask;
  }

  /**
   * A sanity limit: no present device allows more than some hundred bytes, and the device refuses
   * what exceeds its own limit.
   */
  private static final int MAX_INLINE_BYTES = 1 << 16;
}
