package org.rdma4j.tools.pingpong;

import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionField;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.DeviceOperation;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.SendOperation;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.attribute.OnDemandPagingOperation;

/**
 * Optional features that not every device supports.
 *
 * @param extended whether messages are posted with {@code ibv_wr_*}
 * @param onDemand whether the memory uses on-demand paging
 * @param timestamps whether the device records when requests complete
 */
record Features(boolean extended, boolean onDemand, boolean timestamps) {
  static final Features NONE = new Features(false, false, false);

  /** Adds what the features need. Without timestamps a plain completion queue is enough. */
  CompletionQueueConfig of(CompletionQueueConfig queue) {
    return timestamps
        ? queue.extended(
            CompletionField.TIMESTAMP,
            CompletionField.BYTE_LENGTH,
            CompletionField.QUEUE_PAIR_NUMBER)
        : queue;
  }

  QueuePairConfig of(QueuePairConfig queuePair) {
    return extended ? queuePair.extended(SendOperation.SEND) : queuePair;
  }

  /** Returns the access flags of the memory for messages. */
  Set<AccessFlag> access() {
    return onDemand
        ? EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND)
        : EnumSet.of(AccessFlag.LOCAL_WRITE);
  }

  /** Checks what would otherwise fail with a less helpful message. */
  void checkDevice(RdmaDevice device) {
    ExtendedDeviceAttributes attributes = device.extendedAttributes();
    String name = device.info().name();
    if (extended && !device.supports(DeviceOperation.CREATE_EXTENDED_QUEUE_PAIR)) {
      throw new Failure(
          "-N is not possible: %s does not support extended queue pairs".formatted(name));
    }
    if (onDemand
        && !attributes
            .onDemandPaging()
            .reliableConnection()
            .containsAll(Set.of(OnDemandPagingOperation.SEND, OnDemandPagingOperation.RECEIVE))) {
      throw new Failure(
          ("-o is not possible: %s does not support on-demand paging for sends and receives of"
                  + " reliable connections")
              .formatted(name));
    }
    if (timestamps && attributes.completionTimestampMask() == 0) {
      throw new Failure(
          "-t is not possible: %s does not support completion timestamps".formatted(name));
    }
  }
}
