package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_ah_attr;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.ibv_cq_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_device;
import org.rdma4j.bindings.generated.ibv_device_attr;
import org.rdma4j.bindings.generated.ibv_device_attr_ex;
import org.rdma4j.bindings.generated.ibv_gid;
import org.rdma4j.bindings.generated.ibv_gid_entry;
import org.rdma4j.bindings.generated.ibv_port_attr;
import org.rdma4j.bindings.generated.ibv_td_init_attr;
import org.rdma4j.bindings.generated.ibv_values_ex;
import org.rdma4j.bindings.generated.ibv_xrcd_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.timespec;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.NativeObjects;
import org.rdma4j.lifetime.Waits;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.platform.NetworkOrder;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.EthernetAddress;
import org.rdma4j.verbs.address.EthernetDestination;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.attribute.Guid;
import org.rdma4j.verbs.attribute.NodeType;
import org.rdma4j.verbs.attribute.PortAttributes;
import org.rdma4j.verbs.attribute.ReceiveSideScalingCapabilities;
import org.rdma4j.verbs.attribute.TransportType;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * An open RDMA device: {@code struct ibv_context}. Everything else is created from it, and closed
 * with it.
 *
 * <p>All methods may be called from any thread.
 */
public final class RdmaDevice implements AutoCloseable {
  /** Drivers of adapters whose user-space provider enters the kernel to post all the same. */
  private static final Set<String> DRIVERS_THAT_POST_THROUGH_THE_KERNEL = Set.of("hfi1", "ib_qib");

  /** Guards what libibverbs does not: a registration while fork support is being initialised. */
  private static final Object FORK_LOCK = new Object();

  private static boolean devicesWereOpened;

  static {
    VerbsAccess.grant(new Access());
  }

  private final MemorySegment context;
  private final DeviceInfo info;
  private final CallStyle callStyle;
  private final Lifetime lifetime;
  private final DeviceAttributes attributes;
  private final NativeObjects objects = new NativeObjects();
  private final AsyncEvents asyncEvents;
  private final Waits asyncEventWaits;

  private RdmaDevice(MemorySegment context, DeviceInfo info, CallStyle callStyle) {
    this(context, info, callStyle, () -> close(context));
    Leaks.watch(this, lifetime);
  }

  private RdmaDevice(
      MemorySegment context, DeviceInfo info, CallStyle callStyle, Runnable release) {
    this.context = context;
    this.info = info;
    this.callStyle = callStyle;
    this.asyncEvents = new AsyncEvents(info, context, objects);
    Waits waits = new Waits();
    this.asyncEventWaits = waits;
    this.lifetime = new Lifetime("device " + info.name(), waits::wake, release);
    try {
      Libc.setNonBlocking(ibv_context.async_fd(context));
      this.attributes = attributes();
    } catch (RuntimeException failed) {
      lifetime.close();
      throw failed;
    }
  }

  /**
   * A context that other code opened.
   *
   * @param release gives it back, when this is closed and where this fails
   */
  static RdmaDevice borrow(MemorySegment context, Runnable release) {
    forbidForkInitialization();
    DeviceInfo info = info(ibv_context.device(context));
    CallStyle style;
    try {
      style = resolve(null, info);
    } catch (IllegalArgumentException badProperty) {
      release.run();
      throw badProperty;
    }
    return new RdmaDevice(context, info, style, release);
  }

  private static void close(MemorySegment context) {
    // It returns -1 and sets errno where the provider's free fails; the descriptors are closed.
    if (rdma_h.ibv_close_device(context) != 0) {
      throw new RdmaException("ibv_close_device", 0, "");
    }
  }

  /**
   * The RDMA devices of this machine: {@code ibv_get_device_list}.
   *
   * @return a list, empty where there is none, also where the kernel has no RDMA at all
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where the list cannot be had
   */
  public static List<DeviceInfo> list() {
    return withDeviceList(
        devices -> {
          List<DeviceInfo> infos = new ArrayList<>();
          devices.forEach(device -> infos.add(info(device)));
          return List.copyOf(infos);
        });
  }

  /**
   * Opens a device, {@code ibv_open_device}, and queries its attributes. Posts and polls are called
   * {@linkplain CallStyle#CRITICAL critically} where it is an adapter whose provider does not enter
   * the kernel for them.
   *
   * @param name its name, as in {@link #list}
   * @return the open device
   * @throws IllegalArgumentException where there is none of that name; the message names those
   *     there are
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where it cannot be opened: EACCES where the user may not
   */
  public static RdmaDevice open(String name) {
    return open(name, null);
  }

  /**
   * Opens a device and chooses how its posts and polls are called.
   *
   * @param name its name, as in {@link #list}
   * @param callStyle how posts and polls are called; null where the device decides
   * @return the open device
   * @throws IllegalArgumentException where there is none of that name
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where it cannot be opened
   */
  public static RdmaDevice open(String name, @Nullable CallStyle callStyle) {
    return withDeviceList(
        devices -> {
          for (MemorySegment device : devices) {
            DeviceInfo info = info(device);
            if (info.name().equals(name)) {
              return open(device, info, callStyle);
            }
          }
          throw new IllegalArgumentException(
              "no RDMA device is named \""
                  + name
                  + "\"; "
                  + (devices.isEmpty()
                      ? "this machine has none (rdma link shows them)"
                      : "there are "
                          + devices.stream()
                              .map(device -> info(device).name())
                              .collect(Collectors.joining(", "))));
        });
  }

  /**
   * Opens a device again that another {@link RdmaDevice}, also one of another process, has open:
   * {@code ibv_import_device}. Each has objects of its own; with the bindings, one can import those
   * of the other.
   *
   * @param commandFileDescriptor a descriptor of {@link #commandFileDescriptor}, which from another
   *     process comes through {@code SCM_RIGHTS}. It is duplicated and remains the caller's
   * @return the open device
   * @throws IllegalArgumentException where the descriptor is negative
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws org.rdma4j.UnsupportedByDeviceException where the device's provider cannot import
   * @throws RdmaException where the descriptor is not open, or not one of a device
   */
  public static RdmaDevice importDevice(int commandFileDescriptor) {
    Range.check("commandFileDescriptor", commandFileDescriptor, 0, Integer.MAX_VALUE);
    NativeLibraries.require();
    forbidForkInitialization();
    int own = Libc.duplicate(commandFileDescriptor);
    MemorySegment context = Calls.pointer(rdma_h.ibv_import_device$address(), own);
    if (context.address() == 0) {
      int errno = Errno.errno();
      Libc.close(own);
      throw NativeFailures.failure(
          null, "ibv_import_device(descriptor " + commandFileDescriptor + ")", errno);
    }
    try {
      DeviceInfo info = info(ibv_context.device(context));
      return new RdmaDevice(context, info, resolve(null, info));
    } catch (IllegalArgumentException badProperty) {
      close(context);
      throw badProperty;
    }
  }

  private static void forbidForkInitialization() {
    synchronized (FORK_LOCK) {
      devicesWereOpened = true;
    }
  }

  /**
   * Keeps registered memory out of the children of fork(), which would otherwise take its pages
   * away from the device: {@code ibv_fork_init}. Only where the kernel does not do so by itself;
   * {@link ProcessBuilder} needs none of it. Does nothing where it is initialised, or not needed.
   *
   * @return what holds from now on, never {@link ForkStatus#DISABLED}
   * @throws IllegalStateException where it is too late, since a device was opened by this process
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where the call fails
   */
  public static ForkStatus initializeFork() {
    synchronized (FORK_LOCK) {
      ForkStatus status = forkStatus();
      if (status != ForkStatus.DISABLED) {
        return status;
      }
      if (devicesWereOpened) {
        throw new IllegalStateException(
            "fork support has to be initialised before the first device is opened");
      }
      NativeFailures.check(null, "ibv_fork_init", rdma_h.ibv_fork_init());
      return forkStatus();
    }
  }

  /**
   * Whether children of fork() keep away from registered memory: {@code ibv_is_fork_initialized}.
   *
   * @return what holds
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   */
  public static ForkStatus forkStatus() {
    NativeLibraries.require();
    return NativeConstants.of(
        ForkStatus.class, rdma_h.ibv_is_fork_initialized(), ForkStatus.DISABLED);
  }

  private static RdmaDevice open(
      MemorySegment device, DeviceInfo info, @Nullable CallStyle callStyle) {
    CallStyle style = resolve(callStyle, info);
    forbidForkInitialization();
    MemorySegment context = Calls.pointer(rdma_h.ibv_open_device$address(), device);
    if (context.address() == 0) {
      throw NativeFailures.failure(
          info.name(), "ibv_open_device(" + info.name() + ")", Errno.errno());
    }
    return new RdmaDevice(context, info, style);
  }

  private static CallStyle resolve(@Nullable CallStyle callStyle, DeviceInfo info) {
    String property = System.getProperty("org.rdma4j.calls");
    if (property != null) {
      return CallStyle.valueOf(property.toUpperCase(Locale.ROOT));
    }
    if (callStyle != null) {
      return callStyle;
    }
    Path driver = Path.of(info.systemPath(), "device", "driver");
    boolean adapter =
        Files.exists(driver)
            && !DRIVERS_THAT_POST_THROUGH_THE_KERNEL.contains(
                driver.toAbsolutePath().normalize().getFileName().toString());
    return adapter ? CallStyle.CRITICAL : CallStyle.PLAIN;
  }

  private interface DeviceListUse<T> {
    T with(List<MemorySegment> devices);
  }

  private static <T> T withDeviceList(DeviceListUse<T> use) {
    NativeLibraries.require();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_INT);
      MemorySegment list = Calls.pointer(rdma_h.ibv_get_device_list$address(), count);
      if (list.address() == 0) {
        // Libibverbs says so where the kernel has no RDMA subsystem.
        if (Errno.errno() == ErrorNumber.ENOSYS.value()) {
          return use.with(List.of());
        }
        throw new RdmaException("ibv_get_device_list", Errno.errno());
      }
      try {
        List<MemorySegment> devices = new ArrayList<>();
        for (int i = 0; i < count.get(JAVA_INT, 0); i++) {
          devices.add(list.getAtIndex(ADDRESS, i).reinterpret(ibv_device.layout().byteSize()));
        }
        return use.with(devices);
      } finally {
        rdma_h.ibv_free_device_list(list);
      }
    }
  }

  private static DeviceInfo info(MemorySegment device) {
    long guid = rdma_h.ibv_get_device_guid(device);
    return new DeviceInfo(
        rdma_h.ibv_get_device_name(device).getString(0),
        new Guid(NetworkOrder.of(guid)),
        NativeConstants.of(NodeType.class, ibv_device.node_type(device), NodeType.UNKNOWN),
        NativeConstants.of(
            TransportType.class, ibv_device.transport_type(device), TransportType.UNKNOWN),
        ibv_device.ibdev_path(device).getString(0),
        rdma_h.ibv_get_device_index(device));
  }

  /**
   * What is known of the device without opening it.
   *
   * @return its name, GUID and kind
   */
  public DeviceInfo info() {
    return info;
  }

  /**
   * How posts and polls of this device are called.
   *
   * @return the style that was chosen when it was opened
   */
  public CallStyle callStyle() {
    return callStyle;
  }

  /**
   * Queries what the device is and can do: {@code ibv_query_device}.
   *
   * @return its attributes
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where the query fails
   */
  public DeviceAttributes attributes() {
    return query(
        "ibv_query_device",
        ibv_device_attr.layout().byteSize(),
        result -> rdma_h.ibv_query_device(context, result),
        DeviceAttributes::read);
  }

  /**
   * Queries what the device is and can do, with all groups of capabilities: {@code
   * ibv_query_device_ex}.
   *
   * @return its attributes
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where the query fails
   */
  public ExtendedDeviceAttributes extendedAttributes() {
    return query(
        "ibv_query_device_ex",
        ibv_device_attr_ex.layout().byteSize(),
        result -> Verbs.ibv_query_device_ex(context, MemorySegment.NULL, result),
        ExtendedDeviceAttributes::read);
  }

  /**
   * Whether the device has an operation: whether its provider implements it and its attributes do
   * not rule it out. What it has may still refuse certain arguments; what it has not throws {@link
   * org.rdma4j.UnsupportedByDeviceException}, or an RdmaException.
   *
   * @param operation the operation
   * @return whether it is there
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where the attributes cannot be queried
   */
  public boolean supports(DeviceOperation operation) {
    ExtendedDeviceAttributes known = extendedAttributes();
    return lifetime.whileOpen(() -> operation.isSupported(context, known));
  }

  /**
   * Reads the device's clock: {@code ibv_query_rt_values_ex}.
   *
   * @return ticks of {@link ExtendedDeviceAttributes#coreClock}, in the valid bits of {@link
   *     ExtendedDeviceAttributes#completionTimestampMask}
   * @throws IllegalStateException where the device is closed
   * @throws org.rdma4j.UnsupportedByDeviceException where it has no clock that can be read
   * @throws RdmaException where the clock cannot be read
   */
  public long rawClock() {
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

  /**
   * Queries a port: {@code ibv_query_port}.
   *
   * @param port the port, from 1 to {@link DeviceAttributes#ports}
   * @return its attributes as of now
   * @throws IllegalArgumentException where there is no such port
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where the query fails
   */
  public PortAttributes port(int port) {
    checkPort(port);
    return query(
        "ibv_query_port(" + port + ")",
        ibv_port_attr.layout().byteSize(),
        result -> Verbs.ibv_query_port(context, (byte) port, result),
        PortAttributes::read);
  }

  /**
   * The entries of the GID tables of all ports that are not empty: {@code ibv_query_gid_table}.
   *
   * @return the entries, ordered by port and index
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where the query fails
   */
  public List<GidEntry> gids() {
    int capacity = 0;
    for (int port = 1; port <= attributes.ports(); port++) {
      capacity += port(port).gidTableLength();
    }
    long entries = capacity;
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = arena.allocate(ibv_gid_entry.layout(), Math.max(1, entries));
            long found = Verbs.ibv_query_gid_table(context, table, entries, 0);
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

  /**
   * An entry of a port's GID table, which may be empty: {@code ibv_query_gid}.
   *
   * @param port the port, from 1
   * @param index the index in its table, from 0 to {@link PortAttributes#gidTableLength} - 1
   * @return the GID, {@link Gid#ZERO} where the entry is empty
   * @throws IllegalArgumentException where there is no such port or index
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where the query fails
   */
  public Gid gid(int port, int index) {
    Range.checkIndex("GID index", index, port(port).gidTableLength());
    return query(
        "ibv_query_gid(" + port + ", " + index + ")",
        ibv_gid.layout().byteSize(),
        result ->
            errno(
                Calls.integer(rdma_h.ibv_query_gid$address(), context, (byte) port, index, result)),
        Gid::read);
  }

  /**
   * An entry of a port's GID table with its type and network interface: {@code ibv_query_gid_ex}.
   *
   * @param port the port, from 1
   * @param index the index in its table, from 0 to {@link PortAttributes#gidTableLength} - 1
   * @return the entry; empty where the table has none at that index
   * @throws IllegalArgumentException where there is no such port or index
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where the query fails
   */
  public Optional<GidEntry> gidEntry(int port, int index) {
    Range.checkIndex("GID index", index, port(port).gidTableLength());
    return query(
        "ibv_query_gid_ex(" + port + ", " + index + ")",
        ibv_gid_entry.layout().byteSize(),
        result -> {
          int errno = Verbs.ibv_query_gid_ex(context, port, index, result, 0);
          // Nothing is written then, and no entry is at port 0.
          return errno == ErrorNumber.ENODATA.value() ? 0 : errno;
        },
        result ->
            ibv_gid_entry.port_num(result) == 0 ? Optional.empty() : Optional.of(gidEntry(result)));
  }

  /**
   * The index of a partition key in a port's table: {@code ibv_get_pkey_index}.
   *
   * @param port the port, from 1
   * @param key the partition key, 0 to 0xffff, as a number (C takes it in network byte order)
   * @return the index, which queue pairs refer to; empty where the table has no such key
   * @throws IllegalArgumentException where there is no such port, or the key is out of range
   * @throws IllegalStateException where the device is closed
   */
  public OptionalInt partitionKeyIndex(int port, int key) {
    checkPort(port);
    Range.check("partition key", key, 0, 0xffff);
    short networkOrder =
        ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
            ? (short) key
            : Short.reverseBytes((short) key);
    int index =
        lifetime.whileOpen(() -> rdma_h.ibv_get_pkey_index(context, (byte) port, networkOrder));
    return index < 0 ? OptionalInt.empty() : OptionalInt.of(index);
  }

  /**
   * An entry of a port's partition key table: {@code ibv_query_pkey}.
   *
   * @param port the port, from 1
   * @param index the index in its table, from 0 to {@link PortAttributes#partitionKeyTableLength} -
   *     1
   * @return the partition key, 0 to 0xffff, as a number (C gives it in network byte order)
   * @throws IllegalArgumentException where there is no such port or index
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where the query fails
   */
  public int partitionKey(int port, int index) {
    Range.checkIndex("partition key index", index, port(port).partitionKeyTableLength());
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

  /**
   * Finds where on Ethernet packets to a GID go, as the kernel's routes and neighbours tell: {@code
   * ibv_resolve_eth_l2_from_gid}. For RoCE. It waits for the neighbour's answer, some seconds at
   * most.
   *
   * @param vector the way to the GID; of it, port, local GID and destination count
   * @return the destination
   * @throws IllegalArgumentException where there is no such port or index, or the vector has no
   *     global route
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where there is no way there, or nobody answers
   */
  public EthernetDestination resolveEthernet(AddressVector vector) {
    GlobalRoute route = vector.globalRoute();
    if (route == null) {
      throw new IllegalArgumentException(vector + " has no global route, must have one");
    }
    Range.checkIndex("GID index", route.gidIndex(), port(vector.port()).gidTableLength());
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_ah_attr.layout());
            vector.write(attributes);
            MemorySegment address = arena.allocate(EthernetAddress.BYTES);
            MemorySegment vlan = arena.allocate(ValueLayout.JAVA_SHORT);
            NativeFailures.check(
                info.name(),
                "ibv_resolve_eth_l2_from_gid(" + route.destination() + ")",
                Math.abs(rdma_h.ibv_resolve_eth_l2_from_gid(context, attributes, address, vlan)));
            int tag = Short.toUnsignedInt(vlan.get(ValueLayout.JAVA_SHORT, 0));
            return new EthernetDestination(
                EthernetAddress.read(address),
                tag > LAST_VLAN ? OptionalInt.empty() : OptionalInt.of(tag));
          }
        });
  }

  private static final int LAST_VLAN = 0xfff;

  /**
   * How many completion vectors the device has, which completion queues can be spread over.
   *
   * @return the number, at least 1
   * @throws IllegalStateException where the device is closed
   */
  public int completionVectors() {
    return lifetime.whileOpen(() -> ibv_context.num_comp_vectors(context));
  }

  /**
   * Allocates a protection domain: {@code ibv_alloc_pd}.
   *
   * @return the domain
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it cannot be allocated
   */
  public ProtectionDomain allocateProtectionDomain() {
    return lifetime.whileOpen(
        () ->
            new ProtectionDomain(
                this,
                NativeFailures.created(
                    info.name(),
                    "ibv_alloc_pd",
                    Calls.pointer(rdma_h.ibv_alloc_pd$address(), context))));
  }

  /**
   * Allocates a thread domain: {@code ibv_alloc_td}.
   *
   * @return the thread domain
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device's provider has none
   */
  public ThreadDomain allocateThreadDomain() {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment init = arena.allocate(ibv_td_init_attr.layout());
            return new ThreadDomain(
                this,
                NativeFailures.created(
                    info.name(), "ibv_alloc_td", Verbs.ibv_alloc_td(context, init)));
          }
        });
  }

  /**
   * Opens a new XRC domain that no other context shares: {@code ibv_open_xrcd}.
   *
   * @return the domain
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device has no XRC
   */
  public XrcDomain openXrcDomain() {
    return openXrcDomain(NO_FILE, Libc.O_CREAT);
  }

  /**
   * Opens the XRC domain of a file, which all contexts share that open it by the same file: {@code
   * ibv_open_xrcd}. The file's content does not matter, and nothing is written to it.
   *
   * @param file the file
   * @param create whether to create the domain where the file has none yet
   * @return the domain
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where the file cannot be opened, or the domain: EOPNOTSUPP where the
   *     device has no XRC, EAGAIN where the file has no domain and none is to be created
   */
  public XrcDomain openXrcDomain(Path file, boolean create) {
    int descriptor = Libc.open(file);
    try {
      return openXrcDomain(descriptor, create ? Libc.O_CREAT : 0);
    } finally {
      Libc.close(descriptor);
    }
  }

  private static final int NO_FILE = -1;

  private XrcDomain openXrcDomain(int descriptor, int flags) {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment init = arena.allocate(ibv_xrcd_init_attr.layout());
            ibv_xrcd_init_attr.comp_mask(
                init, rdma_h.IBV_XRCD_INIT_ATTR_FD() | rdma_h.IBV_XRCD_INIT_ATTR_OFLAGS());
            ibv_xrcd_init_attr.fd(init, descriptor);
            ibv_xrcd_init_attr.oflags(init, flags);
            return new XrcDomain(
                this,
                NativeFailures.created(
                    info.name(), "ibv_open_xrcd", Verbs.ibv_open_xrcd(context, init)));
          }
        });
  }

  /**
   * Creates a table of work queues: {@code ibv_create_rwq_ind_table}.
   *
   * @param queues its entries, of which one queue may have several; as many as a power of two, at
   *     most {@link ReceiveSideScalingCapabilities#maxIndirectionTableSize}
   * @return the table
   * @throws IllegalArgumentException where there are not as many as a power of two, or one is
   *     another device's
   * @throws IllegalStateException where the device or a queue is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device has none
   */
  public IndirectionTable createIndirectionTable(WorkQueue... queues) {
    if (Integer.bitCount(queues.length) != 1) {
      throw new IllegalArgumentException(
          "there are " + queues.length + " entries, must be 1, 2, 4 or another power of two");
    }
    List<WorkQueue> entries = List.of(queues);
    for (WorkQueue queue : entries) {
      SameDevice.check("work queue", queue.domain().device(), this);
    }
    return Lifetime.whileAllOpen(
        Stream.concat(Stream.of(lifetime), entries.stream().map(WorkQueue::lifetime)).toList(),
        () -> IndirectionTable.create(this, entries));
  }

  /**
   * Creates a completion channel: {@code ibv_create_comp_channel}.
   *
   * @return the channel
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it cannot be created
   */
  public CompletionChannel createCompletionChannel() {
    return lifetime.whileOpen(
        () ->
            new CompletionChannel(
                this,
                NativeFailures.created(
                    info.name(),
                    "ibv_create_comp_channel",
                    Calls.pointer(rdma_h.ibv_create_comp_channel$address(), context))));
  }

  /**
   * Creates a completion queue that is polled: {@code ibv_create_cq}.
   *
   * @param entries how many completions it holds at least, from 1 to {@link
   *     DeviceAttributes#maxCompletionQueueEntries}
   * @return the queue; {@link CompletionQueue#capacity} tells how many it was granted
   * @throws IllegalArgumentException where the number is out of range
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it cannot be created
   */
  public CompletionQueue createCompletionQueue(int entries) {
    return createCompletionQueue(entries, null);
  }

  /**
   * Creates a completion queue whose events arrive on a channel: {@code ibv_create_cq}.
   *
   * @param entries how many completions it holds at least, from 1 to {@link
   *     DeviceAttributes#maxCompletionQueueEntries}
   * @param channel the channel, which closes the queue when it is closed; null for none
   * @return the queue; {@link CompletionQueue#capacity} tells how many it was granted
   * @throws IllegalArgumentException where the number is out of range, or the channel is another
   *     device's
   * @throws IllegalStateException where the device or the channel is closed
   * @throws RdmaException where it cannot be created
   */
  public CompletionQueue createCompletionQueue(int entries, @Nullable CompletionChannel channel) {
    return createCompletionQueue(CompletionQueueConfig.of(entries).channel(channel));
  }

  /**
   * Creates a completion queue: {@code ibv_create_cq}, or {@code ibv_create_cq_ex} for an extended
   * one.
   *
   * @param config what it is to have
   * @return the queue; {@link CompletionQueue#capacity} tells how many entries it was granted
   * @throws IllegalArgumentException where a number is out of range, or the channel is another
   *     device's
   * @throws IllegalStateException where the device or the channel is closed
   * @throws RdmaException where it cannot be created, as where the device does not know one of the
   *     fields
   */
  public CompletionQueue createCompletionQueue(CompletionQueueConfig config) {
    Range.check("entries", config.entries(), 1, attributes.maxCompletionQueueEntries());
    Range.checkIndex("vector", config.vector(), completionVectors());
    CompletionChannel channel = config.channel();
    SameDevice.check("completion channel", channel == null ? this : channel.device(), this);
    return lifetime.whileOpen(
        () -> channel == null ? newQueue(config) : channel.whileOpen(() -> newQueue(config)));
  }

  private CompletionQueue newQueue(CompletionQueueConfig config) {
    CompletionChannel channel = config.channel();
    MemorySegment events = channel == null ? MemorySegment.NULL : channel.handle();
    Set<CompletionField> fields = config.fields();
    if (fields == null) {
      return new CompletionQueue(
          this,
          NativeFailures.created(
              info.name(),
              "ibv_create_cq(" + config.entries() + " entries)",
              Calls.pointer(
                  rdma_h.ibv_create_cq$address(),
                  context,
                  config.entries(),
                  MemorySegment.NULL,
                  events,
                  config.vector())),
          config);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_cq_init_attr_ex.layout());
      ibv_cq_init_attr_ex.cqe(init, config.entries());
      ibv_cq_init_attr_ex.channel(init, events);
      ibv_cq_init_attr_ex.comp_vector(init, config.vector());
      ibv_cq_init_attr_ex.wc_flags(init, NativeConstants.mask(fields));
      return new CompletionQueue(
          this,
          NativeFailures.created(
              info.name(),
              "ibv_create_cq_ex(" + config.entries() + " entries, " + fields + ")",
              Verbs.ibv_create_cq_ex(context, init)),
          config);
    }
  }

  /**
   * Waits for the next asynchronous event and acknowledges it: {@code ibv_get_async_event}, {@code
   * ibv_ack_async_event}. Where several threads wait, each event goes to one of them. Objects can
   * be closed meanwhile; an event that has not been read yet is gone with its object. A virtual
   * thread does not hold its carrier while it waits.
   *
   * @param timeout how long to wait at most; zero looks and does not wait
   * @return the event; empty where none came within that time
   * @throws InterruptedException where the thread is interrupted before or while it waits, which it
   *     notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where the device is closed, also while waiting
   * @throws RdmaException where the event cannot be read
   */
  public Optional<AsyncEvent> awaitAsyncEvent(Duration timeout) throws InterruptedException {
    return asyncEventWaits.await(timeout, asyncEventFileDescriptor(), lifetime, asyncEvents::next);
  }

  /**
   * The file descriptor on which asynchronous events arrive, for a poll or epoll of one's own. It
   * is non-blocking and belongs to this device: to be neither read nor closed.
   *
   * @return the descriptor
   * @throws IllegalStateException where the device is closed
   */
  public int asyncEventFileDescriptor() {
    return lifetime.whileOpen(() -> ibv_context.async_fd(context));
  }

  /**
   * The file descriptor by which the kernel is told what to do, for {@link #importDevice}. It
   * belongs to this device: to be duplicated or sent to another process, not to be closed.
   *
   * @return the descriptor
   * @throws IllegalStateException where the device is closed
   */
  public int commandFileDescriptor() {
    return lifetime.whileOpen(() -> ibv_context.cmd_fd(context));
  }

  /**
   * The way out to the bindings: {@code struct ibv_context *}. It is valid until this is closed;
   * with it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the device is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> context);
  }

  /**
   * Closes everything that was created from this device, youngest first, then the device: {@code
   * ibv_close_device}. Does nothing where it is closed.
   *
   * @throws RdmaException where a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** The attributes as they were when the device was opened. */
  DeviceAttributes limits() {
    return attributes;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** Lets events that name the pointer find the object, as long as it is reachable and open. */
  void register(long pointer, Object object, Lifetime itsLifetime) {
    objects.register(pointer, object, itsLifetime);
  }

  /** The context, for those whose life lies within this one's. */
  MemorySegment context() {
    return context;
  }

  void checkPort(int port) {
    Range.check("port", port, 1, attributes.ports());
  }

  private interface Query {
    /** 0 or the errno value. */
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
            NativeFailures.check(info.name(), call, query.into(result));
            return reading.from(result);
          }
        });
  }

  /** For functions that return -1 and leave what was wrong in errno. */
  private static int errno(int result) {
    return result == 0 ? 0 : Errno.errno();
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
