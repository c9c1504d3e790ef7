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
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/**
 * What a queue pair is created with: {@code struct ibv_qp_init_attr_ex}. Immutable; each method
 * that takes a value returns a changed copy.
 *
 * @param type what it is
 * @param sendCompletions where it is told how sends ended; null where it sends nothing, being
 *     XRC_RECEIVE or having a receive hash
 * @param receiveCompletions where it is told how receives ended, may be the same queue; null where
 *     others receive for it, since it is XRC_SEND, XRC_RECEIVE or has a receive hash
 * @param sharedReceiveQueue where its receives are posted; null, the default, where it has its own
 * @param xrcDomain the domain of an XRC_RECEIVE one; null for others
 * @param receiveHash how its packets are spread over work queues; null, the default, where it
 *     receives by itself
 * @param sendDepth the most outstanding send requests; default 1
 * @param receiveDepth the most outstanding receive requests; default 1
 * @param sendSges the most scatter/gather entries of a send request; default 1
 * @param receiveSges the most scatter/gather entries of a receive request; default 1
 * @param inlineBytes the most bytes of a send that are copied into the request itself; default 0
 * @param segmentHeaderBytes the longest header of a {@link SendRequests#segmented segmented} send;
 *     default 0, and there are none
 * @param signalAll whether every send raises a completion, signalled or not; default false
 * @param mayOverrun whether the completion queues may be shorter than the queues of all queue pairs
 *     that use them; default false
 * @param sequenceNumber the packet sequence number of the first packet that is sent, 0 to 0xffffff;
 *     default chosen at random when the queue pair is created
 * @param flags what few devices can do besides; default nothing
 * @param sendOperations what {@link SendRequests} post by {@code ibv_wr_*}, on an extended queue
 *     pair; default none, and all is posted by {@code ibv_post_send}
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
    boolean mayOverrun,
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
   * Ethernet frames as they are, whose sends and receives complete on one queue. Linux wants
   * CAP_NET_RAW for it.
   *
   * @param completions the completion queue
   * @return the configuration, everything else at its default
   */
  public static QueuePairConfig rawPackets(CompletionQueue completions) {
    return of(QueuePairType.RAW_PACKET, completions, completions);
  }

  /**
   * The sending half of an extended reliable connection (XRC).
   *
   * @param completions the completion queue
   * @return the configuration, everything else at its default
   */
  public static QueuePairConfig xrcSend(CompletionQueue completions) {
    return of(QueuePairType.XRC_SEND, completions, null);
  }

  /**
   * The receiving half of an extended reliable connection (XRC), whose messages go to the shared
   * receive queues of an XRC domain.
   *
   * @param xrcDomain the domain
   * @return the configuration, everything else at its default
   */
  public static QueuePairConfig xrcReceive(XrcDomain xrcDomain) {
    return of(QueuePairType.XRC_RECEIVE, null, null).with(draft -> draft.xrcDomain = xrcDomain);
  }

  /**
   * Packets that are spread over work queues, receive side scaling.
   *
   * @param hash how
   * @return the configuration, of type RAW_PACKET, everything else at its default
   */
  public static QueuePairConfig spread(ReceiveHash hash) {
    return of(QueuePairType.RAW_PACKET, null, null).with(draft -> draft.receiveHash = hash);
  }

  /**
   * A queue pair of any type.
   *
   * @param type what it is
   * @param sendCompletions the completion queue of sends; null where it sends nothing
   * @param receiveCompletions the completion queue of receives; null where others receive for it
   * @return the configuration, everything else at its default
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

  /** The components, to change one of them. */
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
    private boolean mayOverrun;
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
      mayOverrun = from.mayOverrun;
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
        draft.mayOverrun,
        draft.sequenceNumber,
        draft.flags,
        draft.sendOperations);
  }

  /**
   * A copy with a {@link #sharedReceiveQueue()}, whose requests and pieces take the place of {@link
   * #receiveDepth()} and {@link #receiveSges()}.
   *
   * @param sharedReceiveQueue a shared receive queue of the same domain; null for one's own queue
   * @return the copy
   */
  public QueuePairConfig sharedReceiveQueue(@Nullable SharedReceiveQueue sharedReceiveQueue) {
    return with(draft -> draft.sharedReceiveQueue = sharedReceiveQueue);
  }

  /**
   * Returns a copy with another {@link #sendDepth()}.
   *
   * @param sendDepth the most outstanding send requests, from 0 to {@link
   *     DeviceAttributes#maxWorkRequests}
   * @return the copy
   */
  public QueuePairConfig sendDepth(int sendDepth) {
    return with(draft -> draft.sendDepth = sendDepth);
  }

  /**
   * Returns a copy with another {@link #receiveDepth()}.
   *
   * @param receiveDepth the most outstanding receive requests, from 0 to {@link
   *     DeviceAttributes#maxWorkRequests}
   * @return the copy
   */
  public QueuePairConfig receiveDepth(int receiveDepth) {
    return with(draft -> draft.receiveDepth = receiveDepth);
  }

  /**
   * Returns a copy with another {@link #sendSges()}.
   *
   * @param sendSges the most scatter/gather entries of a send request, from 0 to {@link
   *     DeviceAttributes#maxSges}
   * @return the copy
   */
  public QueuePairConfig sendSges(int sendSges) {
    return with(draft -> draft.sendSges = sendSges);
  }

  /**
   * Returns a copy with another {@link #receiveSges()}.
   *
   * @param receiveSges the most scatter/gather entries of a receive request, from 0 to {@link
   *     DeviceAttributes#maxSges}
   * @return the copy
   */
  public QueuePairConfig receiveSges(int receiveSges) {
    return with(draft -> draft.receiveSges = receiveSges);
  }

  /**
   * Returns a copy with another {@link #inlineBytes()}.
   *
   * @param inlineBytes the most bytes that are copied into the request itself
   * @return the copy
   */
  public QueuePairConfig inlineBytes(int inlineBytes) {
    return with(draft -> draft.inlineBytes = inlineBytes);
  }

  /**
   * Returns a copy with another {@link #segmentHeaderBytes()}.
   *
   * @param segmentHeaderBytes the longest header of a segmented send in bytes, 0 to 65535
   * @return the copy
   */
  public QueuePairConfig segmentHeaderBytes(int segmentHeaderBytes) {
    return with(draft -> draft.segmentHeaderBytes = segmentHeaderBytes);
  }

  /**
   * Returns a copy with other {@link #flags()}.
   *
   * @param flags what few devices can do besides
   * @return the copy
   */
  public QueuePairConfig flags(QueuePairFlag... flags) {
    return with(draft -> draft.flags = Set.of(flags));
  }

  /**
   * Returns a copy with another {@link #signalAll()}.
   *
   * @param signalAll whether every send raises a completion
   * @return the copy
   */
  public QueuePairConfig signalAll(boolean signalAll) {
    return with(draft -> draft.signalAll = signalAll);
  }

  /**
   * Returns a copy with another {@link #mayOverrun()}.
   *
   * @param mayOverrun true promises that never more completions are signalled and unpolled than the
   *     completion queues hold; a completion queue that overruns loses completions for good
   * @return the copy
   */
  public QueuePairConfig mayOverrun(boolean mayOverrun) {
    return with(draft -> draft.mayOverrun = mayOverrun);
  }

  /**
   * Returns a copy with another {@link #sequenceNumber()}, for a protocol that prescribes it.
   * Otherwise leave it to chance: the peer then drops packets of an earlier connection.
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
   * A copy that makes an extended queue pair, {@code ibv_create_qp_ex}: the same requests are
   * posted by {@code ibv_wr_*}, in several calls instead of one, all or none.
   *
   * @param operations the operations that are to be posted; no others can be
   * @return the copy
   */
  public QueuePairConfig extended(SendOperation... operations) {
    return with(draft -> draft.sendOperations = Set.of(operations));
  }

  int sequenceNumberOrRandom() {
    return sequenceNumber.orElseGet(() -> ThreadLocalRandom.current().nextInt(1 << 24));
  }

  /** Whether it has a send queue. */
  boolean sends() {
    return type != QueuePairType.XRC_RECEIVE && receiveHash == null;
  }

  /** Whether it receives by a queue that it has, or shares. */
  boolean receives() {
    return type != QueuePairType.XRC_SEND
        && type != QueuePairType.XRC_RECEIVE
        && receiveHash == null;
  }

  /** Refuses what the device does not offer, and what does not go together. */
  void check(ProtectionDomain domain) {
    require("sendCompletions", sendCompletions != null, sends());
    require("receiveCompletions", receiveCompletions != null, receives());
    require("xrcDomain", xrcDomain != null, type == QueuePairType.XRC_RECEIVE);
    checkSharedReceiveQueue(domain);
    RdmaDevice device = domain.device();
    if (sendCompletions != null) {
      SameDevice.check("send completion queue", sendCompletions.device(), device);
    }
    if (receiveCompletions != null) {
      SameDevice.check("receive completion queue", receiveCompletions.device(), device);
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
              + " is of type XRC, which senders name and no queue pair has");
    }
  }

  private void require(String name, boolean given, boolean wanted) {
    if (given != wanted) {
      throw new IllegalArgumentException(
          name
              + (given ? " is given, must not be for " : " is missing, must be given for ")
              + type
              + (receiveHash == null ? "" : " with a receive hash"));
    }
  }

  /** The lives that one of the domain lies within. */
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

  /** Writes the attributes of one of the domain. */
  void write(MemorySegment init, ProtectionDomain domain, Arena arena) {
    MemorySegment cap = ibv_qp_init_attr_ex.cap(init);
    if (sends()) {
      ibv_qp_cap.max_send_wr(cap, sendDepth);
      ibv_qp_cap.max_send_sge(cap, sendSges);
      ibv_qp_cap.max_inline_data(cap, inlineBytes);
    }
    if (receives()) {
      ibv_qp_cap.max_recv_wr(cap, receiveDepth);
      ibv_qp_cap.max_recv_sge(cap, receiveSges);
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
    ibv_qp_init_attr_ex.comp_mask(init, writeFurther(init, domain, arena));
  }

  /** Writes what only the extended struct has; returns its mask. */
  private int writeFurther(MemorySegment init, ProtectionDomain domain, Arena arena) {
    int mask = 0;
    if (xrcDomain == null) {
      mask |= rdma_h.IBV_QP_INIT_ATTR_PD();
      ibv_qp_init_attr_ex.pd(init, domain.pointer());
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
   * No device of today inlines more than some hundred bytes; what it grants, it says at creation.
   */
  private static final int MAX_INLINE_BYTES = 1 << 16;
}
