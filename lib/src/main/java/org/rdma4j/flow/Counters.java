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
 * Counters, {@code struct ibv_counters}: an array of numbers that flows increase. {@link
 * #attach(CounterType, int)} says what an element counts, and {@link FlowSpecification.Count} makes
 * a flow use the counters.
 *
 * <p>All methods may be called from any thread. Closing the counters closes the flows that use them
 * first.
 *
 * @see FlowSpecification.Count
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
   * @throws RdmaException if the creation fails: EOPNOTSUPP if the device does not support counters
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
   * Chooses what an element counts for all flows that are created with these counters from now on:
   * {@code ibv_attach_counters_point_flow}.
   *
   * @param type what the element counts
   * @param index the index of the element, 0 to 65535
   * @throws IllegalArgumentException if the index is out of range
   * @throws RdmaException if the device refuses it
   */
  public void attach(CounterType type, int index) {
    attach(type, index, MemorySegment.NULL, List.of(lifetime));
  }

  /**
   * Chooses what an element counts for one flow: {@code ibv_attach_counters_point_flow}.
   *
   * @param type what the element counts
   * @param index the index of the element, 0 to 65535
   * @param flow a flow of the same device
   * @throws IllegalArgumentException if the index is out of range, or the flow belongs to another
   *     device
   * @throws RdmaException if the device refuses it, for example because it requires this call
   *     before the flow is created
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
   * Reads the elements: {@code ibv_read_counters}.
   *
   * @param count the number of elements to read, from the first one, 1 to 65536; must include all
   *     elements that were attached
   * @param cached whether a value that the driver read earlier is good enough: {@code
   *     IBV_READ_COUNTERS_ATTR_PREFER_CACHED}
   * @return the values, as unsigned numbers
   * @throws IllegalArgumentException if {@code count} is out of range
   * @throws RdmaException if the read fails: EINVAL if an element beyond {@code count} was attached
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
   * Returns the device that the counters belong to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the native {@code struct ibv_counters *}, for use with the bindings. It is valid until
   * this object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> counters);
  }

  /**
   * Closes the flows that use these counters, then destroys the counters: {@code
   * ibv_destroy_counters}. Does nothing if it is already closed.
   *
   * @throws RdmaException if a destruction fails; the other steps are still done
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
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
