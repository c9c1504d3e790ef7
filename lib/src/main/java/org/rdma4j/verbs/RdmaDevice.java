package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_context;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.inplace.InPlaceSupport;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.NativeObjects;
import org.rdma4j.lifetime.Waits;
import org.rdma4j.platform.Libc;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.NativeLibraries;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.attribute.CompletionCounterCapabilities;
import org.rdma4j.verbs.attribute.CountedOperation;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.EfaAttributes;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.attribute.ReceiveSideScalingCapabilities;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * An open RDMA device: {@code struct ibv_context}. All other objects of the verbs are created from
 * a device, and closing it closes them first.
 *
 * {@snippet :
 * try (RdmaDevice device = RdmaDevice.open("rxe0");
 *     ProtectionDomain domain = device.allocateProtectionDomain()) {
 *   // register memory, create queues and queue pairs
 * }
 * }
 *
 * <p>{@link #list} names the devices of this machine, and {@link #availability} gives the reason if
 * there is none.
 *
 * <p>All methods may be called from any thread.
 *
 * @see RdmaAvailability
 * @see DeviceInfo
 * @see ProtectionDomain
 * @see CompletionQueue
 * @see org.rdma4j.verbs.attribute.DeviceAttributes
 */
public final class RdmaDevice implements AutoCloseable {
  static {
    VerbsAccess.grant(new Access());
  }

  private final MemorySegment context;
  private final DeviceInfo info;
  private final boolean callsCritically;
  private final Lifetime lifetime;
  private final DeviceQueries queries;
  private final DeviceAttributes attributes;
  private final NativeObjects objects = new NativeObjects();
  private final AsyncEvents asyncEvents;
  private final Waits asyncEventWaits;
  private volatile InPlaceSupport.@Nullable Answer inPlace;
  private final Set<Runnable> removalActions = ConcurrentHashMap.newKeySet();

  private RdmaDevice(MemorySegment context, DeviceInfo info, boolean callsCritically) {
    this(context, info, callsCritically, () -> close(context));
    Leaks.watch(this, lifetime);
  }

  private RdmaDevice(
      MemorySegment context, DeviceInfo info, boolean callsCritically, Runnable release) {
    this.context = context;
    this.info = info;
    this.callsCritically = callsCritically;
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
   * Returns a device for a context that other code opened.
   *
   * @param release gives the context back; called when the device is closed, and if this method
   *     fails
   */
  static RdmaDevice borrow(MemorySegment context, Runnable release) {
    DeviceInfo info = DeviceList.info(ibv_context.device(context));
    boolean critical;
    try {
      critical = CriticalCalls.chosenFor(info);
    } catch (IllegalArgumentException badProperty) {
      release.run();
      throw badProperty;
    }
    return new RdmaDevice(context, info, critical, release);
  }

  /** See {@link VerbsAccess#onRemoval}. */
  Runnable onRemoval(Runnable action) {
    removalActions.add(action);
    return () -> removalActions.remove(action);
  }

  /** See {@link VerbsAccess#removed}. */
  void removed() {
    try {
      removalActions.forEach(Runnable::run);
    } finally {
      close();
    }
  }

  private static void close(MemorySegment context) {
    // It fails if the provider fails to free the context. The file descriptors are closed all the
    // same.
    if (rdma_h.ibv_close_device(context) != 0) {
      throw new RdmaException("ibv_close_device", 0, "");
    }
  }

  /**
   * Lists the RDMA devices of this machine: {@code ibv_get_device_list}.
   *
   * @return the devices; empty if there are none, or if the kernel does not support RDMA
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if libibverbs cannot list the devices
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
   * Opens a device: {@code ibv_open_device}.
   *
   * <p>If the device is an adapter whose provider does not enter the kernel to post and poll, posts
   * and polls call C critically: the thread keeps its state, which saves about 20 ns, and a garbage
   * collector waits for the call. The system property {@code org.rdma4j.calls}, with the value
   * {@code critical} or {@code plain}, overrides that; it is read here.
   *
   * @param name the name of the device, as in {@link #list}
   * @return the open device
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if the device cannot be opened: ENODEV if there is no device of that name
   *     (the message names the devices that there are), ENOENT or EACCES if this user may not open
   *     its file in {@code /dev/infiniband}
   * @throws IllegalArgumentException if that system property has another value
   */
  public static RdmaDevice open(String name) {
    return DeviceList.find(name, RdmaDevice::open);
  }

  /**
   * Opens a device a second time, through the file descriptor of another {@link RdmaDevice} of this
   * or another process: {@code ibv_import_device}. The two have objects of their own. Each can
   * import domains, regions and device memory of the other, see {@link #importProtectionDomain}.
   *
   * @param commandFileDescriptor the {@link #commandFileDescriptor} of the other, which another
   *     process sends with {@code SCM_RIGHTS}. It is duplicated, so the caller still has to close
   *     it
   * @return the open device
   * @throws IllegalArgumentException if the descriptor is negative
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws org.rdma4j.UnsupportedByDeviceException if the device's provider does not support it
   * @throws RdmaException if the descriptor is not open, or is not that of a device
   */
  public static RdmaDevice importDevice(int commandFileDescriptor) {
    Range.check("commandFileDescriptor", commandFileDescriptor, 0, Integer.MAX_VALUE);
    NativeLibraries.require();
    MemorySegment context = DeviceImport.context(commandFileDescriptor);
    try {
      DeviceInfo info = DeviceList.info(ibv_context.device(context));
      return new RdmaDevice(context, info, CriticalCalls.chosenFor(info));
    } catch (IllegalArgumentException badProperty) {
      close(context);
      throw badProperty;
    }
  }

  private static RdmaDevice open(MemorySegment device, DeviceInfo info) {
    boolean critical = CriticalCalls.chosenFor(info);
    MemorySegment context = Calls.pointer(rdma_h.ibv_open_device$address(), device);
    if (context.address() == 0) {
      throw NativeFailures.failure(
          info.name(), "ibv_open_device(" + info.name() + ")", Errno.errno());
    }
    return new RdmaDevice(context, info, critical);
  }

  /**
   * Returns what is known of the device without opening it.
   *
   * @return the name, the GUID and the kind of the device
   */
  public DeviceInfo info() {
    return info;
  }

  /**
   * Queries the attributes of the device, among them its limits: {@code ibv_query_device}.
   *
   * @return the attributes
   * @throws RdmaException if the query fails
   */
  public DeviceAttributes attributes() {
    return queries.attributes();
  }

  /**
   * Queries the attributes of the device with all groups of capabilities: {@code
   * ibv_query_device_ex}.
   *
   * @return the attributes
   * @throws RdmaException if the query fails
   */
  public ExtendedDeviceAttributes extendedAttributes() {
    return queries.extendedAttributes();
  }

  /**
   * Queries what an EFA device can do, among it the limits of queue pairs of type {@link
   * QueuePairType#SCALABLE_RELIABLE_DATAGRAM}: {@code efadv_query_device}.
   *
   * @return the attributes
   * @throws org.rdma4j.UnsupportedByDeviceException if the device is not one of EFA, or libefa is
   *     not installed
   * @throws RdmaException if the query fails
   */
  public EfaAttributes efaAttributes() {
    return queries.efaAttributes();
  }

  /**
   * Returns whether the device supports an operation: whether its provider implements it and its
   * attributes do not rule it out. An operation that the device supports may still refuse certain
   * arguments. A call that it does not support throws {@link
   * org.rdma4j.UnsupportedByDeviceException}, or another RdmaException.
   *
   * @param operation the operation
   * @return whether the device supports it
   * @throws RdmaException if the attributes cannot be queried
   */
  public boolean supports(DeviceOperation operation) {
    ExtendedDeviceAttributes known = extendedAttributes();
    return lifetime.whileOpen(() -> operation.isSupported(context, known));
  }

  /**
   * Reads the device's clock: {@code ibv_query_rt_values_ex}.
   *
   * @return the time in ticks of {@link ExtendedDeviceAttributes#coreClock}; the bits of {@link
   *     ExtendedDeviceAttributes#completionTimestampMask} are valid
   * @throws org.rdma4j.UnsupportedByDeviceException if the device has no clock that can be read
   * @throws RdmaException if the clock cannot be read
   */
  public long rawClock() {
    return queries.rawClock();
  }

  /**
   * Returns a port of the device, for queries of its attributes and tables.
   *
   * @param number the number of the port, from 1 to {@link DeviceAttributes#ports}
   * @return the port
   * @throws IllegalArgumentException if the port does not exist
   */
  public Port port(int number) {
    checkPort(number);
    return new Port(this, queries, number);
  }

  /**
   * Returns all ports of the device.
   *
   * @return the ports, in the order of their numbers
   */
  public List<Port> ports() {
    return IntStream.rangeClosed(1, attributes.ports()).mapToObj(this::port).toList();
  }

  /** Returns the entries in use of the GID tables of all ports, ordered by port and index. */
  List<GidEntry> gidTable() {
    int capacity = 0;
    for (Port port : ports()) {
      capacity += port.attributes().gidTableLength();
    }
    return queries.gids(capacity);
  }

  /**
   * Queries what completion counters of the device can do: {@code ibv_query_comp_cntr_caps}.
   *
   * @return the capabilities
   * @throws org.rdma4j.UnsupportedByDeviceException if the device has no completion counters, or
   *     rdma-core is older than 65
   * @throws RdmaException if the query fails
   */
  public CompletionCounterCapabilities completionCounters() {
    return queries.completionCounters();
  }

  /**
   * Returns the number of completion vectors of the device. Completion queues can be spread over
   * them, see {@link CompletionQueueConfig}.
   *
   * @return the number, at least 1
   */
  public int completionVectors() {
    return lifetime.whileOpen(() -> ibv_context.num_comp_vectors(context));
  }

  /**
   * Allocates a protection domain: {@code ibv_alloc_pd}.
   *
   * @return the domain
   * @throws RdmaException if it cannot be allocated
   */
  public ProtectionDomain allocateProtectionDomain() {
    return ProtectionDomain.allocate(this);
  }

  /**
   * Imports a protection domain that was allocated through the same device file by another context,
   * such as a domain that another process passed on: {@code ibv_import_pd}. Closing it here does
   * not deallocate it, {@code ibv_unimport_pd}.
   *
   * @param kernelHandle what {@link ProtectionDomain#kernelHandle} of the original returns
   * @return the domain
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
   * @param bytes what {@link DeviceMemory#byteSize()} of the original returns
   * @return the memory
   * @throws IllegalArgumentException if the length is not positive
   * @throws RdmaException if it fails: EOPNOTSUPP if the device's provider does not support it
   */
  public DeviceMemory importDeviceMemory(int kernelHandle, long bytes) {
    return DeviceMemory.imported(this, kernelHandle, bytes);
  }

  /**
   * Allocates a DMA handle: {@code ibv_alloc_dmah}.
   *
   * @param config the hints for the device
   * @return the handle, for {@link MemoryRegionConfig#dmaHandle}
   * @throws org.rdma4j.UnsupportedByDeviceException if the device does not support DMA handles, or
   *     rdma-core is older than 59
   * @throws RdmaException if it cannot be allocated
   */
  public DmaHandle allocateDmaHandle(DmaHandleConfig config) {
    return DmaHandle.allocate(this, config);
  }

  /**
   * Creates a completion counter: {@code ibv_create_comp_cntr}.
   *
   * @param type what it counts
   * @return the counter; {@link QueuePair#attach(CompletionCounter, CountedOperation...)} makes a
   *     queue pair use it
   * @throws org.rdma4j.UnsupportedByDeviceException if the device has no completion counters, or
   *     rdma-core is older than 65
   * @throws RdmaException if it cannot be created
   */
  public CompletionCounter createCompletionCounter(CompletionCounterType type) {
    return CompletionCounter.create(this, type);
  }

  /**
   * Allocates a thread domain: {@code ibv_alloc_td}.
   *
   * @return the thread domain
   * @throws RdmaException if it fails: EOPNOTSUPP if the device's provider does not support it
   */
  public ThreadDomain allocateThreadDomain() {
    return ThreadDomain.allocate(this);
  }

  /**
   * Opens a new XRC domain that no other context shares: {@code ibv_open_xrcd}.
   *
   * @return the domain
   * @throws RdmaException if it fails: EOPNOTSUPP if the device does not support XRC
   */
  public XrcDomain openXrcDomain() {
    return XrcDomain.open(this);
  }

  /**
   * Opens the XRC domain of a file: {@code ibv_open_xrcd}. All contexts that open the domain of the
   * same file share it. The content of the file does not matter, and nothing is written to it.
   *
   * @param file the file
   * @param create whether to create the domain if the file has none yet
   * @return the domain
   * @throws RdmaException if the file or the domain cannot be opened: EOPNOTSUPP if the device does
   *     not support XRC, EAGAIN if the file has no domain and {@code create} is false
   */
  public XrcDomain openXrcDomain(Path file, boolean create) {
    return XrcDomain.open(this, file, create);
  }

  /**
   * Creates an indirection table of work queues: {@code ibv_create_rwq_ind_table}.
   *
   * @param queues the entries of the table; a queue may occur several times. Their number is a
   *     power of two, at most {@link ReceiveSideScalingCapabilities#maxIndirectionTableSize}
   * @return the table
   * @throws IllegalArgumentException if the number of entries is not a power of two, or a queue
   *     belongs to another device
   * @throws RdmaException if it fails: EOPNOTSUPP if the device does not support such tables
   */
  public IndirectionTable createIndirectionTable(WorkQueue... queues) {
    return IndirectionTable.create(this, List.of(queues));
  }

  /**
   * Creates a completion channel: {@code ibv_create_comp_channel}.
   *
   * @return the channel
   * @throws RdmaException if it cannot be created
   */
  public CompletionChannel createCompletionChannel() {
    return CompletionChannel.create(this);
  }

  /**
   * Creates a completion queue without a channel: {@code ibv_create_cq}.
   *
   * @param entries the minimum number of completions that it can hold, from 1 to {@link
   *     DeviceAttributes#maxCompletionQueueEntries}
   * @return the queue; {@link CompletionQueue#capacity()} returns how many it was granted
   * @throws IllegalArgumentException if the number is out of range
   * @throws RdmaException if it cannot be created
   */
  public CompletionQueue createCompletionQueue(int entries) {
    return createCompletionQueue(entries, null);
  }

  /**
   * Creates a completion queue whose events are delivered to a channel: {@code ibv_create_cq}.
   *
   * @param entries the minimum number of completions that it can hold, from 1 to {@link
   *     DeviceAttributes#maxCompletionQueueEntries}
   * @param channel the channel; closing it closes the queue; null for none
   * @return the queue; {@link CompletionQueue#capacity()} returns how many it was granted
   * @throws IllegalArgumentException if the number is out of range, or the channel belongs to
   *     another device
   * @throws RdmaException if it cannot be created
   */
  public CompletionQueue createCompletionQueue(int entries, @Nullable CompletionChannel channel) {
    return createCompletionQueue(CompletionQueueConfig.of(entries).channel(channel));
  }

  /**
   * Creates a completion queue: {@code ibv_create_cq}, or {@code ibv_create_cq_ex} for an extended
   * one.
   *
   * @param config the properties of the queue
   * @return the queue; {@link CompletionQueue#capacity()} returns how many entries it was granted
   * @throws IllegalArgumentException if a number is out of range, or the channel belongs to another
   *     device
   * @throws org.rdma4j.UnsupportedByDeviceException if it is to be used {@linkplain QueueAccess in
   *     place} and cannot be
   * @throws RdmaException if it cannot be created, for example because the device does not support
   *     one of the fields
   */
  public CompletionQueue createCompletionQueue(CompletionQueueConfig config) {
    return CompletionQueue.create(this, config);
  }

  /**
   * Waits for the next asynchronous event and acknowledges it: {@code ibv_get_async_event}, {@code
   * ibv_ack_async_event}. If several threads wait, each event goes to one of them. Objects can be
   * closed in the meantime; an event that has not been read when its object is closed is lost. A
   * virtual thread does not pin its carrier while it waits.
   *
   * @param timeout the longest time to wait; zero returns immediately
   * @return the event; empty if none came in time
   * @throws InterruptedException if the thread is interrupted before or while it waits, which it
   *     notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the device is closed, also while this method waits
   * @throws RdmaException if the event cannot be read
   */
  public Optional<AsyncEvent> awaitAsyncEvent(Duration timeout) throws InterruptedException {
    return asyncEventWaits.await(timeout, asyncEventFileDescriptor(), lifetime, asyncEvents::next);
  }

  /**
   * Returns the file descriptor on which asynchronous events arrive, for the caller's own poll or
   * epoll. It is non-blocking and belongs to this device: do not read from it and do not close it.
   *
   * @return the descriptor
   */
  public int asyncEventFileDescriptor() {
    return lifetime.whileOpen(() -> ibv_context.async_fd(context));
  }

  /**
   * Returns the file descriptor for commands to the kernel, for {@link #importDevice}. It belongs
   * to this device: it may be duplicated or sent to another process, but do not close it.
   *
   * @return the descriptor
   */
  public int commandFileDescriptor() {
    return lifetime.whileOpen(() -> ibv_context.cmd_fd(context));
  }

  /**
   * Returns the native {@code struct ibv_context *}, for use with the bindings. It is valid until
   * this object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> context);
  }

  /**
   * Closes everything that was created from this device, youngest first, then the device: {@code
   * ibv_close_device}. Does nothing if it is already closed.
   *
   * @throws RdmaException if the destruction of an object fails; all others are destroyed all the
   *     same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the attributes that the device had when it was opened. */
  DeviceAttributes limits() {
    return attributes;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** Lets events that name the pointer find the object while it is reachable and open. */
  void register(long pointer, Object object, Lifetime lifetimeOfObject) {
    objects.register(pointer, object, lifetimeOfObject);
  }

  /** Returns the context without a check, for callers that keep this device open. */
  MemorySegment context() {
    return context;
  }

  /** Returns whether posts and polls call C critically: see {@link CriticalCalls}. */
  boolean callsCritically() {
    return callsCritically;
  }

  /** Returns whether and how queues of this device are used in place. */
  InPlaceSupport.Answer inPlace() {
    InPlaceSupport.Answer known = inPlace;
    if (known == null) {
      known = InPlaceSupport.of(DataPath.ibv_post_send$op(context));
      inPlace = known;
    }
    return known;
  }

  void checkPort(int port) {
    Range.check("port", port, 1, attributes.ports());
  }

  @Override
  public String toString() {
    return lifetime + (callsCritically ? ", critical calls" : ", plain calls");
  }
}
