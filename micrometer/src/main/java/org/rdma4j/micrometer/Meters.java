package org.rdma4j.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/**
 * The meters that a binder has added to a registry. It must not refer to what they measure: the end
 * of a connection refers to it.
 */
final class Meters {
  private final MeterRegistry registry;
  private final List<Meter> added = new ArrayList<>();

  Meters(MeterRegistry registry) {
    this.registry = registry;
  }

  MeterRegistry registry() {
    return registry;
  }

  /** Adds a meter, unless the registry has one of this name and these tags, which then stays. */
  synchronized void add(String name, Tags tags, Supplier<? extends Meter> register) {
    Collection<Meter> before = registry.find(name).tags(tags).meters();
    Meter meter = register.get();
    // Meters with the same name and tags are equal.
    if (!before.contains(meter)) {
      added.add(meter);
    }
  }

  synchronized void remove() {
    added.forEach(registry::remove);
    added.clear();
  }
}
