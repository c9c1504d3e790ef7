package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.rdma4j.bindings.generated.ibv_cq_moderation_caps;

/**
 * How far the events of a completion queue can be held back: {@code struct ibv_cq_moderation_caps}.
 *
 * @param maxCount the most completions to one event; 0 where events cannot be held back
 * @param maxPeriod the longest time from a completion to its event, in whole microseconds
 */
public record CompletionModerationCapabilities(int maxCount, Duration maxPeriod) {
  static CompletionModerationCapabilities read(MemorySegment caps) {
    return new CompletionModerationCapabilities(
        Short.toUnsignedInt(ibv_cq_moderation_caps.max_cq_count(caps)),
        Duration.of(
            Short.toUnsignedInt(ibv_cq_moderation_caps.max_cq_period(caps)), ChronoUnit.MICROS));
  }
}
