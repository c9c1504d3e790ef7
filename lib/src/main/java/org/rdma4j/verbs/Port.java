package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.nio.ByteOrder;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_ah_attr;
import org.rdma4j.bindings.generated.ibv_gid;
import org.rdma4j.bindings.generated.ibv_gid_entry;
import org.rdma4j.bindings.generated.ibv_port_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.EthernetAddress;
import org.rdma4j.verbs.address.EthernetDestination;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.attribute.PortAttributes;

/**
 * A port of an open device: its attributes, and its tables of GIDs and partition keys. Each query
 * asks the device again, because all of them change while the device is open.
 *
 * {@snippet :
 * Port port = device.port(1);
 * GidEntry gid = port.preferredGid();
 * System.out.println(port + " is " + port.attributes().state() + " and has the GID " + gid.gid());
 * }
 *
 * <p>All methods may be called from any thread.
 *
 * @see RdmaDevice#port
 * @see PortAttributes
 * @see GidEntry
 */
public final class Port {
  private static final int LAST_VLAN = 0xfff;
  private static final int MEGABITS_OF_A_SPEED = 100;

  private final RdmaDevice device;
  private final DeviceQueries queries;
  private final int number;

  Port(RdmaDevice device, DeviceQueries queries, int number) {
    this.device = device;
    this.queries = queries;
    this.number = number;
  }

  /**
   * Returns the device that the port belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the number of the port.
   *
   * @return the number, from 1
   */
  public int number() {
    return number;
  }

  /**
   * Queries the attributes of the port: {@code ibv_query_port}.
   *
   * @return the current attributes
   * @throws RdmaException if the query fails
   */
  public PortAttributes attributes() {
    return queries.query(
        "ibv_query_port(" + number + ")",
        ibv_port_attr.layout().byteSize(),
        result -> Verbs.ibv_query_port(device.context(), (byte) number, result),
        PortAttributes::read);
  }

  /**
   * Queries the port's GID table: {@code ibv_query_gid_table}. Empty entries are left out.
   *
   * @return the entries in use, ordered by index
   * @throws RdmaException if the query fails
   */
  public List<GidEntry> gids() {
    return device.gidTable().stream().filter(entry -> entry.port() == number).toList();
  }

  /**
   * Queries the GID at an index of the port's table, which may be empty: {@code ibv_query_gid}.
   *
   * @param index the index in the table, from 0 to {@link PortAttributes#gidTableLength} - 1
   * @return the GID; {@link Gid#ZERO} if the entry is empty
   * @throws IllegalArgumentException if the index does not exist
   * @throws RdmaException if the query fails
   */
  public Gid gid(int index) {
    checkGidIndex(index);
    return queries.query(
        "ibv_query_gid(" + number + ", " + index + ")",
        ibv_gid.layout().byteSize(),
        result ->
            DeviceQueries.errno(
                Calls.integer(
                    rdma_h.ibv_query_gid$address(),
                    device.context(),
                    (byte) number,
                    index,
                    result)),
        Gid::read);
  }

  /**
   * Queries an entry of the port's GID table with its type and network interface: {@code
   * ibv_query_gid_ex}.
   *
   * @param index the index in the table, from 0 to {@link PortAttributes#gidTableLength} - 1
   * @return the entry; an empty Optional if the entry is empty
   * @throws IllegalArgumentException if the index does not exist
   * @throws RdmaException if the query fails
   */
  public Optional<GidEntry> gidEntry(int index) {
    checkGidIndex(index);
    return queries.query(
        "ibv_query_gid_ex(" + number + ", " + index + ")",
        ibv_gid_entry.layout().byteSize(),
        result -> {
          int errno = Verbs.ibv_query_gid_ex(device.context(), number, index, result, 0);
          // Then nothing is written, and port 0 marks the empty entry.
          return errno == ErrorNumber.ENODATA.value() ? 0 : errno;
        },
        result ->
            ibv_gid_entry.port_num(result) == 0
                ? Optional.empty()
                : Optional.of(DeviceQueries.gidEntry(result)));
  }

  private void checkGidIndex(int index) {
    Range.checkIndex("GID index", index, attributes().gidTableLength());
  }

  /**
   * Returns the GID that most programs want: on Ethernet that of RoCE version 2, which routers
   * forward, with an IPv4 address if there is one, otherwise with a global IPv6 address, otherwise
   * with a link-local one; without RoCE version 2, and on InfiniBand, the first one of the table.
   *
   * @return the entry of the GID
   * @throws RdmaException if the port has no GID, or the query fails
   */
  public GidEntry preferredGid() {
    return gids().stream()
        .min(Comparator.comparingInt(Port::rank).thenComparing(GidEntry::index))
        .orElseThrow(
            () ->
                new RdmaException(
                    "looking for a GID of " + this,
                    0,
                    "The table is empty: give the network interface of the port an IP address, and"
                        + " set it up"));
  }

  private static int rank(GidEntry entry) {
    if (entry.type() != GidType.ROCE_V2) {
      return 3;
    }
    if (entry.gid().toInetAddress() instanceof Inet4Address) {
      return 0;
    }
    return entry.gid().toInetAddress().isLinkLocalAddress() ? 2 : 1;
  }

  /**
   * Returns the GID at an index of the table.
   *
   * @throws IllegalArgumentException if the entry is empty; the message lists the GIDs in use
   */
  Gid requireGid(int index) {
    Gid gid = gid(index);
    if (gid.isZero()) {
      throw new IllegalArgumentException(
          "%s has no GID at index %d; Port.gids() lists those in use: %s"
              .formatted(this, index, gidsInUse()));
    }
    return gid;
  }

  private String gidsInUse() {
    String gids =
        gids().stream()
            .map(entry -> "%d (%s, %s)".formatted(entry.index(), entry.gid(), entry.type()))
            .collect(Collectors.joining(", "));
    return gids.isEmpty() ? "none" : gids;
  }

  /**
   * Queries the partition key at an index of the port's table: {@code ibv_query_pkey}.
   *
   * @param index the index in the table, from 0 to {@link PortAttributes#partitionKeyTableLength} -
   *     1
   * @return the partition key, 0 to 0xffff, as a number (C returns it in network byte order)
   * @throws IllegalArgumentException if the index does not exist
   * @throws RdmaException if the query fails
   */
  public int partitionKey(int index) {
    int keys = attributes().partitionKeyTableLength();
    if (keys == 0) {
      throw new IllegalArgumentException(
          "partition key index is " + index + ", but " + this + " has no partition keys");
    }
    Range.checkIndex("partition key index", index, keys);
    return queries.query(
        "ibv_query_pkey(" + number + ", " + index + ")",
        Short.BYTES,
        result ->
            DeviceQueries.errno(
                Calls.integer(
                    rdma_h.ibv_query_pkey$address(),
                    device.context(),
                    (byte) number,
                    index,
                    result)),
        result ->
            Short.toUnsignedInt(
                result.get(ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 0)));
  }

  /**
   * Finds the index of a partition key in the port's table: {@code ibv_get_pkey_index}.
   *
   * @param key the partition key, 0 to 0xffff, as a number (C takes it in network byte order)
   * @return the index, by which queue pairs name the key; empty if the table does not contain the
   *     key
   * @throws IllegalArgumentException if the key is out of range
   */
  public OptionalInt partitionKeyIndex(int key) {
    Range.check("partition key", key, 0, 0xffff);
    short networkOrder =
        ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
            ? (short) key
            : Short.reverseBytes((short) key);
    int index =
        device
            .lifetime()
            .whileOpen(
                () -> rdma_h.ibv_get_pkey_index(device.context(), (byte) number, networkOrder));
    return index < 0 ? OptionalInt.empty() : OptionalInt.of(index);
  }

  /**
   * Queries the speed of the port, over all of its lanes and links: {@code ibv_query_port_speed}.
   *
   * @return the speed in Mbit/s, a multiple of 100
   * @throws org.rdma4j.UnsupportedByDeviceException if the provider of the device does not support
   *     this, or rdma-core is older than 62
   * @throws RdmaException if the query fails
   */
  public long speed() {
    return device
        .lifetime()
        .whileOpen(
            () -> {
              String name = device.info().name();
              NativeFailures.requireFunction(name, "ibv_query_port_speed", 62);
              try (Arena arena = Arena.ofConfined()) {
                MemorySegment speed = arena.allocate(ValueLayout.JAVA_LONG);
                NativeFailures.check(
                    name,
                    "ibv_query_port_speed(" + number + ")",
                    rdma_h.ibv_query_port_speed(device.context(), number, speed));
                return speed.get(ValueLayout.JAVA_LONG, 0) * MEGABITS_OF_A_SPEED;
              }
            });
  }

  /**
   * Resolves a GID to an Ethernet destination with the kernel's routes and neighbours, for RoCE:
   * {@code ibv_resolve_eth_l2_from_gid}. It waits for the neighbour's answer for a few seconds at
   * most.
   *
   * @param destination the GID of the destination
   * @param gidIndex the index of the GID of this port that packets come from
   * @return the destination
   * @throws IllegalArgumentException if the port has no GID at the index
   * @throws RdmaException if no route leads to the GID, or no neighbour answers
   */
  public EthernetDestination resolve(Gid destination, int gidIndex) {
    requireGid(gidIndex);
    return device.lifetime().whileOpen(() -> resolveWhileOpen(destination, gidIndex));
  }

  private EthernetDestination resolveWhileOpen(Gid destination, int gidIndex) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(ibv_ah_attr.layout());
      AddressVector.to(destination, number, gidIndex).write(attributes);
      MemorySegment address = arena.allocate(EthernetAddress.BYTES);
      MemorySegment vlan = arena.allocate(ValueLayout.JAVA_SHORT);
      NativeFailures.check(
          device.info().name(),
          "ibv_resolve_eth_l2_from_gid(" + destination + ")",
          Math.abs(
              rdma_h.ibv_resolve_eth_l2_from_gid(device.context(), attributes, address, vlan)));
      int tag = Short.toUnsignedInt(vlan.get(ValueLayout.JAVA_SHORT, 0));
      return new EthernetDestination(
          EthernetAddress.read(address),
          tag > LAST_VLAN ? OptionalInt.empty() : OptionalInt.of(tag));
    }
  }

  /** Returns the number of the port and the name of the device. */
  @Override
  public String toString() {
    return "port " + number + " of " + device.info().name();
  }
}
