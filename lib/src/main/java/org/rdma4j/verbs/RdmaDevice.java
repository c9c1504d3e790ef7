package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.NativeObjects;
import org.rdma4j.lifetime.Waits;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.EthernetDestination;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GlobalRoute;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.attribute.PortAttributes;
import org.rdma4j.verbs.attribute.ReceiveSideScalingCapabilities;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * An open RDMA device: {@code struct ibv_context}. Everything else is created from it, and closed
 * with it.
 *
 * <p>All methods may be called from any thread.
 */
public final class RdmaDevice implements AutoCloseable {
  static {
    VerbsAccess.grant(new Access());
  }

  private final MemorySegment context;
  private final DeviceInfo info;
  private final CallStyle callStyle;
  private final Lifetime lifetime;
  private final DeviceQueries queries;
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
    this.queries = new DeviceQueries(info.name(), context, lifetime);
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
    ForkSupport.forbidInitialization();
    DeviceInfo info = DeviceList.info(ibv_context.device(context));
    CallStyle style;
    try {
      style = CallStyle.resolve(null, info);
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
    return DeviceList.infos();
  }

  /**
   * Checks whether this process can use RDMA on this machine, and if not, why. It loads the native
   * libraries, opens each device for a moment and looks for an active port, and opens an event
   * channel of the connection manager. It takes some milliseconds for each device and throws no
   * exception.
   *
   * @return what was found, with the names of the devices that can be used
   */
  public static RdmaAvailability availability() {
    return AvailabilityCheck.of(new AvailabilityCheck.ThisMachine());
  }

  /**
   * Opens a device, {@code ibv_open_device}, and queries its attributes. Posts and polls are called
   * {@linkplain CallStyle#CRITICAL critically} where it is an adapter whose provider does not enter
   * the kernel for them.
   *
   * @param name its name, as in {@link #list}
   * @return the open device
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if the device cannot be opened: ENODEV if there is no device of that name
   *     (the message names the devices that there are), ENOENT or EACCES if this user may not open
   *     its file in {@code /dev/infiniband}
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
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if the device cannot be opened, as for {@link #open(String)}
   */
  public static RdmaDevice open(String name, @Nullable CallStyle callStyle) {
    return DeviceList.find(name, (device, info) -> open(device, info, callStyle));
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
    ForkSupport.forbidInitialization();
    int own = Libc.duplicate(commandFileDescriptor);
    MemorySegment context = Calls.pointer(rdma_h.ibv_import_device$address(), own);
    if (context.address() == 0) {
      int errno = Errno.errno();
      Libc.close(own);
      throw NativeFailures.failure(
          null, "ibv_import_device(descriptor " + commandFileDescriptor + ")", errno);
    }
    try {
      DeviceInfo info = DeviceList.info(ibv_context.device(context));
      return new RdmaDevice(context, info, CallStyle.resolve(null, info));
    } catch (IllegalArgumentException badProperty) {
      close(context);
      throw badProperty;
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
    return ForkSupport.initialize();
  }

  /**
   * Whether children of fork() keep away from registered memory: {@code ibv_is_fork_initialized}.
   *
   * @return what holds
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   */
  public static ForkStatus forkStatus() {
    return ForkSupport.status();
  }

  private static RdmaDevice open(
      MemorySegment device, DeviceInfo info, @Nullable CallStyle callStyle) {
    CallStyle style = CallStyle.resolve(callStyle, info);
    ForkSupport.forbidInitialization();
    MemorySegment context = Calls.pointer(rdma_h.ibv_open_device$address(), device);
    if (context.address() == 0) {
      throw NativeFailures.failure(
          info.name(), "ibv_open_device(" + info.name() + ")", Errno.errno());
    }
    return new RdmaDevice(context, info, style);
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
    return queries.attributes();
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
    return queries.extendedAttributes();
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
    return queries.rawClock();
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
    return queries.port(port);
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
    return queries.gids(capacity);
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
    checkPort(port);
    return queries.gid(port, index);
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
    checkPort(port);
    return queries.gidEntry(port, index);
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
    return queries.partitionKeyIndex(port, key);
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
    checkPort(port);
    return queries.partitionKey(port, index);
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
    requireGid(vector.port(), route.gidIndex());
    return queries.resolveEthernet(vector, route);
  }

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
    return ProtectionDomain.allocate(this);
  }

  /**
   * Imports a protection domain that was allocated through the same device file by another context,
   * such as one that another process passed on: {@code ibv_import_pd}. Closing it here does not
   * deallocate it, {@code ibv_unimport_pd}.
   *
   * @param kernelHandle what {@link ProtectionDomain#kernelHandle} of the original returns
   * @return the domain
   * @throws IllegalStateException if the device is closed
   * @throws RdmaException if it fails: EOPNOTSUPP if the device's provider does not support it
   */
  public ProtectionDomain importProtectionDomain(int kernelHandle) {
    return ProtectionDomain.imported(this, kernelHandle);
  }

  /**
   * Allocates memory on the device: {@code ibv_alloc_dm}.
   *
   * @param bytes its length in bytes, at least 1; devices have some hundred KiB at most
   * @param alignment log2 of the alignment of its address on the device, from 0 to 31
   * @return the memory
   * @throws IllegalArgumentException if a number is out of range
   * @throws IllegalStateException if the device is closed
   * @throws RdmaException if it fails: EOPNOTSUPP if the device has no such memory, ENOMEM if it
   *     has too little
   */
  public DeviceMemory allocateDeviceMemory(long bytes, int alignment) {
    return DeviceMemory.allocate(this, bytes, alignment);
  }

  /**
   * Imports device memory that was allocated by another context of the same device file: {@code
   * ibv_import_dm}. Closing it here does not free it, {@code ibv_unimport_dm}.
   *
   * @param kernelHandle what {@link DeviceMemory#kernelHandle} of the original returns
   * @param bytes what {@link DeviceMemory#byteSize} of the original returns
   * @return the memory
   * @throws IllegalArgumentException if the length is not positive
   * @throws IllegalStateException if the device is closed
   * @throws RdmaException if it fails: EOPNOTSUPP if the device's provider does not support it
   */
  public DeviceMemory importDeviceMemory(int kernelHandle, long bytes) {
    return DeviceMemory.imported(this, kernelHandle, bytes);
  }

  /**
   * Allocates a thread domain: {@code ibv_alloc_td}.
   *
   * @return the thread domain
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device's provider has none
   */
  public ThreadDomain allocateThreadDomain() {
    return ThreadDomain.allocate(this);
  }

  /**
   * Opens a new XRC domain that no other context shares: {@code ibv_open_xrcd}.
   *
   * @return the domain
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device has no XRC
   */
  public XrcDomain openXrcDomain() {
    return XrcDomain.open(this);
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
    return XrcDomain.open(this, file, create);
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
    return IndirectionTable.create(this, List.of(queues));
  }

  /**
   * Creates a completion channel: {@code ibv_create_comp_channel}.
   *
   * @return the channel
   * @throws IllegalStateException where the device is closed
   * @throws RdmaException where it cannot be created
   */
  public CompletionChannel createCompletionChannel() {
    return CompletionChannel.create(this);
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
    return CompletionQueue.create(this, config);
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

  /**
   * Returns the GID at an index of a port's table.
   *
   * @throws IllegalArgumentException if the port does not exist or the entry is empty; the message
   *     lists the GIDs in use
   */
  Gid requireGid(int port, int index) {
    Gid gid = gid(port, index);
    if (gid.isZero()) {
      throw new IllegalArgumentException(
          "port %d of %s has no GID at index %d; RdmaDevice.gids() lists those in use: %s"
              .formatted(port, info.name(), index, gidsInUse(port)));
    }
    return gid;
  }

  private String gidsInUse(int port) {
    String gids =
        gids().stream()
            .filter(entry -> entry.port() == port)
            .map(entry -> "%d (%s, %s)".formatted(entry.index(), entry.gid(), entry.type()))
            .collect(Collectors.joining(", "));
    return gids.isEmpty() ? "none" : gids;
  }

  void checkPort(int port) {
    Range.check("port", port, 1, attributes.ports());
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
