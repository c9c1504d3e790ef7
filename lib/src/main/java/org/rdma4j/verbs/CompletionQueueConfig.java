package org.rdma4j.verbs;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/**
 * What a completion queue is created with: {@code struct ibv_cq_init_attr_ex}. Immutable; each
 * method that takes a value returns a changed copy.
 *
 * @param entries how many completions it holds at least, from 1 to {@link
 *     DeviceAttributes#maxCompletionQueueEntries}
 * @param channel where its events arrive, which closes the queue when it is closed; null, the
 *     default, for none
 * @param vector which of the device's completion vectors raises its events, from 0 to {@link
 *     RdmaDevice#completionVectors} - 1; default 0
 * @param fields what an extended queue, {@code ibv_create_cq_ex}, tells of a completion beside id,
 *     status and opcode; null, the default, for a plain queue, {@code ibv_create_cq}, which tells
 *     all that {@code struct ibv_wc} has
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
   * A plain queue without a channel.
   *
   * @param entries how many completions it holds at least
   * @return the configuration, everything else at its default
   */
  public static CompletionQueueConfig of(int entries) {
    return new CompletionQueueConfig(entries, null, 0, null);
  }

  /**
   * Returns a copy with another {@link #channel()}.
   *
   * @param channel where its events arrive; null for none
   * @return the copy
   */
  public CompletionQueueConfig channel(@Nullable CompletionChannel channel) {
    return new CompletionQueueConfig(entries, channel, vector, fields);
  }

  /**
   * Returns a copy with another {@link #vector()}.
   *
   * @param vector which of the device's completion vectors raises its events
   * @return the copy
   */
  public CompletionQueueConfig vector(int vector) {
    return new CompletionQueueConfig(entries, channel, vector, fields);
  }

  /**
   * A copy that makes an extended queue.
   *
   * @param fields what it tells of a completion; what is not among them reads as 0
   * @return the copy
   */
  public CompletionQueueConfig extended(CompletionField... fields) {
    return new CompletionQueueConfig(entries, channel, vector, Set.of(fields));
  }
}
