package org.rdma4j.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_counter_attach_attr;
import org.rdma4j.bindings.generated.ibv_counters_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Flows;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * Counters, {@code struct ibv_counters}: a row of numbers that flows count up. What a place of the
 * row counts is said by {@link #attach(CounterType, int)}; which flows count, by {@link
 * FlowSpecification.Count}.
 *
 * <p>All methods may be called from any thread. Closing it closes its flows first.
 */
public final class Counters implements AutoCloseable {
  private static final int MAX = 1 << 16;

  private final RdmaDevice device;
  private final MemorySegment counters;
  private final Lifetime lifetime;

  private Counters(RdmaDevice device, MemorySegment counters) {
    this.device = device;
    this.counters = counters;
    DeviceInfo info = device.info();
    this.lifetime =
        new Lifetime(
            "counters of " + info.name(),
            () ->
                NativeFailures.check(
                    info.name(),
                    "ibv_destroy_counters",
                    Math.abs(Flows.ibv_destroy_counters(counters))),
            VerbsAccess.get().lifetime(device));
    Leaks.watch(this, lifetime);
  }

  /**
   * Creates counters that count nothing yet: {@code ibv_create_counters}.
   *
   * @param device the device
   * @return the counters
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device has none
   */
  public static Counters create(RdmaDevice device) {
    return VerbsAccess.get()
        .lifetime(device)
        .whileOpen(
            () -> {
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment init = arena.allocate(ibv_counters_init_attr.layout());
                return new Counters(
                    device,
                    NativeFailures.created(
                        device.info().name(),
                        "ibv_create_counters",
                        Flows.ibv_create_counters(device.handle(), init)));
              }
            });
  }

  /**
   * Says what a place counts, of all flows that are created with these counters from now on: {@code
   * ibv_attach_counters_point_flow}.
   *
   * @param type what it counts
   * @param index the place, 0 to 65535
   * @throws IllegalArgumentException where the place is out of range
   * @throws IllegalStateException where this is closed
   * @throws RdmaException where the device refuses it
   */
  public void attach(CounterType type, int index) {
    attach(type, index, MemorySegment.NULL, List.of(lifetime));
  }

  /**
   * Says what a place counts, of one flow: {@code ibv_attach_counters_point_flow}.
   *
   * @param type what it counts
   * @param index the place, 0 to 65535
   * @param flow a flow of the same device
   * @throws IllegalArgumentException where the place is out of range, or the flow another device's
   * @throws IllegalStateException where this or the flow is closed
   * @throws RdmaException where the device refuses it, as where it wants it said before the flow is
   *     created
   */
  public void attach(CounterType type, int index, Flow flow) {
    SameDevice.check("flow", flow.queuePair().domain().device(), device);
    attach(type, index, flow.pointer(), List.of(lifetime, flow.lifetime()));
  }

  private void attach(CounterType type, int index, MemorySegment flow, List<Lifetime> used) {
    Range.checkIndex("index", index, MAX);
    Lifetime.whileAllOpen(
        used,
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_counter_attach_attr.layout());
            ibv_counter_attach_attr.counter_desc(attributes, type.value());
            ibv_counter_attach_attr.index(attributes, index);
            NativeFailures.check(
                device.info().name(),
                "ibv_attach_counters_point_flow(" + type + ", " + index + ")",
                Math.abs(Flows.ibv_attach_counters_point_flow(counters, attributes, flow)));
            return true;
          }
        });
  }

  /**
   * Reads the places: {@code ibv_read_counters}.
   *
   * @param count how many, from the first, 1 to 65536; at least as many as have been attached
   * @param cached whether what the driver read before will do: {@code
   *     IBV_READ_COUNTERS_ATTR_PREFER_CACHED}
   * @return what they have counted up to, unsigned
   * @throws IllegalArgumentException where the number is out of range
   * @throws IllegalStateException where this is closed
   * @throws RdmaException where it fails: EINVAL where more places have been attached
   */
  public long[] read(int count, boolean cached) {
    Range.check("count", count, 1, MAX);
    int flags = cached ? rdma_h.IBV_READ_COUNTERS_ATTR_PREFER_CACHED() : 0;
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(ValueLayout.JAVA_LONG, count);
            NativeFailures.check(
                device.info().name(),
                "ibv_read_counters(" + count + ")",
                Math.abs(Flows.ibv_read_counters(counters, values, count, flags)));
            return values.toArray(ValueLayout.JAVA_LONG);
          }
        });
  }

  /**
   * The device that this belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * The way out to the bindings: {@code struct ibv_counters *}. It is valid until this is closed;
   * with it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where this is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> counters);
  }

  /**
   * Closes the flows that count here, then destroys it: {@code ibv_destroy_counters}. Does nothing
   * where it is closed.
   *
   * @throws RdmaException where a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** The pointer, for those whose life lies within this one's. */
  MemorySegment pointer() {
    return counters;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
