package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_mw;
import org.rdma4j.bindings.generated.ibv_mw_bind;
import org.rdma4j.bindings.generated.ibv_mw_bind_info;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.MemoryVerbs;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.Referent;
import org.rdma4j.lifetime.BoundWindows;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;

/**
 * A memory window, {@code struct ibv_mw}: it opens a part of a memory region to peers under a key
 * of its own, and closes it again, without a registration.
 *
 * <p>Peers name the memory by its region's address, see {@link MemorySlice#remoteAddress}, and the
 * window's key. A region that is closed closes the windows bound to it, and a queue pair those of
 * type 2 that it bound. Soft-RoCE (Linux 6.1) keeps peers to the window's rights but only to the
 * region's bounds.
 *
 * <p>All methods may be called from any thread.
 */
public final class MemoryWindow implements AutoCloseable {
  private static final Set<AccessFlag> WINDOW_ACCESS =
      EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);

  private final ProtectionDomain domain;
  private final MemoryWindowType type;
  private final MemorySegment window;
  private final Referent referent;
  private final Lifetime lifetime;

  /** What the last bind made of it, and what it was before; guarded by this. */
  private Binding binding;

  private Binding bindingBefore;

  /**
   * What a window opens.
   *
   * @param key the key that peers use
   * @param target the region that it is bound to; null for none
   */
  record Binding(int key, @Nullable Target target) {
    Set<BoundWindows> windows() {
      return target == null ? Set.of() : target.windows;
    }
  }

  /** A region, without the object that users hold, and who has to know the windows bound to it. */
  record Target(Lifetime lifetime, MemorySegment pointer, Set<BoundWindows> windows) {
    static Target of(MemoryRegion region, BoundWindows... others) {
      Set<BoundWindows> all = new HashSet<>(List.of(others));
      all.add(region.windows());
      return new Target(region.lifetime(), region.pointer(), all);
    }
  }

  static MemoryWindow allocate(ProtectionDomain domain, MemoryWindowType type) {
    return domain
        .lifetime()
        .whileOpen(
            () ->
                new MemoryWindow(
                    domain,
                    type,
                    NativeFailures.created(
                        domain.device().info().name(),
                        "ibv_alloc_mw(" + type + ")",
                        MemoryVerbs.ibv_alloc_mw(domain.pointer(), type.value()))));
  }

  private MemoryWindow(ProtectionDomain domain, MemoryWindowType type, MemorySegment window) {
    this.domain = domain;
    this.type = type;
    this.window = window;
    this.binding = new Binding(ibv_mw.rkey(window), null);
    this.bindingBefore = binding;
    DeviceInfo device = domain.device().info();
    String name = "memory window of " + device.name();
    Referent pointedTo = Referent.of(name);
    this.referent = pointedTo;
    HotCalls posts = domain.referringPosts();
    this.lifetime =
        new Lifetime(
            name,
            () -> {
              pointedTo.leave(posts);
              NativeFailures.check(
                  device.name(), "ibv_dealloc_mw", Math.abs(MemoryVerbs.ibv_dealloc_mw(window)));
            },
            domain.lifetime());
    Leaks.watch(this, lifetime);
  }

  /**
   * The type, which says how it is bound.
   *
   * @return the type
   */
  public MemoryWindowType type() {
    return type;
  }

  /**
   * The key by which a peer names what the window opens, {@code rkey}. Each bind changes it; the
   * new one is valid once the bind has completed with success.
   *
   * @return the key that the last bind gave it
   * @throws IllegalStateException where the window is closed
   */
  public int remoteKey() {
    return lifetime.whileOpen(
        () -> {
          synchronized (this) {
            return binding.key;
          }
        });
  }

  /**
   * Binds a window of type 1 to a part of a region, {@code ibv_bind_mw}, which takes a place in the
   * send queue. What the window opened before is closed to peers then. A failed bind changes
   * nothing, and {@link #bindFailed} has to say so.
   *
   * @param queuePair any queue pair of the window's domain that is ready to send
   * @param id what the completion is to carry
   * @param part what to open, at least 1 byte of a region of the same domain that was registered
   *     with {@link AccessFlag#MEMORY_WINDOW_BIND}
   * @param signaled whether it raises a completion also when it succeeds
   * @param access what peers may do: any of REMOTE_READ, and where the region has LOCAL_WRITE, of
   *     REMOTE_WRITE and REMOTE_ATOMIC; the region itself need not have these rights
   * @return the key for peers, to be given to them once the bind has completed
   * @throws IllegalArgumentException where the window is of type 2, an argument is of another
   *     domain, the part is empty, or the region or the flags do not allow it
   * @throws IllegalStateException where the queue pair is not ready to send, or something is closed
   * @throws RdmaException where it cannot be posted: ENOMEM where the send queue is full
   */
  public int bind(
      QueuePair queuePair, long id, MemorySlice part, boolean signaled, AccessFlag... access) {
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(List.of(access));
    checkType1();
    checkBind(part, flags);
    Target region = Target.of(part.region());
    long address = part.region().addressOf(part.offset(), part.length());
    return post(
        queuePair, id, signaled, region, address, part.length(), NativeConstants.mask(flags));
  }

  /**
   * Has a window of type 1 open nothing any more: {@code ibv_bind_mw} with length 0.
   *
   * @param queuePair any queue pair of the window's domain that is ready to send
   * @param id what the completion is to carry
   * @param signaled whether it raises a completion also when it succeeds
   * @throws IllegalArgumentException where the window is of type 2, or the queue pair of another
   *     domain
   * @throws IllegalStateException where it is bound to nothing, the queue pair is not ready to
   *     send, or something is closed
   * @throws RdmaException where it cannot be posted: ENOMEM where the send queue is full
   */
  public void unbind(QueuePair queuePair, long id, boolean signaled) {
    checkType1();
    // Soft-RoCE's provider reads the region also where verbs.h lets it be NULL.
    post(queuePair, id, signaled, target(), 0, 0, 0);
  }

  private Target target() {
    return lifetime.whileOpen(
        () -> {
          synchronized (this) {
            Target target = binding.target;
            if (target == null) {
              throw new IllegalStateException(this + " is bound to nothing");
            }
            return target;
          }
        });
  }

  /**
   * Takes back what the last bind or unbind changed in the key, after its completion has said that
   * it failed: {@code ibv_bind_mw} leaves that to its caller. Without this, devices refuse further
   * binds.
   *
   * @throws IllegalStateException where the window is closed
   */
  public void bindFailed() {
    lifetime.whileOpen(
        () -> {
          synchronized (this) {
            become(bindingBefore);
            ibv_mw.rkey(window, binding.key);
            return this;
          }
        });
  }

  private int post(
      QueuePair queuePair,
      long id,
      boolean signaled,
      Target region,
      long address,
      long length,
      int access) {
    if (!domain.isSameAs(queuePair.domain())) {
      throw new IllegalArgumentException(
          queuePair + " is of another domain than " + this + ", must be of the same");
    }
    return queuePair.whileSending(
        () ->
            region.lifetime.whileOpen(
                () ->
                    lifetime.whileOpen(
                        () ->
                            postWhileOpen(
                                queuePair, id, signaled, region, address, length, access))));
  }

  private int postWhileOpen(
      QueuePair queuePair,
      long id,
      boolean signaled,
      Target region,
      long address,
      long length,
      int access) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bind = arena.allocate(ibv_mw_bind.layout());
      ibv_mw_bind.wr_id(bind, id);
      ibv_mw_bind.send_flags(bind, signaled ? rdma_h.IBV_SEND_SIGNALED() : 0);
      MemorySegment info = ibv_mw_bind.bind_info(bind);
      ibv_mw_bind_info.mr(info, region.pointer);
      ibv_mw_bind_info.addr(info, address);
      ibv_mw_bind_info.length(info, length);
      ibv_mw_bind_info.mw_access_flags(info, access);
      synchronized (this) {
        NativeFailures.check(
            domain.device().info().name(),
            "ibv_bind_mw",
            MemoryVerbs.ibv_bind_mw(queuePair.pointer(), window, bind));
        bound(length == 0 ? null : region, ibv_mw.rkey(window));
        return binding.key;
      }
    }
  }

  private void checkType1() {
    if (type != MemoryWindowType.TYPE_1) {
      throw new IllegalArgumentException(
          "the window is of " + type + ", must be of TYPE_1: others are bound by a work request");
    }
  }

  /** Refuses what a device would refuse only in the completion, with an error of the queue pair. */
  void checkBind(MemorySlice part, Set<AccessFlag> flags) {
    MemoryRegion region = part.region();
    if (!domain.isSameAs(region.domain())) {
      throw new IllegalArgumentException(
          region + " is of another domain than " + this + ", must be of the same");
    }
    if (part.length() == 0) {
      throw new IllegalArgumentException("the part has 0 bytes, must have at least 1");
    }
    if (!region.access().contains(AccessFlag.MEMORY_WINDOW_BIND)) {
      throw new IllegalArgumentException(
          region + " has access " + region.access() + ", needs MEMORY_WINDOW_BIND");
    }
    if (!WINDOW_ACCESS.containsAll(flags)) {
      throw new IllegalArgumentException("access is " + flags + ", must be of " + WINDOW_ACCESS);
    }
    boolean writes =
        flags.contains(AccessFlag.REMOTE_WRITE) || flags.contains(AccessFlag.REMOTE_ATOMIC);
    if (writes && !region.access().contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException(
          "access is " + flags + ", for which the region needs LOCAL_WRITE");
    }
  }

  /**
   * The protection domain that this belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * The way out to the bindings: {@code struct ibv_mw *}. It is valid until this is closed; with
   * it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the window is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> window);
  }

  /**
   * Deallocates the window, {@code ibv_dealloc_mw}, which unbinds it. Does nothing where it is
   * closed.
   *
   * @throws RdmaException where the deallocation fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  void checkType2(ProtectionDomain of) {
    if (type != MemoryWindowType.TYPE_2) {
      throw new IllegalArgumentException(
          "the window is of " + type + ", must be of TYPE_2: call its own bind");
    }
    if (of != domain) {
      throw new IllegalArgumentException(this + " is of another domain than the queue pair");
    }
  }

  /** What a request that points to this keeps beside the pointer. */
  Referent referent() {
    return referent;
  }

  /** The pointer, for a call during which this is open. */
  MemorySegment pointer() {
    return window;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** The key that the next bind by a work request is to give it: {@code ibv_inc_rkey}. */
  synchronized int nextKey() {
    return MemoryVerbs.ibv_inc_rkey(binding.key);
  }

  /**
   * Tells that a request of a queue pair is made, in a call during which the region is open, that
   * binds this to the region and gives it that key.
   *
   * @return what {@link #dropped} is to restore
   */
  synchronized Binding requested(MemoryRegion region, BoundWindows ofQueuePair, int newKey) {
    return bound(Target.of(region, ofQueuePair), newKey);
  }

  private Binding bound(@Nullable Target target, int newKey) {
    bindingBefore = binding;
    become(new Binding(newKey, target));
    return bindingBefore;
  }

  /** Tells that the request which gave it that key will not be posted. */
  void dropped(int itsKey, Binding before) {
    if (lifetime.tryEnter()) {
      try {
        synchronized (this) {
          if (binding.key == itsKey) {
            become(before);
          }
        }
      } finally {
        lifetime.leave();
      }
    }
  }

  /**
   * Tells that the request was posted. Not before: the provider tells the device the key that the
   * window had until then, too.
   */
  void settle(int newKey) {
    if (lifetime.tryEnter()) {
      try {
        ibv_mw.rkey(window, newKey);
      } finally {
        lifetime.leave();
      }
    }
  }

  private void become(Binding next) {
    Set<BoundWindows> to = next.windows();
    for (BoundWindows from : binding.windows()) {
      if (!to.contains(from)) {
        from.leave(lifetime);
      }
    }
    to.forEach(each -> each.add(lifetime));
    binding = next;
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
