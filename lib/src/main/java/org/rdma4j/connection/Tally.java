package org.rdma4j.connection;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts how often each of some reasons was seen. */
final class Tally<K extends Enum<K>> {
  private final Class<K> reasons;
  private final Map<K, LongAdder> counts;

  Tally(Class<K> reasons) {
    this.reasons = reasons;
    this.counts = new EnumMap<>(reasons);
    for (K each : reasons.getEnumConstants()) {
      counts.put(each, new LongAdder());
    }
  }

  void add(K reason) {
    LongAdder count = counts.get(reason);
    if (count != null) {
      count.increment();
    }
  }

  /** Returns the counts of all reasons, also of reasons that were not seen. */
  Map<K, Long> counts() {
    Map<K, Long> all = new EnumMap<>(reasons);
    counts.forEach((reason, count) -> all.put(reason, count.sum()));
    return all;
  }
}
