package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_ah_attr;
import org.rdma4j.bindings.generated.ibv_comp_cntr_caps;
import org.rdma4j.bindings.generated.ibv_device_attr;
import org.rdma4j.bindings.generated.ibv_device_attr_ex;
import org.rdma4j.bindings.generated.ibv_gid;
import org.rdma4j.bindings.generated.ibv_gid_entry;
import org.rdma4j.bindings.generated.ibv_port_attr;
import org.rdma4j.bindings.generated.ibv_values_ex;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.timespec;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.EthernetAddress;
import org.rdma4j.verbs.address.EthernetDestination;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.attribute.CompletionCounterCapabilities;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.attribute.PortAttributes;

/** The queries of an open device: its attributes, its clock, and the tables of its ports. */
final class DeviceQueries {
  private static final int LAST_VLAN = 0xfff;
  private static final int MEGABITS_OF_A_SPEED = 100;

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

  long portSpeed(int port) {
    return lifetime.whileOpen(
        () -> {
          NativeFailures.requireFunction(device, "ibv_query_port_speed", 62);
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment speed = arena.allocate(ValueLayout.JAVA_LONG);
            NativeFailures.check(
                device,
                "ibv_query_port_speed(" + port + ")",
                rdma_h.ibv_query_port_speed(context, port, speed));
            return speed.get(ValueLayout.JAVA_LONG, 0) * MEGABITS_OF_A_SPEED;
          }
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

  PortAttributes port(int port) {
    return query(
        "ibv_query_port(" + port + ")",
        ibv_port_attr.layout().byteSize(),
        result -> Verbs.ibv_query_port(context, (byte) port, result),
        PortAttributes::read);
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

  private static GidEntry gidEntry(MemorySegment entry) {
    return new GidEntry(
        ibv_gid_entry.port_num(entry),
        ibv_gid_entry.gid_index(entry),
        Gid.read(ibv_gid_entry.gid(entry)),
        NativeConstants.of(GidType.class, ibv_gid_entry.gid_type(entry), GidType.INFINIBAND),
        ibv_gid_entry.ndev_ifindex(entry));
  }

  Gid gid(int port, int index) {
    Range.checkIndex("GID index", index, port(port).gidTableLength());
    return query(
        "ibv_query_gid(" + port + ", " + index + ")",
        ibv_gid.layout().byteSize(),
        result ->
            errno(
                Calls.integer(rdma_h.ibv_query_gid$address(), context, (byte) port, index, result)),
        Gid::read);
  }

  Optional<GidEntry> gidEntry(int port, int index) {
    Range.checkIndex("GID index", index, port(port).gidTableLength());
    return query(
        "ibv_query_gid_ex(" + port + ", " + index + ")",
        ibv_gid_entry.layout().byteSize(),
        result -> {
          int errno = Verbs.ibv_query_gid_ex(context, port, index, result, 0);
          // Then nothing is written, and port 0 marks the empty entry.
          return errno == ErrorNumber.ENODATA.value() ? 0 : errno;
        },
        result ->
            ibv_gid_entry.port_num(result) == 0 ? Optional.empty() : Optional.of(gidEntry(result)));
  }

  OptionalInt partitionKeyIndex(int port, int key) {
    Range.check("partition key", key, 0, 0xffff);
    short networkOrder =
        ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
            ? (short) key
            : Short.reverseBytes((short) key);
    int index =
        lifetime.whileOpen(() -> rdma_h.ibv_get_pkey_index(context, (byte) port, networkOrder));
    return index < 0 ? OptionalInt.empty() : OptionalInt.of(index);
  }

  int partitionKey(int port, int index) {
    int keys = port(port).partitionKeyTableLength();
    if (keys == 0) {
      throw new IllegalArgumentException(
          "partition key index is " + index + ", but port " + port + " has no partition keys");
    }
    Range.checkIndex("partition key index", index, keys);
    return query(
        "ibv_query_pkey(" + port + ", " + index + ")",
        Short.BYTES,
        result ->
            errno(
                Calls.integer(
                    rdma_h.ibv_query_pkey$address(), context, (byte) port, index, result)),
        result ->
            Short.toUnsignedInt(
                result.get(ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 0)));
  }

  EthernetDestination resolveEthernet(AddressVector vector, GlobalRoute route) {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_ah_attr.layout());
            vector.write(attributes);
            MemorySegment address = arena.allocate(EthernetAddress.BYTES);
            MemorySegment vlan = arena.allocate(ValueLayout.JAVA_SHORT);
            NativeFailures.check(
                device,
                "ibv_resolve_eth_l2_from_gid(" + route.destination() + ")",
                Math.abs(rdma_h.ibv_resolve_eth_l2_from_gid(context, attributes, address, vlan)));
            int tag = Short.toUnsignedInt(vlan.get(ValueLayout.JAVA_SHORT, 0));
            return new EthernetDestination(
                EthernetAddress.read(address),
                tag > LAST_VLAN ? OptionalInt.empty() : OptionalInt.of(tag));
          }
        });
  }

  private interface Query {
    /** Writes the result and returns 0, or returns the errno value. */
    int into(MemorySegment result);
  }

  private interface Reading<T> {
    T from(MemorySegment result);
  }

  private <T> T query(String call, long bytes, Query query, Reading<T> reading) {
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
  private static int errno(int result) {
    return result == 0 ? 0 : Errno.errno();
  }
}
