package org.rdma4j.samples;

import java.util.EnumSet;
import java.util.Set;
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
 * What a game uses that not every device has.
 *
 * @param extended whether messages are posted by {@code ibv_wr_*}
 * @param onDemand whether the device pages memory in on demand
 * @param timestamps whether the device times what completes
 */
record Features(boolean extended, boolean onDemand, boolean timestamps) {
  static final Features NONE = new Features(false, false, false);

  /** A plain completion queue where that tells everything. */
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

  /** Of the memory of messages. */
  Set<AccessFlag> access() {
    return onDemand
        ? EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND)
        : EnumSet.of(AccessFlag.LOCAL_WRITE);
  }

  /** What would otherwise fail with less to say. */
  void checkDevice(RdmaDevice device) {
    ExtendedDeviceAttributes attributes = device.extendedAttributes();
    String name = device.info().name();
    if (extended && !device.supports(DeviceOperation.CREATE_EXTENDED_QUEUE_PAIR)) {
      throw new Failure("-N: %s has no extended queue pairs".formatted(name));
    }
    if (onDemand
        && !attributes
            .onDemandPaging()
            .reliableConnection()
            .containsAll(Set.of(OnDemandPagingOperation.SEND, OnDemandPagingOperation.RECEIVE))) {
      throw new Failure(
          "-o: %s cannot page memory in on demand for sends and receives of a reliable connection"
              .formatted(name));
    }
    if (timestamps && attributes.completionTimestampMask() == 0) {
      throw new Failure("-t: %s does not time completions".formatted(name));
    }
  }
}
