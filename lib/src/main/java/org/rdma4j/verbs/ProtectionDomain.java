package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_parent_domain_init_attr;
import org.rdma4j.bindings.generated.ibv_pd;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.MemoryVerbs;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.GlobalRoutingHeader;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/**
 * A protection domain, {@code struct ibv_pd}: queue pairs and memory regions work together only
 * within one.
 *
 * <p>All methods may be called from any thread.
 */
public final class ProtectionDomain implements AutoCloseable {
  private final RdmaDevice device;
  private final MemorySegment domain;
  private final Lifetime lifetime;

  /** This, or the one that this is the parent of: what is of the same works together. */
  private final ProtectionDomain original;

  private final boolean hasThreadDomain;

  /** The chains whose requests point to address handles, and other objects, of this. */
  private final HotCalls referringPosts;

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
    this.hasThreadDomain = false;
    this.referringPosts = new HotCalls();
    this.lifetime =
        new Lifetime("protection domain of " + device.info().name(), destroy, device.lifetime());
    Leaks.watch(this, lifetime);
  }

  private ProtectionDomain(
      ProtectionDomain of, @Nullable ThreadDomain threads, MemorySegment parent) {
    this.device = of.device;
    this.domain = parent;
    this.original = of.original;
    this.hasThreadDomain = threads != null;
    this.referringPosts = of.referringPosts;
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
   * Allocates a parent domain: {@code ibv_alloc_parent_domain}. What is created of it works
   * together with what is created of this domain.
   *
   * <p>In a thread domain the provider takes no locks. So a queue there has one {@link
   * SendRequests} and one {@link ReceiveRequests}, each of which belongs to one thread at a time;
   * it has no shared receive queues, and windows are bound by {@link SendRequests#bind} only.
   * Queues of one thread domain that several threads use at once may give the device garbled
   * requests.
   *
   * @param threads the thread domain; null for none
   * @return the parent domain, which closes with this one and with the thread domain
   * @throws IllegalArgumentException where the thread domain is another device's, or this is a
   *     parent domain itself
   * @throws IllegalStateException where the domain or the thread domain is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device's provider has none
   */
  public ProtectionDomain allocateParentDomain(@Nullable ThreadDomain threads) {
    if (original != this) {
      throw new IllegalArgumentException(
          this + " is one itself, must be allocated by allocateProtectionDomain");
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
   * memory is freed after its deregistration.
   *
   * @param bytes its length in bytes, at least 1
   * @param access what it may be used for; the local CPU and sends may always read it
   * @return the region, all zero
   * @throws IllegalArgumentException where the length is not positive or longer than the device's
   *     {@link DeviceAttributes#maxMemoryRegionSize}, or a remote right that writes comes without
   *     LOCAL_WRITE
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where it cannot be allocated or registered: ENOMEM where the limit on
   *     locked memory (ulimit -l) does not suffice
   */
  public MemoryRegion register(long bytes, AccessFlag... access) {
    return register(bytes, List.of(access));
  }

  /**
   * Allocates page-aligned memory outside the Java heap and registers it: {@code ibv_reg_mr}. The
   * memory is freed after its deregistration.
   *
   * @param bytes its length in bytes, at least 1
   * @param access what it may be used for; the local CPU and sends may always read it
   * @return the region, all zero
   * @throws IllegalArgumentException where the length is not positive or longer than the device's
   *     {@link DeviceAttributes#maxMemoryRegionSize}, or a remote right that writes comes without
   *     LOCAL_WRITE
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where it cannot be allocated or registered: ENOMEM where the limit on
   *     locked memory (ulimit -l) does not suffice
   */
  public MemoryRegion register(long bytes, Collection<AccessFlag> access) {
    return register(MemoryRegionConfig.allocate(bytes).access(access));
  }

  /**
   * Registers memory as the configuration says: {@code ibv_reg_mr}, or {@code ibv_reg_mr_iova}
   * where it has an address of its own.
   *
   * @param config which memory, for what, under which address
   * @return the region
   * @throws IllegalArgumentException where the length is not positive or longer than the device's
   *     {@link DeviceAttributes#maxMemoryRegionSize}, a remote right that writes comes without
   *     LOCAL_WRITE, LOCAL_WRITE with a read-only segment, or the address of its own does not lie
   *     in its page as the memory does
   * @throws IllegalStateException where the domain is closed, or the memory's arena
   * @throws WrongThreadException where the memory is of another thread's confined arena
   * @throws RdmaException where it cannot be allocated or registered: ENOMEM where the limit on
   *     locked memory (ulimit -l) or the number of huge pages does not suffice, EFAULT where the
   *     memory cannot be pinned, EOPNOTSUPP or EINVAL where the device does not know an access flag
   */
  public MemoryRegion register(MemoryRegionConfig config) {
    return MemoryRegion.register(this, config);
  }

  /**
   * Registers memory behind a DMA buffer, such as that of a GPU: {@code ibv_reg_dmabuf_mr}.
   *
   * @param fileDescriptor the DMA buffer's; it may be closed afterwards
   * @param offset the first byte within the buffer
   * @param bytes how many, at least 1
   * @param remoteAddress the address by which requests and peers name the first byte; at the same
   *     offset within its page as the offset is
   * @param access what it may be used for
   * @return the region, of whose memory this process has no view
   * @throws IllegalArgumentException where an argument is out of range, or a remote right that
   *     writes comes without LOCAL_WRITE
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where it fails: EBADF or EINVAL where the descriptor is none of a DMA
   *     buffer, EOPNOTSUPP where the device cannot
   */
  public MemoryRegion registerDmaBuffer(
      int fileDescriptor, long offset, long bytes, long remoteAddress, AccessFlag... access) {
    return MemoryRegion.registerDmaBuffer(
        this, fileDescriptor, offset, bytes, remoteAddress, flags(access));
  }

  /**
   * Registers device memory: {@code ibv_reg_dm_mr}, always {@link AccessFlag#ZERO_BASED}. Closing
   * the device memory closes the region first.
   *
   * @param memory the device memory, of this domain's device
   * @param offset the first byte within it
   * @param bytes how many, at least 1
   * @param access what it may be used for
   * @return the region, whose first byte requests and peers name by 0, and of whose memory this
   *     process has no view
   * @throws IllegalArgumentException where the device memory is another device's, or a remote right
   *     that writes comes without LOCAL_WRITE
   * @throws IndexOutOfBoundsException where the part does not lie within the device memory
   * @throws IllegalStateException where the domain or the device memory is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device cannot
   */
  public MemoryRegion register(DeviceMemory memory, long offset, long bytes, AccessFlag... access) {
    return MemoryRegion.register(this, memory, offset, bytes, flags(access));
  }

  /**
   * Allocates a null region: what is written to it is dropped, what is read from it is zero: {@code
   * ibv_alloc_null_mr}. For requests of this process, which may name any part of it.
   *
   * @return the region, of {@link Long#MAX_VALUE} bytes and without memory
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device cannot
   */
  public MemoryRegion allocateNullRegion() {
    return MemoryRegion.allocateNull(this);
  }

  /**
   * Imports a region of this domain that was registered by another context of the same device file:
   * {@code ibv_import_mr}. Closing it here does not deregister it, {@code ibv_unimport_mr}.
   *
   * @param kernelHandle what {@link MemoryRegion#kernelHandle} of the original says
   * @param remoteAddress what {@link MemoryRegion#remoteAddress} of the original says
   * @return the region, of whose memory this process has no view
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device's provider cannot
   */
  public MemoryRegion importRegion(int kernelHandle, long remoteAddress) {
    return MemoryRegion.imported(this, kernelHandle, remoteAddress);
  }

  /**
   * Gives the device advice on regions of this domain that are registered {@link
   * AccessFlag#ON_DEMAND}: {@code ibv_advise_mr}.
   *
   * @param advice the advice
   * @param flush whether to return only when the advice has been followed: {@code
   *     IBV_ADVISE_MR_FLAG_FLUSH}
   * @param parts what it is about, at least one part, each of at most 4 GiB - 1
   * @throws IllegalArgumentException where there is no part, a part is too long, or of another
   *     domain
   * @throws IllegalStateException where the domain or a region is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device cannot, EFAULT where pages
   *     cannot be had
   */
  public void advise(MemoryAdvice advice, boolean flush, MemorySlice... parts) {
    if (parts.length == 0) {
      throw new IllegalArgumentException("there are 0 parts, must be at least 1");
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
      throw new IllegalArgumentException(part + " is of another domain than " + this);
    }
    if (part.length() > 0xffff_ffffL) {
      throw new IllegalArgumentException(
          "a part has " + part.length() + " bytes, must be at most " + 0xffff_ffffL);
    }
    ibv_sge.addr(sge, part.region().addressOf(part.offset(), part.length()));
    ibv_sge.length(sge, (int) part.length());
    ibv_sge.lkey(sge, part.region().key());
  }

  private static Set<AccessFlag> flags(AccessFlag... access) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(List.of(access));
    return flags;
  }

  /**
   * Allocates a memory window, bound to nothing yet: {@code ibv_alloc_mw}.
   *
   * @param type the type, which says how it is bound
   * @return the window
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device has no memory windows, EINVAL
   *     where it has none of that type
   */
  public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
    return MemoryWindow.allocate(this, type);
  }

  /**
   * Creates a queue pair: {@code ibv_create_qp}.
   *
   * @param config its queues and their capacities
   * @return the queue pair, in state RESET
   * @throws IllegalArgumentException where a capacity is beyond what the device offers, something
   *     belongs to another device, or does not go with the type, or a completion queue cannot hold
   *     the completions of all queue pairs that use it, see {@link QueuePairConfig#mayOverrun}
   * @throws IllegalStateException where the domain, or what the configuration names, is closed
   * @throws RdmaException where it cannot be created: EOPNOTSUPP where the device has none of that
   *     type
   */
  public QueuePair createQueuePair(QueuePairConfig config) {
    return QueuePair.create(this, config, QueuePair.byVerbs(this));
  }

  /**
   * Opens the receiving queue pair of an XRC domain that another context, also one of another
   * process, has created: {@code ibv_open_qp}. It lives until all who have it open close it.
   *
   * @param xrcDomain the XRC domain, of this domain's device
   * @param number the number of the queue pair, 0 to 0xffffff
   * @return the queue pair, whose state may be any
   * @throws IllegalArgumentException where the XRC domain is another device's, or the number is out
   *     of range
   * @throws IllegalStateException where this domain or the XRC domain is closed
   * @throws RdmaException where it fails: EINVAL where there is no such queue pair
   */
  public QueuePair openQueuePair(XrcDomain xrcDomain, int number) {
    return QueuePair.open(this, xrcDomain, number);
  }

  /**
   * Creates a shared receive queue: {@code ibv_create_srq}.
   *
   * @param depth the most receives that can be posted, from 1 to {@link
   *     DeviceAttributes#maxSharedReceiveQueueRequests}
   * @param sges the most scatter/gather entries of a receive, from 1 to {@link
   *     DeviceAttributes#maxSharedReceiveQueueSges}
   * @return the queue, empty
   * @throws IllegalArgumentException where a number is out of range
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where the device refuses it
   */
  public SharedReceiveQueue createSharedReceiveQueue(int depth, int sges) {
    return createSharedReceiveQueue(SharedReceiveQueueConfig.of(depth).sges(sges));
  }

  /**
   * Creates a shared receive queue of any type: {@code ibv_create_srq}, or {@code
   * ibv_create_srq_ex}.
   *
   * @param config what it is to be
   * @return the queue, empty
   * @throws IllegalArgumentException where a number is out of range, something is another device's,
   *     or the completion queue is not long enough
   * @throws IllegalStateException where the domain, the completion queue or the XRC domain is
   *     closed, or this is a parent domain with a thread domain
   * @throws RdmaException where the device refuses it: EOPNOTSUPP where it has none of that type
   */
  public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueConfig config) {
    return SharedReceiveQueue.create(this, config);
  }

  /**
   * Creates a work queue: {@code ibv_create_wq}.
   *
   * @param config its completion queue and its capacity
   * @return the queue, in state RESET
   * @throws IllegalArgumentException where a number is out of range, the completion queue is
   *     another device's or not long enough
   * @throws IllegalStateException where the domain or the completion queue is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device has none
   */
  public WorkQueue createWorkQueue(WorkQueueConfig config) {
    return WorkQueue.create(this, config);
  }

  /**
   * Creates an address handle: {@code ibv_create_ah}.
   *
   * @param vector the way to the destination
   * @return the handle
   * @throws IllegalArgumentException where the device has no such port
   * @throws IllegalStateException where the domain is closed
   * @throws RdmaException where the device refuses it: there is no such GID, or no way there
   */
  public AddressHandle createAddressHandle(AddressVector vector) {
    return AddressHandle.create(this, vector);
  }

  /**
   * Creates an address handle that leads back to the sender of a received datagram: {@code
   * ibv_init_ah_from_wc} and {@code ibv_create_ah}.
   *
   * @param completions the polled completions
   * @param index which of them is that of the datagram
   * @param received the memory of its receive, with the {@link GlobalRoutingHeader} before the
   *     payload
   * @param port the local port that it came by, from 1
   * @return the handle
   * @throws IllegalArgumentException where the device has no such port
   * @throws IndexOutOfBoundsException where there is no such completion, or the memory is shorter
   *     than 40 bytes
   * @throws IllegalStateException where the domain is closed, or the memory is
   * @throws RdmaException where the device refuses it: no GID of the port is the datagram's
   *     destination
   */
  public AddressHandle createAddressHandle(
      Completions completions, int index, MemorySegment received, int port) {
    return AddressHandle.create(this, completions, index, received, port);
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
   * The kernel's handle of the domain, {@code handle} of {@code struct ibv_pd}, by which {@link
   * RdmaDevice#importProtectionDomain} finds it.
   *
   * @return the handle, which means something together with the device's file only
   * @throws IllegalStateException where the domain is closed
   */
  public int kernelHandle() {
    return lifetime.whileOpen(() -> ibv_pd.handle(domain));
  }

  /**
   * The way out to the bindings: {@code struct ibv_pd *}. It is valid until this is closed; with
   * it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the domain is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> domain);
  }

  /**
   * Closes the queue pairs, memory regions and windows of this domain, youngest first, then the
   * domain: {@code ibv_dealloc_pd}. Does nothing where it is closed.
   *
   * @throws RdmaException where a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** The pointer, for those whose life lies within this one's. */
  MemorySegment pointer() {
    return domain;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** Whether what is created of both works together. */
  boolean isSameAs(ProtectionDomain other) {
    return original == other.original;
  }

  boolean hasThreadDomain() {
    return hasThreadDomain;
  }

  HotCalls referringPosts() {
    return referringPosts;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
