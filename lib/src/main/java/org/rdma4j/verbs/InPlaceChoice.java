package org.rdma4j.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.inplace.InPlaceSupport;

/** Decides which queues are used in place, see {@link QueueAccess}. */
final class InPlaceChoice {
  /** The types whose requests can be written in place. */
  private static final Set<QueuePairType> TYPES =
      EnumSet.of(
          QueuePairType.RELIABLE_CONNECTION,
          QueuePairType.UNRELIABLE_CONNECTION,
          QueuePairType.UNRELIABLE_DATAGRAM);

  /** The fields of completions that are not read in place. */
  private static final Set<CompletionField> FIELDS =
      EnumSet.of(
          CompletionField.TIMESTAMP,
          CompletionField.WALL_CLOCK,
          CompletionField.VLAN,
          CompletionField.FLOW_TAG,
          CompletionField.TAG,
          CompletionField.SOURCE_GID);

  private InPlaceChoice() {}

  /** Returns why a completion queue cannot be polled in place; null if it can. */
  static @Nullable String reasonAgainst(RdmaDevice device, CompletionQueueConfig config) {
    Set<CompletionField> fields = config.fields();
    if (fields != null && !Collections.disjoint(fields, FIELDS)) {
      return "its completions have one of the fields " + FIELDS;
    }
    return device.inPlace().reason();
  }

  /** Returns why receives cannot be posted to a shared receive queue in place; null if they can. */
  static @Nullable String reasonAgainst(RdmaDevice device, SharedReceiveQueueConfig config) {
    return config.type() == SharedReceiveQueueType.BASIC
        ? device.inPlace().reason()
        : "it is of type " + config.type();
  }

  private static @Nullable String reasonAgainst(RdmaDevice device, QueuePairConfig config) {
    if (!TYPES.contains(config.type())) {
      return "it is of type " + config.type() + ", must be one of " + TYPES;
    }
    if (!config.sendOperations().isEmpty()) {
      return "it is extended";
    }
    if (!config.flags().isEmpty()) {
      return "it has the flags " + config.flags();
    }
    if (config.segmentHeaderBytes() != 0) {
      return "it has segmentHeaderBytes";
    }
    return device.inPlace().reason();
  }

  /**
   * Returns how the queues of a queue pair are used in place; null if they are used by functions of
   * the provider. All queue pairs of a completion queue get the same answer.
   *
   * @throws UnsupportedByDeviceException if some of its queues are used in place, and it cannot be
   */
  static synchronized @Nullable InPlaceSupport choose(RdmaDevice device, QueuePairConfig config) {
    CompletionQueue sends = config.sendCompletions();
    CompletionQueue receives = config.receiveCompletions();
    SharedReceiveQueue shared = config.sharedReceiveQueue();
    String reason = reasonAgainst(device, config);
    if (reason == null) {
      reason =
          Stream.of(sends, receives)
              .filter(Objects::nonNull)
              .filter(CompletionQueue::isByProvider)
              .map(queue -> "the " + queue + " is not used in place")
              .findFirst()
              .orElse(null);
    }
    if (reason == null && shared != null && shared.inPlace() == null) {
      reason = "the " + shared + " is not used in place";
    }
    if (reason != null) {
      refuseIfInPlace(device, "a queue pair", reason, sends, receives);
      if (shared != null && shared.inPlace() != null) {
        throw refusal(device, "a queue pair", shared, reason);
      }
    }
    decide(reason == null, sends, receives);
    return reason == null ? device.inPlace().support() : null;
  }

  /**
   * Makes a completion queue use functions of the provider, for a queue that cannot be used in
   * place.
   *
   * @throws UnsupportedByDeviceException if it is used in place
   */
  static synchronized void requireProvider(
      RdmaDevice device, String user, @Nullable CompletionQueue queue) {
    if (queue != null) {
      refuseIfInPlace(device, user, "only queue pairs can be", queue);
      decide(false, queue);
    }
  }

  private static void decide(boolean isInPlace, @Nullable CompletionQueue... queues) {
    for (CompletionQueue queue : queues) {
      if (queue != null) {
        queue.decide(isInPlace);
      }
    }
  }

  private static void refuseIfInPlace(
      RdmaDevice device, String user, String reason, @Nullable CompletionQueue... queues) {
    for (CompletionQueue queue : queues) {
      if (queue != null && queue.inPlace() != null) {
        throw refusal(device, user, queue, reason);
      }
    }
  }

  private static UnsupportedByDeviceException refusal(
      RdmaDevice device, String user, Object queue, String reason) {
    return refusal(
        device,
        "use of " + user + " in place",
        "The %s is used in place, and %s of it cannot be: %s; create it with a queue of"
                .formatted(queue, user, reason)
            + " QueueAccess.BY_PROVIDER");
  }

  /** Creates the exception for everything that queues in place do not allow. */
  static UnsupportedByDeviceException refusal(RdmaDevice device, String use, String advice) {
    return new UnsupportedByDeviceException(
        use, ErrorNumber.EOPNOTSUPP.value(), device.info().name(), advice);
  }
}
