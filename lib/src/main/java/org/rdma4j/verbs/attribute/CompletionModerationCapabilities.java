package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.rdma4j.bindings.generated.ibv_cq_moderation_caps;

/**
 * Limits for delaying the events of a completion queue: {@code struct ibv_cq_moderation_caps}.
 *
 * @param maxCount the maximum number of completions per event; 0 if events cannot be delayed
 * @param maxPeriod the longest time from a completion to its event, in whole microseconds
 * @see ExtendedDeviceAttributes
 * @see org.rdma4j.verbs.CompletionQueue#moderate
 */
public record CompletionModerationCapabilities(int maxCount, Duration maxPeriod) {
  static CompletionModerationCapabilities read(MemorySegment caps) {
    return new CompletionModerationCapabilities(
        Short.toUnsignedInt(ibv_cq_moderation_caps.max_cq_count(caps)),
        Duration.of(
            Short.toUnsignedInt(ibv_cq_moderation_caps.max_cq_period(caps)), ChronoUnit.MICROS));
  }
}
