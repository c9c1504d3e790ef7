package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.UnsupportedByDeviceException;
import org.rdma4j.bindings.generated.ibv_parent_domain_init_attr;
import org.rdma4j.bindings.generated.ibv_pd;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.MemoryVerbs;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.ThreadConfinement;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoutingHeader;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.OnDemandPagingCapabilities;

/**
 * A protection domain, {@code struct ibv_pd}. Queue pairs can access only memory regions, memory
 * windows and address handles of their own protection domain.
 *
 * <p>All methods may be called from any thread.
 *
 * @see RdmaDevice#allocateProtectionDomain
 * @see MemoryRegion
 * @see QueuePair
 */
public final class ProtectionDomain implements AutoCloseable {
  private final RdmaDevice device;
  private final MemorySegment domain;
  private final Lifetime lifetime;

  /** This domain, or the domain that a parent domain was allocated from. */
  private final ProtectionDomain original;

  /** What lets one thread at a time use queues of this domain; null without a thread domain. */
  private final @Nullable ThreadConfinement confinement;

  /** The posts whose requests point to address handles and other objects of this domain. */
  private final HotCalls referringPosts;

  private final RegionsByKey regions;

  private ProtectionDomain(RdmaDevice device, MemorySegment domain) {
    this(
        device,
        domain,
        () ->
            NativeFailures.check(
                device.info().name(), "ibv_dealloc_pd", rdma_h.ibv_dealloc_pd(domain)));
  }

  private ProtectionDomain(RdmaDevice device, MemorySegment domain, Runnable destroy) {
    this.device = device;
    this.domain = domain;
    this.original = this;
    this.confinement = null;
    this.referringPosts = new HotCalls();
    this.regions = new RegionsByKey();
    this.lifetime =
        new Lifetime("protection domain of " + device.info().name(), destroy, device.lifetime());
    Leaks.watch(this, lifetime);
  }

  private ProtectionDomain(
      ProtectionDomain of, @Nullable ThreadDomain threads, MemorySegment parent) {
    this.device = of.device;
    this.domain = parent;
    this.original = of.original;
    this.confinement = threads == null ? null : threads.confinement();
    this.referringPosts = of.referringPosts;
    this.regions = of.regions;
    DeviceInfo info = device.info();
    this.lifetime =
        new Lifetime(
            "parent domain of " + info.name(),
            () ->
                NativeFailures.check(info.name(), "ibv_dealloc_pd", rdma_h.ibv_dealloc_pd(parent)),
            lifetimes(of, threads).toArray(Lifetime[]::new));
    Leaks.watch(this, lifetime);
  }

  private static List<Lifetime> lifetimes(ProtectionDomain of, @Nullable ThreadDomain threads) {
    return threads == null ? List.of(of.lifetime) : List.of(of.lifetime, threads.lifetime());
  }

  /**
   * Allocates a parent domain of this domain: {@code ibv_alloc_parent_domain}. Objects of the
   * parent domain and objects of this domain work together as if they had one domain.
   *
   * <p>The provider takes no locks for queues that are created in a parent domain with a thread
   * domain: queue pairs, work queues, and completion queues of {@link
   * CompletionQueueConfig#parentDomain}. So one thread at a time owns all {@link SendRequests},
   * {@link ReceiveRequests}, {@link PreparedRequests} and {@link Completions} of the thread domain.
   * Another thread can use one of them after the owner has called {@code release()} on each that it
   * used; until then it gets an IllegalStateException. Any thread may close, change and create
   * queues; polls wait meanwhile.
   *
   * <p>A completion queue of a thread domain serves only queues of the same thread domain. Such a
   * parent domain cannot have shared receive queues, and memory windows are bound only by {@link
   * SendRequests#bind}.
   *
   * @param threads the thread domain; null for none
   * @return the parent domain, which is closed with this domain and with the thread domain
   * @throws IllegalArgumentException if the thread domain belongs to another device, or this is
   *     itself a parent domain
   * @throws RdmaException if it fails: EOPNOTSUPP if the device's provider does not support it
   */
  public ProtectionDomain allocateParentDomain(@Nullable ThreadDomain threads) {
    if (original != this) {
      throw new IllegalArgumentException(
          this
              + " is itself a parent domain, must be a domain from"
              + " RdmaDevice.allocateProtectionDomain");
    }
    SameDevice.check("thread domain", threads == null ? device : threads.device(), device);
    return Lifetime.whileAllOpen(
        lifetimes(this, threads),
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment init = arena.allocate(ibv_parent_domain_init_attr.layout());
            ibv_parent_domain_init_attr.pd(init, domain);
            if (threads != null) {
              ibv_parent_domain_init_attr.td(init, threads.pointer());
            }
            return new ProtectionDomain(
                this,
                threads,
                NativeFailures.created(
                    device.info().name(),
                    "ibv_alloc_parent_domain",
                    Verbs.ibv_alloc_parent_domain(device.context(), init)));
          }
        });
  }

  static ProtectionDomain allocate(RdmaDevice device) {
    return device
        .lifetime()
        .whileOpen(
            () ->
                new ProtectionDomain(
                    device,
                    NativeFailures.created(
                        device.info().name(),
                        "ibv_alloc_pd",
                        Calls.pointer(rdma_h.ibv_alloc_pd$address(), device.context()))));
  }

  static ProtectionDomain imported(RdmaDevice device, int kernelHandle) {
    return device
        .lifetime()
        .whileOpen(
            () -> {
              MemorySegment domain =
                  NativeFailures.created(
                      device.info().name(),
                      "ibv_import_pd(" + kernelHandle + ")",
                      MemoryVerbs.ibv_import_pd(device.context(), kernelHandle));
              return new ProtectionDomain(device, domain, () -> rdma_h.ibv_unimport_pd(domain));
            });
  }

  /**
   * Allocates page-aligned memory outside the Java heap and registers it: {@code ibv_reg_mr}. The
   * memory is freed when the region is closed.
   *
   * @param bytes the length in bytes, at least 1
   * @param access what the device and peers may do with the memory; the local CPU and sends may
   *     always read it
   * @return the region, all zero
   * @throws IllegalArgumentException if the length is not from 1 to the device's {@link
   *     DeviceAttributes#maxMemoryRegionSize}, or if the access contains REMOTE_WRITE or
   *     REMOTE_ATOMIC without LOCAL_WRITE
   * @throws RdmaException if the memory cannot be allocated or registered: ENOMEM if the limit on
   *     locked memory (ulimit -l) is too low
   */
  public MemoryRegion register(long bytes, AccessFlag... access) {
    return register(bytes, List.of(access));
  }

  /**
   * Allocates page-aligned memory outside the Java heap and registers it: {@code ibv_reg_mr}. The
   * memory is freed when the region is closed.
   *
   * @param bytes the length in bytes, at least 1
   * @param access what the device and peers may do with the memory; the local CPU and sends may
   *     always read it
   * @return the region, all zero
   * @throws IllegalArgumentException if the length is not from 1 to the device's {@link
   *     DeviceAttributes#maxMemoryRegionSize}, or if the access contains REMOTE_WRITE or
   *     REMOTE_ATOMIC without LOCAL_WRITE
   * @throws RdmaException if the memory cannot be allocated or registered: ENOMEM if the limit on
   *     locked memory (ulimit -l) is too low
   */
  public MemoryRegion register(long bytes, Collection<AccessFlag> access) {
    return register(MemoryRegionConfig.allocate(bytes).access(access));
  }

  /**
   * Registers the memory that the configuration describes: {@code ibv_reg_mr}, or {@code
   * ibv_reg_mr_iova} if the configuration sets a remote address, {@code ibv_reg_mr_ex} if it has a
   * DMA handle. DMA buffers, device memory and null regions have functions of their own, which
   * {@link MemoryRegionConfig} names.
   *
   * @param config the memory, its access, and its remote address
   * @return the region
   * @throws IllegalArgumentException if the length is not from 1 to the device's {@link
   *     DeviceAttributes#maxMemoryRegionSize}; if the access contains REMOTE_WRITE or REMOTE_ATOMIC
   *     without LOCAL_WRITE, or LOCAL_WRITE for a read-only segment; if the remote address does not
   *     have the same offset within its page as the memory; if the device memory or the DMA handle
   *     belongs to another device; or if this kind of memory cannot have what is configured
   * @throws IllegalStateException if the domain is closed, or the arena, the region, the device
   *     memory or the DMA handle that the memory depends on
   * @throws WrongThreadException if the memory belongs to a confined arena of another thread
   * @throws RdmaException if the memory cannot be allocated or registered: ENOMEM if the limit on
   *     locked memory (ulimit -l) or the number of huge pages is too low, EFAULT if the memory
   *     cannot be pinned, EBADF or EINVAL if a file descriptor is not that of a DMA buffer,
   *     EOPNOTSUPP or EINVAL if the device does not support this kind of memory or an access flag
   */
  public MemoryRegion register(MemoryRegionConfig config) {
    return MemoryRegion.register(this, config);
  }

  /**
   * Lets the device read all memory of this process, without pinning it: {@code ibv_reg_mr} of the
   * whole address space with {@code IBV_ACCESS_ON_DEMAND}.
   *
   * @return the region, which requests can send from
   * @throws UnsupportedByDeviceException if the device does not support it, see {@link
   *     OnDemandPagingCapabilities#implicit}
   * @throws RdmaException if it fails
   */
  public ImplicitRegion registerImplicit() {
    return ImplicitRegion.register(this);
  }

  /**
   * Imports a region of this domain that another context of the same device file registered: {@code
   * ibv_import_mr}. Closing the imported region does not deregister the original: {@code
   * ibv_unimport_mr}.
   *
   * @param kernelHandle the {@link MemoryRegion#kernelHandle} of the original
   * @param remoteAddress the {@link MemoryRegion#remoteAddress} of the original
   * @return the region, whose memory this process cannot access
   * @throws RdmaException if it fails: EOPNOTSUPP if the device's provider does not support it
   */
  public MemoryRegion importRegion(int kernelHandle, long remoteAddress) {
    return MemoryRegion.imported(this, kernelHandle, remoteAddress);
  }

  /**
   * Gives the device advice about regions of this domain that are registered {@link
   * AccessFlag#ON_DEMAND}: {@code ibv_advise_mr}.
   *
   * @param advice the advice
   * @param flush whether to return only after the device has followed the advice: {@code
   *     IBV_ADVISE_MR_FLAG_FLUSH}
   * @param parts the memory that the advice is about: at least one part, each of at most 4 GiB - 1
   *     bytes
   * @throws IllegalArgumentException if there is no part, or a part is too long or of another
   *     domain
   * @throws RdmaException if it fails: EOPNOTSUPP if the device does not support it; EFAULT if
   *     pages cannot be faulted in, or, on soft-RoCE, if a region is not on demand
   */
  public void advise(MemoryAdvice advice, boolean flush, MemorySlice... parts) {
    if (parts.length == 0) {
      throw new IllegalArgumentException("the number of parts is 0, must be at least 1");
    }
    int flags = flush ? rdma_h.IBV_ADVISE_MR_FLAG_FLUSH() : 0;
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment sges = arena.allocate(ibv_sge.layout(), parts.length);
            for (int i = 0; i < parts.length; i++) {
              describe(parts[i], ibv_sge.asSlice(sges, i));
            }
            NativeFailures.check(
                device.info().name(),
                "ibv_advise_mr(" + advice + ")",
                MemoryVerbs.ibv_advise_mr(domain, advice.value(), flags, sges, parts.length));
          }
          return this;
        });
  }

  private void describe(MemorySlice part, MemorySegment sge) {
    if (!isSameAs(part.region().domain())) {
      throw new IllegalArgumentException(
          part + " belongs to another domain than " + this + ", must belong to the same");
    }
    if (part.length() > 0xffff_ffffL) {
      throw new IllegalArgumentException(
          "the length of a part is " + part.length() + ", must be at most " + 0xffff_ffffL);
    }
    ibv_sge.addr(sge, part.region().addressOf(part.offset(), part.length()));
    ibv_sge.length(sge, (int) part.length());
    ibv_sge.lkey(sge, part.region().key());
  }

  /**
   * Allocates a memory window, which is not bound yet: {@code ibv_alloc_mw}.
   *
   * @param type the type of the window, which determines how it is bound
   * @return the window
   * @throws RdmaException if it fails: EOPNOTSUPP if the device does not support memory windows,
   *     EINVAL if it does not support this type
   */
  public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
    return MemoryWindow.allocate(this, type);
  }

  /**
   * Creates a queue pair: {@code ibv_create_qp}, or {@code efadv_create_qp_ex} for the type
   * SCALABLE_RELIABLE_DATAGRAM.
   *
   * @param config the type of the queue pair, its completion queues and its capacities
   * @return the queue pair, in the state RESET
   * @throws IllegalArgumentException if a capacity is larger than the device supports, an object
   *     belongs to another device, a setting does not apply to the type, or a completion queue is
   *     not long enough for all queue pairs that use it, see {@link QueuePairConfig#ignoreOverrun}
   * @throws IllegalStateException if the domain or an object of the configuration is closed
   * @throws UnsupportedByDeviceException if the device does not support the type, or a queue of the
   *     configuration is used {@linkplain QueueAccess in place} and the queue pair cannot be
   * @throws RdmaException if it cannot be created
   */
  public QueuePair createQueuePair(QueuePairConfig config) {
    return QueuePairCreation.create(this, config, QueuePairCreation.of(this, config.type()));
  }

  /**
   * Opens a receiving XRC queue pair that another context of this or another process created:
   * {@code ibv_open_qp}. The native queue pair exists until everyone who has it open has closed it.
   *
   * @param xrcDomain the XRC domain, of this domain's device
   * @param number the number of the queue pair, 0 to 0xffffff
   * @return the queue pair, in whatever state it is
   * @throws IllegalArgumentException if the XRC domain belongs to another device, or the number is
   *     out of range
   * @throws IllegalStateException if this domain or the XRC domain is closed
   * @throws UnsupportedByDeviceException if the device is an mlx5 adapter: libmlx5 ends the process
   *     when such a queue pair is destroyed
   * @throws RdmaException if it fails: EINVAL if there is no such queue pair
   */
  public QueuePair openQueuePair(XrcDomain xrcDomain, int number) {
    return QueuePairCreation.open(this, xrcDomain, number);
  }

  /**
   * Creates a shared receive queue: {@code ibv_create_srq}.
   *
   * @param depth the maximum number of posted receives, from 1 to {@link
   *     DeviceAttributes#maxSharedReceiveQueueRequests}
   * @param sges the maximum number of pieces (scatter/gather elements) of a receive, from 1 to
   *     {@link DeviceAttributes#maxSharedReceiveQueueSges}
   * @return the empty queue
   * @throws IllegalArgumentException if a number is out of range
   * @throws IllegalStateException if the domain is closed, or is a parent domain with a thread
   *     domain
   * @throws RdmaException if the device refuses it
   */
  public SharedReceiveQueue createSharedReceiveQueue(int depth, int sges) {
    return createSharedReceiveQueue(SharedReceiveQueueConfig.of(depth).sges(sges));
  }

  /**
   * Creates a shared receive queue of any type: {@code ibv_create_srq}, or {@code
   * ibv_create_srq_ex}.
   *
   * @param config the type of the queue and its capacities
   * @return the empty queue
   * @throws IllegalArgumentException if a number is out of range, an object belongs to another
   *     device, or the completion queue is not long enough
   * @throws IllegalStateException if the domain, the completion queue or the XRC domain is closed,
   *     or this is a parent domain with a thread domain
   * @throws UnsupportedByDeviceException if the device does not support the type, the queue is to
   *     be used {@linkplain QueueAccess in place} and cannot be, or its completion queue is
   * @throws RdmaException if the device refuses it
   */
  public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueConfig config) {
    return SharedReceiveQueue.create(this, config);
  }

  /**
   * Creates a work queue: {@code ibv_create_wq}.
   *
   * @param config the completion queue and the capacity
   * @return the queue, in the state RESET
   * @throws IllegalArgumentException if a number is out of range, or the completion queue belongs
   *     to another device or is not long enough
   * @throws UnsupportedByDeviceException if the device does not support work queues, or the
   *     completion queue is used {@linkplain QueueAccess in place}
   * @throws RdmaException if it fails
   */
  public WorkQueue createWorkQueue(WorkQueueConfig config) {
    return WorkQueue.create(this, config);
  }

  /**
   * Creates an address handle, the destination of datagrams: {@code ibv_create_ah}.
   *
   * @param vector the way to the destination
   * @return the handle
   * @throws IllegalArgumentException if the device does not have the port
   * @throws RdmaException if the device refuses it: ENODATA if the port has no GID at the index, or
   *     an errno of the network if no route leads to the destination
   */
  public AddressHandle createAddressHandle(AddressVector vector) {
    return AddressHandle.create(this, vector);
  }

  /**
   * Creates an address handle for the sender of a received datagram: {@code ibv_init_ah_from_wc}
   * and {@code ibv_create_ah}.
   *
   * @param completions the polled completions
   * @param index the index of the datagram's completion among them
   * @param received the memory of the receive, with the {@link GlobalRoutingHeader} before the
   *     payload
   * @param port the local port that the datagram came through, from 1
   * @return the handle
   * @throws IllegalArgumentException if the device does not have the port
   * @throws IndexOutOfBoundsException if there is no such completion, or the memory is shorter than
   *     40 bytes
   * @throws RdmaException if the device refuses it, for example because the datagram's destination
   *     is not a GID of the port
   */
  public AddressHandle createAddressHandle(
      Completions completions, int index, MemorySegment received, int port) {
    return AddressHandle.create(this, completions, index, received, port);
  }

  /**
   * Returns the device that this domain belongs to.
   *
   * @return the device
   */
  public RdmaDevice device() {
    return device;
  }

  /**
   * Returns the kernel's handle of the domain, {@code handle} of {@code struct ibv_pd}, for {@link
   * RdmaDevice#importProtectionDomain}.
   *
   * @return the handle, which is valid only together with the file descriptor of the device
   */
  public int kernelHandle() {
    return lifetime.whileOpen(() -> ibv_pd.handle(domain));
  }

  /**
   * Returns the native {@code struct ibv_pd *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> domain);
  }

  /**
   * Closes the objects that were created from this domain, youngest first, then the domain: {@code
   * ibv_dealloc_pd}. Does nothing if it is already closed.
   *
   * @throws RdmaException if the destruction of an object fails; all others are destroyed all the
   *     same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this domain open. */
  MemorySegment pointer() {
    return domain;
  }

  /** Returns the pointer of the domain that this is a parent domain of, or its own. */
  MemorySegment originalPointer() {
    return original.domain;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** Returns whether objects of both domains work together. */
  boolean isSameAs(ProtectionDomain other) {
    return original == other.original;
  }

  boolean hasThreadDomain() {
    return confinement != null;
  }

  @Nullable ThreadConfinement confinement() {
    return confinement;
  }

  /**
   * Throws IllegalArgumentException if the completion queue is in a thread domain, and this is not
   * in the same: posts to a queue of this domain can change the completion queue, and nothing would
   * keep them from doing so while another thread polls.
   */
  void checkThreads(CompletionQueue completions) {
    ProtectionDomain of = completions.parentDomain();
    if (of != null && of.hasThreadDomain() && of.confinement != confinement) {
      throw new IllegalArgumentException(
          "the "
              + completions
              + " is in a thread domain, which "
              + this
              + " does not have; use a parent domain with the same thread domain");
    }
  }

  HotCalls referringPosts() {
    return referringPosts;
  }

  RegionsByKey regions() {
    return regions;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
