package org.rdma4j.cm;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * The queue pair that librdmacm creates for an identifier and brings from state to state. The
 * {@link QueuePair} does not see these changes, so this class sets its state.
 */
final class ManagedQueuePair {
  private final NativeId id;
  private final QueuePairType type;

  /** Null before the first is created; a queue pair that was closed stays until the next. */
  private volatile @Nullable QueuePair latest;

  ManagedQueuePair(NativeId id, QueuePairType type) {
    this.id = id;
    this.type = type;
  }

  /** Creates it, on the identifier's device. */
  QueuePair create(RdmaDevice device, ProtectionDomain domain, QueuePairConfig config) {
    if (domain.device() != device) {
      throw new IllegalArgumentException(
          "the domain belongs to %s, must belong to the %s of the identifier (CmId.device)"
              .formatted(domain.device(), device));
    }
    if (config.type() != type) {
      throw new IllegalArgumentException(
          "type is " + config.type() + ", must be " + type + " for " + id);
    }
    QueuePairState state =
        type == QueuePairType.UNRELIABLE_DATAGRAM
            ? QueuePairState.READY_TO_SEND
            : QueuePairState.INIT;
    return id.lifetime()
        .whileOpen(
            () -> {
              QueuePair created =
                  VerbsAccess.get().createQueuePair(domain, config, id.queuePairOrigin(state));
              latest = created;
              return created;
            });
  }

  /** Returns it, or empty if there is none or it was closed. */
  Optional<QueuePair> get() {
    return id.query(pointer -> id.hasQueuePair() ? Optional.ofNullable(latest) : Optional.empty());
  }

  /** Notes the state to which librdmacm has brought it. */
  void noteState(QueuePairState state) {
    QueuePair known = latest;
    if (known != null) {
      VerbsAccess.get().noteState(known, state);
    }
  }

  /** Notes the state to which librdmacm brought it while it read an event. */
  void noteStateAfter(@Nullable CmEvent event) {
    if (event instanceof CmEvent.Established) {
      noteState(QueuePairState.READY_TO_SEND);
    } else if (event instanceof CmEvent.Rejected || event instanceof CmEvent.ConnectFailed) {
      noteState(QueuePairState.ERROR);
    }
  }
}
