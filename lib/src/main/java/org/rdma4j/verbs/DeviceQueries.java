package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_comp_cntr_caps;
import org.rdma4j.bindings.generated.ibv_device_attr;
import org.rdma4j.bindings.generated.ibv_device_attr_ex;
import org.rdma4j.bindings.generated.ibv_gid_entry;
import org.rdma4j.bindings.generated.ibv_values_ex;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.timespec;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.efa.EfaLibrary;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.attribute.CompletionCounterCapabilities;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.EfaAttributes;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;

/** The queries of an open device, of which {@link Port} makes some. */
final class DeviceQueries {
  private final String device;
  private final MemorySegment context;
  private final Lifetime lifetime;

  DeviceQueries(String device, MemorySegment context, Lifetime lifetime) {
    this.device = device;
    this.context = context;
    this.lifetime = lifetime;
  }

  DeviceAttributes attributes() {
    return query(
        "ibv_query_device",
        ibv_device_attr.layout().byteSize(),
        result -> rdma_h.ibv_query_device(context, result),
        DeviceAttributes::read);
  }

  ExtendedDeviceAttributes extendedAttributes() {
    return query(
        "ibv_query_device_ex",
        ibv_device_attr_ex.layout().byteSize(),
        result -> Verbs.ibv_query_device_ex(context, MemorySegment.NULL, result),
        ExtendedDeviceAttributes::read);
  }

  EfaAttributes efaAttributes() {
    return query(
        "efadv_query_device",
        EfaLibrary.DEVICE_ATTRIBUTES,
        result -> {
          EfaLibrary.queryDevice(device, context, result);
          return 0;
        },
        EfaAttributes::read);
  }

  long rawClock() {
    return query(
        "ibv_query_rt_values_ex",
        ibv_values_ex.layout().byteSize(),
        result -> {
          ibv_values_ex.comp_mask(result, rdma_h.IBV_VALUES_MASK_RAW_CLOCK());
          int errno = Verbs.ibv_query_rt_values_ex(context, result);
          boolean answered =
              (ibv_values_ex.comp_mask(result) & rdma_h.IBV_VALUES_MASK_RAW_CLOCK()) != 0;
          return errno != 0 || answered ? errno : ErrorNumber.EOPNOTSUPP.value();
        },
        result -> {
          MemorySegment clock = ibv_values_ex.raw_clock(result);
          return timespec.tv_sec(clock) * 1_000_000_000 + timespec.tv_nsec(clock);
        });
  }

  CompletionCounterCapabilities completionCounters() {
    return lifetime.whileOpen(
        () -> {
          NativeFailures.requireFunction(device, "_ibv_query_comp_cntr_caps", 65);
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment caps = arena.allocate(ibv_comp_cntr_caps.layout());
            NativeFailures.check(
                device, "ibv_query_comp_cntr_caps", Verbs.ibv_query_comp_cntr_caps(context, caps));
            return CompletionCounterCapabilities.read(caps);
          }
        });
  }

  /**
   * Returns the entries of the GID tables that are not empty.
   *
   * @param capacity the number of entries of all tables together
   */
  List<GidEntry> gids(long capacity) {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = arena.allocate(ibv_gid_entry.layout(), Math.max(1, capacity));
            long found = Verbs.ibv_query_gid_table(context, table, capacity, 0);
            if (found < 0) {
              throw new RdmaException("ibv_query_gid_table", (int) -found);
            }
            List<GidEntry> gids = new ArrayList<>();
            for (long i = 0; i < found; i++) {
              gids.add(gidEntry(ibv_gid_entry.asSlice(table, i)));
            }
            return List.copyOf(gids);
          }
        });
  }

  static GidEntry gidEntry(MemorySegment entry) {
    return new GidEntry(
        ibv_gid_entry.port_num(entry),
        ibv_gid_entry.gid_index(entry),
        Gid.read(ibv_gid_entry.gid(entry)),
        NativeConstants.of(GidType.class, ibv_gid_entry.gid_type(entry), GidType.INFINIBAND),
        ibv_gid_entry.ndev_ifindex(entry));
  }

  interface Query {
    /** Writes the result and returns 0, or returns the errno value. */
    int into(MemorySegment result);
  }

  interface Reading<T> {
    T from(MemorySegment result);
  }

  /** Makes a query while the device is open. */
  <T> T query(String call, long bytes, Query query, Reading<T> reading) {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment result = arena.allocate(bytes, Long.BYTES);
            NativeFailures.check(device, call, query.into(result));
            return reading.from(result);
          }
        });
  }

  /** Returns the errno value of a function that returned -1 and set errno, or 0. */
  static int errno(int result) {
    return result == 0 ? 0 : Errno.errno();
  }
}
