package org.rdma4j.cm;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_ece;
import org.rdma4j.bindings.generated.ibv_qp_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.verbs.Ece;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairChange;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * The steps of connecting a queue pair that the connection manager does not manage, that is, one of
 * {@link ProtectionDomain#createQueuePair} and not of {@link CmId#createQueuePair}. The program
 * brings such a queue pair from state to state itself. See {@link CmId#externalQueuePair}.
 *
 * <p>Both sides create the queue pair, modify it by {@link #changeTo} INIT, and give its number
 * with {@link ConnectionConfig#queuePairNumber(int)}. The client connects; when {@link
 * CmEvent.ConnectResponse} comes, it modifies the queue pair by {@link #changeTo} READY_TO_RECEIVE
 * and READY_TO_SEND, and calls {@link #establish}. The server modifies the queue pair by {@link
 * #changeTo} READY_TO_RECEIVE and READY_TO_SEND, then accepts.
 *
 * <p>All methods may be called from any thread.
 *
 * @see CmId#externalQueuePair
 */
public final class ExternalQueuePair {
  private final NativeId id;

  ExternalQueuePair(NativeId id) {
    this.id = id;
  }

  /**
   * Returns the change that brings the queue pair to the next state: {@code rdma_init_qp_attr}.
   *
   * @param state INIT, READY_TO_RECEIVE or READY_TO_SEND
   * @return the change, for {@link QueuePair#modify}
   * @throws IllegalStateException if the identifier is closed or has no device yet
   * @throws RdmaException if the connection is not in a state in which the attributes are known
   */
  public QueuePairChange changeTo(QueuePairState state) {
    return id.query(
        pointer -> {
          id.requireDevice();
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_qp_attr.layout());
            MemorySegment mask = arena.allocate(JAVA_INT);
            ibv_qp_attr.qp_state(attributes, state.value());
            CmFailures.check(
                "rdma_init_qp_attr(" + state + ")",
                Calls.integer(rdma_h.rdma_init_qp_attr$address(), pointer, attributes, mask));
            return VerbsAccess.get().change(attributes, mask.get(JAVA_INT, 0));
          }
        });
  }

  /**
   * Notifies the peer that accepted that the queue pair is ready to send: {@code rdma_establish},
   * the answer to {@link CmEvent.ConnectResponse}.
   *
   * @throws IllegalStateException if the identifier is closed, or has a queue pair that the
   *     connection manager manages, for which it sends this message itself
   * @throws RdmaException if no peer has accepted
   */
  public void establish() {
    id.call(
        "rdma_establish",
        (pointer, arena) -> {
          if (id.hasQueuePair()) {
            throw new IllegalStateException(
                id + " has a queue pair of its own, and notifies the peer itself that it is ready");
          }
          return Calls.integer(rdma_h.rdma_establish$address(), pointer);
        });
  }

  /**
   * Sets the enhanced connection establishment options that this side offers: {@code
   * rdma_set_local_ece}. Set them before connecting or accepting.
   *
   * @param ece the options
   * @throws IllegalArgumentException if the vendor is 0
   * @throws RdmaException if the options cannot be set: EINVAL if the identifier has a queue pair
   *     that the connection manager manages
   */
  public void localEce(Ece ece) {
    if (ece.vendorId() == 0) {
      throw new IllegalArgumentException("vendorId is 0, must be the number of a vendor");
    }
    id.call(
        "rdma_set_local_ece",
        (pointer, arena) -> {
          MemorySegment raw = arena.allocate(ibv_ece.layout());
          ibv_ece.vendor_id(raw, ece.vendorId());
          ibv_ece.options(raw, ece.options());
          return Calls.integer(rdma_h.rdma_set_local_ece$address(), pointer, raw);
        });
  }

  /**
   * Returns the enhanced connection establishment options that the peer offers: {@code
   * rdma_get_remote_ece}. If they do not fit, a server calls {@link CmId#rejectEce}.
   *
   * @return the options of the peer's request or response; the vendor is 0 if it offers none
   * @throws RdmaException if the options cannot be read: EINVAL if the identifier has a queue pair
   *     that the connection manager manages
   */
  public Ece remoteEce() {
    return id.query(
        pointer -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment raw = arena.allocate(ibv_ece.layout());
            CmFailures.check(
                "rdma_get_remote_ece",
                Calls.integer(rdma_h.rdma_get_remote_ece$address(), pointer, raw));
            return new Ece(ibv_ece.vendor_id(raw), ibv_ece.options(raw), ibv_ece.comp_mask(raw));
          }
        });
  }
}
