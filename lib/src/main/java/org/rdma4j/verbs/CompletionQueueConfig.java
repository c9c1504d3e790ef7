package org.rdma4j.verbs;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/**
 * The attributes that a completion queue is created with: {@code struct ibv_cq_init_attr_ex}.
 * Instances are immutable; each method that takes a value returns a changed copy.
 *
 * @param entries the minimum number of completions that the queue can hold, from 1 to {@link
 *     DeviceAttributes#maxCompletionQueueEntries}
 * @param channel the channel on which events of the queue arrive; closing the channel closes the
 *     queue. Null, the default, for no events
 * @param vector the index of the completion vector (interrupt) of the device that raises the
 *     events, from 0 to {@link RdmaDevice#completionVectors} - 1; default 0
 * @param fields the fields of completions of an extended queue, {@code ibv_create_cq_ex}, in
 *     addition to the id, the status and the opcode; null, the default, for a plain queue, {@code
 *     ibv_create_cq}, whose completions have all fields of {@code struct ibv_wc}
 */
public record CompletionQueueConfig(
    int entries,
    @Nullable CompletionChannel channel,
    int vector,
    @Nullable Set<CompletionField> fields) {
  /** Copies the fields. */
  public CompletionQueueConfig {
    fields = fields == null ? null : Set.copyOf(fields);
  }

  /**
   * Returns the configuration of a plain queue without a channel.
   *
   * @param entries the minimum number of completions that the queue can hold
   * @return the configuration, with the default of everything else
   */
  public static CompletionQueueConfig of(int entries) {
    return new CompletionQueueConfig(entries, null, 0, null);
  }

  /**
   * Returns a copy with another {@link #channel()}.
   *
   * @param channel the channel on which events of the queue arrive; null for no events
   * @return the copy
   */
  public CompletionQueueConfig channel(@Nullable CompletionChannel channel) {
    return new CompletionQueueConfig(entries, channel, vector, fields);
  }

  /**
   * Returns a copy with another {@link #vector()}.
   *
   * @param vector the index of the completion vector of the device that raises the events
   * @return the copy
   */
  public CompletionQueueConfig vector(int vector) {
    return new CompletionQueueConfig(entries, channel, vector, fields);
  }

  /**
   * Returns a copy that creates an extended queue.
   *
   * @param fields the fields of its completions; other fields are 0
   * @return the copy
   */
  public CompletionQueueConfig extended(CompletionField... fields) {
    return new CompletionQueueConfig(entries, channel, vector, Set.of(fields));
  }
}
